package worker_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"herald/core/store"
	"herald/core/store/memory"
	"herald/core/worker"
)

func TestWakeDuringTheClaimPokes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st := memory.New(memory.Options{})
		var got seen
		var pokes atomic.Int64
		run(t, st, nil, func(ctx context.Context, c store.Claim, poke <-chan struct{}) error {
			got.add(c)
			for range 2 {
				select {
				case <-poke:
					pokes.Add(1)
				case <-time.After(time.Minute):
				}
			}
			return release(ctx, st, c)
		})
		wake(t, st, member(1), 0)
		synctest.Wait()
		wake(t, st, member(1), 0)
		synctest.Wait()
		if pokes.Load() != 1 {
			t.Fatalf("%d pokes, want 1", pokes.Load())
		}
		if n := len(got.all()); n != 1 {
			t.Fatalf("%d claims, want 1", n)
		}
		wake(t, st, member(1), 0)
		time.Sleep(time.Second)
		// The wakes stay due in the store: the member comes once more after the release.
		if n := len(got.all()); n != 2 {
			t.Errorf("%d claims after the release, want 2", n)
		}
		time.Sleep(5 * time.Minute)
	})
}

// TestUnreadPoke: a wake between the handler's last look and its end is not lost, even with no poll for an hour.
func TestUnreadPoke(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st := memory.New(memory.Options{})
		var got seen
		run(t, st, func(o *worker.Options) { o.Poll = time.Hour }, func(ctx context.Context, c store.Claim, _ <-chan struct{}) error {
			n := got.add(c)
			if err := release(ctx, st, c); err != nil {
				return err
			}
			if n == 1 {
				wake(t, st, member(1), 0) // after the release, before the handler has returned
				time.Sleep(time.Millisecond)
			}
			return nil
		})
		synctest.Wait()
		wake(t, st, member(1), 0)
		time.Sleep(time.Second)
		if n := len(got.all()); n != 2 {
			t.Errorf("%d claims, want 2", n)
		}
	})
}

func TestNudgeAfter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st := memory.New(memory.Options{})
		var got seen
		var w *rig
		w = run(t, st, func(o *worker.Options) { o.Poll = time.Hour }, func(ctx context.Context, c store.Claim, _ <-chan struct{}) error {
			if got.add(c) > 1 {
				return release(ctx, st, c)
			}
			_, err := st.Commit(ctx, store.Commit{ID: newID(), Partition: c.Member.Partition(), Claim: &c, Ops: []store.Op{
				store.Release{Claim: c, Again: true, In: 300 * time.Millisecond},
			}})
			w.NudgeAfter(c.Member, 300*time.Millisecond)
			return err
		})
		synctest.Wait()
		wake(t, st, member(1), 0)
		time.Sleep(time.Second)
		if n := len(got.all()); n != 2 {
			t.Fatalf("%d claims, want 2", n)
		}
		if d := got.when(1).Sub(got.when(0)); d != 300*time.Millisecond {
			t.Errorf("second claim after %v, want 300ms", d)
		}
	})
}

func TestExpect(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		// held: somebody else holds the member, so that the take fails.
		held bool
		// adopted and claimed are how often the two handlers run.
		adopted, claimed int64
	}{
		{"taken", false, 1, 0},
		{"held by another", true, 0, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				st := memory.New(memory.Options{})
				var adopted, claimed atomic.Int64
				r := run(t, st, func(o *worker.Options) { o.Holder = "me"; o.Poll = time.Hour },
					func(ctx context.Context, c store.Claim, _ <-chan struct{}) error {
						claimed.Add(1)
						return release(ctx, st, c)
					})
				synctest.Wait()
				var other []store.Claim
				if tc.held {
					deaf := st.Attach(memory.Options{Faults: memory.FaultFunc(func(memory.Call) memory.Effect { return memory.Effect{NoHints: true} })})
					wake(t, deaf, member(1), 0)
					var err error
					if other, err = st.Claim(t.Context(), store.ClaimRequest{Agenda: store.Outbox, Holder: "other", Lease: lease, Limit: 1}); err != nil {
						t.Fatal(err)
					}
				}
				before := r.Stats().Requests
				done := r.Expect(member(1))
				res, err := st.Commit(t.Context(), store.Commit{ID: newID(), Partition: member(1).Partition(), Ops: []store.Op{
					store.Wake{Agenda: store.Outbox, Member: member(1)},
					store.Take{Agenda: store.Outbox, Member: member(1), Holder: "me", Lease: lease},
				}})
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if n := r.Stats().Requests - before; n != 0 {
					t.Errorf("%d requests for an expected member, want 0", n)
				}
				started := done(res.Taken[0], func(ctx context.Context, c store.Claim, _ <-chan struct{}) error {
					adopted.Add(1)
					time.Sleep(3 * lease) // renewed like any other
					return release(ctx, st, c)
				})
				if started != !tc.held {
					t.Errorf("started %t, want %t", started, !tc.held)
				}
				for _, c := range other {
					if err := release(t.Context(), st, c); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(4 * lease)
				if adopted.Load() != tc.adopted || claimed.Load() != tc.claimed {
					t.Errorf("adopted %d, claimed %d, want %d and %d", adopted.Load(), claimed.Load(), tc.adopted, tc.claimed)
				}
			})
		})
	}
}

