package worker

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"herald/core/store"
)

// holding is a claim that a handler works on, or (with a nil lose) one that is expected.
type holding struct {
	claim store.Claim
	poke  chan struct{}
	// lease ends with store.ErrFenced when the claim is lost, lose ends it.
	lease context.Context
	lose  context.CancelCauseFunc
	// deadline is when the lease ends on this machine's monotonic clock: counted from before the request that gave it, so never too late.
	deadline time.Time
}

func (h *holding) poked() { signal(h.poke) }

// start runs handle on a claim that was asked for at began.
func (w *Worker) start(c store.Claim, began time.Time, handle Handler) bool {
	h := &holding{claim: c, poke: make(chan struct{}, 1), deadline: began.Add(w.o.Lease)}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.base == nil {
		return false
	}
	// The lease outlives the grace: a claim can be given back after the handler was cancelled.
	h.lease, h.lose = context.WithCancelCause(context.WithoutCancel(w.base))
	handling, cancel := context.WithCancelCause(h.lease)
	unlink := context.AfterFunc(w.base, func() { cancel(ErrStopping) })
	if old := w.held[c.Member]; old != nil && old.lose != nil {
		w.drop(old) // its lease ended, else the store would not have given the member again
	}
	w.held[c.Member] = h
	w.running++
	if w.resting {
		w.resting = false
		signal(w.renewer)
	}
	w.handlers.Go(func() {
		err := w.handle(handling, h, handle)
		stopped := errors.Is(context.Cause(handling), ErrStopping)
		unlink()
		cancel(nil)
		w.settle(h, err, stopped)
		w.finish(h)
	})
	return true
}

// panicked is the error of a handler that panicked.
type panicked struct{ value any }

func (p *panicked) Error() string { return "the handler panicked" }

// handle calls the handler; a panic leaves the claim to its lease and the other handlers alone.
func (w *Worker) handle(ctx context.Context, h *holding, handle Handler) (err error) {
	defer func() {
		if v := recover(); v != nil {
			w.o.Log.Error("a handler panicked; its claim counts as a failed attempt", "agenda", h.claim.Agenda, "member", h.claim.Member,
				"attempt", h.claim.Attempt, "panic", v, "stack", string(debug.Stack()))
			err = &panicked{v}
		}
	}()
	return handle(ctx, h.claim, h.poke)
}

// settle does what the handler's error asks for.
func (w *Worker) settle(h *holding, err error, stopped bool) {
	if err == nil || errors.Is(err, store.ErrFenced) || h.lease.Err() != nil {
		return
	}
	gb, asked := errors.AsType[*giveBack](err)
	switch {
	case asked:
		w.giveBack(h, gb.in)
	case stopped:
		w.giveBack(h, 0)
	case store.Outage(err):
		w.giveBack(h, w.spread(minPause))
	default:
		w.count(func(s *Stats) { s.Left++ })
		if _, ok := errors.AsType[*panicked](err); !ok {
			w.o.Log.Error("a handler failed; its claim counts as a failed attempt", "agenda", h.claim.Agenda, "member", h.claim.Member,
				"attempt", h.claim.Attempt, "error", err)
		}
	}
}

// giveBack releases the claim without counting it, over an outage as long as the lease holds. A stop cuts this short after one
// try: the lease ends by itself.
func (w *Worker) giveBack(h *holding, in time.Duration) {
	c := store.Commit{
		ID: "worker.giveback/" + w.o.NewID(), Partition: h.claim.Member.Partition(), Claim: &h.claim,
		Ops: []store.Op{store.Release{Claim: h.claim, Again: true, In: in, KeepAttempt: true}},
	}
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		ctx, cancel := context.WithTimeout(h.lease, maxPause)
		_, err := w.o.Store.Commit(ctx, c)
		cancel()
		switch {
		case err == nil:
			w.count(func(s *Stats) { s.GivenBack++ })
			if in > 0 {
				w.NudgeAfter(h.claim.Member, in)
			}
			return
		case errors.Is(err, store.ErrFenced), h.lease.Err() != nil:
			return
		}
		t := time.NewTimer(w.spread(pause))
		select {
		case <-t.C:
			continue
		case <-h.lease.Done():
		case <-w.stopping:
		}
		t.Stop()
		w.o.Log.Warn("a claim could not be given back; it ends with its lease", "agenda", h.claim.Agenda, "member", h.claim.Member, "error", err)
		return
	}
}

// finish forgets the holding. A poke that nobody read came after the handler's last look: the member is claimed again.
func (w *Worker) finish(h *holding) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running--
	if w.held[h.claim.Member] == h {
		delete(w.held, h.claim.Member)
	}
	if len(h.poke) > 0 {
		w.queue.want(h.claim.Member)
	}
	h.lose(nil)
	signal(w.claimer)
}
