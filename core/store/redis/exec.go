package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"herald/core/store"
)

// nodeOf finds the server that holds a bucket now.
func (s *Store) nodeOf(ctx context.Context, bucket int) (*node, error) {
	client := s.single
	if s.cluster != nil {
		var err error
		if client, err = s.cluster.MasterForKey(ctx, s.keys.mark[bucket]); err != nil {
			return nil, err
		}
	}
	if n, ok := s.nodes.Load(client); ok {
		return n.(*node), nil
	}
	n, _ := s.nodes.LoadOrStore(client, &node{s: s, client: client})
	return n.(*node), nil
}

// exec sends calls and waits for all of their answers, within the time of one call and only as long as ctx lasts. Calls to one node share a
// pipeline. The first error is returned, made one of the port's kinds; what names the request. Other calls may have succeeded all the same: their ok
// tells.
func (s *Store) exec(ctx context.Context, what string, calls ...*call) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("redis: %s: %w", what, err)
	}
	if s.life.Err() != nil {
		return fmt.Errorf("redis: %s: %w", what, store.ErrClosed)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.opt.Timeout, fmt.Errorf("%v are over", s.opt.Timeout))
	defer cancel()
	if err := s.attempt(ctx, calls); err != nil {
		if s.life.Err() != nil {
			err = store.ErrClosed
		}
		return fmt.Errorf("redis: %s at %s: %w", what, s.target, err)
	}
	return nil
}

// attempt repeats what is worth repeating: a script that the server did not know, a bucket that is moving, and once a lost answer.
func (s *Store) attempt(ctx context.Context, calls []*call) error {
	var last error
	for round, losses := 0, 0; ; round++ {
		s.round(ctx, calls)
		var again []*call
		worst := done
		var no error
		for _, c := range calls {
			v := judge(c.err)
			switch {
			case errors.Is(c.err, store.ErrUnavailable):
				no = cmp.Or(no, c.err)
				continue
			case v == refused:
				no = cmp.Or(no, trouble(c.err))
				continue
			case v == done:
				c.ok = true
				continue
			}
			last = c.err
			c.whole = c.whole || v == unknownScript
			again = append(again, c)
			worst = max(worst, v)
		}
		switch {
		case no != nil || len(again) == 0:
			return no
		case ctx.Err() != nil:
			return s.ended(ctx, last)
		case worst == lost:
			if losses++; losses > 1 {
				return trouble(last)
			}
		}
		if worst > unknownScript {
			if s.cluster != nil {
				s.cluster.ReloadState(ctx)
			}
			if !pause(ctx, round) {
				return s.ended(ctx, last)
			}
		}
		for _, c := range again {
			// What was sent before must be recognised as such.
			if worst == lost && c.repeat != nil {
				c.repeat(c)
			}
		}
		calls = again
	}
}

// round sends each call once and waits for the answers. A call whose answer did not come in time has the error of ctx.
func (s *Store) round(ctx context.Context, calls []*call) {
	type group struct {
		to    *node
		calls []*call
	}
	var groups []group
	for _, c := range calls {
		c.ctx, c.ready, c.answer, c.err = ctx, make(chan struct{}), nil, nil
		n, err := s.nodeOf(ctx, c.bucket)
		if err != nil {
			c.err = err
			close(c.ready)
			continue
		}
		g := slices.IndexFunc(groups, func(g group) bool { return g.to == n })
		if g < 0 {
			g = len(groups)
			groups = append(groups, group{to: n})
		}
		groups[g].calls = append(groups[g].calls, c)
	}
	for _, g := range groups {
		g.to.send(g.calls...)
	}
	for i, c := range calls {
		select {
		case <-c.ready:
		case <-ctx.Done():
			select {
			case <-c.ready:
			default:
				// The call is its node's now and may be answered at any time; the caller goes on without it.
				calls[i] = &call{err: context.Cause(ctx)}
			}
		}
	}
}

// pause waits a little longer each time, unevenly, so that many callers do not come back at once.
func pause(ctx context.Context, round int) bool {
	d := min(2*time.Millisecond<<min(round, 8), 200*time.Millisecond)
	t := time.NewTimer(d/2 + rand.N(d/2))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
