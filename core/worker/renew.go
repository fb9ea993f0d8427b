package worker

import (
	"context"
	"slices"
	"time"

	"herald/core/store"
)

// renewLoop extends the leases of all holdings at a third of the lease, and cancels those whose claim is lost. It sleeps without a
// timer while nothing is held.
func (w *Worker) renewLoop(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	defer timer.Stop()
	third := w.o.Lease / 3
	var renewAt time.Time
	for {
		earliest, any := w.earliest()
		now := time.Now()
		switch {
		case !any:
			renewAt = time.Time{}
			timer.Stop()
		case renewAt.IsZero():
			renewAt = now.Add(third)
			fallthrough
		default:
			next := renewAt
			if earliest.Before(next) {
				next = earliest
			}
			timer.Reset(next.Sub(now))
		}
		select {
		case <-ctx.Done():
			return
		case <-w.renewer:
			continue
		case <-timer.C:
		}
		if now = time.Now(); !renewAt.After(now) {
			renewAt = now.Add(third)
			if err := w.renew(ctx, now); err != nil {
				// Sooner than at the next third: the lease runs on.
				renewAt = time.Now().Add(w.o.Lease / 12)
				if ctx.Err() == nil {
					w.failed(&w.renewing, err)
				}
			} else {
				w.worked(&w.renewing)
			}
		}
		w.expire()
	}
}

// renew extends all holdings. The request is given up when the first lease would end during it.
func (w *Worker) renew(ctx context.Context, now time.Time) error {
	w.mu.Lock()
	holdings := make([]*holding, 0, len(w.held))
	until := now.Add(w.o.Lease / 3)
	for _, h := range w.held {
		if h.lose == nil || !h.deadline.After(now) {
			continue
		}
		holdings = append(holdings, h)
		if h.deadline.Before(until) {
			until = h.deadline
		}
	}
	w.mu.Unlock()
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	for batch := range slices.Chunk(holdings, claimBatch) {
		claims := make([]store.Claim, len(batch))
		for i, h := range batch {
			claims[i] = h.claim
		}
		began := time.Now()
		lost, err := w.o.Store.Extend(ctx, w.o.Lease, claims...)
		if err != nil {
			return err
		}
		w.mu.Lock()
		for i, h := range batch {
			switch {
			case w.held[h.claim.Member] != h:
				// It ended meanwhile, by a release of its own.
			case i < len(lost) && lost[i]:
				w.drop(h)
			default:
				h.deadline = began.Add(w.o.Lease)
			}
		}
		w.mu.Unlock()
	}
	return nil
}

// expire gives up the holdings whose lease has ended by this machine's own clock: somebody else may hold them by now.
func (w *Worker) expire() {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range w.held {
		if h.lose != nil && !h.deadline.After(now) {
			w.drop(h)
		}
	}
}

// drop cancels the handler of a lost claim. The member can be claimed anew at once; w.mu is held.
func (w *Worker) drop(h *holding) {
	delete(w.held, h.claim.Member)
	w.stats.Lost++
	h.lose(store.ErrFenced)
}

// earliest is the end of the lease that ends first. Without one the loop rests until a claim begins; later claims need no signal, since their
// leases end after the next renewal.
func (w *Worker) earliest() (at time.Time, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range w.held {
		if h.lose != nil && (!ok || h.deadline.Before(at)) {
			at, ok = h.deadline, true
		}
	}
	w.resting = !ok
	return at, ok
}
