package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"herald/core/store"
)

const (
	endClaims = `UPDATE agenda SET held = 0, due = min(coalesce(due, ?), ?) WHERE held = 1`
	wakeUp    = `INSERT INTO agenda (agenda, member, bucket, held, due, attempts) VALUES (?, ?, ?, 0, ?, 0)
		ON CONFLICT (agenda, member) DO UPDATE SET due = excluded.due WHERE due IS NULL OR due > excluded.due`
	hold = `INSERT INTO agenda (agenda, member, bucket, held, due, attempts) VALUES (?, ?, ?, 1, ?, ?)
		ON CONFLICT (agenda, member) DO UPDATE SET held = 1, due = excluded.due, attempts = excluded.attempts`
	letGo   = `UPDATE agenda SET held = 0, due = ?, attempts = ? WHERE agenda = ? AND member = ?`
	leave   = `DELETE FROM agenda WHERE agenda = ? AND member = ?`
	getItem = `SELECT due, attempts FROM agenda WHERE agenda = ? AND member = ?`
	nextDue = `SELECT due FROM agenda WHERE held = 0 AND agenda = ? ORDER BY due LIMIT 1`
	allDue  = `SELECT due, member, bucket, attempts FROM agenda WHERE held = 0 AND agenda = ? AND due <= ? ORDER BY due, member`
)

// due is a due time as SQLite keeps it.
func dueValue(due int64) any {
	if due == never {
		return nil
	}
	return due
}

// candidate is a member that can be claimed: one that is free and due, or one whose lease has ended.
type candidate struct {
	place
	bucket int
	// free is since when, due the wake (of a held member: the one that waits), attempts those before this claim.
	free, due int64
	attempts  int
}

func (t *tx) claim(c candidate, holder string, span time.Duration, now int64) (store.Claim, error) {
	if c.due <= now {
		// The claim uses up the wake; a later one stays for after the release.
		c.due = never
	}
	token, err := t.nextToken()
	if err != nil {
		return store.Claim{}, err
	}
	l := &lease{place: c.place, bucket: c.bucket, token: token, holder: holder, attempt: c.attempts + 1, since: now, until: now + millis(span), due: c.due}
	if err := t.exec(hold, string(c.agenda), string(c.member), c.bucket, dueValue(c.due), l.attempt); err != nil {
		return store.Claim{}, err
	}
	t.setLease(c.place, l)
	return store.Claim{
		Agenda: c.agenda, Member: c.member, Token: token, Holder: holder, Attempt: l.attempt, Since: instant(now), Until: instant(l.until),
	}, nil
}

// nextToken gives a token; one that a rollback wastes is not given again.
func (t *tx) nextToken() (int64, error) {
	w := t.w
	if w.token == w.ceiling {
		if err := t.exec(setMeta, metaTokens, strconv.FormatInt(w.ceiling+tokenBlock, 10)); err != nil {
			return 0, err
		}
		old := w.ceiling
		w.ceiling += tokenBlock
		t.undo = append(t.undo, func() { w.ceiling, w.token = old, old })
	}
	w.token++
	return w.token, nil
}

func (w *writing) wake(o store.Wake) error {
	at, here := when(o.At, o.In, w.now), place{o.Agenda, o.Member}
	if err := w.exec(wakeUp, string(o.Agenda), string(o.Member), o.Member.Partition().Bucket(), at); err != nil {
		return err
	}
	if l := w.w.leases.at[here]; l != nil && at < l.due {
		next := *l
		next.due = at
		w.setLease(here, &next)
	}
	if at <= w.now {
		w.hint(o.Agenda, o.Member)
	}
	return nil
}

func (w *writing) release(o store.Release) error {
	l := w.w.leases.held(o.Claim)
	if l == nil {
		return nil
	}
	due, attempts := l.due, 0
	if o.Again {
		due = min(due, when(o.At, o.In, w.now))
	}
	if o.KeepAttempt {
		attempts = l.attempt - 1
	}
	var err error
	if due == never {
		err = w.exec(leave, string(l.agenda), string(l.member))
	} else {
		err = w.exec(letGo, due, attempts, string(l.agenda), string(l.member))
	}
	if err != nil {
		return err
	}
	w.setLease(l.place, nil)
	if due <= w.now {
		w.hint(l.agenda, l.member)
	}
	return nil
}

func (w *writing) take(o store.Take) error {
	here := place{o.Agenda, o.Member}
	if w.w.leases.at[here] != nil {
		w.res.Taken = append(w.res.Taken, nil)
		return nil
	}
	c, _, err := w.item(here)
	if err != nil {
		return err
	}
	claim, err := w.claim(c, o.Holder, o.Lease, w.now)
	if err != nil {
		return err
	}
	w.res.Taken = append(w.res.Taken, &claim)
	return nil
}

