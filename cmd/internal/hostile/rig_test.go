package hostile_test

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/bots/bottest/platform"
	"herald/bots/bottest/wire"
	"herald/cmd/internal/demo"
	"herald/cmd/internal/redact"
	"herald/cmd/internal/service"
	"herald/config"
	"herald/core/model/modeltest"
)

// patience bounds every wait; the machine that runs the tests may be slow.
const patience = 60 * time.Second

// buffer takes what a service writes while a test reads it.
type buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// rig is a service in this process, between a test platform and a fake endpoint of models.
type rig struct {
	t     *testing.T
	cfg   *config.Config
	model *modeltest.Server
	chat  *platform.Server
	url   string
	log   *buffer
	svc   *service.Service
	stop  func() error
}

// setup is what a test changes about a rig.
type setup struct {
	env      []string
	platform platform.Options
	rules    []modeltest.Rule
	change   func(*service.Options)
	// held leaves the service to the test to start.
	held bool
	// dir is the data folder; a new one when it is empty.
	dir string
	// url is another platform to connect to than the rig's own.
	url string
}

// shortDir is a folder whose path is short enough for a socket in it.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "hh")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// features are those of a platform that can do what most can.
func features() wire.Features {
	return wire.Features{Edits: true, EditEvery: 20 * time.Millisecond, LookBack: true, Nonce: true, TextLimit: 2000, SendTimeout: 10 * time.Second}
}

func startModel(t *testing.T, s *modeltest.Server) string {
	t.Helper()
	url, stop, err := s.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return url
}

func startPlatform(t *testing.T, o platform.Options) *platform.Server {
	t.Helper()
	if o.Features == (wire.Features{}) {
		o.Features = features()
	}
	if o.RedeliverAfter == 0 {
		o.RedeliverAfter = time.Second
	}
	o.Echo = true
	s, err := platform.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// load reads a configuration that stands in variables alone.
func load(t *testing.T, dir string, env ...string) *config.Config {
	t.Helper()
	cfg, err := config.Load(config.Options{
		File: filepath.Join(dir, "herald.toml"), Dir: dir,
		ReadFile: func(path string) ([]byte, error) {
			if filepath.Base(path) == "herald.toml" {
				return nil, nil
			}
			return os.ReadFile(path)
		},
		Env: append([]string{
			"HERALD_DATA_DIR=" + dir, "HERALD_HTTP__LISTEN=127.0.0.1:0", "HERALD_STORE__URL=memory:",
			"HERALD_OUTBOX__CHANNEL_INTERVAL_MS=0", "HERALD_OUTBOX__WORKSPACE_INTERVAL_MS=0", "HERALD_TURN__STREAM_EDIT_MS=50",
		}, env...),
	})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// begin starts a rig; it ends with the test.
func begin(t *testing.T, s setup) *rig {
	t.Helper()
	if s.dir == "" {
		s.dir = shortDir(t)
	}
	r := &rig{t: t, log: new(buffer), model: &modeltest.Server{Rules: s.rules, Record: true}}
	url := startModel(t, r.model)
	r.chat = startPlatform(t, s.platform)
	r.url = cmp.Or(s.url, r.chat.URL())
	r.cfg = load(t, s.dir, append([]string{"HERALD_PROVIDERS__FAKE__BASE_URL=" + url, "HERALD_PROVIDERS__FAKE__DEFAULT_MODEL=m"}, s.env...)...)
	if !s.held {
		r.serve(s.change)
	}
	return r
}

// serve starts the service of a rig whose platform and configuration stand.
func (r *rig) serve(change func(*service.Options)) {
	r.t.Helper()
	p, err := demo.Platform(r.url, slog.New(slog.DiscardHandler))
	if err != nil {
		r.t.Fatal(err)
	}
	secrets, level := new(redact.Secrets), new(slog.LevelVar)
	level.Set(service.Level(r.cfg))
	o := service.Options{
		Config: r.cfg, Log: service.NewLogger(r.log, "text", level, secrets), Level: level, Secrets: secrets, Version: "test",
		Platforms: []service.Platform{p}, NoConsole: true,
	}
	if change != nil {
		change(&o)
	}
	if r.svc, err = service.New(r.t.Context(), o); err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- r.svc.Run(ctx) }()
	r.stop = sync.OnceValue(func() error { cancel(); return <-ended })
	r.t.Cleanup(func() {
		if err := r.stop(); err != nil {
			r.t.Errorf("the service ended with %v\n%s", err, r.tail())
		}
	})
}

// tail is the end of the log.
func (r *rig) tail() string {
	s := r.log.String()
	return s[max(0, len(s)-4000):]
}

func (r *rig) say(thread, text string) platform.Told {
	return r.chat.Post(platform.Say{Channel: "c", Thread: thread, Text: text, Mention: true})
}

func (r *rig) wait(what string, cond func(platform.View) bool) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	if err := r.chat.Wait(ctx, what, cond); err != nil {
		r.t.Fatalf("%v\n%s", err, r.tail())
	}
}

// settled are the texts of the answer to a message, once all of its pieces stand.
func settled(v platform.View, t platform.Told) []string {
	var texts []string
	for _, m := range v.Answers(t.Message) {
		if m.Live {
			return nil
		}
		texts = append(texts, m.Text)
	}
	return texts
}

// answer waits for the answer to a message in one piece.
func (r *rig) answer(t platform.Told, what string) string {
	r.t.Helper()
	var texts []string
	r.wait("an answer to "+what, func(v platform.View) bool {
		texts = settled(v, t)
		return len(texts) > 0
	})
	if len(texts) != 1 {
		r.t.Errorf("%s: %d answers: %.200q", what, len(texts), texts)
	}
	return texts[0]
}

// usable demands that a next message of the thread is answered as if nothing had been.
func (r *rig) usable(thread string) {
	r.t.Helper()
	words := "are you well, " + thread + "?"
	r.model.On(modeltest.When(words, modeltest.Say("quite well, "+thread)))
	if got := r.answer(r.say(thread, words), "the next message of "+thread); got != "quite well, "+thread {
		r.t.Errorf("%s: the session is not usable afterwards: %.300q", thread, got)
	}
}

// up demands that the service serves.
func (r *rig) up() {
	r.t.Helper()
	if code, body := r.get("/healthz"); code != http.StatusOK || body != "ok\n" {
		r.t.Errorf("healthz: %d %q", code, body)
	}
	if n := r.model.Violations(); n > 0 {
		r.t.Errorf("a strict provider was sent %d requests that it refuses", n)
	}
	if strings.Contains(r.log.String(), "panicked") {
		r.t.Errorf("something panicked:\n%s", r.tail())
	}
}

func (r *rig) get(path string) (int, string) {
	r.t.Helper()
	res, err := http.Get("http://" + r.svc.Address() + path)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// metric is the value of a metric with exactly these labels, 0 when it is not there.
func (r *rig) metric(name string) string {
	r.t.Helper()
	_, body := r.get("/metrics")
	for line := range strings.Lines(body) {
		if v, ok := strings.CutPrefix(line, name+" "); ok {
			return strings.TrimSpace(v)
		}
	}
	return "0"
}

// until polls what only a counter shows.
func (r *rig) until(what string, cond func() bool) {
	r.t.Helper()
	end := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-end:
			r.t.Fatalf("it was not %s\n%s", what, r.tail())
		}
	}
}
