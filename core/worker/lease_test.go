package worker_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"herald/core/store"
	"herald/core/store/memory"
	"herald/core/worker"
)

func TestLongHandlerKeepsItsClaim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st := memory.New(memory.Options{})
		var got seen
		handle := func(ctx context.Context, c store.Claim, _ <-chan struct{}) error {
			got.add(c)
			select {
			case <-time.After(10 * lease):
			case <-ctx.Done():
				t.Errorf("cancelled: %v", context.Cause(ctx))
			}
			return release(ctx, st, c)
		}
		run(t, st, nil, handle)
		run(t, st, nil, handle)
		wake(t, st, member(1), 0)
		time.Sleep(11 * lease)
		if n := len(got.all()); n != 1 {
			t.Errorf("%d claims, want 1", n)
		}
	})
}

func TestClaimIsLost(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		// lose makes the claim be lost; away is consulted by the worker's handle at each renewal.
		lose func(t *testing.T, st *memory.Store, c store.Claim, away *atomic.Int32)
		// by is when the handler must have been told, after the claim.
		by time.Duration
	}{
		{"the store says so", func(t *testing.T, st *memory.Store, c store.Claim, _ *atomic.Int32) {
			if err := release(t.Context(), st, c); err != nil {
				t.Error(err)
			}
		}, lease / 3},
		{"the store is away", func(_ *testing.T, _ *memory.Store, _ store.Claim, away *atomic.Int32) { away.Store(1) }, lease},
		{"the store hangs", func(_ *testing.T, _ *memory.Store, _ store.Claim, away *atomic.Int32) { away.Store(2) }, lease},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				st := memory.New(memory.Options{})
				var away atomic.Int32
				h := st.Attach(memory.Options{Faults: memory.FaultFunc(func(c memory.Call) memory.Effect {
					switch {
					case c.Method != "Extend":
					case away.Load() == 1:
						return memory.Effect{Before: memory.Unavailable("cut")}
					case away.Load() == 2:
						return memory.Effect{Delay: time.Hour}
					}
					return memory.Effect{}
				})})
				var told atomic.Int64
				r := run(t, h, nil, func(ctx context.Context, c store.Claim, _ <-chan struct{}) error {
					if c.Attempt > 1 {
						return release(ctx, st, c)
					}
					began := time.Now()
					tc.lose(t, st, c, &away)
					<-ctx.Done()
					told.Store(int64(time.Since(began)))
					if !errors.Is(context.Cause(ctx), store.ErrFenced) {
						t.Errorf("cause %v, want ErrFenced", context.Cause(ctx))
					}
					return ctx.Err()
				})
				wake(t, st, member(1), 0)
				time.Sleep(2 * lease)
				if d := time.Duration(told.Load()); d == 0 || d > tc.by {
					t.Errorf("told after %v, want by %v", d, tc.by)
				}
				if s := r.Stats(); s.Lost != 1 || s.Left != 0 || s.GivenBack != 0 {
					t.Errorf("stats %+v, want one lost claim and none left or given back", s)
				}
			})
		})
	}
}

// TestOutageShorterThanTheLease: renewals that fail for a while cost nothing.
func TestOutageShorterThanTheLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st := memory.New(memory.Options{})
		var away atomic.Bool
		h := st.Attach(memory.Options{Faults: memory.FaultFunc(func(c memory.Call) memory.Effect {
			if away.Load() {
				return memory.Effect{Before: memory.Unavailable("cut")}
			}
			return memory.Effect{}
		})})
		r := run(t, h, nil, func(ctx context.Context, c store.Claim, _ <-chan struct{}) error {
			select {
			case <-ctx.Done():
				t.Errorf("cancelled: %v", context.Cause(ctx))
			case <-time.After(3 * lease):
			}
			return release(ctx, st, c)
		})
		wake(t, st, member(1), 0)
		synctest.Wait()
		for range 4 {
			away.Store(true)
			time.Sleep(lease / 2)
			away.Store(false)
			time.Sleep(lease / 4)
		}
		if s := r.Stats(); s.Lost != 0 || s.Claimed != 1 {
			t.Errorf("stats %+v, want one claim and none lost", s)
		}
	})
}

