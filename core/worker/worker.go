package worker

import (
	"context"
	"errors"
	"sync"
	"time"

	"herald/core/store"
)

// claimBatch bounds the members that are named in one claim: a hint should not wait behind a request of thousands.
const claimBatch = 256

// The bounds of the pause after a claim that failed.
const (
	minPause = 100 * time.Millisecond
	maxPause = 5 * time.Second
)

// Worker works on the due members of an agenda. Make it with [New], run it once with Run.
type Worker struct {
	o        Options
	stopping chan struct{}
	// claiming and asking belong to the claiming loop, renewing to the renewing one.
	claiming, asking, renewing outage
	// claimer and renewer wake the two loops; each has room for one.
	claimer, renewer chan struct{}
	handlers         sync.WaitGroup

	mu    sync.Mutex
	held  map[store.Member]*holding
	queue queue
	// running counts handlers, which may be more than len(held) while one that lost its claim comes to its end.
	running int
	// resting: the renewing loop sleeps because nothing is held.
	resting bool
	// base is the parent of all handlers' contexts; nil before Run and after its last claim.
	base  context.Context
	stats Stats
}

// New checks o and makes a worker.
func New(o Options) (*Worker, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Worker{
		o: o, claiming: outage{what: "claiming"}, asking: outage{what: "asking for the next due time"}, renewing: outage{what: "renewing leases"},
		stopping: make(chan struct{}), held: map[store.Member]*holding{},
		claimer: make(chan struct{}, 1), renewer: make(chan struct{}, 1),
	}, nil
}

// Run claims and handles until ctx ends, then stops: no further claim is made, handlers have the grace to come to an end, are cancelled
// with [ErrStopping] after it, and are all waited for. It returns nil after an orderly stop and may be called once.
func (w *Worker) Run(ctx context.Context) error {
	base, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	base = context.WithValue(base, stoppingKey{}, (<-chan struct{})(w.stopping))
	w.mu.Lock()
	w.base = base
	w.mu.Unlock()

	renewing, endRenewing := context.WithCancel(base)
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		w.renewLoop(renewing)
	}()

	w.claimLoop(ctx)

	w.mu.Lock()
	w.base = nil
	w.mu.Unlock()
	close(w.stopping)
	var grace <-chan time.Time
	if w.o.Grace > 0 {
		t := time.NewTimer(w.o.Grace)
		defer t.Stop()
		grace = t.C
	} else {
		cancel(ErrStopping)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.handlers.Wait()
	}()
	select {
	case <-ended:
	case <-grace:
		cancel(ErrStopping)
		<-ended
	}
	endRenewing()
	<-renewed
	return nil
}

// claimLoop claims until ctx ends.
func (w *Worker) claimLoop(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	s := sweeps{at: time.Now(), by: time.Now()}
	var pause time.Duration
	for {
		now := time.Now()
		members, sweep, limit, next := w.plan(now, s)
		if limit == 0 {
			timer.Reset(next.Sub(now))
			select {
			case <-ctx.Done():
				return
			case <-timer.C:
			case <-w.claimer:
			}
			continue
		}
		if sweep && s.quiet {
			// An idle agenda costs one question and no claim.
			at, due := w.nextSweep(ctx)
			if !due {
				s = sweeps{at: at, by: at, quiet: true}
				continue
			}
		}
		n, err := w.claim(ctx, members, limit)
		if ctx.Err() != nil && err != nil {
			return
		}
		switch {
		case err != nil:
			pause = min(max(2*pause, minPause), maxPause)
			w.failed(&w.claiming, err)
			// What hints had named is found by looking through the agenda.
			s = sweeps{}
			if !sleep(ctx, w.spread(pause)) {
				return
			}
		case sweep && n < limit:
			pause = 0
			at, _ := w.nextSweep(ctx)
			s = sweeps{at: at, by: at, quiet: n == 0}
		case sweep: // there may be more
			pause = 0
			s = sweeps{at: time.Now(), by: time.Now().Add(w.o.Poll)}
		default:
			pause = 0
		}
	}
}

// sweeps says when to look through the whole agenda: from at on when an eighth of the slots is free, so that a backlog is not fetched
// one by one at the price of a request over all buckets each, and from by on in any case. quiet: the last look found nothing.
type sweeps struct {
	at, by time.Time
	quiet  bool
}

func (s sweeps) due(now time.Time, free, slots int) bool {
	return !s.by.After(now) || !s.at.After(now) && free >= slots/8
}

// next is the next instant at which due can change by time alone.
func (s sweeps) next(now time.Time) time.Time {
	if s.at.After(now) {
		return s.at
	}
	return s.by
}

// plan decides what to claim now: the whole agenda when that is due, else the members that hints named. limit is 0 when there is
// nothing to do before next.
func (w *Worker) plan(now time.Time, s sweeps) (members []store.Member, sweep bool, limit int, next time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue.ripen(now)
	free := w.o.Concurrency - w.running
	if free <= 0 {
		return nil, false, 0, now.Add(w.o.Poll) // the end of a handler wakes the loop
	}
	if w.queue.overflown || s.due(now, free, w.o.Concurrency) {
		w.queue.overflown = false
		return nil, true, free, now
	}
	members = w.queue.take(min(free, claimBatch), func(m store.Member) bool {
		h := w.held[m]
		if h != nil {
			h.poked()
		}
		return h != nil
	})
	if len(members) > 0 {
		return members, false, len(members), now
	}
	next = s.next(now)
	if at, ok := w.queue.nextRipe(); ok && at.Before(next) {
		next = at
	}
	return nil, false, 0, next
}

// claim makes one request and starts a handler for each claim.
func (w *Worker) claim(ctx context.Context, members []store.Member, limit int) (int, error) {
	began := time.Now()
	claims, err := w.o.Store.Claim(ctx, store.ClaimRequest{
		Agenda: w.o.Agenda, Holder: w.o.Holder, Lease: w.o.Lease, Limit: limit, Members: members,
	})
	w.mu.Lock()
	w.stats.Requests++
	w.stats.Claimed += int64(len(claims))
	w.mu.Unlock()
	if err != nil {
		return 0, err
	}
	w.worked(&w.claiming)
	for _, c := range claims {
		w.start(c, began, w.o.Handle)
	}
	return len(claims), nil
}

// nextSweep is when to look through the agenda again: after the poll interval, or sooner when the store knows of a member that is
// due before. due says that there is one now, or that the store did not answer.
func (w *Worker) nextSweep(ctx context.Context) (next time.Time, due bool) {
	began := time.Now()
	wait := w.spread(w.o.Poll)
	at, now, ok, err := w.o.Store.Due(ctx, w.o.Agenda)
	switch {
	case err != nil:
		if !errors.Is(err, context.Canceled) {
			w.failed(&w.asking, err)
		}
		due = true
	case ok:
		w.worked(&w.asking)
		due = !at.After(now)
		// A member that is due already was missed by the claim just now, perhaps because another replica holds it by the time that it
		// is asked again: it must not make this loop spin.
		wait = min(wait, max(at.Sub(now), w.o.Poll/16))
	default:
		w.worked(&w.asking)
	}
	return began.Add(wait), due
}

// spread moves d by up to a quarter either way.
func (w *Worker) spread(d time.Duration) time.Duration {
	return d - d/4 + time.Duration(w.o.Random()*float64(d/2))
}

// sleep waits for d; false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
