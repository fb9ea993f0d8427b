package redis

import (
	"context"
	"fmt"
	"slices"
	"time"

	"herald/core/store"
)

// Reserve takes a place in each pace, in one pipeline to each node. The paces of one bucket are taken together or not at all.
func (s *Store) Reserve(ctx context.Context, most time.Duration, paces ...store.Pace) (wait time.Duration, ok bool, err error) {
	if len(paces) == 0 {
		return 0, true, ctx.Err()
	}
	limit := int64(-1)
	if most >= 0 {
		limit = micros(most)
	}
	var calls []*call
	for _, p := range paces {
		b := paceBucket(p.Key)
		i := slices.IndexFunc(calls, func(c *call) bool { return c.bucket == b })
		if i < 0 {
			i = len(calls)
			calls = append(calls, &call{bucket: b, script: s.scripts.reserve, args: []any{limit}})
		}
		calls[i].args = append(calls[i].args, p.Key, micros(max(p.Every, 0)), p.Burst)
	}
	if err := s.exec(ctx, fmt.Sprintf("reserve a place in %d paces", len(paces)), calls...); err != nil {
		return 0, false, err
	}
	ok = true
	for _, c := range calls {
		r := reader{answer: c.answer}
		r.list(2)
		wait = max(wait, time.Duration(r.int())*time.Microsecond)
		ok = r.int() == 1 && ok
		if r.err != nil {
			return 0, false, r.err
		}
	}
	return wait, ok, nil
}

// Hold closes a pace for a while.
func (s *Store) Hold(ctx context.Context, key string, d time.Duration) error {
	c := &call{bucket: paceBucket(key), script: s.scripts.hold, args: []any{key, micros(d)}}
	return s.exec(ctx, "hold the pace "+key, c)
}
