package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math"

	"herald/core/store"
)

const (
	partAt   = `SELECT at FROM partitions WHERE name = ?`
	readDoc  = `SELECT name, version, born, value FROM docs WHERE part = (SELECT id FROM partitions WHERE name = ?) AND collection = ? AND name = ?`
	readDocs = `SELECT name, version, born, value FROM docs WHERE part = (SELECT id FROM partitions WHERE name = ?) AND collection = ? ORDER BY name`
	readLog  = `SELECT seq, id, kind, at, data FROM entries WHERE part = (SELECT id FROM partitions WHERE name = ?) AND log = ? AND seq >= ? ORDER BY seq LIMIT ?`
	readTail = `SELECT seq, id, kind, at, data FROM entries WHERE part = (SELECT id FROM partitions WHERE name = ?) AND log = ? ORDER BY seq DESC LIMIT ?`
	readIdx  = `SELECT member, score FROM scores WHERE part = (SELECT id FROM partitions WHERE name = ?) AND name = ? AND score BETWEEN ? AND ? ORDER BY score, member LIMIT ?`
	readOne  = `SELECT member, score FROM scores WHERE part = (SELECT id FROM partitions WHERE name = ?) AND name = ? AND member = ?`
)

// withReader runs f on a reading connection, one at a time for each.
func (s *Store) withReader(ctx context.Context, what string, f func(*conn) error) (err error) {
	if err := s.enter(ctx, what); err != nil {
		return err
	}
	var c *conn
	select {
	case c = <-s.readers:
	case <-ctx.Done():
		return fmt.Errorf("%s in the SQLite store, waiting for a connection: %w", what, ctx.Err())
	case <-s.closed:
		return errClosed(what)
	}
	// The slot goes back also when there is no connection in it yet.
	defer func() { s.readers <- c }()
	if err := s.sameFile(); err != nil {
		return err
	}
	if c == nil {
		if c, err = dial(s.o.Path, "busy_timeout = 5000", "query_only = ON", "cache_size = -1000", "temp_store = MEMORY", "cell_size_check = ON"); err != nil {
			c = nil
			return s.trouble(what, err)
		}
	}
	return s.trouble(what, f(c))
}

// snapshot runs f in one read transaction, so that all its statements see one state.
func snapshot(c *conn, f func() error) error {
	if err := c.exec("BEGIN"); err != nil {
		return err
	}
	err := f()
	if e := c.exec("COMMIT"); err == nil {
		err = e
	}
	return err
}

// Read answers queries from one state.
func (s *Store) Read(ctx context.Context, queries ...store.Query) ([]store.Answer, error) {
	if err := store.CheckQueries(queries); err != nil {
		return nil, err
	}
	var answers []store.Answer
	all := func(c *conn, most int) error {
		answers = make([]store.Answer, len(queries))
		for i, q := range queries {
			if err := c.answer(q, &answers[i], &most); err != nil {
				return fmt.Errorf("query %d (%T) of %s: %w", i, q, q.Of(), err)
			}
			if err := s.stamp(c, q.Of(), &answers[i]); err != nil {
				return err
			}
		}
		return nil
	}
	err := s.look(ctx, "read", func(c *conn) error { return all(c, small) })
	if errors.Is(err, errLarge) {
		err = s.withReader(ctx, "read", func(c *conn) error {
			return snapshot(c, func() error { return all(c, math.MaxInt) })
		})
	}
	s.stats.trips.Add(1)
	if err != nil {
		return nil, err
	}
	return answers, nil
}

// small is how many bytes a read may find while commits wait for it. A larger one is done again on a connection of its own, beside them.
const small = 256 << 10

// rowBytes is what a row counts beside its value.
const rowBytes = 64

// errLarge is a read that found more than small.
var errLarge = errors.New("the read is large")

// stamp sets the answer's time, which is not before anything that the partition holds.
func (s *Store) stamp(c *conn, p store.Partition, a *store.Answer) error {
	now := s.now()
	a.Now = instant(now)
	if s.highest.Load() <= now {
		return nil
	}
	return c.query(partAt, func(r row) error { a.Now = instant(max(now, r.int(0))); return nil }, string(p))
}

// all is the LIMIT that a limit of 0 stands for.
func limitOf(n int) int {
	if n <= 0 {
		return -1
	}
	return n
}

// answer reads what q asks for, and takes its size from most; it is errLarge when that is used up.
func (c *conn) answer(q store.Query, a *store.Answer, most *int) error {
	spend := func(bytes int) error {
		if *most -= bytes + rowBytes; *most < 0 {
			return errLarge
		}
		return nil
	}
	doc := func(collection string) func(row) error {
		return func(r row) error {
			d := store.Doc{Key: store.Key{Collection: collection, Name: r.text(0)}, Version: r.int(1), Born: r.int(2), Value: r.blob(3)}
			a.Docs = append(a.Docs, d)
			return spend(len(d.Value))
		}
	}
	entry := func(r row) error {
		e := store.Entry{Seq: r.int(0), ID: r.text(1), Kind: r.text(2), At: instant(r.int(3))}
		if !r.null(4) {
			e.Data = r.blob(4)
		}
		a.Entries = append(a.Entries, e)
		return spend(len(e.Data))
	}
	scored := func(r row) error {
		a.Scored = append(a.Scored, store.Scored{Member: r.text(0), Score: r.float(1)})
		return spend(0)
	}
	p := string(q.Of())
	switch q := q.(type) {
	case store.Get:
		return c.query(readDoc, doc(q.Key.Collection), p, q.Key.Collection, q.Key.Name)
	case store.List:
		return c.query(readDocs, doc(q.Collection), p, q.Collection)
	case store.Range:
		return c.query(readLog, entry, p, q.Log, q.From, limitOf(q.Limit))
	case store.Tail:
		if err := c.query(readTail, entry, p, q.Log, max(q.N, 0)); err != nil {
			return err
		}
		for i, j := 0, len(a.Entries)-1; i < j; i, j = i+1, j-1 {
			a.Entries[i], a.Entries[j] = a.Entries[j], a.Entries[i]
		}
		return nil
	case store.Scores:
		return c.query(readIdx, scored, p, q.Index, q.Min, q.Max, limitOf(q.Limit))
	case store.ScoreOf:
		return c.query(readOne, scored, p, q.Index, q.Member)
	default:
		return fmt.Errorf("unknown query %T: %w", q, store.ErrInvalid)
	}
}
