package redis

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"herald/core/store"
)

// Format is the version of the layout that this driver writes.
const Format = 1

// Open opens the store at a Redis, and makes it when there is none and [Options.Create] is set. Errors: [store.ErrMissing], [store.ErrNewer],
// [store.ErrChanged] when only a part of the buckets has its mark, and those of every call.
func Open(ctx context.Context, opt Options) (*Store, error) {
	s, err := connect(opt)
	if err != nil {
		return nil, err
	}
	if err := s.enter(ctx, migrations()); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// enter finds the store, makes it or brings it up to date, and warns of what is not durable.
func (s *Store) enter(ctx context.Context, steps map[int]migration) error {
	s.handle = s.opt.NewID()
	marks, err := s.marks(ctx)
	if err != nil {
		return err
	}
	if marks.none() || marks.unfinished() {
		if !s.opt.Create {
			return fmt.Errorf("redis: open the store at %s: %w (make one with 'herald store create', or correct store.url)", s.target, store.ErrMissing)
		}
		if err := s.create(ctx); err != nil {
			return err
		}
		if marks, err = s.marks(ctx); err != nil {
			return err
		}
	}
	if s.id, err = s.check(marks); err != nil {
		return err
	}
	if err := s.teach(ctx); err != nil {
		return err
	}
	if err := s.migrate(ctx, marks, steps); err != nil {
		return err
	}
	h, err := s.Health(ctx)
	if err != nil {
		return err
	}
	for _, w := range h.Warnings {
		s.opt.Logger.Warn(w, "store", s.target.String())
	}
	return nil
}

// teach sends the scripts to the nodes that there are now, so that the first calls need not. A node that does not know them later, after a
// restart or a failover, gets the text with the call.
func (s *Store) teach(ctx context.Context) error {
	var calls []*call
	taught := map[*node]bool{}
	for _, b := range s.all {
		n, err := s.nodeOf(ctx, b)
		if err != nil {
			return fmt.Errorf("redis: open the store at %s: %w", s.target, trouble(err))
		}
		if !taught[n] {
			taught[n] = true
			for _, sc := range s.scripts.all() {
				calls = append(calls, &call{bucket: b, command: []any{"script", "load", sc.text}})
			}
		}
	}
	return s.exec(ctx, "load the scripts", calls...)
}

// tlsConfig is the configuration for rediss.
func tlsConfig(c *tls.Config) *tls.Config {
	if c == nil {
		return &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return c.Clone()
}

// mark is what stands in one bucket's mark; the zero value is none.
type mark struct {
	store, format, buckets, making string
}

type marks [store.Buckets]mark

func (m *marks) none() bool {
	for _, k := range m {
		if k != (mark{}) {
			return false
		}
	}
	return true
}

// unfinished tells of a store whose making was interrupted: the first bucket says so until all others have their marks.
func (m *marks) unfinished() bool { return m[0].making != "" }

// marks reads the marks of all buckets, in one pipeline to each node.
func (s *Store) marks(ctx context.Context) (*marks, error) {
	calls := make([]*call, store.Buckets)
	for b := range calls {
		calls[b] = &call{bucket: b, command: []any{"hmget", s.keys.mark[b], "store", "format", "buckets", "making"}}
	}
	if err := s.exec(ctx, "read the store's marks", calls...); err != nil {
		return nil, err
	}
	var m marks
	for b, c := range calls {
		fields, ok := c.answer.([]any)
		if !ok || len(fields) != 4 {
			return nil, fmt.Errorf("redis: read the store's marks at %s: %s is not a mark: %w", s.target, s.keys.mark[b], store.ErrCorrupt)
		}
		for i, to := range []*string{&m[b].store, &m[b].format, &m[b].buckets, &m[b].making} {
			*to, _ = fields[i].(string)
		}
	}
	return &m, nil
}

// createScript makes a mark where there is none, and answers with the id that stands.
const createScript = `#!lua
-- Herald: create. KEYS[1] mark, KEYS[2] never exists; ARGV: id, format, buckets, '1' for the bucket that says that the making goes on.
local id = redis.call('HGET', KEYS[1], 'store')
if id then return id end
redis.call('HSET', KEYS[1], 'store', ARGV[1], 'format', ARGV[2], 'buckets', ARGV[3])
if ARGV[4] == '1' then redis.call('HSET', KEYS[1], 'making', '1') end
return ARGV[1]`

// create marks all buckets. The first bucket decides which of several creators names the store, and says that it is being made until
// all are marked, so that whoever comes after a crash goes on where it ended.
func (s *Store) create(ctx context.Context) error {
	markOne := func(b int, id, making string) *call {
		return &call{bucket: b, command: []any{"eval", createScript, 2, s.keys.mark[b], s.keys.none[b], id, Format, store.Buckets, making}}
	}
	first := markOne(0, s.opt.NewID(), "1")
	if err := s.exec(ctx, "create the store", first); err != nil {
		return err
	}
	id, _ := first.answer.(string)
	var calls []*call
	for b := 1; b < store.Buckets; b++ {
		calls = append(calls, markOne(b, id, ""))
	}
	if err := s.exec(ctx, "create the store", calls...); err != nil {
		return err
	}
	return s.exec(ctx, "create the store", &call{command: []any{"hdel", s.keys.mark[0], "making"}})
}

// check finds the one id that all marks must have.
func (s *Store) check(m *marks) (string, error) {
	ids := map[string]int{}
	for _, k := range m {
		ids[k.store]++
	}
	id := ""
	for other, n := range ids {
		if other != "" && n > ids[id] || id == "" {
			id = other
		}
	}
	var odd []int
	for b, k := range m {
		if k.store != id || id == "" {
			odd = append(odd, b)
		}
	}
	if len(odd) > 0 {
		return "", fmt.Errorf("redis: open the store at %s: %w", s.target, s.changed(odd, m[odd[0]].store))
	}
	for b, k := range m {
		if n, err := strconv.Atoi(k.buckets); err != nil || n != store.Buckets {
			return "", fmt.Errorf("redis: open the store at %s: %s says %q buckets, and this Herald has %d: %w",
				s.target, s.keys.mark[b], k.buckets, store.Buckets, store.ErrCorrupt)
		}
	}
	return id, nil
}

// changed says which buckets are without their mark, or have another store's.
func (s *Store) changed(buckets []int, stands string) error {
	names := make([]string, 0, 4)
	for _, b := range buckets[:min(len(buckets), 3)] {
		names = append(names, s.keys.mark[b])
	}
	if more := len(buckets) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	what := "missing"
	if stands != "" {
		what = "another store's"
	}
	return fmt.Errorf("%w: the mark of %d of %d buckets is %s (%s); restore Redis from its append-only file or a backup, Herald does not begin anew",
		store.ErrChanged, len(buckets), store.Buckets, what, strings.Join(names, ", "))
}
