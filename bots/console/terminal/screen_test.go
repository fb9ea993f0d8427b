package terminal_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/bots/console/terminal"
	"herald/core/chat"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"
)

// screen is a person's terminal: what is typed goes in, what is shown comes out.
type screen struct {
	t    *testing.T
	pty  *os.File
	done chan error

	mu     sync.Mutex
	out    strings.Builder
	change chan struct{}
}

func sit(t *testing.T, s *service, change func(*terminal.Options)) *screen {
	t.Helper()
	p, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(p, &pty.Winsize{Rows: 24, Cols: 60}); err != nil {
		t.Fatal(err)
	}
	opt, _, _ := s.options("")
	opt.In, opt.Out, opt.TTY = tty, tty, true
	if change != nil {
		change(&opt)
	}
	sc := &screen{t: t, pty: p, done: make(chan error, 1), change: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	var chat, reader sync.WaitGroup
	reader.Go(func() {
		buf := make([]byte, 4096)
		for {
			n, err := p.Read(buf)
			if err != nil {
				return
			}
			sc.mu.Lock()
			sc.out.Write(buf[:n])
			close(sc.change)
			sc.change = make(chan struct{})
			sc.mu.Unlock()
		}
	})
	chat.Go(func() { sc.done <- terminal.Chat(ctx, opt) })
	t.Cleanup(func() {
		cancel()
		chat.Wait()
		_ = tty.Close() // the reader sees the other side's end
		reader.Wait()
		_ = p.Close()
	})
	sc.shows("/help")
	return sc
}

func (s *screen) keys(k string) {
	s.t.Helper()
	if _, err := s.pty.WriteString(k); err != nil {
		s.t.Fatal(err)
	}
}

// raw is all that was ever written.
func (s *screen) raw() (string, chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.String(), s.change
}

// shows waits until a text was shown; movements of the cursor do not count.
func (s *screen) shows(text string) {
	s.t.Helper()
	late := time.After(20 * time.Second)
	for {
		raw, change := s.raw()
		if strings.Contains(ansi.Strip(raw), text) {
			return
		}
		select {
		case <-change:
		case <-late:
			s.t.Fatalf("never shown: %q; shown: %q", text, raw)
		}
	}
}

// left waits until the chat ended by itself.
func (s *screen) left() {
	s.t.Helper()
	select {
	case err := <-s.done:
		if err != nil {
			s.t.Errorf("Chat: %v", err)
		}
	case <-time.After(20 * time.Second):
		raw, _ := s.raw()
		s.t.Fatalf("the chat goes on; shown: %q", raw)
	}
}

func TestScreenTalksAndLeaves(t *testing.T) {
	t.Parallel()
	s := startService(t, nil, stream)
	sc := sit(t, s, nil)
	sc.keys("hello\r")
	sc.shows("› hello")
	sc.shows("re: hello")
	sc.keys("one\x1b\rtwo\r") // Alt-Enter
	s.heard("hello", "one\ntwo")
	sc.shows("re: one")
	sc.keys("three\\\rfour\r") // a backslash
	s.heard("hello", "one\ntwo", "three\nfour")
	sc.keys("\x1b[200~a\rb\nc\x1b[201~") // a paste is taken whole and not sent
	sc.keys("!\r")
	s.heard("hello", "one\ntwo", "three\nfour", "a\nb\nc!")
	sc.shows("re: a")
	sc.keys("\x1b[200~\u05d0\u200f\a.\x1b[201~\r") // marks of a script belong to the text, a bell does not
	s.heard("hello", "one\ntwo", "three\nfour", "a\nb\nc!", "\u05d0\u200f.")
	sc.keys("\x04")
	sc.left()
}

func TestScreenCtrlC(t *testing.T) {
	t.Parallel()
	s := startService(t, nil, func(s *service, in *chat.Inbound) {
		switch in.Text {
		case "long":
			s.begin(in.MessageID, "I begin to", true)
		case "stop":
			s.begin(in.MessageID, "Stopped.", false)
			s.mu.Lock()
			p := &chat.Post{Conversation: in.Conversation, DeliveryID: "d1", Text: "I begin to … stopped"}
			s.mu.Unlock()
			if r, ok, err := s.at().Find(context.Background(), p); err == nil && ok {
				s.edit(p, r, p.Text, true)
			} else {
				s.t.Error("the live message is not found", err)
			}
		}
	})
	sc := sit(t, s, nil)
	sc.keys("half a line\x03") // idle: the line goes
	sc.keys("long\r")
	sc.shows("I begin to")
	sc.shows("Ctrl-C stops")
	sc.keys("\x03")
	s.heard("long", "stop")
	sc.shows("Stopped.")
	sc.shows("… stopped")
	sc.keys("\x03")
	sc.shows("Ctrl-C again leaves")
	sc.keys("\x03")
	sc.left()
}

func TestScreenHistoryOverRestarts(t *testing.T) {
	t.Parallel()
	s := startService(t, nil, echo)
	file := filepath.Join(t.TempDir(), "sub", "history")
	with := func(o *terminal.Options) { o.HistoryFile = file }
	sc := sit(t, s, with)
	sc.keys("first\r")
	sc.shows("re: first")
	sc.keys("se\x1b\rcond\r")
	sc.shows("re: se")
	sc.keys("/quit\r")
	sc.left()
	sc = sit(t, s, with)
	sc.shows("re: first")                    // the conversation so far
	sc.keys("draft\x1b[A\x1b[A\x1b[A\x1b[A") // /quit, cond (two lines), first
	sc.keys("\r")
	s.heard("first", "se\ncond", "first")
}

func TestScreenOfTwo(t *testing.T) {
	t.Parallel()
	s := startService(t, nil, echo)
	one, two := sit(t, s, nil), sit(t, s, nil)
	one.keys("hello\r")
	one.shows("re: hello")
	two.shows("me › hello")
	two.shows("re: hello")
}

func TestScreenSurvivesARestart(t *testing.T) {
	t.Parallel()
	s := startService(t, nil, echo)
	sc := sit(t, s, nil)
	s.down()
	sc.shows("the service is away; waiting for it")
	sc.keys("one\rtwo\rthree\r") // typed while it is away: sent when it is back, once and in order
	sc.shows("› three")
	s.up()
	sc.shows("re: three")
	s.heard("one", "two", "three")
}

func TestScreenShowsNothingHostile(t *testing.T) {
	t.Parallel()
	evil := "a\x1b]52;c;ZXZpbA==\ab \x1b]0;t\a\x1b[6n\u202edlrow &#27;]52;c;eA==&#7; end"
	s := startService(t, nil, func(s *service, in *chat.Inbound) {
		p, r := s.begin(in.MessageID, evil, true)
		s.edit(p, r, evil+".", false)
		s.edit(p, r, evil+"!", true)
	})
	sc := sit(t, s, func(o *terminal.Options) { o.Environ = []string{"TERM=xterm", "NO_COLOR=1"} })
	sc.keys("hello\r")
	sc.shows("end!")
	sc.shows("⟨U+202E⟩")
	raw, _ := sc.raw()
	for _, bad := range []string{"\x1b]52", "\x1b]0;t", "\x1b[6n", "\u202e", "\x1b[31m", "\x1b[1m", "\x1b[36m"} {
		if strings.Contains(raw, bad) {
			t.Errorf("%q reached the terminal: %q", bad, raw)
		}
	}
}

func TestScreenCard(t *testing.T) {
	t.Parallel()
	s := startService(t, nil, func(s *service, in *chat.Inbound) {
		if in.Kind == chat.Click {
			s.begin("", "you chose "+in.Action, false)
			return
		}
		p := &chat.Post{Conversation: in.Conversation, DeliveryID: "card", Text: "A question.", ReplyTo: in.MessageID, Card: &chat.Card{Title: "May I?", Buttons: []chat.Button{{Action: "act-1", Label: "Yes"}, {Action: "act-2", Label: "No"}}}}
		if _, err := s.at().Send(context.Background(), p); err != nil {
			s.t.Error(err)
		}
	})
	sc := sit(t, s, nil)
	sc.keys("hello\r")
	sc.shows("[2] No")
	sc.keys("/choose 3\r")
	sc.shows("wants the number")
	sc.keys("/choose 2\r")
	sc.shows("you chose act-2")
	s.heard("hello", "act-2")
}

// TestScreenLongAnswer: an answer longer than the screen comes out whole and in order, also after the window became narrow.
func TestScreenLongAnswer(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 100 {
		text.WriteString("- line number " + string(rune('A'+i/10)) + string(rune('0'+i%10)) + "\n")
	}
	s := startService(t, nil, func(s *service, in *chat.Inbound) { s.begin(in.MessageID, text.String(), false) })
	sc := sit(t, s, nil)
	if err := pty.Setsize(sc.pty, &pty.Winsize{Rows: 8, Cols: 24}); err != nil {
		t.Fatal(err)
	}
	sc.keys("hello\r")
	sc.shows("line number J9")
	raw, _ := sc.raw()
	at, shown := 0, ansi.Strip(raw)
	for i := range 100 {
		want := "line number " + string(rune('A'+i/10)) + string(rune('0'+i%10))
		j := strings.Index(shown[at:], want)
		if j < 0 {
			t.Fatalf("%q is missing or out of order", want)
		}
		at += j
	}
}

func TestScreenEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := startService(t, nil, echo)
	p, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	opt, _, _ := s.options("")
	opt.In, opt.Out, opt.TTY = tty, tty, true
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(within(t))
	context.AfterFunc(t.Context(), func() { cancel(nil) })
	done := make(chan error, 1)
	go func() { done <- terminal.Chat(ctx, opt) }()
	buf := make([]byte, 1)
	if _, err := p.Read(buf); err != nil { // it runs
		t.Fatal(err)
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for b := make([]byte, 4096); ; {
			if _, err := p.Read(b); err != nil {
				return
			}
		}
	}()
	cancel(enough)
	if err := <-done; !errors.Is(err, enough) {
		t.Errorf("got %v", err)
	}
	_ = tty.Close()
	<-drained
}