// item reads a member that nobody holds; ok is false when it is not on the agenda.
func (t *tx) item(at place) (c candidate, ok bool, err error) {
	c = candidate{place: at, bucket: at.member.Partition().Bucket(), free: never, due: never}
	err = t.query(getItem, func(r row) error {
		c.due, c.attempts, ok = r.int(0), int(r.int(1)), true
		c.free = c.due
		return nil
	}, string(at.agenda), string(at.member))
	return c, ok, err
}

// Claim gives due members.
func (s *Store) Claim(ctx context.Context, req store.ClaimRequest) ([]store.Claim, error) {
	if err := req.Check(); err != nil {
		return nil, err
	}
	var claims []store.Claim
	err := s.submit(ctx, "claim on "+string(req.Agenda), func(t *tx) (err error) {
		claims, err = t.claimDue(&req)
		return err
	})
	if err != nil {
		s.stats.trips.Add(1)
		return nil, err
	}
	if len(claims) == 0 {
		s.stats.idle.Add(1)
		return nil, nil
	}
	s.stats.trips.Add(1)
	s.stats.writes.Add(1)
	return claims, nil
}

func (t *tx) claimDue(req *store.ClaimRequest) ([]store.Claim, error) {
	now := t.w.s.now()
	var claims []store.Claim
	if len(req.Members) > 0 {
		for _, m := range req.Members {
			if len(claims) == req.Limit {
				break
			}
			c, ok, err := t.named(place{req.Agenda, m}, now)
			if err != nil {
				return nil, err
			}
			if !ok {
				continue
			}
			claim, err := t.claim(c, req.Holder, req.Lease, now)
			if err != nil {
				return nil, err
			}
			claims = append(claims, claim)
		}
		return claims, nil
	}
	cs, err := t.candidates(req, now)
	if err != nil {
		return nil, err
	}
	for _, c := range cs {
		claim, err := t.claim(c, req.Holder, req.Lease, now)
		if err != nil {
			return nil, err
		}
		claims = append(claims, claim)
	}
	return claims, nil
}

// named looks at one member: ok tells whether it can be claimed.
func (t *tx) named(at place, now int64) (c candidate, ok bool, err error) {
	if l := t.w.leases.at[at]; l != nil {
		return l.candidate(), l.until <= now, nil
	}
	c, ok, err = t.item(at)
	return c, ok && c.due <= now, err
}

func (l *lease) candidate() candidate {
	return candidate{place: l.place, bucket: l.bucket, free: l.until, due: l.due, attempts: l.attempt}
}

// candidates are the first members that can be claimed, from those whose lease has ended and those that are free.
func (t *tx) candidates(req *store.ClaimRequest, now int64) ([]candidate, error) {
	var cs []candidate
	for _, l := range t.w.leases.ended(req.Agenda, now, req.Buckets) {
		cs = append(cs, l.candidate())
	}
	free := 0
	err := t.query(allDue, func(r row) error {
		bucket := int(r.int(2))
		if req.Buckets != nil && !slices.Contains(req.Buckets, bucket) {
			return nil
		}
		due := r.int(0)
		cs = append(cs, candidate{place: place{req.Agenda, store.Member(r.text(1))}, bucket: bucket, free: due, due: due, attempts: int(r.int(3))})
		if free++; free == req.Limit {
			return errStop
		}
		return nil
	}, string(req.Agenda), now)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(cs, func(a, b candidate) int { return cmp.Or(cmp.Compare(a.free, b.free), cmp.Compare(a.member, b.member)) })
	return cs[:min(len(cs), req.Limit)], nil
}

// Extend renews leases. They end with the process, so nothing is written.
func (s *Store) Extend(ctx context.Context, span time.Duration, claims ...store.Claim) ([]bool, error) {
	if span <= 0 {
		return nil, fmt.Errorf("extend %d claims by %v: a lease is longer than nothing: %w", len(claims), span, store.ErrInvalid)
	}
	lost := make([]bool, len(claims))
	err := s.submit(ctx, "extend claims", func(t *tx) error {
		now := t.w.s.now()
		for i, c := range claims {
			l := t.w.leases.held(c)
			lost[i] = l == nil
			if l != nil {
				next := *l
				next.until = now + millis(span)
				t.setLease(l.place, &next)
			}
		}
		return nil
	})
	s.stats.idle.Add(1)
	if err != nil {
		return nil, err
	}
	return lost, nil
}

// Due is the earliest time at which a member of a can be claimed.
func (s *Store) Due(ctx context.Context, a store.Agenda) (at, now time.Time, ok bool, err error) {
	first, ms := never, int64(0)
	err = s.submit(ctx, "due of "+string(a), func(t *tx) error {
		first, ms = t.w.leases.first(a), t.w.s.now()
		return t.query(nextDue, func(r row) error { first = min(first, r.int(0)); return nil }, string(a))
	})
	s.stats.idle.Add(1)
	if err != nil {
		return time.Time{}, time.Time{}, false, err
	}
	if first == never {
		return time.Time{}, instant(ms), false, nil
	}
	return instant(first), instant(ms), true, nil
}
