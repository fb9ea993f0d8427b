package service

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"herald/core/store"
)

// observed is a store whose calls tell how it is: readiness rests on what the service itself met, never on a probe. An idle
// service calls its store every few seconds, when its workers look through their agendas.
type observed struct {
	store.Store
	// fail is called for each call that failed for a reason of the store's own.
	fail func(kind string)
	last atomic.Pointer[outcome]
}

// outcome is the last word about the store: nil trouble means that it served.
type outcome struct{ trouble error }

func observe(s store.Store, fail func(kind string)) *observed {
	o := &observed{Store: s, fail: fail}
	o.last.Store(&outcome{})
	return o
}

// Trouble is nil when the last call that reached a verdict was served.
func (o *observed) Trouble() error { return o.last.Load().trouble }

// see takes what a call met. Refusals speak of the request and so of a store that serves; an ended context speaks of nothing.
func (o *observed) see(err error) {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded) && !store.Outage(err):
	case store.Outage(err), errors.Is(err, store.ErrCorrupt):
		o.fail(kindOf(err))
		o.last.Store(&outcome{err})
	default:
		if o.last.Load().trouble != nil {
			o.last.Store(&outcome{})
		}
	}
}

// kindOf is the word by which failures of the store are counted.
func kindOf(err error) string {
	for kind, e := range map[string]error{
		"unavailable": store.ErrUnavailable, "changed": store.ErrChanged, "full": store.ErrFull, "read_only": store.ErrReadOnly,
		"corrupt": store.ErrCorrupt, "closed": store.ErrClosed,
	} {
		if errors.Is(err, e) {
			return kind
		}
	}
	return "other"
}

func (o *observed) Commit(ctx context.Context, c store.Commit) (store.Result, error) {
	r, err := o.Store.Commit(ctx, c)
	o.see(err)
	return r, err
}

func (o *observed) Read(ctx context.Context, queries ...store.Query) ([]store.Answer, error) {
	a, err := o.Store.Read(ctx, queries...)
	o.see(err)
	return a, err
}

func (o *observed) Claim(ctx context.Context, req store.ClaimRequest) ([]store.Claim, error) {
	c, err := o.Store.Claim(ctx, req)
	o.see(err)
	return c, err
}

func (o *observed) Extend(ctx context.Context, lease time.Duration, claims ...store.Claim) ([]bool, error) {
	l, err := o.Store.Extend(ctx, lease, claims...)
	o.see(err)
	return l, err
}

func (o *observed) Due(ctx context.Context, a store.Agenda) (at, now time.Time, ok bool, err error) {
	at, now, ok, err = o.Store.Due(ctx, a)
	o.see(err)
	return at, now, ok, err
}

func (o *observed) Reserve(ctx context.Context, most time.Duration, paces ...store.Pace) (time.Duration, bool, error) {
	w, ok, err := o.Store.Reserve(ctx, most, paces...)
	o.see(err)
	return w, ok, err
}
