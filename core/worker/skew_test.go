package worker_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"herald/core/store"
	"herald/core/store/memory"
)

// A lease ends by what passes on this machine, never by comparing the store's clock with its own.
func TestClocksApart(t *testing.T) {
	t.Parallel()
	for name, skew := range map[string]time.Duration{"the store is behind": -10 * time.Minute, "the store is ahead": 10 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				st := memory.New(memory.Options{Clock: func() time.Time { return time.Now().Add(skew) }})
				var got seen
				run(t, st, nil, func(ctx context.Context, c store.Claim, _ <-chan struct{}) error {
					got.add(c)
					select {
					case <-time.After(3 * lease):
					case <-ctx.Done():
						t.Errorf("cancelled: %v", context.Cause(ctx))
					}
					return release(ctx, st, c)
				})
				wake(t, st, member(1), 0)
				time.Sleep(4 * lease)
				if n := len(got.all()); n != 1 {
					t.Errorf("%d claims, want 1", n)
				}
			})
		})
	}
}
