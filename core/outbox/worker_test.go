package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/outbox"
	"herald/core/store"
	"herald/core/store/memory"
	"herald/core/worker"
)

// TestManyConversations: two workers, many conversations, and every kind of trouble at random. What a person sees is each text once and in
// order.
func TestManyConversations(t *testing.T) {
	t.Parallel()
	for _, caps := range []chat.Capabilities{withNonce, withLookBack, withBoth} {
		for seed := range uint64(8) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, caps)
				var mu sync.Mutex
				rnd := rand.New(rand.NewPCG(seed, 1))
				draw := func(n int) int {
					mu.Lock()
					defer mu.Unlock()
					return rnd.IntN(n)
				}
				kinds := []fault{lost, limit, away, unknown, hang, hangDone}
				r.faults = func(c call) fault {
					if c.op != "cut" && draw(5) == 0 {
						return kinds[draw(len(kinds))]
					}
					return fine
				}
				r.retryAfter = time.Second
				r.via = r.st.Attach(memory.Options{Faults: memory.FaultFunc(func(c memory.Call) memory.Effect {
					switch draw(40) {
					case 0:
						return memory.Effect{Before: memory.Unavailable("cut")}
					case 1:
						return memory.Effect{After: memory.Unavailable("cut")}
					case 2:
						return memory.Effect{Twice: c.Method == "Commit", NoHints: true}
					}
					return memory.Effect{}
				})})
				const conversations, each = 30, 4
				_, stop := r.start()
				_, stop2 := r.start()
				want := make([][]string, conversations)
				for i := range each {
					for c := range conversations {
						text := fmt.Sprintf("%d.%d", c, i)
						// Names in an order of their own: what counts is when each was written.
						r.say(conv(c), answer(fmt.Sprintf("d%d-%d", each-i, c), text+"a|"+text+"b"))
						want[c] = append(want[c], text+"a", text+"b")
					}
				}
				time.Sleep(10 * time.Minute)
				stop()
				stop2()
				for c := range conversations {
					if diff := cmp.Diff(want[c], r.shown(conv(c))); diff != "" {
						t.Errorf("seed %d, conversation %d: %s", seed, c, diff)
					}
				}
				r.settled(conv(0))
				if len(r.letters()) != 0 {
					t.Errorf("seed %d: letters %+v", seed, r.letters())
				}
			})
		}
	}
}

// TestStuckConversationDelaysNoOther: calls that hang, refusals and look-backs of one thread cost the others nothing.
func TestStuckConversationDelaysNoOther(t *testing.T) {
	t.Parallel()
	for _, f := range []fault{hang, refuse, lost, away, boom} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, withLookBack)
			r.faults = func(c call) fault {
				if c.post != nil && c.post.Conversation == conv(0) && c.op == "send" {
					return f
				}
				return fine
			}
			_, stop := r.start()
			defer stop()
			synctest.Wait()
			began := time.Now()
			for i := range 50 {
				r.say(conv(i), answer("a", "one|two"))
			}
			synctest.Wait()
			for i := 1; i < 50; i++ {
				if n := len(r.shown(conv(i))); n != 2 {
					t.Errorf("%s: %d messages in conversation %d after %v, want 2 at once", f, n, i, time.Since(began))
				}
			}
		})
	}
}

// TestStop: a stop finishes the call under way, takes back an attempt that was not made, and leaves nothing claimed.
func TestStop(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		pace time.Duration
		slow bool
		// after is when the stop comes, shown what stands then, took how long the stop lasts at most.
		after time.Duration
		shown []string
		took  time.Duration
	}{
		{"while a piece waits for its place", 3 * time.Second, false, time.Second, []string{"one"}, 0},
		{"during a send", 0, true, time.Second, []string{"one"}, 2 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, withNothing) // nothing would tell what stands
				r.paces = outbox.Paces{Channel: tc.pace}
				r.faults = func(c call) fault {
					if tc.slow && c.op == "send" {
						time.Sleep(2 * time.Second)
					}
					return fine
				}
				r.say(conv(1), answer("a", "one|two"))
				_, stop := r.start()
				time.Sleep(tc.after)
				began := time.Now()
				stop()
				if d := time.Since(began); d > tc.took {
					t.Errorf("the stop took %v, want at most %v", d, tc.took)
				}
				if diff := cmp.Diff(tc.shown, r.shown(conv(1))); diff != "" {
					t.Error(diff)
				}
				if claim := r.claim(conv(1)); claim.Attempt != 1 {
					t.Errorf("the next claim is attempt %d, want 1", claim.Attempt)
				} else if err := releaseAgain(t.Context(), r.st, claim); err != nil {
					t.Fatal(err)
				}
				r.run(time.Minute)
				if diff := cmp.Diff([]string{"one", "two"}, r.shown(conv(1))); diff != "" {
					t.Error(diff)
				}
				if r.reported(outbox.EventDouble) != 0 {
					t.Error("an attempt that was not made was left counted")
				}
				r.settled(conv(1), "a")
			})
		})
	}
}

func releaseAgain(ctx context.Context, st store.Store, c store.Claim) error {
	_, err := st.Commit(ctx, store.Commit{ID: newID(), Partition: c.Member.Partition(), Claim: &c, Ops: []store.Op{store.Release{Claim: c, Again: true}}})
	return err
}

