package memory

import (
	"context"
	"fmt"
	"slices"
	"time"

	"herald/core/store"
)

// Commit applies c.
func (s *Store) Commit(ctx context.Context, c store.Commit) (store.Result, error) {
	if err := c.Check(); err != nil {
		return store.Result{}, err
	}
	var (
		res   store.Result
		hints []store.Hint
	)
	e, err := s.callEffect(ctx, Call{Method: "Commit", Commit: &c}, func() error {
		s.stats.trips.Add(1)
		var err error
		var h []store.Hint
		res, h, err = s.d.commit(&c)
		hints = append(hints, h...)
		if err == nil && !res.Repeated {
			s.stats.commits.Add(1)
			s.stats.writes.Add(1)
		}
		return err
	})
	// The hints of a commit whose reply was lost are sent all the same: the commit stands.
	if !e.NoHints {
		s.d.hints.Send(hints...)
	}
	if err != nil {
		return store.Result{}, err
	}
	return res, nil
}

// commit decides and applies. Everything that can refuse comes before the first change.
func (d *data) commit(c *store.Commit) (store.Result, []store.Hint, error) {
	now := d.now()
	p := d.parts[c.Partition]
	if p != nil {
		if res, ok := p.repeat(c.ID, now); ok {
			return res, nil, nil
		}
	}
	if c.Claim != nil && d.held(*c.Claim) == nil {
		return store.Result{}, nil, fmt.Errorf("commit %s to %s under claim %d of %s on %s: %w",
			c.ID, c.Partition, c.Claim.Token, c.Claim.Member, c.Claim.Agenda, store.ErrFenced)
	}
	for i, g := range c.Guards {
		if conflict, err := d.check(p, g); err != nil {
			return store.Result{}, nil, fmt.Errorf("commit %s to %s, guard %d: %w", c.ID, c.Partition, i, err)
		} else if conflict != nil {
			conflict.Guard = i
			return store.Result{}, nil, fmt.Errorf("commit %s to %s: %w", c.ID, c.Partition, conflict)
		}
	}
	if p == nil {
		p = d.part(c.Partition)
	}
	w := writing{d: d, p: p, now: now}
	// Within a partition time never goes back, whatever the clock does.
	p.at = max(p.at, now)
	w.res.Now = instant(p.at)
	for _, op := range c.Ops {
		w.apply(op)
	}
	p.remember(c.ID, w.res, now)
	return w.res, w.hints, nil
}

// check tells which conflict g meets, nil when it holds. A nil p is a partition that does not exist yet.
func (d *data) check(p *part, g store.Guard) (*store.ConflictError, error) {
	switch g := g.(type) {
	case store.At:
		version := int64(0)
		if p != nil {
			version = p.docs[g.Key.Collection][g.Key.Name].version
		}
		if version != g.Version {
			return &store.ConflictError{Version: version}, nil
		}
	case store.Absent:
		if p == nil {
			return nil, nil
		}
		if _, ok := p.indexes[g.Index][g.Member]; ok {
			return &store.ConflictError{}, nil
		}
	case store.Fewer:
		if p != nil && len(p.docs[g.Collection]) >= g.N || g.N <= 0 {
			return &store.ConflictError{}, nil
		}
	case store.Free:
		if it, ok := d.agenda(g.Agenda).items[g.Member]; ok && it.held {
			return &store.ConflictError{}, nil
		}
	default:
		return nil, fmt.Errorf("unknown guard %T: %w", g, store.ErrInvalid)
	}
	return nil, nil
}

// repeat gives the first answer to a commit that was applied.
func (p *part) repeat(id string, now int64) (store.Result, bool) {
	res, ok := p.repeats[id]
	if !ok || now-res.Now.UnixMilli() >= repeatFor {
		return store.Result{}, false
	}
	res = copyResult(res)
	res.Repeated = true
	return res, true
}

// remember keeps an answer and forgets those that are too old.
func (p *part) remember(id string, res store.Result, now int64) {
	n := 0
	for _, old := range p.order {
		if now-p.repeats[old].Now.UnixMilli() < repeatFor {
			break
		}
		delete(p.repeats, old)
		n++
	}
	p.order = slices.Delete(p.order, 0, n)
	put(&p.repeats, id, copyResult(res))
	p.order = append(p.order, id)
}

