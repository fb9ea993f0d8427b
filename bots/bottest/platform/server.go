package platform

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"herald/bots/bottest/wire"
)

// place is a conversation.
type place struct{ channel, thread string }

// Server is a running test platform. All methods are safe for concurrent use.
type Server struct {
	opt  Options
	base string
	http *http.Server
	done chan struct{}
	wait sync.WaitGroup
	stop func() bool

	closing sync.Once

	mu      sync.Mutex
	closed  bool
	last    time.Time
	ids     uint64
	byID    map[string]*Message
	places  map[place][]*Message
	answers map[string][]*Message
	nonces  map[string]*Message
	events  map[string]*event
	unacked map[string]*event
	order   []*event // all events in the order in which they came to be
	due     []due    // sent events by the instant of their redelivery
	rouse   chan struct{}
	streams []*stream
	opened  int
	turn    int
	faults  []*Fault
	journal []Record
	counts  Counts
	changed chan struct{}
}

// Start opens a platform on a free port of the loopback interface. It ends with ctx or [Server.Close].
func Start(ctx context.Context, opt Options) (*Server, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the test platform on a loopback port: %w", err)
	}
	s := &Server{
		opt: opt.withDefaults(), base: "http://" + l.Addr().String(), done: make(chan struct{}), rouse: make(chan struct{}, 1),
		byID: map[string]*Message{}, places: map[place][]*Message{}, answers: map[string][]*Message{}, nonces: map[string]*Message{},
		events: map[string]*event{}, unacked: map[string]*event{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+wire.StreamPath, s.serveStream)
	mux.HandleFunc("POST "+wire.SendPath, s.serveSend)
	mux.HandleFunc("POST "+wire.EditPath, s.serveEdit)
	mux.HandleFunc("POST "+wire.FindPath, s.serveFind)
	s.http = &http.Server{Handler: s.counted(mux), ReadHeaderTimeout: 10 * time.Second}
	s.wait.Go(func() {
		if err := s.http.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
			s.opt.Log.Error("the test platform stopped serving", "err", err)
		}
	})
	s.wait.Go(s.redeliver)
	s.stop = context.AfterFunc(ctx, s.shut)
	return s, nil
}

// URL is what an app is given: the address, with the platform's features in it.
func (s *Server) URL() string { return wire.Address(s.base, s.opt.Features) }

// Features is what the platform can do.
func (s *Server) Features() wire.Features { return s.opt.Features }

// Close ends all streams and calls and waits for them. What was seen can still be read.
func (s *Server) Close() {
	s.stop()
	s.shut()
	s.wait.Wait()
}

// counted lets Close wait for calls: net/http does not wait for handlers.
func (s *Server) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			panic(http.ErrAbortHandler)
		}
		s.wait.Add(1)
		s.mu.Unlock()
		defer s.wait.Done()
		next.ServeHTTP(w, r)
	})
}

func (s *Server) shut() {
	s.closing.Do(func() {
		s.mu.Lock()
		s.closed = true
		s.mu.Unlock()
		close(s.done)
		_ = s.http.Close()
		s.Disconnect()
	})
}

// Disconnect breaks all streams; the app is expected to open new ones.
func (s *Server) Disconnect() {
	s.mu.Lock()
	streams := append([]*stream(nil), s.streams...)
	s.mu.Unlock()
	for _, st := range streams {
		_ = st.conn.Close()
	}
}

// now is the platform's clock: it never goes back. s.mu is held.
func (s *Server) now() time.Time {
	if t := time.Now(); t.After(s.last) {
		s.last = t
	}
	return s.last
}

func (s *Server) observe(st Stage, c Call) {
	if s.opt.Observe != nil {
		s.opt.Observe(st, c)
	}
}
