package handover_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"herald/core/conversation"
	"herald/core/handover"
	"herald/core/store"
	"herald/core/store/memory"
	"herald/core/worker"
)

func TestMessageArrivesAndWakes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.owe(message("1"), message("2"))
		r.live(&process{}, time.Minute)
		var texts []string
		for _, doc := range r.docs(target, conversation.Inbox) {
			var m conversation.Message
			if err := conversation.Decode(doc, &m); err != nil {
				t.Fatal(err)
			}
			texts = append(texts, m.Text)
		}
		if diff := cmp.Diff([]string{"text of 1", "text of 2"}, texts); diff != "" {
			t.Error(diff)
		}
		r.clean()
		if _, _, ok, err := r.st.Due(t.Context(), store.Turns); err != nil || !ok {
			t.Errorf("the target was not woken (%v)", err)
		}
		if r.reported(handover.EventTaken) != 2 {
			t.Errorf("events %+v, want two taken", r.events)
		}
	})
}

// TestMessageIsNotTakenTwice: neither after the turn has removed it from the inbox nor after the ids of commits are forgotten.
func TestMessageIsNotTakenTwice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		owed := message("1")
		taker := handover.Messages{Store: r.st}
		if taken, err := taker.Take(t.Context(), source, owed); !taken || err != nil {
			t.Fatal(taken, err)
		}
		doc := r.docs(target, conversation.Inbox)[0]
		if _, err := r.st.Commit(t.Context(), store.Commit{ID: newID(), Partition: target, Ops: []store.Op{store.Delete{Key: doc.Key}}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(48 * time.Hour)
		if taken, err := taker.Take(t.Context(), source, owed); taken || err != nil {
			t.Errorf("taken again: %t, %v", taken, err)
		}
		if n := len(r.docs(target, conversation.Inbox)); n != 0 {
			t.Errorf("%d messages in the inbox, want none", n)
		}
		if taken, err := taker.Take(t.Context(), part("other source"), owed); !taken || err != nil {
			t.Errorf("the same name from another partition: %t, %v", taken, err)
		}
	})
}

// TestCrashAtEachStep kills the worker before and after each call of the store, in the source and in the target.
func TestCrashAtEachStep(t *testing.T) {
	t.Parallel()
	points := 0
	for n, died := int64(1), true; died; n++ {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			var rec received
			r.takers = func(st store.Store, _ *process) map[string]handover.Taker {
				return map[string]handover.Taker{"task": rec.taker(st)}
			}
			want := map[string]int{}
			for i := range 3 {
				id := fmt.Sprintf("t%d", i)
				want[id] = 1
				r.owe(&conversation.Owed{ID: id, Kind: "task", To: target, At: time.Now()})
			}
			p := &process{at: n}
			r.live(p, 2*time.Minute)
			if died = p.gone.Load(); !died {
				return
			}
			points++
			r.live(&process{at: 3 + n%7}, 2*time.Minute)
			r.live(&process{}, 5*time.Minute)
			if diff := cmp.Diff(want, r.landed()); diff != "" {
				t.Errorf("killed at step %d: %s", n, diff)
			}
			r.clean()
			if ls := r.letters(); len(ls) != 0 {
				t.Errorf("killed at step %d: letters %+v", n, ls)
			}
		})
		if n > 300 {
			t.Fatal("the process has no last step")
		}
	}
	if points < 10 {
		t.Errorf("only %d points to fail at", points)
	}
}

// TestStoreFailsAtEachCall: lost requests and lost replies count nothing and double nothing.
func TestStoreFailsAtEachCall(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		for n, failed := int64(1), true; failed; n++ {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				var rec received
				var calls atomic.Int64
				failed = false
				r.takers = func(store.Store, *process) map[string]handover.Taker {
					h := r.st.Attach(memory.Options{Faults: memory.FaultFunc(func(memory.Call) memory.Effect {
						if calls.Add(1) != n {
							return memory.Effect{}
						}
						failed = true
						if after {
							return memory.Effect{After: memory.Unavailable("cut")}
						}
						return memory.Effect{Before: memory.Unavailable("cut")}
					})})
					return map[string]handover.Taker{"task": rec.taker(h)}
				}
				r.owe(&conversation.Owed{ID: "a", Kind: "task", To: target, At: time.Now()}, &conversation.Owed{ID: "b", Kind: "task", To: target, At: time.Now()})
				r.live(&process{}, 5*time.Minute)
				if diff := cmp.Diff(map[string]int{"a": 1, "b": 1}, r.landed()); diff != "" {
					t.Errorf("failed at call %d: %s", n, diff)
				}
				r.clean()
				if r.reported(handover.EventFailed) != 0 {
					t.Error("an outage was counted")
				}
			})
		}
	}
}

