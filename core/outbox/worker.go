package outbox

import (
	"context"
	"time"

	"herald/core/store"
	"herald/core/worker"
)

// defaultConcurrency is how many conversations are delivered at a time: they wait for the network, not for the processor.
const defaultConcurrency = 512

// Worker delivers what is due in all conversations. Make it with [NewWorker], run it once.
type Worker struct {
	*worker.Worker
	d *Deliverer
}

// NewWorker makes a worker. Of loop only Holder, Lease, Concurrency (512 by default), Poll and Grace are used; the rest comes from o,
// whose Later is the worker's own.
func NewWorker(o Options, loop worker.Options) (*Worker, error) {
	w := &Worker{}
	o.Later = func(m store.Member, d time.Duration) { w.NudgeAfter(m, d) }
	d, err := New(o)
	if err != nil {
		return nil, err
	}
	w.d = d
	loop.Store, loop.Agenda, loop.Handle = o.Store, store.Outbox, d.Run
	loop.NewID, loop.Random, loop.Log = o.NewID, o.Random, d.o.Log
	if loop.Concurrency == 0 {
		loop.Concurrency = defaultConcurrency
	}
	if w.Worker, err = worker.New(loop); err != nil {
		return nil, err
	}
	return w, nil
}

// Express announces that the caller's next commit may take the outbox of p, as [Express] makes it. The returned function must be called
// once after that commit: with the claim that it took and what it wrote, which is then delivered at once under this worker; or with a
// nil claim. When the worker has stopped it delivers in the caller's goroutine, so that what was just taken does not wait for a lease.
func (w *Worker) Express(p store.Partition) func(ctx context.Context, claim *store.Claim, t Taken) error {
	done := w.Expect(store.MemberOf(p, ""))
	return func(ctx context.Context, claim *store.Claim, t Taken) error {
		started := done(claim, func(ctx context.Context, c store.Claim, _ <-chan struct{}) error { return w.d.DeliverTaken(ctx, c, t) })
		if claim == nil || started {
			return nil
		}
		return w.d.DeliverTaken(ctx, *claim, t)
	}
}
