package terminal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/bots/console"
	"herald/bots/console/terminal"
	"herald/core/chat"
)

// service is a small service behind a real socket: it takes lines and answers them as its script says.
type service struct {
	t      *testing.T
	socket string
	dir    string
	script func(s *service, in *chat.Inbound)
	facts  console.Facts

	mu      sync.Mutex
	adapter *console.Adapter
	server  *http.Server
	got     []string
	change  chan struct{}
	work    sync.WaitGroup
	scripts sync.WaitGroup
	sent    int
}

func startService(t *testing.T, facts console.Facts, script func(s *service, in *chat.Inbound)) *service {
	t.Helper()
	dir, err := os.MkdirTemp("", "hc") // short: a socket's path has a small limit
	if err != nil {
		t.Fatal(err)
	}
	s := &service{t: t, socket: filepath.Join(dir, "s"), dir: filepath.Join(dir, "d"), script: script, facts: facts, change: make(chan struct{})}
	s.up()
	t.Cleanup(func() {
		s.scripts.Wait()
		s.down()
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *service) up() {
	s.t.Helper()
	a, err := console.New(console.Options{Dir: s.dir, Receiver: s, User: "me", Facts: s.facts})
	if err != nil {
		s.t.Fatal(err)
	}
	l, err := net.Listen("unix", s.socket)
	if err != nil {
		s.t.Fatal(err)
	}
	server := &http.Server{Handler: a.Handler(), ReadHeaderTimeout: time.Second}
	s.mu.Lock()
	s.adapter, s.server = a, server
	s.mu.Unlock()
	s.work.Go(func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.t.Error(err)
		}
	})
}

func (s *service) down() {
	s.mu.Lock()
	a, server := s.adapter, s.server
	s.adapter = nil
	s.mu.Unlock()
	if a == nil {
		return
	}
	if err := errors.Join(a.Close(), server.Close()); err != nil {
		s.t.Error(err)
	}
	s.work.Wait()
}

func (s *service) Receive(_ context.Context, in *chat.Inbound) (chat.Outcome, error) {
	s.mu.Lock()
	s.got = append(s.got, in.Text+in.Action)
	close(s.change)
	s.change = make(chan struct{})
	s.mu.Unlock()
	c := *in
	s.scripts.Go(func() { s.script(s, &c) })
	return chat.Kept, nil
}

// heard waits until the service has got these lines.
func (s *service) heard(want ...string) {
	s.t.Helper()
	late := time.After(20 * time.Second)
	for {
		s.mu.Lock()
		got, change := fmt.Sprint(s.got), s.change
		s.mu.Unlock()
		if got == fmt.Sprint(want) {
			return
		}
		select {
		case <-change:
		case <-late:
			s.t.Fatalf("the service heard %s, want %v", got, want)
		}
	}
}

func (s *service) at() *console.Adapter {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.adapter
}

// begin posts a message that answers to; live ones are edited later.
func (s *service) begin(to, text string, live bool, covers ...string) (*chat.Post, chat.Receipt) {
	s.mu.Lock()
	s.sent++
	p := &chat.Post{Conversation: console.Conversation("terminal"), DeliveryID: fmt.Sprint("d", s.sent), Text: text, ReplyTo: to, Covers: covers, Live: live}
	a := s.adapter
	s.mu.Unlock()
	if a == nil {
		return p, chat.Receipt{}
	}
	r, err := a.Send(context.Background(), p)
	if err != nil {
		s.t.Error(err)
	}
	return p, r
}

func (s *service) edit(p *chat.Post, r chat.Receipt, text string, final bool) {
	p.Text = text
	if err := s.at().Edit(context.Background(), p, r, final); err != nil {
		s.t.Error(err)
	}
}

func (s *service) options(in string) (terminal.Options, *bytes.Buffer, *lockedBuffer) {
	var out bytes.Buffer
	errs := &lockedBuffer{}
	return terminal.Options{
		Dial: func(ctx context.Context) (net.Conn, error) { return (&net.Dialer{}).DialContext(ctx, "unix", s.socket) },
		In:   strings.NewReader(in), Out: &out, Err: errs, Environ: []string{"TERM=xterm"},
	}, &out, errs
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}
