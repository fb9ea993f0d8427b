package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"herald/core/store"
	"herald/core/store/inproc"
)

// Store is an open SQLite store. It is a [store.Store].
type Store struct {
	o      Options
	id     string
	format int
	// unlock lets other processes in.
	unlock func() error
	// file is what Path was when it was opened.
	file os.FileInfo

	hints inproc.Hints
	paces inproc.Paces
	// highest is the greatest instant of any commit: where the clock is past it, no partition is ahead of the clock.
	highest atomic.Int64
	stats   struct{ trips, idle, commits, writes, fsyncs atomic.Int64 }

	w       *writer
	upkeep  *upkeep
	readers chan *conn

	// gate is held for reading while a request is handed in, so that none comes after Close.
	gate    sync.RWMutex
	closing bool
	closed  chan struct{}
	closeMu sync.Mutex
}

var _ store.Store = (*Store)(nil)

// Open opens the store at o.Path, and makes it when there is none and o.Create is set. All claims end as crashes. Errors:
// [store.ErrMissing], [store.ErrInUse], [store.ErrNewer], [store.ErrCorrupt], [store.ErrReadOnly], [store.ErrFull], [store.ErrUnavailable].
func Open(ctx context.Context, o Options) (*Store, error) { return open(ctx, o, migrations()) }

func open(ctx context.Context, o Options, steps []migration) (_ *Store, err error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("open the SQLite store %s: %w", o.Path, err)
	}
	// fdatasync writes all that a commit needs and half of what fsync does. Where there is none, fsync it is.
	_, _ = sqlite.Fdatasync(true)
	if err := touch(o); err != nil {
		return nil, err
	}
	s := &Store{o: o, closed: make(chan struct{}), readers: make(chan *conn, o.Readers)}
	if s.unlock, err = lockFile(o.Path); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = s.unlock()
		}
	}()
	c, err := dial(o.Path, "busy_timeout = 5000")
	if err != nil {
		return nil, s.trouble("opening", err)
	}
	if err := s.start(c, steps); err != nil {
		return nil, errors.Join(s.trouble("opening", err), c.close())
	}
	return s, nil
}

// pragmas of the writing connection, set once the file is known to be ours. Checkpoints are ours to run, see upkeep.
func (s *Store) pragmas() []string {
	p := []string{
		"journal_mode = WAL", "synchronous = " + s.o.Sync, "wal_autocheckpoint = 0", "journal_size_limit = 67108864",
		"cache_size = -4000", "temp_store = MEMORY", "secure_delete = FAST", "cell_size_check = ON",
	}
	if s.o.MaxBytes > 0 {
		p = append(p, "max_page_count = "+strconv.FormatInt(max(s.o.MaxBytes/4096, 1), 10))
	}
	return p
}

// start brings the file to order and starts the goroutines, which own the connections from then on.
func (s *Store) start(c *conn, steps []migration) (err error) {
	if s.id, s.format, err = prepareFormat(c, s.o, steps); err != nil {
		return err
	}
	for _, p := range s.pragmas() {
		if err := c.once("PRAGMA " + p); err != nil {
			return fmt.Errorf("PRAGMA %s: %w", p, err)
		}
	}
	if s.file, err = os.Stat(s.o.Path); err != nil {
		return err
	}
	// Whoever held a member is gone with its process: a crash, as far as the agenda can know.
	if err := c.exec(endClaims, s.now(), s.now()); err != nil {
		return err
	}
	highest, err := highestInstant(c)
	if err != nil {
		return err
	}
	s.highest.Store(highest)
	up, err := dial(s.o.Path, "busy_timeout = 5000", "synchronous = "+s.o.Sync, "wal_autocheckpoint = 0", "cache_size = -100")
	if err != nil {
		return err
	}
	for range s.o.Readers {
		s.readers <- nil
	}
	if s.w, err = newWriter(s, c); err != nil {
		return errors.Join(err, up.close())
	}
	s.upkeep = newUpkeep(s, up)
	go s.w.loop()
	go s.upkeep.loop()
	return nil
}

func (s *Store) now() int64 { return s.o.Clock().UnixMilli() }

func instant(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// millis rounds up, so that no wait and no lease is shorter than was asked for.
func millis(d time.Duration) int64 {
	ms := int64(d / time.Millisecond)
	if d%time.Millisecond > 0 {
		ms++
	}
	return ms
}

// sameFile checks that the path still is the file that was opened: SQLite would go on writing into a deleted one.
func (s *Store) sameFile() error {
	st, err := os.Stat(s.o.Path)
	if err == nil && os.SameFile(st, s.file) {
		return nil
	}
	return fmt.Errorf("the file of the SQLite store %s was moved, deleted or replaced while Herald had it open; put it back and restart Herald: %w", s.o.Path, store.ErrChanged)
}

// enter begins a call that is not handed to the writer.
func (s *Store) enter(ctx context.Context, method string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s in the SQLite store: %w", method, err)
	}
	select {
	case <-s.closed:
		return errClosed(method)
	default:
		return nil
	}
}

