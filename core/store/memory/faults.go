package memory

import (
	"context"
	"errors"
	"fmt"
	"time"

	"herald/core/store"
)

// Call is one call of a handle, as Faults sees it.
type Call struct {
	// Method is the name of the method of [store.Store].
	Method string
	// N counts the calls of this handle from 1.
	N int64
	// Commit is what is committed when Method is "Commit"; it must not be changed.
	Commit *store.Commit
}

// Effect is what goes wrong with a call. The zero value is nothing.
type Effect struct {
	// Delay is waited before anything else, on the timers of package time, and ends with the caller's ctx.
	Delay time.Duration
	// Before fails the call without doing it; [store.ErrUnavailable] is the natural one.
	Before error
	// Lose empties the store first, as a server that came back without its data: this call and all later ones get [store.ErrChanged].
	Lose bool
	// Twice applies a commit once more with the same id, as a repeat by the network does; the caller gets the second answer.
	Twice bool
	// NoHints loses the hints of the call.
	NoHints bool
	// After fails the call after doing it: the reply is lost.
	After error
}

// Faults decides what goes wrong. It is asked outside of the store's lock, so it may call other handles.
type Faults interface {
	Fault(Call) Effect
}

// FaultFunc is a function that is Faults.
type FaultFunc func(Call) Effect

// Fault calls f.
func (f FaultFunc) Fault(c Call) Effect { return f(c) }

// ErrInjected is the cause inside the errors that the functions below make.
var ErrInjected = errors.New("injected by the test")

// Unavailable is an outage that a test wants, with its place in the text.
func Unavailable(where string) error {
	return fmt.Errorf("%s: %w: %w", where, store.ErrUnavailable, ErrInjected)
}

// call does one call under the lock, with what Faults makes of it.
func (s *Store) call(ctx context.Context, c Call, do func() error) error {
	_, err := s.callEffect(ctx, c, do)
	return err
}

func (s *Store) callEffect(ctx context.Context, c Call, do func() error) (Effect, error) {
	if err := ctx.Err(); err != nil {
		return Effect{}, fmt.Errorf("%s on the memory store: %w", c.Method, err)
	}
	if err := s.open(c.Method); err != nil {
		return Effect{}, err
	}
	var e Effect
	if s.faults != nil {
		c.N = s.calls.Add(1)
		e = s.faults.Fault(c)
		if err := e.wait(ctx, c); err != nil {
			return e, err
		}
		if e.Before != nil {
			return e, fmt.Errorf("%s on the memory store: %w", c.Method, e.Before)
		}
		if e.Lose {
			s.Lose()
		}
	}
	if err := s.locked(c, do); err != nil {
		return e, err
	}
	if e.Twice && c.Method == "Commit" {
		if err := s.locked(c, do); err != nil {
			return e, err
		}
	}
	if e.After != nil {
		return e, fmt.Errorf("%s on the memory store, reply lost: %w", c.Method, e.After)
	}
	return e, nil
}

func (s *Store) locked(c Call, do func() error) error {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	if s.d.lost {
		return fmt.Errorf("%s on the memory store: its mark is gone: %w", c.Method, store.ErrChanged)
	}
	return do()
}

func (e Effect) wait(ctx context.Context, c Call) error {
	if e.Delay <= 0 {
		return nil
	}
	t := time.NewTimer(e.Delay)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s on the memory store, waiting: %w: %w", c.Method, store.ErrUnavailable, ctx.Err())
	}
}
