package worker_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"herald/core/store"
	"herald/core/store/memory"
	"herald/core/worker"
)

func TestHintClaimsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st := memory.New(memory.Options{})
		var got seen
		run(t, st, nil, func(ctx context.Context, c store.Claim, _ <-chan struct{}) error {
			got.add(c)
			return release(ctx, st, c)
		})
		synctest.Wait()
		began := time.Now()
		wake(t, st, member(1), 0)
		synctest.Wait()
		if claims := got.all(); len(claims) != 1 || claims[0].Member != member(1) {
			t.Fatalf("claims %+v, want one of %s", claims, member(1))
		}
		if d := time.Since(began); d != 0 {
			t.Errorf("it took %v, want no time at all", d)
		}
	})
}

func TestPollFindsWhatNoHintNamed(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		due  time.Duration
		// from and to bound the instant of the claim, after the wake.
		from, to time.Duration
	}{
		{"due now", 0, 0, 2500 * time.Millisecond},
		{"due between two polls", 3 * time.Second, 3 * time.Second, 3001 * time.Millisecond},
		{"due much later", 61 * time.Second, 61 * time.Second, 61*time.Second + time.Millisecond},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				st := memory.New(memory.Options{})
				deaf := st.Attach(memory.Options{Faults: memory.FaultFunc(func(memory.Call) memory.Effect { return memory.Effect{NoHints: true} })})
				var got seen
				run(t, st, nil, func(ctx context.Context, c store.Claim, _ <-chan struct{}) error {
					got.add(c)
					return release(ctx, st, c)
				})
				synctest.Wait()
				began := time.Now()
				wake(t, deaf, member(1), tc.due)
				time.Sleep(2 * time.Minute)
				if n := len(got.all()); n != 1 {
					t.Fatalf("%d claims, want 1", n)
				}
				if d := got.when(0).Sub(began); d < tc.from || d > tc.to {
					t.Errorf("claimed after %v, want between %v and %v", d, tc.from, tc.to)
				}
			})
		})
	}
}

func TestHintsBecomeOneRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st := memory.New(memory.Options{})
		slow := st.Attach(memory.Options{Faults: memory.FaultFunc(func(c memory.Call) memory.Effect {
			if c.Method == "Claim" {
				return memory.Effect{Delay: 10 * time.Millisecond}
			}
			return memory.Effect{}
		})})
		var n atomic.Int64
		r := run(t, slow, nil, func(ctx context.Context, c store.Claim, _ <-chan struct{}) error {
			n.Add(1)
			return release(ctx, slow, c)
		})
		time.Sleep(50 * time.Millisecond) // the first look through the agenda is over
		before := r.Stats().Requests
		for i := range 100 {
			wake(t, st, member(i), 0)
			wake(t, st, member(i), 0) // a second hint for the same member
		}
		time.Sleep(100 * time.Millisecond)
		if n.Load() != 100 {
			t.Fatalf("%d members handled, want 100", n.Load())
		}
		// The first hint makes a request of its own; those that came during it share the next.
		if d := r.Stats().Requests - before; d > 3 {
			t.Errorf("%d requests for 100 members, want at most 3", d)
		}
	})
}

func TestBacklogWithinConcurrency(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const members, slots = 500, 16
		st := memory.New(memory.Options{})
		for i := range members {
			wake(t, st, member(i), 0)
		}
		var running, most, done atomic.Int64
		r := run(t, st, func(o *worker.Options) { o.Concurrency = slots }, func(ctx context.Context, c store.Claim, _ <-chan struct{}) error {
			n := running.Add(1)
			defer running.Add(-1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			time.Sleep(10 * time.Millisecond)
			done.Add(1)
			return release(ctx, st, c)
		})
		time.Sleep(time.Second)
		if done.Load() != members {
			t.Errorf("%d of %d members handled after a second", done.Load(), members)
		}
		if most.Load() != slots {
			t.Errorf("%d ran at a time, want %d", most.Load(), slots)
		}
		if n := r.Stats().Requests; n > members/2 {
			t.Errorf("%d requests for a backlog of %d: it was fetched one by one", n, members)
		}
	})
}

func TestStuckMemberDelaysNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st := memory.New(memory.Options{})
		var done atomic.Int64
		run(t, st, func(o *worker.Options) { o.Concurrency = 2; o.Grace = -1 }, func(ctx context.Context, c store.Claim, _ <-chan struct{}) error {
			if c.Member == member(0) {
				<-ctx.Done()
				return ctx.Err()
			}
			done.Add(1)
			return release(ctx, st, c)
		})
		began := time.Now()
		for i := range 50 {
			wake(t, st, member(i), 0)
		}
		synctest.Wait()
		if done.Load() != 49 || time.Since(began) != 0 {
			t.Errorf("%d others done after %v, want 49 at once", done.Load(), time.Since(began))
		}
	})
}

func TestTwoWorkersShareTheWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st := memory.New(memory.Options{})
		var got seen
		handle := func(ctx context.Context, c store.Claim, _ <-chan struct{}) error {
			got.add(c)
			time.Sleep(time.Millisecond)
			return release(ctx, st, c)
		}
		run(t, st, nil, handle)
		run(t, st, nil, handle)
		for i := range 200 {
			wake(t, st, member(i), 0)
		}
		time.Sleep(10 * time.Second)
		times := map[store.Member]int{}
		for _, c := range got.all() {
			times[c.Member]++
			if c.Attempt != 1 {
				t.Errorf("%s came as attempt %d, want 1", c.Member, c.Attempt)
			}
		}
		if len(times) != 200 || len(got.all()) != 200 {
			t.Errorf("%d claims of %d members, want 200 of 200", len(got.all()), len(times))
		}
	})
}

func TestStoreAwayAtClaims(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var away atomic.Bool
		var tries atomic.Int64
		st := memory.New(memory.Options{})
		h := st.Attach(memory.Options{Faults: memory.FaultFunc(func(c memory.Call) memory.Effect {
			if away.Load() && (c.Method == "Claim" || c.Method == "Due") {
				tries.Add(1)
				return memory.Effect{Before: memory.Unavailable("cut")}
			}
			return memory.Effect{}
		})})
		away.Store(true)
		var done atomic.Int64
		run(t, h, nil, func(ctx context.Context, c store.Claim, _ <-chan struct{}) error {
			done.Add(1)
			return release(ctx, st, c)
		})
		wake(t, st, member(1), 0)
		time.Sleep(time.Minute)
		if n := tries.Load(); n < 5 || n > 40 {
			t.Errorf("%d tries in a minute without a store, want a growing pause between them", n)
		}
		away.Store(false)
		time.Sleep(2 * 5 * time.Second)
		if done.Load() != 1 {
			t.Error("the member was not handled after the store came back")
		}
	})
}

func TestIdleMembersCostNoGoroutine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st := memory.New(memory.Options{})
		run(t, st, nil, func(ctx context.Context, c store.Claim, _ <-chan struct{}) error { return release(ctx, st, c) })
		synctest.Wait()
		before := runtime.NumGoroutine()
		for i := range 2000 {
			wake(t, st, member(i), time.Duration(i)*time.Microsecond)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		// Other tests run beside this one: far fewer than the members is what can be said.
		if n := runtime.NumGoroutine() - before; n > 500 {
			t.Errorf("%d goroutines more after 2000 members came to rest", n)
		}
	})
}

func TestOptions(t *testing.T) {
	t.Parallel()
	good := worker.Options{
		Store: memory.New(memory.Options{}), Agenda: store.Outbox, Holder: "h", NewID: newID, Random: func() float64 { return 0 },
		Handle: func(context.Context, store.Claim, <-chan struct{}) error { return nil },
	}
	for _, tc := range []struct {
		name   string
		change func(*worker.Options)
		ok     bool
	}{
		{"complete", func(*worker.Options) {}, true},
		{"no store", func(o *worker.Options) { o.Store = nil }, false},
		{"no agenda", func(o *worker.Options) { o.Agenda = "" }, false},
		{"no holder", func(o *worker.Options) { o.Holder = "" }, false},
		{"no handler", func(o *worker.Options) { o.Handle = nil }, false},
		{"no ids", func(o *worker.Options) { o.NewID = nil }, false},
		{"no randomness", func(o *worker.Options) { o.Random = nil }, false},
		{"a lease of nothing", func(o *worker.Options) { o.Lease = -1 }, false},
		{"no slot", func(o *worker.Options) { o.Concurrency = -1 }, false},
		{"a poll of nothing", func(o *worker.Options) { o.Poll = -1 }, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			o := good
			tc.change(&o)
			if _, err := worker.New(o); (err == nil) != tc.ok {
				t.Errorf("New: %v, want it to pass: %t", err, tc.ok)
			}
		})
	}
}
