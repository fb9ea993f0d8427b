package service_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
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
	"herald/core/chat"
	"herald/core/model"
	"herald/core/model/modeltest"
	"herald/core/people"
	"herald/core/store"
	"herald/core/store/memory"
)

// log is a buffer that a service writes to while a test reads it.
type log struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// rig is a service on a test platform.
type rig struct {
	t      *testing.T
	chat   *platform.Server
	log    *log
	opts   service.Options
	svc    *service.Service
	stop   context.CancelFunc
	ended  chan error
	asked  int
	waited bool
}

// load reads a configuration with a data folder of its own.
func load(t *testing.T, env ...string) *config.Config {
	t.Helper()
	dir, err := os.MkdirTemp("", "hs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	cfg, err := config.Load(config.Options{
		File: filepath.Join(dir, "herald.toml"), Dir: dir, ReadFile: func(string) ([]byte, error) { return nil, nil },
		Env: append([]string{"HERALD_DATA_DIR=" + dir, "HERALD_HTTP__LISTEN=127.0.0.1:0", "HERALD_STORE__URL=memory:", "HERALD_OUTBOX__CHANNEL_INTERVAL_MS=0"}, env...),
	})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func start(t *testing.T, cfg *config.Config, change func(*service.Options)) *rig {
	t.Helper()
	r := &rig{t: t, log: new(log), ended: make(chan error, 1)}
	var err error
	r.chat, err = platform.Start(t.Context(), platform.Options{
		Features: wire.Features{Edits: true, EditEvery: 20 * time.Millisecond, LookBack: true, Nonce: true, Cards: true, Ephemeral: true, TextLimit: 2000}, RedeliverAfter: 200 * time.Millisecond, Echo: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.chat.Close)
	p, err := demo.Platform(r.chat.URL(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	secrets := new(redact.Secrets)
	r.opts = service.Options{
		Config: cfg, Log: service.NewLogger(r.log, "text", new(slog.LevelVar), secrets), Secrets: secrets, Version: "test",
		Platforms: []service.Platform{p}, NoConsole: true, Models: scripted(modeltest.Echo()),
	}
	if change != nil {
		change(&r.opts)
	}
	if r.svc, err = service.New(t.Context(), r.opts); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	r.stop = stop
	go func() { r.ended <- r.svc.Run(ctx) }()
	t.Cleanup(func() {
		if err := r.end(); err != nil {
			t.Errorf("the service ended with %v\n%s", err, r.log)
		}
	})
	return r
}

// end stops the service and returns what Run returned; a second call returns nil.
func (r *rig) end() error {
	r.stop()
	if r.waited {
		return nil
	}
	r.waited = true
	return <-r.ended
}

func scripted(rules ...modeltest.Rule) []model.Configured {
	return []model.Configured{{Name: "script", Model: modeltest.NewScripted(rules...), Priority: model.DefaultPriority}}
}

func (r *rig) ask(text string) platform.Told {
	r.asked++
	return r.chat.Post(platform.Say{Channel: "c", Thread: fmt.Sprint("t", r.asked), Text: text, Mention: true})
}

func (r *rig) wait(what string, cond func(platform.View) bool) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 20*time.Second)
	defer cancel()
	if err := r.chat.Wait(ctx, what, cond); err != nil {
		r.t.Fatalf("%v\n%s", err, r.log)
	}
}

func (r *rig) answer(t platform.Told) string {
	r.t.Helper()
	text := ""
	r.wait("an answer", func(v platform.View) bool {
		for _, m := range v.Answers(t.Message) {
			text = m.Text
			return !m.Live
		}
		return false
	})
	return text
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

func TestAnswersAndCounts(t *testing.T) {
	t.Parallel()
	r := start(t, load(t), nil)
	if got := r.answer(r.ask("hello")); !strings.Contains(got, "You said: ") || !strings.Contains(got, "hello") {
		t.Errorf("answer %q", got)
	}
	if code, body := r.get("/healthz"); code != http.StatusOK || body != "ok\n" {
		t.Errorf("healthz: %d %q", code, body)
	}
	if code, body := r.get("/readyz"); code != http.StatusOK || !strings.Contains(body, "store: ok") {
		t.Errorf("readyz: %d %q", code, body)
	}
	// The platform shows an answer before its receipt is in the store.
	r.until("settled", func() bool {
		_, body := r.get("/metrics")
		return strings.Contains(body, `herald_deliveries_total{outcome="settled"} 1`)
	})
	_, body := r.get("/metrics")
	for _, want := range []string{
		`herald_events_total{kind="message",outcome="kept",reason="message"} 1`, `herald_turns_total{outcome="answered"} 1`,
		`herald_model_attempts_total{model="script",result="ok"} 1`, `herald_ready 1`,
		`herald_build_info{version="test"} 1`, `herald_model_state{model="script",state="healthy"} 1`, `herald_worker_claims_total{agenda="turns"}`,
		"herald_store_round_trips_total", "herald_turn_duration_seconds_count 1", `herald_model_tokens_total{kind="output",model="script"}`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
}

// A turn that is under way at the stop is finished and said; an event that comes then is left to the platform.
func TestStopsInOrder(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{})
	slow := func(req *model.Request) (modeltest.Reply, bool) {
		close(begun)
		return modeltest.Reply{Text: "done slowly", FirstDelay: 300 * time.Millisecond}, true
	}
	var receiver chat.Receiver
	r := start(t, load(t), func(o *service.Options) {
		o.Models = scripted(slow)
		open := o.Platforms[0].Open
		o.Platforms[0].Open = func(rcv chat.Receiver) (service.Connection, error) {
			receiver = rcv
			return open(rcv)
		}
	})
	told := r.ask("take your time")
	<-begun
	if err := r.end(); err != nil {
		t.Fatalf("%v\n%s", err, r.log)
	}
	late := r.ask("too late")
	if out, err := receiver.Receive(t.Context(), &chat.Inbound{Kind: chat.Message, Text: "too late too"}); err == nil || !strings.Contains(err.Error(), "stopping") {
		t.Errorf("an event that comes at the stop: %q, %v", out, err)
	}
	r.chat.Look(func(v platform.View) {
		all := v.Answers(told.Message)
		if len(all) != 1 || all[0].Live || all[0].Text != "done slowly" {
			t.Errorf("the turn under way was not finished: %+v\n%s", all, r.log)
		}
		if v.Acked(late.Event) {
			t.Error("an event was acknowledged after the stop")
		}
	})
	if !strings.Contains(r.log.String(), "msg=stopped") {
		t.Error(r.log)
	}
}

// With no grace a turn is left to the next start, which answers it once.
func TestGoesOnAfterStop(t *testing.T) {
	t.Parallel()
	st := memory.New(memory.Options{})
	begun := make(chan struct{}, 4)
	stuck := func(*model.Request) (modeltest.Reply, bool) {
		begun <- struct{}{}
		return modeltest.Reply{Text: "never", FirstDelay: time.Hour}, true
	}
	cfg := load(t, "HERALD_SHUTDOWN_GRACE_SECONDS=0")
	r := start(t, cfg, func(o *service.Options) { o.Store, o.Models = st, scripted(stuck) })
	told := r.ask("will you?")
	<-begun
	if err := r.end(); err != nil {
		t.Fatalf("%v\n%s", err, r.log)
	}
	o := r.opts
	o.Models = scripted(modeltest.Always(modeltest.Say("I will.")))
	svc, err := service.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- svc.Run(ctx) }()
	if got := r.answer(told); got != "I will." {
		t.Errorf("answer %q", got)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	r.chat.Look(func(v platform.View) {
		if n := len(v.Answers(told.Message)); n != 1 {
			t.Errorf("%d answers", n)
		}
	})
}

func TestNoModel(t *testing.T) {
	t.Parallel()
	r := start(t, load(t), func(o *service.Options) { o.Models = nil })
	got := r.answer(r.ask("hello"))
	if !strings.Contains(got, "admin") {
		t.Errorf("the person is not told that an admin must act: %q", got)
	}
	if code, body := r.get("/readyz"); code != http.StatusServiceUnavailable || !strings.Contains(body, "models: not ready") {
		t.Errorf("readyz: %d %q", code, body)
	}
	if !strings.Contains(r.log.String(), "no model is configured") {
		t.Errorf("the operator is not told: %s", r.log)
	}
	// Once one is configured it answers, without a restart.
	next := load(t, "HERALD_PROVIDERS__P__BASE_URL=http://127.0.0.1:1/v1", "HERALD_PROVIDERS__P__DEFAULT_MODEL=m")
	if err := r.svc.Apply(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	if code, body := r.get("/readyz"); code != http.StatusOK {
		t.Errorf("readyz after the change: %d %q", code, body)
	}
}

// away fails every call while it is set.
type away struct {
	mu  sync.Mutex
	set bool
}

func (a *away) toggle(on bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.set = on
}

type flaky struct {
	store.Store
	away *away
}

func (f *flaky) Claim(ctx context.Context, r store.ClaimRequest) ([]store.Claim, error) {
	f.away.mu.Lock()
	defer f.away.mu.Unlock()
	if f.away.set {
		return nil, fmt.Errorf("claim: %w", store.ErrChanged)
	}
	return f.Store.Claim(ctx, r)
}

func (f *flaky) Commit(ctx context.Context, c store.Commit) (store.Result, error) {
	f.away.mu.Lock()
	defer f.away.mu.Unlock()
	if f.away.set {
		return store.Result{}, fmt.Errorf("commit: %w", store.ErrChanged)
	}
	return f.Store.Commit(ctx, c)
}

// Readiness follows what the service meets: red while the store is not the one it was, green when it is back; what came meanwhile
// is answered then.
func TestReadinessFollowsTheStore(t *testing.T) {
	t.Parallel()
	a := new(away)
	r := start(t, load(t), func(o *service.Options) { o.Store = &flaky{memory.New(memory.Options{}), a} })
	r.answer(r.ask("before"))
	a.toggle(true)
	told := r.ask("meanwhile")
	r.until("red", func() bool {
		code, body := r.get("/readyz")
		return code == http.StatusServiceUnavailable && strings.Contains(body, "store: not ready: ")
	})
	if _, body := r.get("/metrics"); !strings.Contains(body, `herald_store_failures_total{kind="changed"}`) {
		t.Error("the failures are not counted")
	}
	a.toggle(false)
	r.answer(told)
	r.until("green", func() bool { code, _ := r.get("/readyz"); return code == http.StatusOK })
}

// until polls what only the network shows.
func (r *rig) until(what string, cond func() bool) {
	r.t.Helper()
	end := time.After(20 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-end:
			r.t.Fatalf("it did not become %s\n%s", what, r.log)
		}
	}
}

type broken struct{ service.Connection }

var errBroken = errors.New("the token is dead")

func (broken) Run(context.Context) error { return errBroken }

// A part that fails for good ends the service with its error, in the same order.
func TestAPartFails(t *testing.T) {
	t.Parallel()
	r := start(t, load(t), func(o *service.Options) {
		open := o.Platforms[0].Open
		o.Platforms[0].Open = func(rcv chat.Receiver) (service.Connection, error) {
			c, err := open(rcv)
			return broken{c}, err
		}
	})
	err := <-r.ended
	r.waited = true
	if !errors.Is(err, errBroken) {
		t.Errorf("got %v", err)
	}
}

func TestOpenFails(t *testing.T) {
	t.Parallel()
	taken := start(t, load(t), nil)
	tests := []struct {
		name string
		env  []string
		want string
		is   error
	}{
		{"address in use", []string{"HERALD_HTTP__LISTEN=" + taken.svc.Address()}, `set http.listen to another one or to "off"`, nil},
		{"a server that is not there", []string{"HERALD_STORE__URL=redis://127.0.0.1:1"}, "127.0.0.1:1", store.ErrUnavailable},
		{"no rights", []string{"HERALD_STORE__URL=sqlite:/proc/none/x.db"}, "/proc/none", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := service.Options{Config: load(t, tt.env...), Log: slog.New(slog.DiscardHandler), Secrets: new(redact.Secrets), NoConsole: true, Models: scripted()}
			_, err := service.New(t.Context(), o)
			if err == nil || !strings.Contains(err.Error(), tt.want) || tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// An operator who demands that everything acknowledged is kept gets no service on a store that could lose it.
func TestRequirePersistence(t *testing.T) {
	t.Parallel()
	for _, demand := range []bool{true, false} {
		cfg := load(t, "HERALD_STORE__URL=redis://127.0.0.1:1", fmt.Sprint("HERALD_STORE__REQUIRE_PERSISTENCE=", demand))
		s, err := service.New(t.Context(), service.Options{
			Config: cfg, Log: slog.New(slog.DiscardHandler), Secrets: new(redact.Secrets), NoConsole: true, NoHTTP: true,
			Store: memory.New(memory.Options{}), Models: scripted(),
		})
		if !demand {
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			continue
		}
		if !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "store.require_persistence") {
			t.Errorf("got %v", err)
		}
	}
}

// What needs no restart is in force at once: admins in the store, the log's level, the models.
func TestApply(t *testing.T) {
	t.Parallel()
	st, level := memory.New(memory.Options{}), new(slog.LevelVar)
	admins := func() []chat.IdentityID {
		answers, err := st.Read(t.Context(), store.Get{Partition: people.System, Key: people.AdminsKey})
		if err != nil {
			t.Fatal(err)
		}
		var a people.Admins
		if doc, ok := answers[0].Doc(); ok {
			if err := json.Unmarshal(doc.Value, &a); err != nil {
				t.Fatal(err)
			}
		}
		return a.Identities
	}
	secrets := new(redact.Secrets)
	s, err := service.New(t.Context(), service.Options{
		Config: load(t, "HERALD_ADMINS=slack:T1/U1"), Log: slog.New(slog.DiscardHandler), Level: level, Secrets: secrets, NoConsole: true, NoHTTP: true, Store: st,
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := admins(); !slices.Equal(got, []chat.IdentityID{"slack:T1/U1"}) {
		t.Errorf("admins at the start: %v", got)
	}
	next := load(t, "HERALD_ADMINS=discord:7", "HERALD_LOG__LEVEL=debug", "KEY=sk-canary-4711", "HERALD_PROVIDERS__P__API_KEY_ENV=KEY", "HERALD_PROVIDERS__P__DEFAULT_MODEL=m")
	if err := s.Apply(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	if got := admins(); !slices.Equal(got, []chat.IdentityID{"discord:7"}) {
		t.Errorf("admins after the change: %v", got)
	}
	if level.Level() != slog.LevelDebug {
		t.Errorf("level %v", level.Level())
	}
	if got := secrets.Clean("sk-canary-4711"); got != redact.Placeholder {
		t.Errorf("a new secret is not known: %q", got)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