func TestTwoWorkers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		var rec received
		r.takers = func(st store.Store, _ *process) map[string]handover.Taker {
			return map[string]handover.Taker{"task": rec.taker(st)}
		}
		want := map[string]int{}
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { r.live(&process{}, 5*time.Minute) })
		}
		for i := range 600 {
			id := fmt.Sprintf("t%d", i)
			want[id] = 1
			r.owe(&conversation.Owed{ID: id, Kind: "task", To: target, At: time.Now()})
		}
		wg.Wait()
		if diff := cmp.Diff(want, r.landed()); diff != "" {
			t.Error(diff)
		}
		r.clean()
	})
}

// TestMany: more debts than fit into one commit.
func TestMany(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		var rec received
		r.takers = func(st store.Store, _ *process) map[string]handover.Taker {
			return map[string]handover.Taker{"task": rec.taker(st)}
		}
		for i := range 1500 {
			r.owe(&conversation.Owed{ID: fmt.Sprintf("t%d", i), Kind: "task", To: target, At: time.Now()})
		}
		r.live(&process{}, time.Minute)
		if n := len(r.landed()); n != 1500 {
			t.Errorf("%d landed, want 1500", n)
		}
		if n := r.reported(handover.EventKnown); n != 0 {
			t.Errorf("%d were offered again: a commit was refused", n)
		}
		r.clean()
	})
}

// TestWhatCannotBeTaken ends in a row, and what comes behind it goes on.
func TestWhatCannotBeTaken(t *testing.T) {
	t.Parallel()
	fails := func(err error) handover.TakerFunc {
		return func(context.Context, store.Partition, *conversation.Owed) (bool, error) { return false, err }
	}
	for _, tc := range []struct {
		name   string
		debt   func() *conversation.Owed
		taker  handover.Taker
		reason handover.Reason
		calls  int
	}{
		{"the target is gone", nil, fails(fmt.Errorf("x: %w", handover.ErrGone)), handover.ReasonGone, 1},
		{"malformed", nil, fails(handover.ErrMalformed), handover.ReasonMalformed, 1},
		{"it fails", nil, fails(errors.New("trouble")), handover.ReasonPoison, 5},
		{"it panics", nil, handover.TakerFunc(func(context.Context, store.Partition, *conversation.Owed) (bool, error) { panic("boom") }), handover.ReasonPoison, 5},
		{"busy for ever", nil, fails(handover.ErrBusy), handover.ReasonExpired, 0},
		{"a message for no conversation", func() *conversation.Owed {
			o := message("x")
			o.To = "person/p1"
			return o
		}, nil, handover.ReasonGone, 0},
		{"a message without an id", func() *conversation.Owed {
			o := message("x")
			o.Data = []byte(`{"v":1}`)
			return o
		}, nil, handover.ReasonMalformed, 0},
		{"a message that is no JSON", func() *conversation.Owed {
			o := message("x")
			o.Data = []byte(`{`)
			return o
		}, nil, handover.ReasonMalformed, 0},
		{"a kind that nobody takes", func() *conversation.Owed {
			o := message("x")
			o.Kind = "strange"
			return o
		}, nil, handover.ReasonExpired, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				var calls atomic.Int64
				r.takers = func(st store.Store, _ *process) map[string]handover.Taker {
					return map[string]handover.Taker{
						handover.MessageKind: handover.Messages{Store: st},
						"bad": handover.TakerFunc(func(ctx context.Context, from store.Partition, o *conversation.Owed) (bool, error) {
							calls.Add(1)
							return tc.taker.Take(ctx, from, o)
						}),
					}
				}
				bad := &conversation.Owed{ID: "bad", Kind: "bad", To: target, At: time.Now()}
				if tc.debt != nil {
					bad = tc.debt()
				}
				r.owe(bad, message("next"))
				r.live(&process{}, 25*time.Hour)
				ls := r.letters()
				if len(ls) != 1 || ls[0].ID != bad.ID || ls[0].Reason != tc.reason {
					t.Errorf("letters %+v, want one of %s for %s", ls, bad.ID, tc.reason)
				}
				if tc.calls > 0 && int(calls.Load()) != tc.calls {
					t.Errorf("%d calls, want %d", calls.Load(), tc.calls)
				}
				if n := len(r.docs(target, conversation.Inbox)); n != 1 {
					t.Errorf("%d messages arrived behind it, want 1", n)
				}
				r.clean()
			})
		})
	}
}

