package console

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"herald/bots/console/proto"
	"herald/core/chat"
)

// Workspace is the one workspace of the console.
const Workspace chat.Workspace = "console:local"

// App is the console's id in dedupe keys.
const App = "console"

// ErrInUse: another process holds the folder of the transcripts.
var ErrInUse = errors.New("the console's folder is in use by another process")

// Facts tells what is known about the answer to a message. An error means that there is none (yet).
type Facts func(ctx context.Context, c chat.Conversation, messageID string) (proto.Facts, error)

// Options of the console. Dir and Receiver are needed.
type Options struct {
	// Dir holds the transcripts; it is made when missing.
	Dir      string
	Receiver chat.Receiver
	// User is the name of the operating system's user, who is the only person here; "me" when empty.
	User string
	// Facts answers for scripts what an answer cost; without it they are told that it is unknown.
	Facts Facts
	// Clean takes Herald's own secrets out of what a person typed before it stands in the transcript; the receiver gets the line as it is. nil
	// leaves everything in.
	Clean func(string) string
	// MaxBytes is when a place's transcript begins a new file; one older file is kept. 4 MiB by default.
	MaxBytes int64
	// Now is the clock of shown times and ids; time.Now by default.
	Now func() time.Time
	// Log takes what a person does not see; discarded when nil.
	Log *slog.Logger
}

// Adapter is the console as core sees it. It implements [chat.Adapter].
type Adapter struct {
	opt  Options
	lock *os.File
	done chan struct{}

	mu     sync.Mutex
	places map[string]*place
	closed bool
}

var _ chat.Adapter = (*Adapter)(nil)

// New takes the folder. It must be closed again; a second process gets [ErrInUse].
func New(opt Options) (*Adapter, error) {
	if opt.Receiver == nil || opt.Dir == "" {
		return nil, errors.New("open the console: a folder and a receiver are needed")
	}
	if opt.User == "" {
		opt.User = "me"
	}
	if opt.Clean == nil {
		opt.Clean = func(s string) string { return s }
	}
	if opt.MaxBytes <= 0 {
		opt.MaxBytes = 4 << 20
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(opt.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("open the console: make its folder: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(opt.Dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the console: %w", err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil { //nolint:gosec // a file descriptor fits
		_ = lock.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("open the console in %s: %w; stop it or name another folder", opt.Dir, ErrInUse)
		}
		return nil, fmt.Errorf("open the console: lock its folder %s: %w", opt.Dir, err)
	}
	return &Adapter{opt: opt, lock: lock, done: make(chan struct{}), places: map[string]*place{}}, nil
}

// Close ends all streams and closes the transcripts. Calls after it fail as an outage.
func (a *Adapter) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil
	}
	a.closed = true
	close(a.done)
	var errs []error
	for _, p := range a.places {
		p.mu.Lock()
		errs = append(errs, p.script.close())
		p.script.broken = errors.New("the console was closed")
		p.mu.Unlock()
	}
	return errors.Join(append(errs, a.lock.Close())...)
}

// Identity is the one person of the console.
func (a *Adapter) Identity() chat.IdentityID { return IdentityOf(a.opt.User) }

// IdentityOf is the console's identity of an account of this machine.
func IdentityOf(user string) chat.IdentityID {
	return chat.IdentityID(string(Workspace) + "/" + url.PathEscape(user))
}

// Conversation of a place.
func Conversation(place string) chat.Conversation {
	return chat.Conversation{Workspace: Workspace, Channel: place}
}

// Capabilities are the same in every place: the transcript keeps a nonce as long as the post.
func (a *Adapter) Capabilities(chat.Conversation) chat.Capabilities {
	return chat.Capabilities{
		Edits: true, EditEvery: 50 * time.Millisecond, Cards: true, Ephemeral: true,
		Nonce: true, NonceFor: 24 * time.Hour, LookBack: true, SendTimeout: 10 * time.Second,
	}
}

// Cut gives the text whole: a terminal scrolls, and what it shows is made safe where it is shown.
func (a *Adapter) Cut(_ chat.Conversation, markdown string) []string { return []string{markdown} }

// place gives an open place; its name was checked or comes from core.
func (a *Adapter) place(name string) (*place, error) {
	if err := checkPlace(name); err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, &chat.Outage{Reason: "the console was closed", NotSent: true}
	}
	if p := a.places[name]; p != nil {
		return p, nil
	}
	t, err := openTranscript(a.path(name), a.opt.MaxBytes, a.opt.Log)
	if err != nil {
		return nil, &chat.Outage{Reason: "the transcript of " + name + " cannot be opened", NotSent: true, Err: err}
	}
	p := newPlace(name, t)
	a.places[name] = p
	return p, nil
}

func (a *Adapter) path(place string) string {
	return filepath.Join(a.opt.Dir, url.QueryEscape(place)+".jsonl")
}

// checkPlace keeps names short enough for a file and readable in a log.
func checkPlace(name string) error {
	if name == "" || len(name) > 64 || !utf8.ValidString(name) {
		return &chat.Refused{Code: "bad_place", Reason: "a place of the console has a name of 1 to 64 bytes"}
	}
	for _, r := range name {
		if r < ' ' || r == 0x7f || r == '/' {
			return &chat.Refused{Code: "bad_place", Reason: "a place's name holds neither control characters nor slashes"}
		}
	}
	return nil
}
