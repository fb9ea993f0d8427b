package inproc

import (
	"sync"
	"time"
)

// slot is the state of one pace. Both instants are on the clock that the caller passes in.
type slot struct {
	// free is when the places taken so far are used up, were they used one at a time.
	free time.Time
	// closed is until when nothing may go, as Hold asked.
	closed time.Time
}

// reserve takes the next place: when it is, and the state after it. A rest before now is not saved up beyond burst.
func (s slot) reserve(now time.Time, every time.Duration, burst int) (at time.Time, next slot) {
	base := later(now, s.closed)
	at = later(base, s.free.Add(-time.Duration(max(burst, 1)-1)*every))
	s.free = later(s.free, base).Add(every)
	return at, s
}

// idle reports whether forgetting s changes nothing.
func (s slot) idle(now time.Time) bool { return !s.free.After(now) && !s.closed.After(now) }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Paces hands out places in paces. The zero value is ready.
type Paces struct {
	mu    sync.Mutex
	slots map[string]slot
	// sweep is the size at which idle slots are dropped next, so that the table stays in proportion to the paces in use.
	sweep int
}

// Place is one request for a place; see store.Pace.
type Place struct {
	Key   string
	Every time.Duration
	Burst int
}

// Reserve takes the next place in each pace and returns how long after now the latest of them is. When that is more than most,
// ok is false and no place is taken; a negative most takes any. A key that is named twice gets two places.
func (p *Paces) Reserve(now time.Time, most time.Duration, places ...Place) (wait time.Duration, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	taken := make(map[string]slot, len(places))
	for _, pl := range places {
		s, again := taken[pl.Key]
		if !again {
			s = p.slots[pl.Key]
		}
		at, next := s.reserve(now, max(pl.Every, 0), pl.Burst)
		taken[pl.Key] = next
		wait = max(wait, at.Sub(now))
	}
	if most >= 0 && wait > most {
		return wait, false
	}
	for key, s := range taken {
		p.set(now, key, s)
	}
	return wait, true
}

// Hold keeps the pace of key closed for d after now; it never shortens an earlier hold.
func (p *Paces) Hold(now time.Time, key string, d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.slots[key]
	s.closed = later(s.closed, now.Add(d))
	p.set(now, key, s)
}

func (p *Paces) set(now time.Time, key string, s slot) {
	if s.idle(now) {
		delete(p.slots, key)
		return
	}
	if p.slots == nil {
		p.slots = map[string]slot{}
	}
	p.slots[key] = s
	if len(p.slots) < max(p.sweep, 64) {
		return
	}
	for k, v := range p.slots {
		if v.idle(now) {
			delete(p.slots, k)
		}
	}
	p.sweep = 2 * len(p.slots)
}

// Reset forgets all paces, as a restart of the process does.
func (p *Paces) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.slots, p.sweep = nil, 0
}

// Len is the number of paces that are remembered.
func (p *Paces) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.slots)
}
