package redis

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"herald/core/store"
)

// Read answers queries: one script for each partition, all of them in one pipeline to each node.
func (s *Store) Read(ctx context.Context, queries ...store.Query) ([]store.Answer, error) {
	if err := store.CheckQueries(queries); err != nil {
		return nil, err
	}
	if len(queries) == 0 {
		return []store.Answer{}, ctx.Err()
	}
	var parts []store.Partition
	calls := map[store.Partition]*call{}
	var ordered []*call
	for i, q := range queries {
		p := q.Of()
		c := calls[p]
		if c == nil {
			c = &call{bucket: p.Bucket(), script: s.scripts.read, args: []any{string(p)}}
			calls[p] = c
			parts = append(parts, p)
			ordered = append(ordered, c)
		}
		var err error
		if c.args, err = appendQuery(c.args, q); err != nil {
			return nil, fmt.Errorf("query %d of %s: %w", i, p, err)
		}
	}
	what := "read " + string(parts[0])
	if len(parts) > 1 {
		what += fmt.Sprintf(" and %d more partitions", len(parts)-1)
	}
	if err := s.exec(ctx, what, ordered...); err != nil {
		return nil, err
	}
	answers := make([]store.Answer, len(queries))
	for n, p := range parts {
		r := reader{answer: ordered[n].answer}
		r.list(1)
		now := instant(r.int())
		for i, q := range queries {
			if q.Of() == p {
				answers[i].Now = now
				readAnswer(&r, q, &answers[i])
			}
		}
		if r.err != nil {
			return nil, fmt.Errorf("redis: read %s: %w", p, r.err)
		}
	}
	return answers, nil
}

// appendQuery writes a query as read.lua reads it.
func appendQuery(args []any, q store.Query) ([]any, error) {
	switch q := q.(type) {
	case store.Get:
		return append(args, "G", q.Key.Collection, q.Key.Name), nil
	case store.List:
		return append(args, "L", q.Collection), nil
	case store.Range:
		return append(args, "R", q.Log, q.From, max(q.Limit, 0)), nil
	case store.Tail:
		return append(args, "T", q.Log, max(q.N, 0)), nil
	case store.Scores:
		if q.Min != q.Min || q.Max != q.Max {
			return nil, fmt.Errorf("a bound of index %q is not a number: %w", q.Index, store.ErrInvalid)
		}
		return append(args, "S", q.Index, score(q.Min), score(q.Max), max(q.Limit, 0)), nil
	case store.ScoreOf:
		return append(args, "M", q.Index, q.Member), nil
	default:
		return nil, fmt.Errorf("unknown query %T: %w", q, store.ErrInvalid)
	}
}

// readAnswer reads what read.lua says to one query.
func readAnswer(r *reader, q store.Query, a *store.Answer) {
	switch q := q.(type) {
	case store.Get:
		if v := r.next(); r.err == nil {
			if text, ok := v.(string); ok {
				a.Docs = append(a.Docs, parseDoc(r, q.Key, text))
			}
		}
	case store.List:
		list := r.sub()
		for len(list.rest) > 0 {
			name, text := list.string(), list.string()
			a.Docs = append(a.Docs, parseDoc(r, store.Key{Collection: q.Collection, Name: name}, text))
		}
		slices.SortFunc(a.Docs, func(x, y store.Doc) int { return strings.Compare(x.Key.Name, y.Key.Name) })
	case store.Range, store.Tail:
		list := r.sub()
		for seq := list.int(); len(list.rest) > 0; seq++ {
			a.Entries = append(a.Entries, parseEntry(r, seq, list.string()))
		}
	case store.Scores:
		list := r.sub()
		for len(list.rest) > 0 {
			member, text := list.string(), list.string()
			a.Scored = append(a.Scored, store.Scored{Member: member, Score: parseScore(r, text)})
		}
	case store.ScoreOf:
		if v := r.next(); r.err == nil {
			if text, ok := v.(string); ok {
				a.Scored = []store.Scored{{Member: q.Member, Score: parseScore(r, text)}}
			}
		}
	}
}

// parseDoc reads 'VERSION BORN VALUE'.
func parseDoc(r *reader, key store.Key, text string) store.Doc {
	v, rest, ok1 := strings.Cut(text, " ")
	b, value, ok2 := strings.Cut(rest, " ")
	version, err1 := strconv.ParseInt(v, 10, 64)
	born, err2 := strconv.ParseInt(b, 10, 64)
	if !ok1 || !ok2 || err1 != nil || err2 != nil {
		r.fail("a document behind its versions as %s of %s", key.Name, key.Collection)
	}
	return store.Doc{Key: key, Value: []byte(value), Version: version, Born: born}
}

// parseEntry reads 'AT\nKIND\nID\nDATA', or without DATA when the entry was blanked.
func parseEntry(r *reader, seq int64, text string) store.Entry {
	at, rest, ok1 := strings.Cut(text, "\n")
	kind, rest, ok2 := strings.Cut(rest, "\n")
	id, data, whole := strings.Cut(rest, "\n")
	ms, err := strconv.ParseInt(at, 10, 64)
	if !ok1 || !ok2 || err != nil {
		r.fail("a log entry with sequence %d", seq)
	}
	e := store.Entry{Seq: seq, ID: id, Kind: kind, At: instant(ms)}
	if whole {
		e.Data = []byte(data)
	}
	return e
}

func parseScore(r *reader, text string) float64 {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		r.fail("a score, not %q", text)
	}
	return f
}
