package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"herald/core/store"
)

// ErrStopping is the cause with which the context of a handler ends that is still at work when the worker's grace is over.
var ErrStopping = errors.New("the worker is stopping")

// Handler works on one claim. It returns nil when it has released the claim (or found it lost); the release belongs into its
// last commit. With an error the claim is left to the end of its lease, which counts as a failed attempt, unless the error says that nothing
// speaks against the member: one made by [GiveBack], an outage of the store, or the end of ctx by [ErrStopping]. Then the worker releases
// the claim without counting it.
//
// ctx ends with the cause [store.ErrFenced] when the claim is lost. poke has room for one: a value says that the member was woken during
// the claim and that it is worth looking again. One that is left in it when the handler returns makes the worker claim anew.
type Handler func(ctx context.Context, claim store.Claim, poke <-chan struct{}) error

// Options of a worker. Store, Agenda, Holder, Handle, NewID and Random are required.
type Options struct {
	Store  store.Store
	Agenda store.Agenda
	// Holder is the random id of this start of the process.
	Holder string
	Handle Handler
	// NewID makes the ids of commits that give claims back.
	NewID func() string
	// Random gives numbers in [0, 1) that spread the polls and retries of several replicas. It must be safe for concurrent use.
	Random func() float64

	// Lease is how long a claim lives without a renewal; 30 s by default. It is renewed at a third of it.
	Lease time.Duration
	// Concurrency is how many claims are worked on at a time; 64 by default.
	Concurrency int
	// Poll is the interval of looking through the whole agenda, give or take a quarter; 2 s by default.
	Poll time.Duration
	// Grace is how long handlers may go on after a stop; 10 s by default. A negative Grace is none.
	Grace time.Duration
	// Log takes what an operator should know; nothing by default.
	Log *slog.Logger
}

func (o Options) withDefaults() (Options, error) {
	for name, missing := range map[string]bool{
		"Store": o.Store == nil, "Agenda": o.Agenda == "", "Holder": o.Holder == "",
		"Handle": o.Handle == nil, "NewID": o.NewID == nil, "Random": o.Random == nil,
	} {
		if missing {
			return o, fmt.Errorf("make a worker on agenda %q: option %s is missing: %w", o.Agenda, name, store.ErrInvalid)
		}
	}
	if o.Lease == 0 {
		o.Lease = 30 * time.Second
	}
	if o.Concurrency == 0 {
		o.Concurrency = 64
	}
	if o.Poll == 0 {
		o.Poll = 2 * time.Second
	}
	if o.Grace == 0 {
		o.Grace = 10 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Lease < 10*time.Millisecond || o.Concurrency < 1 || o.Poll < time.Millisecond {
		return o, fmt.Errorf("make a worker on agenda %q: lease %v (at least 10ms), concurrency %d (at least 1), poll %v (at least 1ms): %w",
			o.Agenda, o.Lease, o.Concurrency, o.Poll, store.ErrInvalid)
	}
	return o, nil
}

// giveBack is an error that asks for a release without a counted attempt.
type giveBack struct {
	err error
	in  time.Duration
}

func (e *giveBack) Error() string { return e.err.Error() }

func (e *giveBack) Unwrap() error { return e.err }

// GiveBack is what a handler returns to end its claim unreleased, unfinished and uncounted: err says why, and the member is due again
// in d from then. An error inside of another is found too.
func GiveBack(err error, d time.Duration) error { return &giveBack{err, d} }

type stoppingKey struct{}

// Stopping is closed when the worker that gave ctx to a handler has begun to stop: a handler that could go on for long should come to
// an end that it can be resumed from, and release its claim. It is nil, which never is ready, for other contexts.
func Stopping(ctx context.Context) <-chan struct{} {
	c, _ := ctx.Value(stoppingKey{}).(<-chan struct{})
	return c
}
