package memory

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"herald/core/store"
	"herald/core/store/inproc"
)

// Format is the version of the layout that this driver reports.
const Format = 1

// Options of a memory store. The zero value is usable.
type Options struct {
	// Clock is the store's clock; nil means time.Now. The store counts in whole milliseconds.
	Clock func() time.Time
	// ID is the store's own id; "" means "memory".
	ID string
	// Faults is asked at each call of the handle; nil means that nothing goes wrong.
	Faults Faults
	// Hint, when set, gets every hint from the start, without a goroutine that sits in Hints.
	Hint func(store.Hint)
}

// Store is a handle on a memory store. It is a [store.Store].
type Store struct {
	d      *data
	faults Faults
	calls  atomic.Int64
	stats  struct{ trips, idle, commits, writes atomic.Int64 }

	closing sync.Once
	closed  chan struct{}
	stop    func()
}

var _ store.Store = (*Store)(nil)

// New makes an empty store.
func New(o Options) *Store {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.ID == "" {
		o.ID = "memory"
	}
	return newHandle(&data{clock: o.Clock, id: o.ID}, o)
}

func newHandle(d *data, o Options) *Store {
	s := &Store{d: d, faults: o.Faults, closed: make(chan struct{})}
	if o.Hint != nil {
		s.stop = d.hints.Listen(o.Hint)
	}
	return s
}

// Attach gives another handle on the same data, as another process on the same Redis has. It has its own Faults, Hint and counters; Clock and
// ID are those of the store.
func (s *Store) Attach(o Options) *Store { return newHandle(s.d, o) }

// Reopen closes this handle and gives a new one, as a restart of the one process of an embedded store does: all claims end as crashes, so their
// members are due at once with their attempts counted on. Paces begin anew.
func (s *Store) Reopen(o Options) *Store {
	_ = s.Close()
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	s.d.endClaims(s.d.now())
	s.d.paces.Reset()
	return newHandle(s.d, o)
}

// Now is the store's time.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	var now time.Time
	err := s.call(ctx, Call{Method: "Now"}, func() error {
		s.stats.trips.Add(1)
		now = instant(s.d.now())
		return nil
	})
	return now, err
}

// Health says that the store works, and that it keeps nothing.
func (s *Store) Health(ctx context.Context) (store.Health, error) {
	var h store.Health
	err := s.call(ctx, Call{Method: "Health"}, func() error {
		s.stats.idle.Add(1)
		h = store.Health{Driver: "memory", ID: s.d.id, Format: Format, Keeps: "nothing survives the process", Warnings: []string{
			"The store is in memory: everything is lost when the process ends. Set store.url to sqlite:PATH or redis://HOST to keep it.",
		}}
		return nil
	})
	return h, err
}

// Stats are the counters of this handle. Nothing is ever synced to a disk.
func (s *Store) Stats() store.Stats {
	return store.Stats{
		RoundTrips: s.stats.trips.Load(), Idle: s.stats.idle.Load(),
		Commits: s.stats.commits.Load(), Writes: s.stats.writes.Load(),
	}
}

// Close ends the handle; the data stays for other handles.
func (s *Store) Close() error {
	s.closing.Do(func() {
		close(s.closed)
		if s.stop != nil {
			s.stop()
		}
	})
	return nil
}

// Reserve takes a place in each pace, or in none when the wait would be longer than most.
func (s *Store) Reserve(ctx context.Context, most time.Duration, paces ...store.Pace) (wait time.Duration, ok bool, err error) {
	err = s.call(ctx, Call{Method: "Reserve"}, func() error {
		s.stats.trips.Add(1)
		places := make([]inproc.Place, len(paces))
		for i, p := range paces {
			places[i] = inproc.Place(p)
		}
		wait, ok = s.d.paces.Reserve(instant(s.d.now()), most, places...)
		return nil
	})
	if err != nil {
		return 0, false, err
	}
	return wait, ok, nil
}

// Hold closes a pace for a while.
func (s *Store) Hold(ctx context.Context, key string, d time.Duration) error {
	return s.call(ctx, Call{Method: "Hold"}, func() error {
		s.stats.trips.Add(1)
		s.d.paces.Hold(instant(s.d.now()), key, d)
		return nil
	})
}

// Publish sends a hint to every handle on the data.
func (s *Store) Publish(ctx context.Context, topic, payload string) error {
	err := s.call(ctx, Call{Method: "Publish"}, func() error {
		s.stats.trips.Add(1)
		return nil
	})
	if err == nil {
		s.d.hints.Send(store.Hint{Topic: topic, Payload: payload})
	}
	return err
}

// Hints calls f for each hint until ctx ends (nil) or the handle is closed ([store.ErrClosed]).
func (s *Store) Hints(ctx context.Context, ready chan<- struct{}, f func(store.Hint)) error {
	if err := s.open("Hints"); err != nil {
		return err
	}
	defer s.d.hints.Listen(f)()
	if ready != nil {
		close(ready)
	}
	select {
	case <-ctx.Done():
		return nil
	case <-s.closed:
		return s.open("Hints")
	}
}

func (s *Store) open(method string) error {
	select {
	case <-s.closed:
		return fmt.Errorf("%s on the memory store: %w", method, store.ErrClosed)
	default:
		return nil
	}
}
