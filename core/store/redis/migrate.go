package redis

import (
	"context"
	"fmt"
	"strconv"

	"herald/core/store"
)

// migration brings one bucket from one format to the next. It is a script with the keys of all scripts (mark, none) that must do nothing
// when it is run again; the mark is changed after it.
type migration string

// migrations holds the step from each older format to the one above it. Format 1 is the first.
func migrations() map[int]migration { return map[int]migration{} }

// migrate takes every bucket to [Format], one step after the other. A bucket that was interrupted goes on from its own format.
func (s *Store) migrate(ctx context.Context, m *marks, steps map[int]migration) error {
	newest := Format
	for from := range steps {
		newest = max(newest, from+1)
	}
	for b, k := range m {
		from, err := strconv.Atoi(k.format)
		if err != nil {
			return fmt.Errorf("redis: open the store at %s: %s has the format %q: %w", s.target, s.keys.mark[b], k.format, store.ErrCorrupt)
		}
		if from > newest {
			return fmt.Errorf("redis: open the store at %s: it has format %d and this Herald knows %d: %w; use the newer Herald",
				s.target, from, newest, store.ErrNewer)
		}
	}
	for b, k := range m {
		from, _ := strconv.Atoi(k.format)
		for ; from < newest; from++ {
			step, ok := steps[from]
			if !ok {
				return fmt.Errorf("redis: open the store at %s: nothing leads from its format %d to %d: %w", s.target, from, newest, store.ErrCorrupt)
			}
			what := fmt.Sprintf("bring bucket %d from format %d to %d", b, from, from+1)
			run := &call{bucket: b, command: []any{"eval", string(step), 2, s.keys.mark[b], s.keys.none[b]}}
			if err := s.exec(ctx, what, run); err != nil {
				return err
			}
			if err := s.exec(ctx, what, &call{bucket: b, command: []any{"hset", s.keys.mark[b], "format", from + 1}}); err != nil {
				return err
			}
		}
	}
	return nil
}
