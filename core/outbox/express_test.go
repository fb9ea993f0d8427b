package outbox_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/outbox"
	"herald/core/store"
	"herald/core/store/memory"
)

// express commits d as an engine's last commit does, and hands it to w. It reports whether the claim was taken.
func (r *rig) express(w *outbox.Worker, c chat.Conversation, holder string, d *conversation.Delivery) (bool, error) {
	r.t.Helper()
	outbox.Pieces(d, r.Cut(c, d.Text))
	armed := outbox.Arm(d, time.Now())
	p := conversation.Partition(c)
	done := w.Express(p)
	guards, ops := outbox.Express(p, d, false, holder, lease)
	res, err := r.st.Commit(context.Background(), store.Commit{ID: newID(), Partition: p, Guards: guards, Ops: ops})
	if err != nil {
		_ = done(context.Background(), nil, outbox.Taken{})
		return false, err
	}
	return res.Taken[0] != nil, done(context.Background(), res.Taken[0], outbox.Taken{Delivery: d, Version: res.Versions[0], Now: res.Now, Armed: armed})
}

// TestExpressCostsOneRoundTrip: after the engine's commit a plain answer is one send and one commit.
func TestExpressCostsOneRoundTrip(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text string
		trips      int64
	}{
		{"one piece", "one", 1},
		{"three pieces", "one|two|three", 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, withNonce)
				counted := r.st.Attach(memory.Options{})
				r.via = counted
				w, stop := r.start()
				defer stop()
				synctest.Wait()
				before := counted.Stats()
				requests := w.Stats().Requests
				if took, err := r.express(w, conv(1), "me", answer("a", tc.text)); err != nil || !took {
					t.Fatal(took, err)
				}
				synctest.Wait()
				after := counted.Stats()
				if n := after.RoundTrips - before.RoundTrips; n != tc.trips {
					t.Errorf("%d round trips, want %d", n, tc.trips)
				}
				if n := after.Writes - before.Writes; n != tc.trips {
					t.Errorf("%d durable writes, want %d", n, tc.trips)
				}
				if n := w.Stats().Requests - requests; n != 0 {
					t.Errorf("%d claims were asked for, want none", n)
				}
				r.settled(conv(1), "a")
				if diff := cmp.Diff(r.Cut(conv(1), tc.text), r.shown(conv(1))); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// TestRunCost: without the express way a claim, a read, the attempt and the receipt.
func TestRunCost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, withNonce)
		counted := r.st.Attach(memory.Options{})
		r.via = counted
		_, stop := r.start()
		defer stop()
		synctest.Wait()
		before := counted.Stats()
		r.say(conv(1), answer("a", "one"))
		synctest.Wait()
		if n := counted.Stats().RoundTrips - before.RoundTrips; n != 4 {
			t.Errorf("%d round trips, want 4", n)
		}
		r.settled(conv(1), "a")
	})
}

func TestExpressBehindAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, withNonce)
		r.faults = first(1, "send", away)
		w, stop := r.start()
		defer stop()
		r.say(conv(1), answer("a", "one"))
		synctest.Wait()
		if _, err := r.express(w, conv(1), "me", answer("b", "two")); err == nil {
			t.Fatal("an answer overtook one that waits")
		}
		r.say(conv(1), answer("b", "two"))
		time.Sleep(10 * time.Second)
		if diff := cmp.Diff([]string{"one", "two"}, r.shown(conv(1))); diff != "" {
			t.Error(diff)
		}
	})
}

// TestExpressWhileAnotherHolds: the attempt that an express delivery counts is nobody's when another replica looks through the outbox at
// that very moment, and the answer would wait until an earlier attempt can be looked for.
func TestExpressWhileAnotherHolds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, withNonce)
		w, stop := r.start()
		defer stop()
		p := conversation.Partition(conv(1))
		m := store.MemberOf(p, "")
		res, err := r.st.Commit(t.Context(), store.Commit{ID: newID(), Partition: p, Ops: []store.Op{store.Take{Agenda: store.Outbox, Member: m, Holder: "another", Lease: lease}}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.express(w, conv(1), "me", answer("a", "one")); !errors.Is(err, store.ErrConflict) {
			t.Fatalf("an answer took an outbox that another holds: %v", err)
		}
		r.say(conv(1), answer("a", "one"))
		if _, err := r.st.Commit(t.Context(), store.Commit{ID: newID(), Partition: p, Ops: []store.Op{store.Release{Claim: *res.Taken[0]}}}); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		synctest.Wait()
		r.settled(conv(1), "a")
		if took := time.Since(began); took > 0 {
			t.Errorf("the answer waited %v", took)
		}
	})
}