func TestHandlerErrors(t *testing.T) {
	t.Parallel()
	trouble := errors.New("trouble")
	for _, tc := range []struct {
		name string
		fail func() error
		// attempt and after are what the second claim is.
		attempt int
		after   time.Duration
	}{
		{"a failure counts and waits for the lease", func() error { return trouble }, 2, lease},
		{"a panic too", func() error { panic("boom") }, 2, lease},
		{"given back", func() error { return worker.GiveBack(trouble, 0) }, 1, 0},
		{"given back for later", func() error { return worker.GiveBack(trouble, 7*time.Second) }, 1, 7 * time.Second},
		{"given back inside of another error", func() error { return errors.Join(errors.New("x"), worker.GiveBack(trouble, time.Second)) }, 1, time.Second},
		{"an outage of the store", func() error { return memory.Unavailable("cut") }, 1, 100 * time.Millisecond},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				st := memory.New(memory.Options{})
				var got seen
				run(t, st, nil, func(ctx context.Context, c store.Claim, _ <-chan struct{}) error {
					if got.add(c) == 1 {
						return tc.fail()
					}
					return release(ctx, st, c)
				})
				synctest.Wait()
				wake(t, st, member(1), 0)
				time.Sleep(2 * lease)
				claims := got.all()
				if len(claims) != 2 {
					t.Fatalf("%d claims, want 2", len(claims))
				}
				if claims[1].Attempt != tc.attempt {
					t.Errorf("attempt %d, want %d", claims[1].Attempt, tc.attempt)
				}
				if d := got.when(1).Sub(got.when(0)); d < tc.after || d > tc.after+3*time.Second {
					t.Errorf("claimed again after %v, want %v", d, tc.after)
				}
			})
		})
	}
}

// TestGiveBackOverAnOutage: the release is repeated while the lease holds, so that the outage counts nothing.
func TestGiveBackOverAnOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st := memory.New(memory.Options{})
		var away atomic.Bool
		h := st.Attach(memory.Options{Faults: memory.FaultFunc(func(memory.Call) memory.Effect {
			if away.Load() {
				return memory.Effect{Before: memory.Unavailable("cut")}
			}
			return memory.Effect{}
		})})
		var got seen
		run(t, h, nil, func(ctx context.Context, c store.Claim, _ <-chan struct{}) error {
			if got.add(c) == 1 {
				away.Store(true)
				return memory.Unavailable("cut")
			}
			return release(ctx, st, c)
		})
		wake(t, st, member(1), 0)
		time.Sleep(lease / 2)
		away.Store(false)
		time.Sleep(lease)
		claims := got.all()
		if len(claims) != 2 || claims[1].Attempt != 1 {
			t.Errorf("claims %+v, want a second one that is attempt 1", claims)
		}
	})
}

// TestGiveBackKeepsEarlierAttempts: what is given back counts nothing and forgives nothing.
func TestGiveBackKeepsEarlierAttempts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st := memory.New(memory.Options{})
		var got seen
		run(t, st, nil, func(ctx context.Context, c store.Claim, _ <-chan struct{}) error {
			switch got.add(c) {
			case 1:
				return errors.New("trouble")
			case 2:
				return worker.GiveBack(errors.New("not now"), time.Second)
			}
			return release(ctx, st, c)
		})
		wake(t, st, member(1), 0)
		time.Sleep(2 * lease)
		var attempts []int
		for _, c := range got.all() {
			attempts = append(attempts, c.Attempt)
		}
		if !slices.Equal(attempts, []int{1, 2, 2}) {
			t.Errorf("attempts %v, want 1, 2 and again 2", attempts)
		}
	})
}