// TestExpectHoldsHintsBack: what came for the member while its commit was under way is looked at when nothing was taken.
func TestExpectHoldsHintsBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st := memory.New(memory.Options{})
		var claimed atomic.Int64
		r := run(t, st, func(o *worker.Options) { o.Poll = time.Hour }, func(ctx context.Context, c store.Claim, _ <-chan struct{}) error {
			claimed.Add(1)
			return release(ctx, st, c)
		})
		synctest.Wait()
		done := r.Expect(member(1))
		wake(t, st, member(1), 0)
		synctest.Wait()
		if claimed.Load() != 0 {
			t.Fatal("an expected member was claimed")
		}
		done(nil, nil)
		synctest.Wait()
		if claimed.Load() != 1 {
			t.Errorf("claimed %d times after nothing was taken, want once", claimed.Load())
		}
	})
}

func TestStop(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		grace time.Duration
		// needs is how long the handler takes after it was told; heeds: it listens to Stopping.
		needs time.Duration
		heeds bool
		// took is how long the stop lasts; cut: the handler is cancelled.
		took time.Duration
		cut  bool
	}{
		{"the handler comes to its end in time", 10 * time.Second, 3 * time.Second, true, 3 * time.Second, false},
		{"the handler ends by itself", 10 * time.Second, 8 * time.Second, false, 8 * time.Second, false},
		{"the handler is cancelled after the grace", 10 * time.Second, time.Hour, false, 10 * time.Second, true},
		{"no grace", -1, time.Hour, false, 0, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				st := memory.New(memory.Options{})
				var cut atomic.Bool
				r := run(t, st, func(o *worker.Options) { o.Grace = tc.grace }, func(ctx context.Context, c store.Claim, _ <-chan struct{}) error {
					if tc.heeds {
						<-worker.Stopping(ctx)
					}
					select {
					case <-ctx.Done():
						cut.Store(errors.Is(context.Cause(ctx), worker.ErrStopping))
						return ctx.Err()
					case <-time.After(tc.needs):
						return release(ctx, st, c)
					}
				})
				wake(t, st, member(1), 0)
				synctest.Wait()
				began := time.Now()
				r.stop()
				if d := time.Since(began); d != tc.took {
					t.Errorf("the stop took %v, want %v", d, tc.took)
				}
				if cut.Load() != tc.cut {
					t.Errorf("cancelled by ErrStopping: %t, want %t", cut.Load(), tc.cut)
				}
				claims, err := st.Claim(t.Context(), store.ClaimRequest{Agenda: store.Outbox, Holder: "next", Lease: lease, Limit: 1})
				if err != nil {
					t.Fatal(err)
				}
				if tc.cut && (len(claims) != 1 || claims[0].Attempt != 1) || !tc.cut && len(claims) != 0 {
					t.Errorf("after the stop the next holder gets %+v", claims)
				}
				if r.Expect(member(2))(&store.Claim{Agenda: store.Outbox, Member: member(2)}, nil) {
					t.Error("a stopped worker took another claim")
				}
			})
		})
	}
}

func TestStoppingOutsideOfAWorker(t *testing.T) {
	t.Parallel()
	if c := worker.Stopping(t.Context()); c != nil {
		t.Error("a context of nobody has a stop")
	}
}