// TestExpressAfterTheStop: what was just taken is delivered all the same.
func TestExpressAfterTheStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, withNonce)
		w, stop := r.start()
		stop()
		if took, err := r.express(w, conv(1), "me", answer("a", "one")); err != nil || !took {
			t.Fatal(took, err)
		}
		r.settled(conv(1), "a")
	})
}

// TestExpressOfALiveMessage: the delivery that stands in the outbox already is no other; the message is edited, and no new one made.
func TestExpressOfALiveMessage(t *testing.T) {
	t.Parallel()
	for _, other := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, withNonce)
			d, _ := r.draft("a", "thinking")
			r.say(conv(1), d)
			w, stop := r.start()
			defer stop()
			synctest.Wait()
			if other {
				r.fail(func(call) fault { return away })
				r.say(conv(1), answer("b", "waits"))
				synctest.Wait()
			}
			r.finish(d, "done|more")
			if outbox.Arm(d, time.Now()) {
				t.Error("a message that stands was armed")
			}
			p := conversation.Partition(conv(1))
			done := w.Express(p)
			guards, ops := outbox.Express(p, d, true, "me", lease)
			res, err := r.st.Commit(t.Context(), store.Commit{ID: newID(), Partition: p, Guards: guards, Ops: ops})
			if (err != nil) != other {
				t.Fatalf("with another that waits %t: %v", other, err)
			}
			if other {
				_ = done(t.Context(), nil, outbox.Taken{})
				return
			}
			if err := done(t.Context(), res.Taken[0], outbox.Taken{Delivery: d, Version: res.Versions[0], Now: res.Now}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if diff := cmp.Diff([]string{"done", "more"}, r.shown(conv(1))); diff != "" {
				t.Error(diff)
			}
			r.settled(conv(1), "a")
		})
	}
}

// TestExpressWaitsForItsPlace: the attempt is counted anew for the instant of the send, so that nobody looks for it too soon.
func TestExpressWaitsForItsPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, withLookBack)
		r.paces = outbox.Paces{Channel: 4 * time.Second}
		if _, _, err := r.st.Reserve(t.Context(), -1, r.paces.For(conv(1), outbox.Sends)...); err != nil {
			t.Fatal(err)
		}
		w, stop := r.start()
		defer stop()
		r.fail(func(c call) fault {
			if c.op == "send" {
				if p := r.list(conv(1), conversation.Outgoing)["a"].Pieces[0]; !p.TriedAt.Equal(time.Now()) || p.Attempts != 1 {
					t.Errorf("at the send the store says %+v, want one attempt at %v", p, time.Now())
				}
			}
			return fine
		})
		if took, err := r.express(w, conv(1), "me", answer("a", "one")); err != nil || !took {
			t.Fatal(took, err)
		}
		time.Sleep(5 * time.Second)
		if diff := cmp.Diff([]string{"one"}, r.shown(conv(1))); diff != "" {
			t.Error(diff)
		}
		r.settled(conv(1), "a")
	})
}

func TestArm(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	for _, tc := range []struct {
		name string
		d    conversation.Delivery
		want bool
	}{
		{"cut", conversation.Delivery{Pieces: []conversation.Piece{{Text: "x"}}}, true},
		{"not cut", conversation.Delivery{}, false},
		{"live", conversation.Delivery{Live: true, Pieces: []conversation.Piece{{Text: "x"}}}, false},
		{"tried", conversation.Delivery{Pieces: []conversation.Piece{{Text: "x", Attempts: 1}}}, false},
		{"standing", conversation.Delivery{Pieces: []conversation.Piece{{Text: "x", Receipt: &chat.Receipt{MessageID: "m"}}}}, false},
	} {
		if got := outbox.Arm(&tc.d, now); got != tc.want {
			t.Errorf("%s: armed %t, want %t", tc.name, got, tc.want)
		}
		if tc.want && (tc.d.Pieces[0].Attempts != 1 || !tc.d.Pieces[0].TriedAt.Equal(now)) {
			t.Errorf("%s: %+v", tc.name, tc.d.Pieces[0])
		}
	}
}
