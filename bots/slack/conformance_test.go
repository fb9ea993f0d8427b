package slack_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/bots/bottest"
	"herald/bots/bottest/slackfake"
	"herald/bots/slack"
	"herald/core/chat"
)

// fixture is a fake Slack with the adapter connected to it.
type fixture struct {
	t       *testing.T
	server  *slackfake.Server
	adapter *slack.Adapter
	cancel  context.CancelFunc
	done    chan error

	mu    sync.Mutex
	roots map[int]string
}

// world is a fake Slack with short times.
func world(t *testing.T, opt slackfake.Options) *slackfake.Server {
	t.Helper()
	if opt.AckTimeout == 0 {
		opt.AckTimeout = 400 * time.Millisecond
	}
	if opt.RetryAfter == nil {
		for range 50 {
			opt.RetryAfter = append(opt.RetryAfter, 20*time.Millisecond)
		}
		opt.Patient = true
	}
	s, err := slackfake.Start(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// options are those of an adapter of a world.
func options(t *testing.T, s *slackfake.Server, r chat.Receiver) slack.Options {
	return slack.Options{
		BotToken: slackfake.BotToken, AppToken: slackfake.AppToken, APIURL: s.APIURL(), Receiver: r,
		Joined: func(context.Context, chat.Conversation) (slack.Part, error) { return slack.Part{In: true}, nil },
		Log:    slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})), Backoff: 5 * time.Millisecond, BackoffMax: 100 * time.Millisecond,
	}
}

func connect(t *testing.T, s *slackfake.Server, opt slack.Options) *fixture {
	t.Helper()
	a, err := slack.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	f := &fixture{t: t, server: s, adapter: a, cancel: cancel, done: make(chan error, 1), roots: map[int]string{}}
	go func() {
		pprof.SetGoroutineLabels(pprof.WithLabels(ctx, pprof.Labels(fixtureLabel, t.Name()))) // all that the adapter begins has it, too
		f.done <- a.Run(ctx)
	}()
	t.Cleanup(func() {
		if err := f.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return f
}

// fixtureLabel marks the goroutines of a test's adapter.
const fixtureLabel = "slack-fixture"

// goroutines counts those of the adapter.
func (f *fixture) goroutines() (n int) {
	f.t.Helper()
	var b strings.Builder
	if err := pprof.Lookup("goroutine").WriteTo(&b, 1); err != nil {
		f.t.Fatal(err)
	}
	// Goroutines with the same stack and labels stand as one entry: "3 @ 0x… 0x…", and the labels on the next line.
	count := 0
	for line := range strings.Lines(b.String()) {
		if head, _, ok := strings.Cut(line, " @ "); ok {
			count, _ = strconv.Atoi(head)
		}
		if strings.HasPrefix(line, "# labels:") && strings.Contains(line, strconv.Quote(fixtureLabel)+":"+strconv.Quote(f.t.Name())) {
			n += count
		}
	}
	if n == 0 {
		f.t.Error("the adapter's goroutines are not found")
	}
	return n
}

func (f *fixture) Adapter() chat.Adapter { return f.adapter }

// Place is a thread; two places share a channel. Its root is said by a person and never told to the app.
func (f *fixture) Place(i int) chat.Conversation {
	f.mu.Lock()
	defer f.mu.Unlock()
	channel := []string{slackfake.General, slackfake.Random}[i/2%2]
	if f.roots[i] == "" {
		f.roots[i] = f.server.Say(slackfake.Say{Channel: channel, User: slackfake.Carol, Text: fmt.Sprint("thread ", i), Held: true}).TS
	}
	return chat.Conversation{Workspace: "slack:" + slackfake.Team, Channel: channel, Thread: f.roots[i]}
}

func (f *fixture) Say(place int, text string) string {
	c := f.Place(place)
	return f.server.Say(slackfake.Say{Channel: c.Channel, Thread: c.Thread, Text: text}).Events[0]
}

func (f *fixture) Await(ctx context.Context, name string) error {
	return f.server.Wait(ctx, name+" is acknowledged", func(v slackfake.View) bool { return v.Acked(name) })
}

func (f *fixture) Acked(name string) (ok bool) {
	f.server.Look(func(v slackfake.View) { ok = v.Acked(name) })
	return ok
}

func (f *fixture) Again(name string) { f.server.Again(name) }

func (f *fixture) Standing(place int) (out []bottest.Standing) {
	c := f.Place(place)
	f.server.Look(func(v slackfake.View) {
		for _, m := range v.Said(c.Channel, c.Thread) {
			out = append(out, bottest.Standing{ID: m.TS, Text: shown(m), Live: live(m)})
		}
	})
	return out
}

// shown is what a person reads: the Markdown block where there is one.
func shown(m *slackfake.Message) string {
	var blocks []struct{ Type, Text string }
	if json.Unmarshal(m.Blocks, &blocks) == nil {
		for _, b := range blocks {
			if b.Type == "markdown" {
				return b.Text
			}
		}
	}
	return m.Text
}

// live reports whether a message says of itself that it still grows.
func live(m *slackfake.Message) bool {
	var meta struct {
		Payload struct{ Live bool } `json:"event_payload"`
	}
	return json.Unmarshal(m.Metadata, &meta) == nil && meta.Payload.Live || m.Stream == slackfake.Streaming
}

func (f *fixture) Inject(fault bottest.Fault) {
	if fault == bottest.DeadToken {
		// The app was in before its token died.
		if err := f.server.Wait(f.t.Context(), "the app is connected", func(v slackfake.View) bool { return v.Counts().Connected > 0 }); err != nil {
			f.t.Error(err)
		}
		f.server.Kill(slackfake.BotToken, "token_revoked")
		return
	}
	what := map[bottest.Fault]slackfake.Fault{
		bottest.RateLimited: {Kind: slackfake.RateLimit, RetryAfter: 2 * time.Second},
		bottest.Unavailable: {Kind: slackfake.ServerError},
		bottest.LostReply:   {Kind: slackfake.LoseReply},
		bottest.CutReply:    {Kind: slackfake.CutReply},
		bottest.Rejected:    {Kind: slackfake.Refusal, Error: "is_archived"},
		bottest.Hang:        {Kind: slackfake.Hang},
	}[fault]
	what.Method = "chat.postMessage"
	f.server.Inject(what)
}

func (f *fixture) Break() { f.server.Sever("") }

func (f *fixture) Stop(ctx context.Context) error {
	f.cancel()
	select {
	case err := <-f.done:
		f.done <- err
		return err
	case <-ctx.Done():
		return fmt.Errorf("the loop goes on: %w", context.Cause(ctx))
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	bottest.Run(t, bottest.Harness{
		Traits: bottest.Traits{
			Platform: slack.Platform, Redelivers: true, Breaks: true, Echoes: true,
			Faults: []bottest.Fault{bottest.RateLimited, bottest.Unavailable, bottest.LostReply, bottest.CutReply, bottest.Rejected, bottest.DeadToken, bottest.Hang},
		},
		New: func(t *testing.T, r chat.Receiver) bottest.Fixture {
			s := world(t, slackfake.Options{})
			return connect(t, s, options(t, s, r))
		},
	})
}
