package worker_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"herald/core/store"
	"herald/core/store/memory"
	"herald/core/worker"
)

// An idle agenda costs one question a poll, and no claim.
func TestIdleCostsOneQuestionAPoll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var claims, dues atomic.Int64
		st := memory.New(memory.Options{Faults: memory.FaultFunc(func(c memory.Call) memory.Effect {
			switch c.Method {
			case "Claim":
				claims.Add(1)
			case "Due":
				dues.Add(1)
			}
			return memory.Effect{}
		})})
		r := run(t, st, func(o *worker.Options) { o.Poll = 4 * time.Second }, func(context.Context, store.Claim, <-chan struct{}) error { return nil })
		time.Sleep(400 * time.Second)
		synctest.Wait()
		if c, d := claims.Load(), dues.Load(); c > 2 || d < 80 || d > 140 {
			t.Errorf("in a hundred polls %d claims and %d questions; want the first claim and one question a poll", c, d)
		}
		_ = r
	})
}
