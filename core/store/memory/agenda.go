package memory

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"herald/core/store"
)

// never is the due time of a member that nobody woke.
const never = int64(math.MaxInt64)

// item is a member of an agenda: held, or due, or both (a wake that came during the claim).
type item struct {
	member store.Member
	bucket int
	// due is the earliest wake that no claim has used up.
	due  int64
	held bool
	// attempts counts the claims in a row without a release, the present one included.
	attempts     int
	token        int64
	holder       string
	since, until int64
	// pos is the place in the agenda's heap, -1 outside of it.
	pos int
}

// free is when the member can be claimed: at its due time, or at the end of its lease.
func (it *item) free() int64 {
	if it.held {
		return it.until
	}
	return it.due
}

// release ends the claim. A claim that is given back without work does not count.
func (it *item) release(keepAttempt bool) {
	it.held = false
	if keepAttempt {
		it.attempts--
	} else {
		it.attempts = 0
	}
}

// agenda keeps its members by name and in a heap by the time at which they can be claimed.
type agenda struct {
	name  store.Agenda
	items map[store.Member]*item
	queue queue
}

type queue []*item

func before(a, b *item) int {
	return cmp.Or(cmp.Compare(a.free(), b.free()), cmp.Compare(a.member, b.member))
}

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return before(q[i], q[j]) < 0 }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i]; q[i].pos, q[j].pos = i, j }
func (q *queue) Push(x any)        { it := x.(*item); it.pos = len(*q); *q = append(*q, it) }

func (q *queue) Pop() any {
	last := len(*q) - 1
	it := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	it.pos = -1
	return it
}

func (d *data) agenda(name store.Agenda) *agenda {
	a := d.agendas[name]
	if a == nil {
		a = &agenda{name: name, items: map[store.Member]*item{}}
		put(&d.agendas, name, a)
	}
	return a
}

// item gives the member, made when it is absent; place must follow.
func (a *agenda) item(m store.Member, bucket int) *item {
	it := a.items[m]
	if it == nil {
		it = &item{member: m, bucket: bucket, due: never, pos: -1}
		a.items[m] = it
	}
	return it
}

// place puts the member where it belongs after a change. One that is neither held nor due leaves the agenda, its attempts with it.
func (a *agenda) place(it *item) {
	gone := !it.held && it.due == never
	switch {
	case gone:
		delete(a.items, it.member)
		if it.pos >= 0 {
			heap.Remove(&a.queue, it.pos)
		}
	case it.pos < 0:
		heap.Push(&a.queue, it)
	default:
		heap.Fix(&a.queue, it.pos)
	}
}

// held gives the item of a claim that still stands, also when its lease has ended; else nil.
func (d *data) held(c store.Claim) *item {
	a := d.agendas[c.Agenda]
	if a == nil {
		return nil
	}
	it := a.items[c.Member]
	if it == nil || !it.held || it.token != c.Token || it.holder != c.Holder {
		return nil
	}
	return it
}

// claim gives the member to holder. A wake whose time has come is used up; a later one stays for after the release.
func (d *data) claim(a *agenda, it *item, holder string, lease time.Duration, now int64) store.Claim {
	if it.due <= now {
		it.due = never
	}
	d.tokens[it.bucket]++
	it.held, it.token, it.holder = true, d.tokens[it.bucket], holder
	it.since, it.until = now, now+millis(lease)
	it.attempts++
	a.place(it)
	return store.Claim{
		Agenda: a.name, Member: it.member, Token: it.token, Holder: holder,
		Attempt: it.attempts, Since: instant(now), Until: instant(it.until),
	}
}

// endClaims ends every claim as a crash does.
func (d *data) endClaims(now int64) {
	for _, a := range d.agendas {
		for _, it := range a.items {
			if it.held {
				it.held = false
				it.due = min(it.due, now)
				a.place(it)
			}
		}
	}
}

// Claim gives due members.
func (s *Store) Claim(ctx context.Context, req store.ClaimRequest) ([]store.Claim, error) {
	if err := req.Check(); err != nil {
		return nil, err
	}
	var claims []store.Claim
	err := s.call(ctx, Call{Method: "Claim"}, func() error {
		claims = s.d.claimDue(&req)
		if len(claims) == 0 {
			s.stats.idle.Add(1)
			return nil
		}
		s.stats.trips.Add(1)
		s.stats.writes.Add(1)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return claims, nil
}

func (d *data) claimDue(req *store.ClaimRequest) []store.Claim {
	a := d.agendas[req.Agenda]
	if a == nil {
		return nil
	}
	now := d.now()
	var claims []store.Claim
	give := func(it *item) { claims = append(claims, d.claim(a, it, req.Holder, req.Lease, now)) }
	switch {
	case len(req.Members) > 0:
		for _, m := range req.Members {
			if it := a.items[m]; it != nil && it.free() <= now && len(claims) < req.Limit {
				give(it)
			}
		}
	case req.Buckets == nil:
		for len(a.queue) > 0 && a.queue[0].free() <= now && len(claims) < req.Limit {
			give(a.queue[0])
		}
	default:
		var due []*item
		for _, it := range a.queue {
			if it.free() <= now && slices.Contains(req.Buckets, it.bucket) {
				due = append(due, it)
			}
		}
		slices.SortFunc(due, before)
		for _, it := range due[:min(len(due), req.Limit)] {
			give(it)
		}
	}
	return claims
}

// Extend renews the leases of claims.
func (s *Store) Extend(ctx context.Context, lease time.Duration, claims ...store.Claim) ([]bool, error) {
	if lease <= 0 {
		return nil, fmt.Errorf("extend %d claims by %v: a lease is longer than nothing: %w", len(claims), lease, store.ErrInvalid)
	}
	var lost []bool
	err := s.call(ctx, Call{Method: "Extend"}, func() error {
		s.stats.idle.Add(1)
		lost = make([]bool, len(claims))
		now := s.d.now()
		for i, c := range claims {
			it := s.d.held(c)
			if it == nil {
				lost[i] = true
				continue
			}
			it.until = now + millis(lease)
			s.d.agenda(c.Agenda).place(it)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return lost, nil
}

// Due is the earliest time at which a member of name can be claimed.
func (s *Store) Due(ctx context.Context, name store.Agenda) (at, now time.Time, ok bool, err error) {
	err = s.call(ctx, Call{Method: "Due"}, func() error {
		s.stats.idle.Add(1)
		now = instant(s.d.now())
		if a := s.d.agendas[name]; a != nil && len(a.queue) > 0 {
			at, ok = instant(a.queue[0].free()), true
		}
		return nil
	})
	if err != nil {
		return time.Time{}, time.Time{}, false, err
	}
	return at, now, ok, nil
}