func errClosed(method string) error {
	return fmt.Errorf("%s in the SQLite store: %w", method, store.ErrClosed)
}

// Now is the store's time.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	if err := s.enter(ctx, "Now"); err != nil {
		return time.Time{}, err
	}
	s.stats.trips.Add(1)
	return instant(s.now()), nil
}

// Reserve takes a place in each pace, or in none when the wait would be longer than most. Paces live as long as the process.
func (s *Store) Reserve(ctx context.Context, most time.Duration, paces ...store.Pace) (time.Duration, bool, error) {
	if err := s.enter(ctx, "Reserve"); err != nil {
		return 0, false, err
	}
	s.stats.trips.Add(1)
	places := make([]inproc.Place, len(paces))
	for i, p := range paces {
		places[i] = inproc.Place(p)
	}
	wait, ok := s.paces.Reserve(instant(s.now()), most, places...)
	return wait, ok, nil
}

// Hold closes a pace for a while.
func (s *Store) Hold(ctx context.Context, key string, d time.Duration) error {
	if err := s.enter(ctx, "Hold"); err != nil {
		return err
	}
	s.stats.trips.Add(1)
	s.paces.Hold(instant(s.now()), key, d)
	return nil
}

// Publish sends a hint to the listeners of this process, in the caller's goroutine.
func (s *Store) Publish(ctx context.Context, topic, payload string) error {
	if err := s.enter(ctx, "Publish"); err != nil {
		return err
	}
	s.stats.trips.Add(1)
	s.hints.Send(store.Hint{Topic: topic, Payload: payload})
	return nil
}

// Hints calls f for each hint until ctx ends (nil) or the store is closed ([store.ErrClosed]). A hint comes after its commit is durable.
func (s *Store) Hints(ctx context.Context, ready chan<- struct{}, f func(store.Hint)) error {
	if err := s.enter(ctx, "Hints"); errors.Is(err, store.ErrClosed) {
		return err
	}
	defer s.hints.Listen(f)()
	if ready != nil {
		close(ready)
	}
	select {
	case <-ctx.Done():
		return nil
	case <-s.closed:
		return errClosed("Hints")
	}
}

// Health checks that the file is the one that was opened and can be read and, when the last write failed, that it can be written again.
func (s *Store) Health(ctx context.Context) (store.Health, error) {
	h := store.Health{Driver: "sqlite", ID: s.id, Format: s.format, Durable: true}
	s.stats.idle.Add(1)
	err := s.withReader(ctx, "Health", func(c *conn) error { return checkMark(c, s.o.Path, s.id) })
	if err == nil && s.w.ailing.Load() {
		err = s.submit(ctx, "Health", func(t *tx) error {
			err := t.exec(setMeta, metaProbe, strconv.FormatInt(s.now(), 10))
			return err
		})
	}
	if err != nil {
		return store.Health{}, err
	}
	h.Keeps = "what was acknowledged survives a crash of Herald and of the machine"
	if s.o.Sync == SyncNormal {
		h.Keeps = "what was acknowledged survives a crash of Herald; the last commits may be lost with the machine"
		h.Warnings = append(h.Warnings, "The last commits may be lost when the machine loses power. Set store.sqlite_sync to full to wait for the disk.")
	}
	return h, nil
}

// checkMark checks that the store still carries its id.
func checkMark(c *conn, path, id string) error {
	found, err := c.readMeta(metaID)
	if e, ok := errors.AsType[*failure](err); ok && e.code == lib.SQLITE_ERROR {
		// There is no such table any more.
		err = nil
	}
	if err == nil && found != id {
		err = fmt.Errorf("the SQLite store %s carries the id %q, not %q as when it was opened; restore it and restart Herald: %w", path, found, id, store.ErrChanged)
	}
	return err
}

// Stats are the counters since Open. A group of commits is one sync at the full level; checkpoints are not counted.
func (s *Store) Stats() store.Stats {
	return store.Stats{
		RoundTrips: s.stats.trips.Load(), Idle: s.stats.idle.Load(), Commits: s.stats.commits.Load(),
		Writes: s.stats.writes.Load(), Fsyncs: s.stats.fsyncs.Load(),
	}
}

// Close ends what is under way, closes the file and lets other processes in. Claims end with the next Open.
func (s *Store) Close() error {
	s.closeMu.Lock()
	defer s.closeMu.Unlock()
	s.gate.Lock()
	again := s.closing
	s.closing = true
	s.gate.Unlock()
	if again {
		return nil
	}
	close(s.closed)
	close(s.w.jobs)
	<-s.w.done
	errs := []error{s.upkeep.close()}
	for range s.o.Readers {
		if c := <-s.readers; c != nil {
			errs = append(errs, c.close())
		}
	}
	// The last connection folds the log into the file.
	errs = append(errs, s.w.c.close(), s.unlock())
	return s.trouble("closing", errors.Join(errs...))
}
