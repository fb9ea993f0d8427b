package worker

import (
	"container/heap"
	"time"

	"herald/core/store"
)

// maxWanted bounds the members that wait to be claimed by name; what comes beyond is found by looking through the agenda.
const maxWanted = 4096

// queue holds the members that are wanted now, in the order of their hints, and those that are wanted later.
type queue struct {
	wanted    []store.Member
	in        map[store.Member]bool
	later     laterHeap
	overflown bool
}

// want adds a member unless it waits already.
func (q *queue) want(m store.Member) {
	if q.in[m] {
		return
	}
	if len(q.wanted) >= maxWanted {
		q.overflown = true
		return
	}
	if q.in == nil {
		q.in = map[store.Member]bool{}
	}
	q.in[m] = true
	q.wanted = append(q.wanted, m)
}

// wantAt adds a member from an instant on. What finds no room is left to the store's own due times.
func (q *queue) wantAt(m store.Member, at time.Time) {
	if len(q.later) < maxWanted {
		heap.Push(&q.later, later{m, at})
	}
}

// ripen moves the members whose instant has come.
func (q *queue) ripen(now time.Time) {
	for len(q.later) > 0 && !q.later[0].at.After(now) {
		q.want(heap.Pop(&q.later).(later).member)
	}
}

// nextRipe is the next instant at which a member ripens.
func (q *queue) nextRipe() (time.Time, bool) {
	if len(q.later) == 0 {
		return time.Time{}, false
	}
	return q.later[0].at, true
}

// take removes and returns the first n wanted members; those that skip answers true for are removed and left out.
func (q *queue) take(n int, skip func(store.Member) bool) []store.Member {
	var out []store.Member
	i := 0
	for ; i < len(q.wanted) && len(out) < n; i++ {
		m := q.wanted[i]
		delete(q.in, m)
		if !skip(m) {
			out = append(out, m)
		}
	}
	q.wanted = q.wanted[i:]
	if len(q.wanted) == 0 {
		q.wanted = nil // let the array go
	}
	return out
}

type later struct {
	member store.Member
	at     time.Time
}

type laterHeap []later

func (h laterHeap) Len() int           { return len(h) }
func (h laterHeap) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h laterHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *laterHeap) Push(x any)        { *h = append(*h, x.(later)) }

func (h *laterHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}
