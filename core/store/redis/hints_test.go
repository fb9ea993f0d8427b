package redis_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/core/store"
	"herald/core/store/redis"
	"herald/core/store/redis/redistest"
)

// TestHintsComeBack cuts the subscription: it is made anew by itself, the operator is told once, and hints arrive again.
func TestHintsComeBack(t *testing.T) {
	t.Parallel()
	srv, other := fresh(t, redistest.Options{})
	p := redistest.RunProxy(t, srv.Addr())
	var log lockedLog
	s := open(t, redis.Options{URL: p.URL(), Logger: slog.New(slog.NewTextHandler(&log, nil))})
	ctx, cancel := context.WithCancel(t.Context())
	got, ready := make(chan store.Hint, 100), make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() {
		if err := s.Hints(ctx, ready, func(h store.Hint) { got <- h }); err != nil {
			t.Error(err)
		}
	})
	defer func() { cancel(); work.Wait() }()
	<-ready
	// Nobody knows when the subscription stands again, so it is called until it answers.
	heard := func() {
		t.Helper()
		eventually(t, "a hint arrives", func() bool {
			if err := other.Publish(t.Context(), "topic", "payload"); err != nil {
				t.Fatal(err)
			}
			select {
			case <-got:
				return true
			case <-time.After(20 * time.Millisecond):
				return false
			}
		})
	}
	heard()
	p.Drop(true)
	eventually(t, "the loss is told", func() bool { return strings.Contains(log.String(), "lost the subscription") })
	p.Drop(false)
	heard()
	if n := strings.Count(log.String(), "lost the subscription"); n != 1 {
		t.Errorf("it was told %d times", n)
	}
}

// TestHintsOverARestart goes on over a server that was killed.
func TestHintsOverARestart(t *testing.T) {
	t.Parallel()
	srv, s := fresh(t, redistest.Options{AOF: "always"})
	ctx, cancel := context.WithCancel(t.Context())
	got, ready := make(chan store.Hint, 100), make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() { _ = s.Hints(ctx, ready, func(h store.Hint) { got <- h }) })
	defer func() { cancel(); work.Wait() }()
	<-ready
	srv.Kill()
	if err := srv.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := store.Hint{Agenda: store.Turns, Member: store.Member(conv)}
	eventually(t, "a wake is heard", func() bool {
		_, err := s.Commit(t.Context(), store.Commit{ID: time.Now().String(), Partition: conv, Ops: []store.Op{store.Wake{Agenda: store.Turns, Member: store.Member(conv)}}})
		if err != nil && !store.Outage(err) {
			t.Fatal(err)
		}
		select {
		case h := <-got:
			return h == want
		case <-time.After(20 * time.Millisecond):
			return false
		}
	})
}

// lockedLog is a log that can be read while it is written.
type lockedLog struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
