package handover

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"herald/core/store"
	"herald/core/worker"
)

// Options of a [Worker]. Store, Takers, NewID and Random are required.
type Options struct {
	Store store.Store
	// Takers are the takers by kind.
	Takers map[string]Taker
	// NewID makes ids of commits, Random numbers in [0, 1). Both must be safe for concurrent use.
	NewID  func() string
	Random func() float64
	// MaxAttempts is how often a taker may fail on an entry, or the process die with it, before it is buried; 5 by default.
	MaxAttempts int
	// MaxAge is the age from which an entry is given up; 24 h by default.
	MaxAge time.Duration
	// MinPause and MaxPause bound the pause before an entry is offered again; 500 ms and 1 min by default.
	MinPause, MaxPause time.Duration
	// Log takes what an operator should know; nothing by default. Report is told what became of each entry; it must not block.
	Log    *slog.Logger
	Report func(Event)
}

// EventKind is what became of an entry.
type EventKind string

// The events.
const (
	EventTaken  EventKind = "taken"  // this time
	EventKnown  EventKind = "known"  // it had been taken before
	EventLater  EventKind = "later"  // the target could not take it now
	EventFailed EventKind = "failed" // an attempt that counts
	EventBuried EventKind = "buried"
)

// Event tells what became of an entry.
type Event struct {
	Kind     EventKind
	From, To store.Partition
	ID, Of   string
	Reason   Reason
}

// Worker hands over what is owed. Make it with [NewWorker], run it once.
type Worker struct {
	*worker.Worker
	o Options
	// suspects lets one partition at a time be handled whose last claims ended in a crash, so that an entry that kills the process does
	// not use up the attempts of those beside it.
	suspects sync.Mutex
}

// suspectFrom is the attempt from which a claim is handled alone: two crashes in a row are no accident. Only attempts made alone are held
// against an entry; a claim that ended because its neighbour killed the process says nothing.
const suspectFrom = 3

var errSuspect = errors.New("another partition whose last claims ended in a crash is being handled")

// NewWorker makes a worker. Of loop only Holder, Lease, Concurrency, Poll and Grace are used; the rest comes from o.
func NewWorker(o Options, loop worker.Options) (*Worker, error) {
	if o.Store == nil || o.Takers == nil || o.NewID == nil || o.Random == nil {
		return nil, fmt.Errorf("make a handover worker: a required option is missing: %w", store.ErrInvalid)
	}
	if o.MaxAttempts == 0 {
		o.MaxAttempts = 5
	}
	if o.MaxAge == 0 {
		o.MaxAge = 24 * time.Hour
	}
	if o.MinPause == 0 {
		o.MinPause = 500 * time.Millisecond
	}
	if o.MaxPause == 0 {
		o.MaxPause = time.Minute
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Report == nil {
		o.Report = func(Event) {}
	}
	w := &Worker{o: o}
	loop.Store, loop.Agenda, loop.Handle = o.Store, store.Handover, w.Handle
	loop.NewID, loop.Random, loop.Log = o.NewID, o.Random, o.Log
	var err error
	w.Worker, err = worker.New(loop)
	return w, err
}

// maxNoted bounds the operations that wait for the commit at the end.
const maxNoted = store.MaxOps / 2

// Handle hands over what the partition of claim owes, oldest first, and releases the claim in its last commit. It is a
// [worker.Handler].
func (w *Worker) Handle(ctx context.Context, claim store.Claim, _ <-chan struct{}) error {
	p := &pass{w: w, claim: claim, from: claim.Member.Partition()}
	if claim.Attempt >= suspectFrom {
		if !w.suspects.TryLock() {
			return worker.GiveBack(errSuspect, w.o.MinPause)
		}
		defer w.suspects.Unlock()
	}
	if err := p.load(ctx); err != nil {
		return err
	}
	for _, e := range p.entries {
		select {
		case <-worker.Stopping(ctx):
			p.again(0)
			return p.release(ctx)
		default:
		}
		if err := p.offer(ctx, e); err != nil {
			return err
		}
		if len(p.ops) >= maxNoted {
			if err := p.flush(ctx, "handover.settle/"); err != nil {
				return err
			}
		}
	}
	return p.release(ctx)
}
