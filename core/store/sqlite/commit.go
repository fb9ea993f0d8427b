package sqlite

import (
	"context"
	"fmt"
	"slices"
	"time"

	"herald/core/store"
)

const (
	getPart  = `SELECT id, at, revision FROM partitions WHERE name = ?`
	newPart  = `INSERT INTO partitions (name, bucket, at, revision) VALUES (?, ?, ?, 0)`
	setPart  = `UPDATE partitions SET at = ?, revision = ? WHERE id = ?`
	maxPart  = `SELECT max(at) FROM partitions WHERE bucket = ?`
	getDoc   = `SELECT version FROM docs WHERE part = ? AND collection = ? AND name = ?`
	countDoc = `SELECT count(*) FROM (SELECT 1 FROM docs WHERE part = ? AND collection = ? LIMIT ?)`
	putDoc   = `INSERT INTO docs (part, collection, name, version, born, value) VALUES (?1, ?2, ?3, ?4, ?4, ?5)
		ON CONFLICT (part, collection, name) DO UPDATE SET version = excluded.version, value = excluded.value`
	delDoc    = `DELETE FROM docs WHERE part = ? AND collection = ? AND name = ?`
	lastEntry = `SELECT max(coalesce((SELECT max(seq) FROM entries WHERE part = ?1 AND log = ?2), 0), coalesce((SELECT seq FROM floors WHERE part = ?1 AND log = ?2), 0))`
	addEntry  = `INSERT INTO entries (part, log, seq, id, kind, at, data) VALUES (?, ?, ?, ?, ?, ?, ?)`
	blank     = `UPDATE entries SET data = NULL WHERE part = ? AND log = ? AND seq = ?`
	trimLog   = `DELETE FROM entries WHERE part = ? AND log = ? AND seq < ?`
	setFloor  = `INSERT INTO floors (part, log, seq) VALUES (?, ?, ?) ON CONFLICT (part, log) DO UPDATE SET seq = excluded.seq`
	getScore  = `SELECT score FROM scores WHERE part = ? AND name = ? AND member = ?`
	putScore  = `INSERT INTO scores (part, name, member, score) VALUES (?, ?, ?, ?) ON CONFLICT (part, name, member) DO UPDATE SET score = excluded.score`
	delScore  = `DELETE FROM scores WHERE part = ? AND name = ? AND member = ?`
	trimScore = `DELETE FROM scores WHERE part = ? AND name = ? AND score < ?`
	bury      = `INSERT INTO letters (part, id, at, note) VALUES (?, ?, ?, ?) ON CONFLICT (part, id) DO UPDATE SET at = excluded.at, note = excluded.note`
	unbury    = `DELETE FROM letters WHERE part = ? AND id = ?`
)

// maxParts bounds the partitions whose counters are remembered, some 300 bytes each.
const maxParts = 1024

// part is a partition's counters, remembered between commits so that they need not be read.
type part struct {
	id, at, revision int64
	// last holds the last sequence of each log that was written lately.
	last map[string]int64
}

// Commit applies c.
func (s *Store) Commit(ctx context.Context, c store.Commit) (store.Result, error) {
	if err := c.Check(); err != nil {
		return store.Result{}, err
	}
	var res store.Result
	err := s.submit(ctx, "commit "+c.ID+" to "+string(c.Partition), func(t *tx) (err error) {
		res, err = t.commit(&c)
		return err
	})
	s.stats.trips.Add(1)
	if err != nil {
		return store.Result{}, err
	}
	if !res.Repeated {
		s.stats.commits.Add(1)
		s.stats.writes.Add(1)
	}
	return res, nil
}

// commit decides and applies. Everything that can refuse comes before the first write.
func (t *tx) commit(c *store.Commit) (store.Result, error) {
	now := t.w.s.now()
	p, err := t.part(c.Partition)
	if err != nil {
		return store.Result{}, err
	}
	if p != nil {
		if res, ok, err := t.repeat(p, c.ID, now); err != nil || ok {
			return res, err
		}
	}
	if c.Claim != nil && t.w.leases.held(*c.Claim) == nil {
		return store.Result{}, fmt.Errorf("commit %s to %s under claim %d of %s on %s: %w",
			c.ID, c.Partition, c.Claim.Token, c.Claim.Member, c.Claim.Agenda, store.ErrFenced)
	}
	for i, g := range c.Guards {
		if conflict, err := t.check(p, g); err != nil {
			return store.Result{}, fmt.Errorf("commit %s to %s, guard %d: %w", c.ID, c.Partition, i, err)
		} else if conflict != nil {
			conflict.Guard = i
			return store.Result{}, fmt.Errorf("commit %s to %s: %w", c.ID, c.Partition, conflict)
		}
	}
	if p == nil {
		if p, err = t.makePart(c.Partition, now); err != nil {
			return store.Result{}, err
		}
	}
	w := writing{tx: t, p: p, now: now}
	at, revision := p.at, p.revision
	// Within a partition time never goes back, whatever the clock does.
	p.at = max(p.at, now)
	w.res.Now = instant(p.at)
	for _, op := range c.Ops {
		if err := w.apply(op); err != nil {
			return store.Result{}, err
		}
	}
	if p.at != at || p.revision != revision {
		if err := t.exec(setPart, p.at, p.revision, p.id); err != nil {
			return store.Result{}, err
		}
	}
	if err := t.remember(p, c.ID, w.res); err != nil {
		return store.Result{}, err
	}
	// A commit that is rolled back leaves this too high, which costs a look-up and no more.
	t.w.s.highest.Store(max(t.w.s.highest.Load(), p.at))
	return w.res, nil
}

