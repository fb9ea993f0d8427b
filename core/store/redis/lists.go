package redis

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"herald/core/store"
)

// Partitions lists partitions of a bucket in the order of their last write.
func (s *Store) Partitions(ctx context.Context, bucket int, after store.Stamp, limit int) ([]store.Stamp, error) {
	if bucket < 0 || bucket >= store.Buckets {
		return nil, fmt.Errorf("list partitions: there is no bucket %d: %w", bucket, store.ErrInvalid)
	}
	if limit <= 0 {
		limit = math.MaxInt32
	}
	args := []any{"", "", limit}
	if !after.At.IsZero() {
		args[0], args[1] = after.At.UnixMilli(), string(after.Partition)
	}
	c := &call{bucket: bucket, script: s.scripts.partitions, args: args}
	if err := s.exec(ctx, fmt.Sprintf("list the partitions of bucket %d", bucket), c); err != nil {
		return nil, err
	}
	r := reader{answer: c.answer}
	r.list(0)
	var out []store.Stamp
	for len(r.rest) > 0 {
		out = append(out, store.Stamp{Partition: store.Partition(r.string()), At: instant(r.int())})
	}
	return out, r.err
}

// DeadLetters lists the dead letters of all buckets, newest first.
func (s *Store) DeadLetters(ctx context.Context, limit int) ([]store.Letter, error) {
	each := limit
	if each <= 0 {
		each = math.MaxInt32
	}
	calls := make([]*call, store.Buckets)
	for b := range calls {
		calls[b] = &call{bucket: b, script: s.scripts.letters, args: []any{each}}
	}
	if err := s.exec(ctx, "list the dead letters", calls...); err != nil {
		return nil, err
	}
	var out []store.Letter
	for _, c := range calls {
		r := reader{answer: c.answer}
		r.list(0)
		for len(r.rest) > 0 {
			p, id, _ := strings.Cut(r.string(), "#")
			at := instant(r.int())
			out = append(out, store.Letter{Partition: store.Partition(p), ID: id, At: at, Note: []byte(r.string())})
		}
		if r.err != nil {
			return nil, r.err
		}
	}
	slices.SortFunc(out, func(a, b store.Letter) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Partition, b.Partition), strings.Compare(a.ID, b.ID))
	})
	if limit > 0 && len(out) > limit {
		out = out[:limit]
	}
	return out, nil
}
