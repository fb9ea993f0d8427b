package console

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"herald/bots/console/proto"
)

// entry is a line of the transcript file: a record and what only the adapter needs.
type entry struct {
	proto.Record
	Delivery string `json:"delivery,omitempty"`
	Piece    int    `json:"piece,omitempty"`
	// Taken, when set, is no record: it says that the line with this id was taken by the service.
	Taken string `json:"taken,omitempty"`
}

// post is a message of the service that stands.
type post struct {
	id   string
	at   time.Time
	live bool
}

// transcript is one place on disk: a current file, and the one before it when the current one grew too large. It is not safe for concurrent use.
type transcript struct {
	path string
	max  int64
	file *os.File
	size int64

	seq    uint64
	lastID string
	posts  map[string]post   // by delivery and piece
	byID   map[string]string // id of a post → its key
	lines  map[string]string // key of a line or choice → its id
	taken  map[string]bool   // ids of lines that the service took
	broken error             // an append whose remains could not be taken back
}

func postKey(delivery string, piece int) string { return delivery + "#" + strconv.Itoa(piece) }

func (t *transcript) older() string { return t.path + ".1" }

// openTranscript reads what stands. A last line without its end is what a crash left of an append that nobody was told of: it is cut off.
func openTranscript(path string, limit int64, log *slog.Logger) (*transcript, error) {
	t := &transcript{
		path: path, max: limit, posts: map[string]post{}, byID: map[string]string{}, lines: map[string]string{}, taken: map[string]bool{},
	}
	if _, err := t.load(t.older(), log); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	good, err := t.load(path, log)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if err := t.create(good); err != nil {
		return nil, err
	}
	return t, nil
}

// create opens the current file for appending behind its first good bytes.
func (t *transcript) create(good int64) error {
	f, err := os.OpenFile(t.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("open the console's transcript: %w", err)
	}
	err = f.Truncate(good)
	if err == nil {
		_, err = f.Seek(good, io.SeekStart)
	}
	if err == nil {
		err = syncDir(filepath.Dir(t.path))
	}
	if err != nil {
		_ = f.Close()
		return fmt.Errorf("open the console's transcript %s for appending: %w", t.path, err)
	}
	t.file, t.size = f, good
	return nil
}

// load applies a file and returns the length of its whole lines.
func (t *transcript) load(path string, log *slog.Logger) (good int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, fmt.Errorf("read the console's transcript: %w", err)
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 64<<10)
	for n := 1; ; n++ {
		raw, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return good, nil
		}
		if err != nil {
			return good, fmt.Errorf("read the console's transcript %s: %w", path, err)
		}
		good += int64(len(raw))
		var e entry
		if err := json.Unmarshal(raw, &e); err != nil {
			log.Warn("a line of the console's transcript cannot be read and is left out", "file", path, "line", n, "err", err)
			continue
		}
		t.apply(&e)
	}
}

// apply takes an entry that stands into the index.
func (t *transcript) apply(e *entry) {
	if e.Taken != "" {
		t.taken[e.Taken] = true
		return
	}
	t.seq = max(t.seq, e.Seq)
	t.lastID = max(t.lastID, e.ID)
	switch e.Kind {
	case proto.Line, proto.Choice:
		t.lines[e.Key] = e.ID
	case proto.Post:
		k := postKey(e.Delivery, e.Piece)
		t.posts[k] = post{e.ID, e.At, e.Live}
		t.byID[e.ID] = k
	case proto.Edit:
		if k, ok := t.byID[e.ID]; ok {
			p := t.posts[k]
			p.live = false
			t.posts[k] = p
		}
	}
}

// nextID is later than all ids before, also when the clock went back.
func (t *transcript) nextID(now time.Time) string {
	n := now.UnixMicro()
	if last, err := strconv.ParseInt(t.lastID, 10, 64); err == nil && n <= last {
		n = last + 1
	}
	return fmt.Sprintf("%019d", n)
}

// errNotWritten: the append failed and nothing of it stands.
var errNotWritten = errors.New("nothing was written")

// append makes an entry durable and gives its number. Entries that say only that a line was taken are not synced: they are a convenience.
func (t *transcript) append(e *entry) error {
	if t.broken != nil {
		return t.broken
	}
	if t.size >= t.max {
		if err := t.rotate(); err != nil {
			return fmt.Errorf("%w: begin a new file of the console's transcript: %w", errNotWritten, err)
		}
	}
	if e.Taken == "" {
		e.Seq = t.seq + 1
	}
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotWritten, err)
	}
	line = append(line, '\n')
	n, err := t.file.Write(line)
	if err == nil && e.Taken == "" {
		err = t.file.Sync()
	}
	if err != nil {
		return t.takeBack(n, err)
	}
	t.size += int64(len(line))
	t.apply(e)
	return nil
}

// takeBack cuts off what a failed append left.
func (t *transcript) takeBack(n int, cause error) error {
	err := t.file.Truncate(t.size)
	if err == nil {
		_, err = t.file.Seek(t.size, io.SeekStart)
	}
	if err == nil {
		err = t.file.Sync()
	}
	if err != nil {
		t.broken = fmt.Errorf("append to the console's transcript %s: %w; its remains (%d bytes) could not be taken back: %w; "+
			"free space or repair the disk and restart the service", t.path, cause, n, err)
		return t.broken
	}
	return fmt.Errorf("append to the console's transcript %s: %w: %w", t.path, errNotWritten, cause)
}

// rotate makes the current file the older one and begins a new one. The index is built anew from what stands, so that it is bounded as the files are.
func (t *transcript) rotate() error {
	if err := t.file.Sync(); err != nil {
		return err
	}
	if err := os.Rename(t.path, t.older()); err != nil {
		return err
	}
	old := t.file
	if err := t.create(0); err != nil {
		_ = os.Rename(t.older(), t.path) // go on in the old one
		return err
	}
	_ = old.Close()
	fresh := &transcript{posts: map[string]post{}, byID: map[string]string{}, lines: map[string]string{}, taken: map[string]bool{}}
	if _, err := fresh.load(t.older(), slog.New(slog.DiscardHandler)); err != nil {
		return nil //nolint:nilerr // the larger index is right too
	}
	t.posts, t.byID, t.lines, t.taken = fresh.posts, fresh.byID, fresh.lines, fresh.taken
	return nil
}

// readTranscript gives the records with after < seq <= upTo, in order, to f. It reads through files of its own and may run beside appends; where
// a rotation moved the files under it, it reads again from where it was.
func readTranscript(path string, after, upTo uint64, f func(*proto.Record) error) error {
	for range 3 {
		for _, p := range []string{path + ".1", path} {
			if err := readFile(p, func(e *entry) error {
				if e.Taken != "" || e.Seq <= after || e.Seq > upTo {
					return nil
				}
				after = e.Seq
				return f(&e.Record)
			}); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
		if after >= upTo {
			break
		}
	}
	return nil
}

func readFile(path string, f func(*entry) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	r := bufio.NewReaderSize(file, 64<<10)
	for {
		raw, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the console's transcript %s: %w", path, err)
		}
		var e entry
		if json.Unmarshal(bytes.TrimSpace(raw), &e) != nil {
			continue
		}
		if err := f(&e); err != nil {
			return err
		}
	}
}

func (t *transcript) close() error { return errors.Join(t.file.Sync(), t.file.Close()) }

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
