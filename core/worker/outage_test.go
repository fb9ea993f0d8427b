package worker_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"herald/core/store"
	"herald/core/store/memory"
	"herald/core/worker"
)

// page is a log that can be read while it is written.
type page struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (p *page) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.b.Write(b)
}

func (p *page) lines() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Split(strings.TrimSpace(p.b.String()), "\n")
}

// An outage of ten minutes is told of once, with a count each minute, and when it is over.
func TestOutageIsToldOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st := memory.New(memory.Options{Clock: time.Now})
		var away atomic.Bool
		h := st.Attach(memory.Options{Faults: memory.FaultFunc(func(memory.Call) memory.Effect {
			if away.Load() {
				return memory.Effect{Before: memory.Unavailable("cut")}
			}
			return memory.Effect{}
		})})
		var log page
		var got seen
		run(t, h, func(o *worker.Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) }, func(ctx context.Context, c store.Claim, _ <-chan struct{}) error {
			got.add(c)
			return release(ctx, st, c)
		})
		away.Store(true)
		time.Sleep(10*time.Minute + 30*time.Second)
		away.Store(false)
		wake(t, st, member(1), 0)
		time.Sleep(time.Minute)
		if len(got.all()) != 1 {
			t.Fatalf("%d claims after the outage, want 1", len(got.all()))
		}
		var begun, still, again int
		for _, l := range log.lines() {
			switch {
			case strings.Contains(l, "claiming failed"):
				begun++
			case strings.Contains(l, "claiming still fails") && strings.Contains(l, "failures="):
				still++
			case strings.Contains(l, "claiming works again") && strings.Contains(l, "level=INFO"):
				again++
			}
		}
		if begun != 1 || still < 8 || still > 10 || again != 1 {
			t.Errorf("told of %d times, counted %d times, ended %d times; want 1, about 9, 1:\n%s", begun, still, again, strings.Join(log.lines(), "\n"))
		}
	})
}