// TestPoison: an entry with which the process dies is set aside, and its neighbours arrive, those in its partition and those whose claims
// died with it.
func TestPoison(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		var deaths atomic.Int64
		r.takers = func(st store.Store, p *process) map[string]handover.Taker {
			return map[string]handover.Taker{
				handover.MessageKind: handover.Messages{Store: st},
				"bad": handover.TakerFunc(func(context.Context, store.Partition, *conversation.Owed) (bool, error) {
					deaths.Add(1)
					p.die()
					return false, errDead
				}),
			}
		}
		r.owe(message("before"), &conversation.Owed{ID: "bad", Kind: "bad", To: target, At: time.Now()}, message("after"))
		const beside = 20
		for i := range beside {
			from := part(fmt.Sprintf("beside%d", i))
			if _, err := r.st.Commit(t.Context(), store.Commit{ID: newID(), Partition: from, Ops: conversation.Owe(from, message(fmt.Sprintf("beside%d", i)))}); err != nil {
				t.Fatal(err)
			}
		}
		for range 15 {
			r.live(&process{}, 2*lease)
		}
		if n := deaths.Load(); n != 5 {
			t.Errorf("the process died %d times, want 5", n)
		}
		if ls := r.letters(); len(ls) != 1 || ls[0].ID != "bad" || ls[0].Reason != handover.ReasonPoison {
			t.Errorf("letters %+v", ls)
		}
		if n := len(r.docs(target, conversation.Inbox)); n != 2+beside {
			t.Errorf("%d messages arrived, want all %d neighbours", n, 2+beside)
		}
		r.clean()
	})
}

func TestFullInboxIsBusy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		taker := handover.Messages{Store: r.st, Inbox: 1}
		if _, err := taker.Take(t.Context(), source, message("1")); err != nil {
			t.Fatal(err)
		}
		if _, err := taker.Take(t.Context(), source, message("2")); !errors.Is(err, handover.ErrBusy) {
			t.Errorf("take into a full inbox: %v, want ErrBusy", err)
		}
		doc := r.docs(target, conversation.Inbox)[0]
		if _, err := r.st.Commit(t.Context(), store.Commit{ID: newID(), Partition: target, Ops: []store.Op{store.Delete{Key: doc.Key}}}); err != nil {
			t.Fatal(err)
		}
		if taken, err := taker.Take(t.Context(), source, message("2")); !taken || err != nil {
			t.Errorf("after there was room: %t, %v", taken, err)
		}
	})
}

func TestNewerDocumentsAreLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		_, err := r.st.Commit(t.Context(), store.Commit{ID: newID(), Partition: source, Ops: []store.Op{
			store.Put{Key: store.Key{Collection: conversation.Handovers, Name: "x"}, Value: []byte(`{"v":99}`)},
			store.Wake{Agenda: store.Handover, Member: store.MemberOf(source, "")},
		}})
		if err != nil {
			t.Fatal(err)
		}
		r.live(&process{}, 10*time.Minute)
		if len(r.letters()) != 0 || len(r.docs(source, conversation.Handovers)) != 1 {
			t.Error("an entry of a newer version was touched")
		}
	})
}

func TestOptions(t *testing.T) {
	t.Parallel()
	if _, err := handover.NewWorker(handover.Options{}, worker.Options{}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("without options: %v, want ErrInvalid", err)
	}
}
