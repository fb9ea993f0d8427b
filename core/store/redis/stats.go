package redis

import (
	"sync/atomic"
	"time"

	"herald/core/store"
)

// counters are what Stats tells.
type counters struct {
	trips, idle, commits, writes, fsyncs atomic.Int64
	// sync is how the server writes its append-only file, as Open found it: one of the constants below.
	sync atomic.Int64
	// second is the last second in which something was written, for everysec.
	second atomic.Int64
}

const (
	syncNever int64 = iota
	syncEverySecond
	syncAlways
)

// count notes one pipeline. With appendfsync always Redis syncs at least once for it, with everysec once a second.
func (c *counters) count(idle, writes bool) {
	if idle {
		c.idle.Add(1)
	} else {
		c.trips.Add(1)
	}
	if !writes {
		return
	}
	switch c.sync.Load() {
	case syncAlways:
		c.fsyncs.Add(1)
	case syncEverySecond:
		now := time.Now().Unix()
		if last := c.second.Load(); last != now && c.second.CompareAndSwap(last, now) {
			c.fsyncs.Add(1)
		}
	}
}

// Stats are the counters of this handle. Fsyncs is what the server's settings imply for this handle's writes alone.
func (s *Store) Stats() store.Stats {
	c := &s.stats
	return store.Stats{
		RoundTrips: c.trips.Load(), Idle: c.idle.Load(), Commits: c.commits.Load(), Writes: c.writes.Load(), Fsyncs: c.fsyncs.Load(),
	}
}