// TestPoison: a delivery with which the process dies each time is set aside, and neither those behind it nor those beside it are lost.
func TestPoison(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, withLookBack)
		r.say(conv(0), answer("bad", "bad"), answer("b", "behind"))
		var deaths atomic.Int64
		var p *process
		r.faults = func(c call) fault {
			switch {
			case c.op == "send" && c.post.DeliveryID == "bad":
				deaths.Add(1)
				// Its neighbours have begun as well, and die with it.
				p.gone.Store(true)
				p.end()
				return away
			case c.op == "send":
				time.Sleep(100 * time.Millisecond)
			}
			return fine
		}
		for i := range 20 {
			r.say(conv(i+1), answer("a", "beside"))
		}
		for range 15 {
			p = &process{}
			r.live(p, 2*time.Minute)
		}
		if n := deaths.Load(); n != 5 {
			t.Errorf("the process died %d times, want 5", n)
		}
		if n := len(r.list(conv(0), "suspect")); n != 0 {
			t.Errorf("%d suspects are left", n)
		}
		if diff := cmp.Diff([]string{"behind"}, r.shown(conv(0))); diff != "" {
			t.Error(diff)
		}
		ls := r.letters()
		if len(ls) != 1 || ls[0].Delivery != "bad" || ls[0].Reason != outbox.ReasonPoison {
			t.Errorf("letters %+v, want one for the poison", ls)
		}
		for i := range 20 {
			if diff := cmp.Diff([]string{"beside"}, r.shown(conv(i+1))); diff != "" {
				t.Errorf("conversation %d: %s", i+1, diff)
			}
		}
	})
}

// TestSuspectsAreHandledAlone: of the conversations whose claims ended in crashes twice one is handled at a time; the others are given back
// uncounted.
func TestSuspectsAreHandledAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, withLookBack)
		release := make(chan struct{})
		r.faults = func(c call) fault {
			if c.op == "send" {
				<-release
			}
			return fine
		}
		d, err := outbox.New(r.options())
		if err != nil {
			t.Fatal(err)
		}
		claims := make([]store.Claim, 2)
		for i := range claims {
			r.say(conv(i), answer("a", "one"))
			claims[i] = r.claim(conv(i))
			claims[i].Attempt = 3
		}
		done := make(chan error, 1)
		go func() { done <- d.Run(t.Context(), claims[0], nil) }()
		synctest.Wait()
		if err := d.Run(t.Context(), claims[1], nil); err == nil || errors.Is(err, store.ErrFenced) {
			t.Errorf("a second suspect: %v, want it given back", err)
		}
		close(release)
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := d.Run(t.Context(), claims[1], nil); err != nil {
			t.Errorf("after the first one: %v", err)
		}
		if n := len(r.shown(conv(0))) + len(r.shown(conv(1))); n != 2 {
			t.Errorf("%d messages, want 2", n)
		}
	})
}

// TestSuspectPassIsAboutOneDelivery: what stands behind a suspect is handled under a claim of its own, with attempts of its own.
func TestSuspectPassIsAboutOneDelivery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, withLookBack)
		d, err := outbox.New(r.options())
		if err != nil {
			t.Fatal(err)
		}
		r.say(conv(0), answer("a", "one|two"), answer("b", "three"))
		claim := r.claim(conv(0))
		claim.Attempt = 3
		if err := d.Run(t.Context(), claim, nil); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"one", "two"}, r.shown(conv(0))); diff != "" {
			t.Error(diff)
		}
		if claim = r.claim(conv(0)); claim.Attempt != 1 {
			t.Errorf("the next claim is attempt %d, want 1", claim.Attempt)
		}
		if err := d.Run(t.Context(), claim, nil); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"one", "two", "three"}, r.shown(conv(0))); diff != "" {
			t.Error(diff)
		}
	})
}

func TestOptions(t *testing.T) {
	t.Parallel()
	good := newRig(t, withNonce).options()
	for _, tc := range []struct {
		name   string
		change func(*outbox.Options)
		ok     bool
	}{
		{"complete", func(*outbox.Options) {}, true},
		{"no store", func(o *outbox.Options) { o.Store = nil }, false},
		{"no adapter", func(o *outbox.Options) { o.Adapter = nil }, false},
		{"no pacer", func(o *outbox.Options) { o.Pacer = nil }, false},
		{"no ids", func(o *outbox.Options) { o.NewID = nil }, false},
		{"no randomness", func(o *outbox.Options) { o.Random = nil }, false},
	} {
		o := good
		tc.change(&o)
		if _, err := outbox.NewWorker(o, worker.Options{Holder: "h"}); (err == nil) != tc.ok {
			t.Errorf("%s: %v, want it to pass: %t", tc.name, err, tc.ok)
		}
	}
}

// BenchmarkDeliverTaken is the outbox's part of a plain answer: one send, one commit.
func BenchmarkDeliverTaken(b *testing.B) {
	r := newRig(b, withNonce)
	d, err := outbox.New(r.options())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c := conv(i % 1000)
		p := conversation.Partition(c)
		a := answer(fmt.Sprint(i), "one")
		outbox.Pieces(a, []string{"one"})
		outbox.Arm(a, a.MadeAt)
		guards, ops := outbox.Express(p, a, false, "me", lease)
		res, err := r.st.Commit(b.Context(), store.Commit{ID: newID(), Partition: p, Guards: guards, Ops: ops})
		if err != nil {
			b.Fatal(err)
		}
		if err := d.DeliverTaken(b.Context(), *res.Taken[0], outbox.Taken{Delivery: a, Version: res.Versions[0], Now: res.Now, Armed: true}); err != nil {
			b.Fatal(err)
		}
		r.messages, r.calls, r.times, r.events = nil, nil, nil, nil
	}
}

// BenchmarkRun is a delivery that is claimed and read first.
func BenchmarkRun(b *testing.B) {
	r := newRig(b, withNonce)
	d, err := outbox.New(r.options())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c := conv(i % 1000)
		r.say(c, answer(fmt.Sprint(i), "one"))
		if err := d.Run(b.Context(), r.claim(c), nil); err != nil {
			b.Fatal(err)
		}
		r.messages, r.calls, r.times, r.events = nil, nil, nil, nil
	}
}