func copyResult(r store.Result) store.Result {
	r.Versions = slices.Clone(r.Versions)
	r.Seqs = slices.Clone(r.Seqs)
	r.Taken = slices.Clone(r.Taken)
	for i, c := range r.Taken {
		if c != nil {
			r.Taken[i] = new(*c)
		}
	}
	return r
}

// writing is a commit being applied.
type writing struct {
	d     *data
	p     *part
	now   int64 // the clock's, for the agenda; logs and indexes use p.at
	res   store.Result
	hints []store.Hint
}

func (w *writing) apply(op store.Op) {
	p := w.p
	switch o := op.(type) {
	case store.Put:
		p.revision++
		p.put(o.Key, o.Value)
		w.res.Versions = append(w.res.Versions, p.revision)
	case store.Delete:
		delete(p.docs[o.Key.Collection], o.Key.Name)
	case store.Append:
		l := p.logs[o.Log]
		if l == nil {
			l = &journal{first: 1}
			put(&p.logs, o.Log, l)
		}
		l.entries = append(l.entries, entry{id: o.ID, kind: o.Kind, at: p.at, data: own(o.Data)})
		w.res.Seqs = append(w.res.Seqs, l.first+int64(len(l.entries))-1)
	case store.Blank:
		if l := p.logs[o.Log]; l != nil && o.Seq >= l.first && o.Seq-l.first < int64(len(l.entries)) {
			l.entries[o.Seq-l.first].data = nil
		}
	case store.TrimLog:
		if l := p.logs[o.Log]; l != nil && o.Before > l.first {
			n := min(o.Before-l.first, int64(len(l.entries)))
			l.entries = slices.Delete(l.entries, 0, int(n))
			l.first += n
		}
	case store.Score:
		p.score(o.Index, o.Member, o.Score)
	case store.ScoreNow:
		p.score(o.Index, o.Member, float64(p.at))
	case store.Unscore:
		delete(p.indexes[o.Index], o.Member)
	case store.TrimOlder:
		least := float64(p.at - millis(o.Age))
		for m, score := range p.indexes[o.Index] {
			if score < least {
				delete(p.indexes[o.Index], m)
			}
		}
	case store.Wake:
		w.wake(o)
	case store.Release:
		w.release(o)
	case store.Take:
		w.take(o)
	case store.Bury:
		put(&p.letters, o.ID, letter{at: p.at, note: own(o.Note)})
	case store.Unbury:
		delete(p.letters, o.ID)
	default:
		panic(fmt.Sprintf("memory: %T passed Commit.Check and has no meaning", op))
	}
}

func (p *part) put(k store.Key, value []byte) {
	c := p.docs[k.Collection]
	if c == nil {
		c = map[string]doc{}
		put(&p.docs, k.Collection, c)
	}
	born := p.revision
	if old, ok := c[k.Name]; ok {
		born = old.born
	}
	c[k.Name] = doc{value: own(value), version: p.revision, born: born}
}

func (p *part) score(index, member string, score float64) {
	ix := p.indexes[index]
	if ix == nil {
		ix = map[string]float64{}
		put(&p.indexes, index, ix)
	}
	ix[member] = score
}

func (w *writing) wake(o store.Wake) {
	at := when(o.At, o.In, w.now)
	it := w.d.agenda(o.Agenda).item(o.Member, w.p.bucket)
	it.due = min(it.due, at)
	w.d.agenda(o.Agenda).place(it)
	if at <= w.now {
		w.hint(o.Agenda, o.Member)
	}
}

func (w *writing) release(o store.Release) {
	it := w.d.held(o.Claim)
	if it == nil {
		return
	}
	if o.Again {
		it.due = min(it.due, when(o.At, o.In, w.now))
	}
	it.release(o.KeepAttempt)
	w.d.agenda(o.Claim.Agenda).place(it)
	if it.due <= w.now {
		w.hint(o.Claim.Agenda, o.Claim.Member)
	}
}

func (w *writing) take(o store.Take) {
	a := w.d.agenda(o.Agenda)
	it := a.item(o.Member, w.p.bucket)
	if it.held {
		w.res.Taken = append(w.res.Taken, nil)
		return
	}
	c := w.d.claim(a, it, o.Holder, o.Lease, w.now)
	w.res.Taken = append(w.res.Taken, &c)
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