// part gives the partition's counters, nil when it does not exist.
func (t *tx) part(name store.Partition) (*part, error) {
	if p := t.w.parts[name]; p != nil {
		return p, nil
	}
	var p *part
	err := t.query(getPart, func(r row) error {
		p = &part{id: r.int(0), at: r.int(1), revision: r.int(2)}
		return nil
	}, string(name))
	if p != nil {
		t.keepPart(name, p)
	}
	return p, err
}

func (t *tx) makePart(name store.Partition, now int64) (*part, error) {
	if err := t.exec(newPart, string(name), name.Bucket(), now); err != nil {
		return nil, err
	}
	p := &part{id: t.c.lastID(), at: now}
	t.keepPart(name, p)
	return p, nil
}

func (t *tx) keepPart(name store.Partition, p *part) {
	if len(t.w.parts) >= maxParts {
		clear(t.w.parts)
	}
	t.w.parts[name] = p
}

// check tells which conflict g meets, nil when it holds. A nil p is a partition that does not exist yet.
func (t *tx) check(p *part, g store.Guard) (*store.ConflictError, error) {
	id := int64(-1)
	if p != nil {
		id = p.id
	}
	switch g := g.(type) {
	case store.At:
		version := int64(0)
		err := t.query(getDoc, func(r row) error { version = r.int(0); return nil }, id, g.Key.Collection, g.Key.Name)
		if err == nil && version != g.Version {
			return &store.ConflictError{Version: version}, nil
		}
		return nil, err
	case store.Absent:
		found := false
		err := t.query(getScore, func(row) error { found = true; return nil }, id, g.Index, g.Member)
		if err == nil && found {
			return &store.ConflictError{}, nil
		}
		return nil, err
	case store.Fewer:
		count := int64(0)
		err := t.query(countDoc, func(r row) error { count = r.int(0); return nil }, id, g.Collection, max(g.N, 0))
		if err == nil && count >= int64(g.N) {
			return &store.ConflictError{}, nil
		}
		return nil, err
	case store.Free:
		if t.w.leases.at[place{g.Agenda, g.Member}] != nil {
			return &store.ConflictError{}, nil
		}
		return nil, nil
	default:
		return nil, fmt.Errorf("unknown guard %T: %w", g, store.ErrInvalid)
	}
}

// writing is a commit being applied.
type writing struct {
	*tx
	p   *part
	now int64 // the clock's, for the agenda; logs and indexes use p.at
	res store.Result
}

func (w *writing) apply(op store.Op) (err error) {
	p := w.p
	switch o := op.(type) {
	case store.Put:
		p.revision++
		w.res.Versions = append(w.res.Versions, p.revision)
		err = w.exec(putDoc, p.id, o.Key.Collection, o.Key.Name, p.revision, o.Value)
	case store.Delete:
		err = w.exec(delDoc, p.id, o.Key.Collection, o.Key.Name)
	case store.Append:
		err = w.append(o)
	case store.Blank:
		err = w.exec(blank, p.id, o.Log, o.Seq)
	case store.TrimLog:
		err = w.trim(o)
	case store.Score:
		err = w.exec(putScore, p.id, o.Index, o.Member, o.Score)
	case store.ScoreNow:
		err = w.exec(putScore, p.id, o.Index, o.Member, float64(p.at))
	case store.Unscore:
		err = w.exec(delScore, p.id, o.Index, o.Member)
	case store.TrimOlder:
		err = w.exec(trimScore, p.id, o.Index, float64(p.at-millis(o.Age)))
	case store.Wake:
		err = w.wake(o)
	case store.Release:
		err = w.release(o)
	case store.Take:
		err = w.take(o)
	case store.Bury:
		err = w.exec(bury, p.id, o.ID, p.at, o.Note)
	case store.Unbury:
		err = w.exec(unbury, p.id, o.ID)
	default:
		panic(fmt.Sprintf("sqlite: %T passed Commit.Check and has no meaning", op))
	}
	return err
}

// lastSeq is the last sequence that the log gave, 0 when it gave none.
func (w *writing) lastSeq(log string) (int64, error) {
	if n, ok := w.p.last[log]; ok {
		return n, nil
	}
	last := int64(0)
	err := w.query(lastEntry, func(r row) error { last = r.int(0); return nil }, w.p.id, log)
	return last, err
}

func (w *writing) append(o store.Append) error {
	last, err := w.lastSeq(o.Log)
	if err != nil {
		return err
	}
	last++
	if w.p.last == nil {
		w.p.last = map[string]int64{}
	}
	w.p.last[o.Log] = last
	w.res.Seqs = append(w.res.Seqs, last)
	err = w.exec(addEntry, w.p.id, o.Log, last, o.ID, o.Kind, w.p.at, o.Data)
	return err
}

func (w *writing) trim(o store.TrimLog) error {
	last, err := w.lastSeq(o.Log)
	if err != nil || last == 0 {
		return err
	}
	if o.Before > last {
		// Nothing will be left to tell the sequence from.
		if err := w.exec(setFloor, w.p.id, o.Log, last); err != nil {
			return err
		}
	}
	err = w.exec(trimLog, w.p.id, o.Log, o.Before)
	return err
}

func (w *writing) hint(a store.Agenda, m store.Member) {
	h := store.Hint{Agenda: a, Member: m}
	if !slices.Contains(w.hints, h) {
		w.hints = append(w.hints, h)
	}
}

// when is the instant that a wake or a release names.
func when(at time.Time, in time.Duration, now int64) int64 {
	if at.IsZero() {
		return now + millis(in)
	}
	return at.UnixMilli()
}
