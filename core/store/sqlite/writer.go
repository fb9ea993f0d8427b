package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"

	"herald/core/store"
)

// The states of a job: who tells its hints is whoever changes it from waiting.
const (
	waiting int32 = iota
	answered
	abandoned
)

// job is a request to the writer.
type job struct {
	ctx  context.Context
	what string
	// run does the work. It may be called again after a rollback, so it must set its results anew each time.
	run func(*tx) error
	// read is set instead of run for a request that writes nothing.
	read  func(*conn) error
	err   error
	hints []store.Hint
	state atomic.Int32
	done  chan struct{}
}

// submit hands run to the writer and waits for the end of its transaction.
func (s *Store) submit(ctx context.Context, what string, run func(*tx) error) error {
	return s.hand(&job{ctx: ctx, what: what, run: run, done: make(chan struct{}, 1)})
}

// look hands a small read to the writer, between two of its transactions: its page cache is warm, while each commit empties those of the
// reading connections.
func (s *Store) look(ctx context.Context, what string, read func(*conn) error) error {
	return s.hand(&job{ctx: ctx, what: what, read: read, done: make(chan struct{}, 1)})
}

// hand gives j to the writer and waits for its end.
func (s *Store) hand(j *job) error {
	ctx, what := j.ctx, j.what
	if err := s.enter(ctx, what); err != nil {
		return err
	}
	s.gate.RLock()
	if s.closing {
		s.gate.RUnlock()
		return errClosed(what)
	}
	select {
	case s.w.jobs <- j:
		s.gate.RUnlock()
	case <-ctx.Done():
		s.gate.RUnlock()
		return fmt.Errorf("%s in the SQLite store: %w", what, ctx.Err())
	}
	select {
	case <-j.done:
	case <-ctx.Done():
		if j.state.CompareAndSwap(waiting, abandoned) {
			if j.read != nil {
				return fmt.Errorf("%s in the SQLite store: %w", what, ctx.Err())
			}
			return fmt.Errorf("%s in the SQLite store: it may still be done: %w: %w", what, store.ErrUnavailable, ctx.Err())
		}
		<-j.done
	}
	s.hints.Send(j.hints...)
	return j.err
}

// writer owns the writing connection and what stands in memory beside it.
type writer struct {
	s    *Store
	c    *conn
	jobs chan *job
	done chan struct{}

	leases leases
	parts  map[store.Partition]*part
	// token is the last that was given; those up to ceiling are reserved in the file, so that a claim need not write the counter.
	token, ceiling int64
	// slot is the ten minutes whose repeats are being written.
	slot int64
	// fold asks for a checkpoint between two groups, see upkeep.
	fold atomic.Bool
	// ailing is set when the last transaction that wrote failed.
	ailing atomic.Bool
}

// tokenBlock is how many tokens are reserved at once. A restart skips the rest of the block.
const tokenBlock = 1 << 16

func newWriter(s *Store, c *conn) (*writer, error) {
	w := &writer{s: s, c: c, jobs: make(chan *job, 4*maxGroup), done: make(chan struct{}), leases: newLeases(), parts: map[store.Partition]*part{}}
	for key, to := range map[string]*int64{metaTokens: &w.ceiling, metaRepeats: &w.slot} {
		text, err := c.readMeta(key)
		if err != nil {
			return nil, err
		}
		if *to, err = strconv.ParseInt(text, 10, 64); err != nil {
			return nil, fmt.Errorf("the SQLite store %s has %q as its %s; restore a backup: %w", s.o.Path, text, key, store.ErrCorrupt)
		}
	}
	w.token = w.ceiling
	return w, nil
}

// loop does the jobs in groups until the channel is closed and empty.
func (w *writer) loop() {
	defer close(w.done)
	group, reads := make([]*job, 0, maxGroup), make([]*job, 0, maxGroup)
	add := func(j *job) {
		if j.read != nil {
			reads = append(reads, j)
		} else {
			group = append(group, j)
		}
	}
	for j := range w.jobs {
		group, reads = group[:0], reads[:0]
		add(j)
	gather:
		for len(group)+len(reads) < w.s.o.Group {
			select {
			case j, ok := <-w.jobs:
				if !ok {
					break gather
				}
				add(j)
			default:
				break gather
			}
		}
		w.answer(reads)
		if len(group) == 0 {
			continue
		}
		w.rotate()
		if w.fold.Swap(false) {
			w.checkpoint()
		}
		w.do(group)
	}
}

// do runs a group in one transaction. Trouble with it is found out by running each alone, so that it meets only whom it concerns.
func (w *writer) do(group []*job) {
	if err := w.transact(group); err != nil {
		if len(group) > 1 {
			for _, j := range group {
				w.do([]*job{j})
			}
			return
		}
		group[0].err, group[0].hints = w.s.trouble(group[0].what, err), nil
	}
	for _, j := range group {
		w.end(j)
	}
}

