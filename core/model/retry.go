package model

import (
	"context"
	"time"
)

// Retry says how a call is tried again. The zero Retry has the defaults.
type Retry struct {
	// Tries is how often each model is tried in one call; 3 when 0.
	Tries int
	// Base is the first pause before the same model is tried again, doubled each time up to Longest; 500 ms and 8 s when 0. The
	// real pause is drawn between half of it and all of it.
	Base, Longest time.Duration
	// MaxWait is the longest Retry-After that is waited for; above it the model is given up for this call. 30 s when 0.
	MaxWait time.Duration
}

func (r Retry) withDefaults() Retry {
	if r.Tries <= 0 {
		r.Tries = 3
	}
	if r.Base <= 0 {
		r.Base = 500 * time.Millisecond
	}
	if r.Longest <= 0 {
		r.Longest = 8 * time.Second
	}
	if r.MaxWait <= 0 {
		r.MaxWait = 30 * time.Second
	}
	return r
}

// pause is what is waited before the next try of a model after its try number n (from 1); random is in [0,1). What the provider
// demands is a floor.
func (r Retry) pause(n int, demanded time.Duration, random float64) time.Duration {
	d := r.Base
	for range n - 1 {
		if d *= 2; d >= r.Longest {
			break
		}
	}
	d = min(d, r.Longest)
	return max(d/2+time.Duration(random*float64(d/2)), demanded)
}

// sleep waits on the clock.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
