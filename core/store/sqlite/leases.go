package sqlite

import (
	"cmp"
	"container/heap"
	"math"
	"slices"

	"herald/core/store"
)

// never is the due time of a member that nobody woke.
const never = int64(math.MaxInt64)

// place names a member of an agenda.
type place struct {
	agenda store.Agenda
	member store.Member
}

// lease is who holds a member. It is replaced, never changed, so that a rollback can put the old one back.
type lease struct {
	place
	bucket       int
	token        int64
	holder       string
	attempt      int
	since, until int64
	// due is the wake that waits for the release.
	due int64
	// pos is the place in the agenda's heap.
	pos int
}

// leases are all the claims of this process, and so of the store.
type leases struct {
	at     map[place]*lease
	queues map[store.Agenda]*leaseQueue
}

func newLeases() leases {
	return leases{at: map[place]*lease{}, queues: map[store.Agenda]*leaseQueue{}}
}

// leaseQueue is a heap by the end of the lease.
type leaseQueue []*lease

func (q leaseQueue) Len() int           { return len(q) }
func (q leaseQueue) Less(i, j int) bool { return q[i].until < q[j].until }
func (q leaseQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i]; q[i].pos, q[j].pos = i, j }
func (q *leaseQueue) Push(x any)        { l := x.(*lease); l.pos = len(*q); *q = append(*q, l) }

func (q *leaseQueue) Pop() any {
	last := len(*q) - 1
	l := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return l
}

// set puts l (nil: nothing) in the place and gives what stood there.
func (ls *leases) set(at place, l *lease) (old *lease) {
	q := ls.queues[at.agenda]
	if q == nil {
		q = &leaseQueue{}
		ls.queues[at.agenda] = q
	}
	if old = ls.at[at]; old != nil {
		heap.Remove(q, old.pos)
		delete(ls.at, at)
	}
	if l != nil {
		ls.at[at] = l
		heap.Push(q, l)
	}
	return old
}

// held gives the lease of a claim that still stands, also when it has ended; else nil.
func (ls *leases) held(c store.Claim) *lease {
	l := ls.at[place{c.Agenda, c.Member}]
	if l == nil || l.token != c.Token || l.holder != c.Holder {
		return nil
	}
	return l
}

// first is the end of the lease of a that ends first, or never.
func (ls *leases) first(a store.Agenda) int64 {
	if q := ls.queues[a]; q != nil && len(*q) > 0 {
		return (*q)[0].until
	}
	return never
}

// ended gives the leases of a that have ended and are in one of buckets (nil: all), longest ended first. It looks only at those that
// have ended and their children in the heap.
func (ls *leases) ended(a store.Agenda, now int64, buckets []int) []*lease {
	q := ls.queues[a]
	if q == nil {
		return nil
	}
	var out []*lease
	var visit func(int)
	visit = func(i int) {
		if i >= len(*q) || (*q)[i].until > now {
			return
		}
		if l := (*q)[i]; buckets == nil || slices.Contains(buckets, l.bucket) {
			out = append(out, l)
		}
		visit(2*i + 1)
		visit(2*i + 2)
	}
	visit(0)
	slices.SortFunc(out, func(a, b *lease) int { return cmp.Or(cmp.Compare(a.until, b.until), cmp.Compare(a.member, b.member)) })
	return out
}

// setLease changes a lease so that a rollback changes it back.
func (t *tx) setLease(at place, l *lease) {
	old := t.w.leases.set(at, l)
	t.undo = append(t.undo, func() { t.w.leases.set(at, old) })
}