// end gives the answer to whoever waits for it.
func (w *writer) end(j *job) {
	if j.state.CompareAndSwap(waiting, answered) {
		j.done <- struct{}{}
	} else {
		w.s.hints.Send(j.hints...)
	}
}

// answer does reads before the group that they came with: they see what is committed, and do not wait for the disk.
func (w *writer) answer(reads []*job) {
	if len(reads) == 0 {
		return
	}
	err := w.s.sameFile()
	if err == nil {
		err = w.c.exec("BEGIN")
	}
	for _, j := range reads {
		switch {
		case err != nil:
			j.err = w.s.trouble(j.what, err)
		case j.ctx.Err() != nil:
			j.err = fmt.Errorf("%s in the SQLite store, before it began: %w", j.what, j.ctx.Err())
		default:
			// After some errors SQLite has left the transaction. What follows sees one state all the same: nobody writes meanwhile.
			if j.err = j.read(w.c); !errors.Is(j.err, errLarge) {
				j.err = w.s.trouble(j.what, j.err)
			}
		}
		w.end(j)
	}
	if err == nil && w.c.exec("COMMIT") != nil {
		_ = w.c.exec("ROLLBACK")
	}
}

// transact runs the jobs and commits. An error means that nothing of any of them stands.
func (w *writer) transact(group []*job) error {
	if err := w.s.sameFile(); err != nil {
		return err
	}
	t := &tx{w: w, c: w.c}
	for _, j := range group {
		t.hints = nil
		if err := j.ctx.Err(); err != nil {
			j.err = fmt.Errorf("%s in the SQLite store, before it began: %w", j.what, err)
			continue
		}
		j.err = j.run(t)
		j.hints = t.hints
		if t.broken != nil {
			break
		}
	}
	err := t.broken
	if err == nil && t.begun {
		err = w.c.exec("COMMIT")
	}
	if err != nil {
		t.rollback()
		w.ailing.Store(t.wrote)
		return err
	}
	if t.wrote {
		w.ailing.Store(false)
		if w.s.o.Sync == SyncFull {
			w.s.stats.fsyncs.Add(1)
		}
		w.s.upkeep.wrote()
	}
	return nil
}

// tx is one transaction: of a group, or of one job.
type tx struct {
	w            *writer
	c            *conn
	begun, wrote bool
	// broken is the first failure of SQLite; a refusal is none.
	broken error
	// undo takes back what was changed in memory, last first.
	undo  []func()
	hints []store.Hint
}

func (t *tx) begin() error {
	if t.broken != nil || t.begun {
		return t.broken
	}
	if err := t.c.exec("BEGIN IMMEDIATE"); err != nil {
		t.broken = err
		return err
	}
	t.begun = true
	// Somebody may have emptied or replaced what is in the file.
	t.broken = checkMark(t.c, t.w.s.o.Path, t.w.s.id)
	return t.broken
}

func (t *tx) exec(query string, args ...any) error {
	if err := t.begin(); err != nil {
		return err
	}
	t.wrote = true
	err := t.c.exec(query, args...)
	if err != nil {
		t.broken = err
	}
	return err
}

func (t *tx) query(query string, f func(row) error, args ...any) error {
	if err := t.begin(); err != nil {
		return err
	}
	err := t.c.query(query, f, args...)
	if err != nil {
		t.broken = err
	}
	return err
}

func (t *tx) rollback() {
	for i := len(t.undo) - 1; i >= 0; i-- {
		t.undo[i]()
	}
	clear(t.w.parts)
	if t.begun {
		// SQLite has rolled back by itself after some errors; then this one says so.
		_ = t.c.exec("ROLLBACK")
	}
}

// checkpoint folds the whole log into the file: nobody writes meanwhile. It waits for no reader.
func (w *writer) checkpoint() {
	if err := w.c.query(passive, func(row) error { return nil }); err != nil {
		w.s.upkeep.failed("checkpoint", err)
	}
}

// repeatMillis is how long an answer is kept at least.
const repeatMillis = 10 * 60 * 1000

// rotate empties the table of repeats whose turn it is, between groups and at most once in ten minutes.
func (w *writer) rotate() {
	slot := w.s.now() / repeatMillis
	if slot <= w.slot {
		return
	}
	t := &tx{w: w, c: w.c}
	err := t.exec(emptyRepeats[slot%2])
	if err == nil && slot > w.slot+1 {
		err = t.exec(emptyRepeats[(slot+1)%2])
	}
	if err == nil {
		err = t.exec(setMeta, metaRepeats, strconv.FormatInt(slot, 10))
	}
	if err == nil {
		err = w.c.exec("COMMIT")
	}
	if err != nil {
		t.rollback()
		w.s.upkeep.failed("emptying the old answers", err)
		return
	}
	w.slot = slot
}
