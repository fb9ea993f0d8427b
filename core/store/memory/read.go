package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"herald/core/store"
)

// Read answers queries from one state.
func (s *Store) Read(ctx context.Context, queries ...store.Query) ([]store.Answer, error) {
	if err := store.CheckQueries(queries); err != nil {
		return nil, err
	}
	var answers []store.Answer
	err := s.call(ctx, Call{Method: "Read"}, func() error {
		s.stats.trips.Add(1)
		answers = make([]store.Answer, len(queries))
		now := s.d.now()
		for i, q := range queries {
			p := s.d.parts[q.Of()]
			answers[i].Now = instant(now)
			if p == nil {
				continue
			}
			answers[i].Now = instant(max(now, p.at))
			if err := p.answer(q, &answers[i]); err != nil {
				return fmt.Errorf("query %d of %s: %w", i, q.Of(), err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return answers, nil
}

func (p *part) answer(q store.Query, a *store.Answer) error {
	switch q := q.(type) {
	case store.Get:
		if d, ok := p.docs[q.Key.Collection][q.Key.Name]; ok {
			a.Docs = []store.Doc{d.out(q.Key)}
		}
	case store.List:
		for name, d := range p.docs[q.Collection] {
			a.Docs = append(a.Docs, d.out(store.Key{Collection: q.Collection, Name: name}))
		}
		slices.SortFunc(a.Docs, func(x, y store.Doc) int { return strings.Compare(x.Key.Name, y.Key.Name) })
	case store.Range:
		if l := p.logs[q.Log]; l != nil {
			a.Entries = l.out(max(q.From, l.first), q.Limit)
		}
	case store.Tail:
		if l := p.logs[q.Log]; l != nil && q.N > 0 {
			a.Entries = l.out(l.first+int64(max(len(l.entries)-q.N, 0)), 0)
		}
	case store.Scores:
		for m, score := range p.indexes[q.Index] {
			if q.Min <= score && score <= q.Max {
				a.Scored = append(a.Scored, store.Scored{Member: m, Score: score})
			}
		}
		slices.SortFunc(a.Scored, func(x, y store.Scored) int {
			return cmp.Or(cmp.Compare(x.Score, y.Score), strings.Compare(x.Member, y.Member))
		})
		if q.Limit > 0 {
			a.Scored = a.Scored[:min(len(a.Scored), q.Limit)]
		}
	case store.ScoreOf:
		if score, ok := p.indexes[q.Index][q.Member]; ok {
			a.Scored = []store.Scored{{Member: q.Member, Score: score}}
		}
	default:
		return fmt.Errorf("unknown query %T: %w", q, store.ErrInvalid)
	}
	return nil
}

func (d doc) out(k store.Key) store.Doc {
	return store.Doc{Key: k, Value: own(d.value), Version: d.version, Born: d.born}
}

// out copies the entries from sequence from, which is at least first; limit 0 means all.
func (l *journal) out(from int64, limit int) []store.Entry {
	skip := from - l.first
	if skip >= int64(len(l.entries)) {
		return nil
	}
	part := l.entries[skip:]
	if limit > 0 {
		part = part[:min(len(part), limit)]
	}
	out := make([]store.Entry, len(part))
	for i, e := range part {
		out[i] = store.Entry{Seq: from + int64(i), ID: e.id, Kind: e.kind, At: instant(e.at)}
		if e.data != nil {
			out[i].Data = own(e.data)
		}
	}
	return out
}

// Partitions lists the partitions of a bucket by last write.
func (s *Store) Partitions(ctx context.Context, bucket int, after store.Stamp, limit int) ([]store.Stamp, error) {
	if bucket < 0 || bucket >= store.Buckets {
		return nil, fmt.Errorf("list partitions: there is no bucket %d: %w", bucket, store.ErrInvalid)
	}
	var out []store.Stamp
	err := s.call(ctx, Call{Method: "Partitions"}, func() error {
		s.stats.trips.Add(1)
		for _, p := range s.d.buckets[bucket] {
			st := store.Stamp{Partition: p.name, At: instant(p.at)}
			if after.At.IsZero() || byWrite(st, after) > 0 {
				out = append(out, st)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(out, byWrite)
	return first(out, limit), nil
}

func byWrite(a, b store.Stamp) int {
	return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Partition, b.Partition))
}

// DeadLetters lists the dead letters, newest first.
func (s *Store) DeadLetters(ctx context.Context, limit int) ([]store.Letter, error) {
	var out []store.Letter
	err := s.call(ctx, Call{Method: "DeadLetters"}, func() error {
		s.stats.trips.Add(1)
		for _, p := range s.d.parts {
			for id, l := range p.letters {
				out = append(out, store.Letter{Partition: p.name, ID: id, At: instant(l.at), Note: own(l.note)})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(out, func(a, b store.Letter) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Partition, b.Partition), strings.Compare(a.ID, b.ID))
	})
	return first(out, limit), nil
}

// first cuts s after limit elements; 0 means all.
func first[T any](s []T, limit int) []T {
	if limit > 0 && len(s) > limit {
		return s[:limit]
	}
	return s
}
