package openai_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"herald/core/model"
	"herald/core/model/modeltest"
	"herald/core/model/openai"
)

// pipes is a listener of in-memory connections, so that server and client live on a test's own clock.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once

	dialed atomic.Int64
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	p.dialed.Add(1)
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// bubble runs f with a driver of the handler on a clock of its own. Limits: a minute to the first data, 30 s between. It counts
// the connections.
func bubble(t *testing.T, h http.Handler, f func(t *testing.T, m model.Model)) (dialed int64) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		server := &http.Server{Handler: h}
		var wg sync.WaitGroup
		wg.Go(func() { _ = server.Serve(p) })
		tr := &http.Transport{DialContext: p.dial}
		m, err := openai.New(openai.Options{
			Name: "small", BaseURL: "http://pipe/v1", Model: "m", HTTP: tr, FirstToken: time.Minute, BetweenTokens: 30 * time.Second,
		})
		if err != nil {
			t.Fatal(err)
		}
		f(t, m)
		tr.CloseIdleConnections()
		_ = server.Close()
		wg.Wait()
		dialed = p.dialed.Load()
	})
	return dialed
}

func TestClock(t *testing.T) {
	t.Parallel()
	type wire = modeltest.Wire
	tests := []struct {
		name  string
		reply modeltest.Reply
		pause time.Duration // of the consumer, at each chunk
		took  time.Duration
		shown string
		words string // of the error
	}{
		{"silence from the beginning", modeltest.Reply{Wire: wire{HangFirst: true}}, 0, time.Minute, "", "no data within 1m0s"},
		{"comments do not count as a beginning", modeltest.Reply{Wire: wire{HangFirst: true, Comments: true}}, 0, time.Minute, "", "no data within 1m0s"},
		{"a server that does not even answer", modeltest.Reply{Text: "late", FirstDelay: time.Hour}, 0, time.Minute, "", "no data within 1m0s"},
		{"a stall in the middle", modeltest.Reply{Text: "one two", Chunks: 2, Wire: wire{Hang: 1}}, 0, 30 * time.Second, "one", "stalled: no data for 30s"},
		{"a stall behind comments", modeltest.Reply{Text: "one two", Chunks: 2, Wire: wire{Hang: 1, Comments: true}}, 0, 30 * time.Second, "one", "stalled: no data for 30s"},
		{"slow and steady", modeltest.Reply{Text: "one two", Chunks: 7, FirstDelay: 59 * time.Second, Delay: 29 * time.Second}, 0, 59*time.Second + 6*29*time.Second, "one two", ""},
		{"a slow consumer is no slow server", modeltest.Reply{Text: "one two", Chunks: 3}, 10 * time.Minute, 30 * time.Minute, "one two", ""},
		{"a slow consumer of a slow server", modeltest.Reply{Text: "one two", Chunks: 3, Delay: 20 * time.Second}, 15 * time.Second, 55 * time.Second, "one two", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &modeltest.Server{Rules: []modeltest.Rule{modeltest.Always(tt.reply)}}
			bubble(t, s.Handler(), func(t *testing.T, m model.Model) {
				began := time.Now()
				var shown string
				var err error
				for c, e := range m.Generate(t.Context(), ask("hi")) {
					shown, err = shown+c.Text, e
					if c.Text != "" && tt.pause > 0 {
						<-time.After(tt.pause) // on the bubble's clock
					}
				}
				if took := time.Since(began); took != tt.took {
					t.Errorf("took %v, want %v", took, tt.took)
				}
				if !strings.HasPrefix(shown, tt.shown) || tt.words == "" && shown != tt.shown {
					t.Errorf("shown %q, want %q", shown, tt.shown)
				}
				if tt.words == "" {
					if err != nil {
						t.Error(err)
					}
					return
				}
				e, ok := errors.AsType[*model.Error](err)
				if !ok || e.Kind != model.Unavailable || !strings.Contains(e.Message, tt.words) {
					t.Errorf("error %v, want one with %q", err, tt.words)
				}
				if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
					t.Error("a silent server looks like the caller's own context")
				}
			})
		})
	}
}

// held sends a body and keeps the connection open.
func held(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		canned(body)(w, r)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
}

func TestAnAnswerIsNotHeldBackByItsConnection(t *testing.T) {
	t.Parallel()
	const answer = "data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\n"
	for name, tt := range map[string]struct {
		body string
		most time.Duration
	}{
		"open after the finish reason": {answer, 2 * time.Second},
		"open after DONE":              {answer + "data: [DONE]\n\n", 50 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, held(tt.body), func(t *testing.T, m model.Model) {
				began := time.Now()
				_, a, err := collect(t.Context(), m, ask("hi"))
				if err != nil || a.Text != "x" {
					t.Fatalf("answer %+v, error %v", a, err)
				}
				if took := time.Since(began); took > tt.most {
					t.Errorf("took %v, want at most %v", took, tt.most)
				}
			})
		})
	}
}

func TestTheConnectionIsKeptWhenItsEndComesLate(t *testing.T) {
	t.Parallel()
	late := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		canned("data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")(w, r)
		_ = http.NewResponseController(w).Flush()
		<-time.After(20 * time.Millisecond)
	})
	dialed := bubble(t, late, func(t *testing.T, m model.Model) {
		for range 3 {
			if _, _, err := collect(t.Context(), m, ask("hi")); err != nil {
				t.Fatal(err)
			}
		}
	})
	if dialed != 1 {
		t.Errorf("%d connections for 3 calls in a row", dialed)
	}
}

func TestTheCallersContext(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		ctx  func(context.Context) (context.Context, context.CancelFunc)
		want error
	}{
		{"canceled in the middle", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Second, cancel)
			return ctx, cancel
		}, context.Canceled},
		{"its deadline passes", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		}, context.DeadlineExceeded},
		{"canceled before", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			return ctx, cancel
		}, context.Canceled},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &modeltest.Server{Rules: []modeltest.Rule{modeltest.Always(modeltest.Reply{Text: "one two", Chunks: 2, Wire: modeltest.Wire{Hang: 1}})}}
			bubble(t, s.Handler(), func(t *testing.T, m model.Model) {
				ctx, cancel := tt.ctx(t.Context())
				defer cancel()
				if _, _, err := collect(ctx, m, ask("hi")); !errors.Is(err, tt.want) {
					t.Errorf("error %v, want %v", err, tt.want)
				}
			})
		})
	}
}
