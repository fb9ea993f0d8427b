package worker

import (
	"context"
	"errors"
	"time"

	"herald/core/store"
)

// Hint takes a hint of the store. One for another agenda is ignored, so that all hints can be given to all workers. It never blocks.
func (w *Worker) Hint(h store.Hint) {
	if h.Agenda == w.o.Agenda {
		w.Nudge(h.Member)
	}
}

// Nudge makes the worker look at a member now, without the store's hint: its handler is poked when this worker holds it, else the
// member is claimed by name. It never blocks, may be called at any time, and costs one request when there was nothing to do.
func (w *Worker) Nudge(m store.Member) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if h := w.held[m]; h != nil {
		h.poked()
		return
	}
	w.queue.want(m)
	signal(w.claimer)
}

// NudgeAfter does the same after d: whoever releases a claim until a time that it knows spares the agenda the wait for the next poll.
func (w *Worker) NudgeAfter(m store.Member, d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue.wantAt(m, time.Now().Add(d))
	signal(w.claimer)
}

// Expect announces that the caller's next commit may take the claim of m for this worker's holder. Until the returned function is
// called, hints for m are kept back, because a request for it would only find it held. The function must be called once: with the claim
// that the commit took, which starts handle under this worker as if it had claimed it itself, or with nil, which lets the hints through.
//
// It answers false, and does not start handle, when the worker has stopped claiming; the caller then still owns the claim.
func (w *Worker) Expect(m store.Member) func(c *store.Claim, handle Handler) bool {
	began := time.Now()
	e := &holding{poke: make(chan struct{}, 1)}
	w.mu.Lock()
	if w.held[m] == nil {
		w.held[m] = e
	}
	w.mu.Unlock()
	return func(c *store.Claim, handle Handler) bool {
		w.mu.Lock()
		if w.held[m] == e {
			delete(w.held, m)
		}
		hinted := len(e.poke) > 0
		if c == nil && hinted {
			w.queue.want(m)
			signal(w.claimer)
		}
		w.mu.Unlock()
		// The hint of the very commit that took the claim says nothing new: what it speaks of is in the caller's hands.
		return c != nil && w.start(*c, began, handle)
	}
}

// Listen gives the hints of a store to all workers until ctx ends, over one subscription. It returns nil then, and the error when
// the store's handle is closed before.
func Listen(ctx context.Context, st store.Store, workers ...*Worker) error {
	err := st.Hints(ctx, nil, func(h store.Hint) {
		for _, w := range workers {
			w.Hint(h)
		}
	})
	if ctx.Err() != nil && (err == nil || errors.Is(err, ctx.Err())) {
		return nil
	}
	return err
}

// signal wakes a loop without waiting for it.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
