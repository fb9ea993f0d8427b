package testbot_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/bots/bottest"
	"herald/bots/bottest/platform"
	"herald/bots/bottest/testbot"
	"herald/bots/bottest/wire"
	"herald/core/chat"
)

// lab is the test platform as the suite's fixture.
type lab struct {
	t       *testing.T
	server  *platform.Server
	bot     *testbot.Bot
	adapter chat.Adapter
	cancel  context.CancelFunc
	done    chan error

	mu    sync.Mutex
	names map[string]platform.Told
}

func newLab(t *testing.T, opt platform.Options, r chat.Receiver) *lab {
	t.Helper()
	if opt.RedeliverAfter == 0 {
		opt.RedeliverAfter = 30 * time.Millisecond
	}
	s := start(t, opt)
	b, err := testbot.New(testbot.Options{URL: s.URL(), Receiver: r, ReconnectMin: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	l := &lab{t: t, server: s, bot: b, adapter: b, cancel: cancel, done: make(chan error, 1), names: map[string]platform.Told{}}
	go func() { l.done <- b.Run(ctx) }()
	t.Cleanup(func() {
		if err := l.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return l
}

func (l *lab) Adapter() chat.Adapter { return l.adapter }

// Place: two places share a channel, as threads do.
func (l *lab) Place(i int) chat.Conversation {
	return l.bot.Conversation(fmt.Sprint("c", i/2), fmt.Sprint("t", i))
}

func (l *lab) Say(place int, text string) string {
	c := l.Place(place)
	told := l.server.Post(platform.Say{Channel: c.Channel, Thread: c.Thread, Text: text})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.names[told.Event] = told
	return told.Event
}

func (l *lab) Await(ctx context.Context, name string) error {
	return l.server.Wait(ctx, name+" is acknowledged", func(v platform.View) bool { return v.Acked(name) })
}

func (l *lab) Acked(name string) (ok bool) {
	l.server.Look(func(v platform.View) { ok = v.Acked(name) })
	return ok
}

func (l *lab) Again(name string) {
	if err := l.server.Deliver(name); err != nil {
		l.t.Error(err)
	}
}

func (l *lab) Standing(place int) (out []bottest.Standing) {
	c := l.Place(place)
	for _, m := range l.server.Messages(c.Channel, c.Thread) {
		if m.ByApp && !m.Deleted {
			out = append(out, bottest.Standing{ID: m.ID, Text: m.Text, Live: m.Live})
		}
	}
	return out
}

func (l *lab) Inject(f bottest.Fault) {
	l.server.Inject(map[bottest.Fault]platform.Fault{
		bottest.RateLimited: {Op: platform.OpSend, Kind: platform.RateLimit, RetryAfter: 2 * time.Second},
		bottest.Unavailable: {Op: platform.OpSend, Kind: platform.ServerError},
		bottest.LostReply:   {Op: platform.OpSend, Kind: platform.LoseReply},
		bottest.CutReply:    {Op: platform.OpSend, Kind: platform.CutReply},
		bottest.Rejected:    {Op: platform.OpSend, Kind: platform.Refusal, Code: "archived"},
		bottest.DeadToken:   {Op: platform.OpSend, Kind: platform.DeadToken},
		bottest.Hang:        {Op: platform.OpSend, Kind: platform.Hang},
	}[f])
}

func (l *lab) Break() { l.server.Disconnect() }

func (l *lab) Stop(ctx context.Context) error {
	l.cancel()
	select {
	case err := <-l.done:
		l.done <- err
		return err
	case <-ctx.Done():
		return fmt.Errorf("the loop goes on: %w", context.Cause(ctx))
	}
}

var allFaults = []bottest.Fault{bottest.RateLimited, bottest.Unavailable, bottest.LostReply, bottest.CutReply, bottest.Rejected, bottest.DeadToken, bottest.Hang}

func TestConformance(t *testing.T) {
	t.Parallel()
	for name, opt := range map[string]platform.Options{
		"all features": {Features: wire.Features{Edits: true, Cards: true, Ephemeral: true, Nonce: true, LookBack: true, TextLimit: 2000}},
		"none":         {},
		"echo, short":  {Echo: true, Features: wire.Features{Edits: true, LookBack: true, TextLimit: 80}},
		"two streams":  {Features: wire.Features{Nonce: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bottest.Run(t, bottest.Harness{
				Traits: bottest.Traits{Platform: "test", Redelivers: true, Breaks: true, Echoes: opt.Echo, Faults: allFaults},
				New:    func(t *testing.T, r chat.Receiver) bottest.Fixture { return newLab(t, opt, r) },
			})
		})
	}
}

// broken are adapters with one fault each; the suite must find every one.
var broken = map[string]struct {
	receiver func(chat.Receiver) chat.Receiver
	adapter  func(chat.Adapter) chat.Adapter
}{
	"acknowledges what was not taken": {receiver: func(r chat.Receiver) chat.Receiver {
		return receive(func(ctx context.Context, in *chat.Inbound) (chat.Outcome, error) {
			_, _ = r.Receive(ctx, in)
			return chat.Kept, nil
		})
	}},
	"order by unpadded ids": {receiver: func(r chat.Receiver) chat.Receiver {
		return receive(func(ctx context.Context, in *chat.Inbound) (chat.Outcome, error) {
			in.Order = in.MessageID
			return r.Receive(ctx, in)
		})
	}},
	"one conversation at a time": {receiver: func(r chat.Receiver) chat.Receiver {
		one := make(chan struct{}, 1)
		return receive(func(ctx context.Context, in *chat.Inbound) (chat.Outcome, error) {
			one <- struct{}{}
			defer func() { <-one }()
			return r.Receive(ctx, in)
		})
	}},
	"does not know itself": {receiver: func(r chat.Receiver) chat.Receiver {
		return receive(func(ctx context.Context, in *chat.Inbound) (chat.Outcome, error) {
			in.Sender.Self = false
			return r.Receive(ctx, in)
		})
	}},
	"drops the end of a text":   {adapter: func(a chat.Adapter) chat.Adapter { return shortened{a} }},
	"opens fences anew":         {adapter: func(a chat.Adapter) chat.Adapter { return unfenced{a} }},
	"finds what never was":      {adapter: func(a chat.Adapter) chat.Adapter { return finder{a} }},
	"says not sent when it was": {adapter: func(a chat.Adapter) chat.Adapter { return liar{a} }},
	"no final edit":             {adapter: func(a chat.Adapter) chat.Adapter { return endless{a} }},
}

type receive func(context.Context, *chat.Inbound) (chat.Outcome, error)

func (f receive) Receive(ctx context.Context, in *chat.Inbound) (chat.Outcome, error) {
	return f(ctx, in)
}

type (
	shortened struct{ chat.Adapter }
	unfenced  struct{ chat.Adapter }
	finder    struct{ chat.Adapter }
	liar      struct{ chat.Adapter }
	endless   struct{ chat.Adapter }
)

func (a shortened) Cut(c chat.Conversation, s string) []string {
	all := a.Adapter.Cut(c, s)
	return all[:max(1, len(all)-1)]
}

func (a unfenced) Cut(c chat.Conversation, s string) []string {
	all := a.Adapter.Cut(c, s)
	for i := range all {
		all[i] = strings.TrimSuffix(all[i], "\n```")
	}
	return all
}

func (a finder) Find(ctx context.Context, p *chat.Post) (chat.Receipt, bool, error) {
	r, ok, err := a.Adapter.Find(ctx, p)
	if err == nil && !ok {
		return chat.Receipt{MessageID: "1"}, true, nil
	}
	return r, ok, err
}

func (a liar) Send(ctx context.Context, p *chat.Post) (chat.Receipt, error) {
	r, err := a.Adapter.Send(ctx, p)
	if o, ok := err.(*chat.Outage); ok { //nolint:errorlint // the adapter's own value
		o.NotSent = true
	}
	return r, err
}

func (a endless) Edit(ctx context.Context, p *chat.Post, r chat.Receipt, _ bool) error {
	return a.Adapter.Edit(ctx, p, r, false)
}

const brokenEnv = "BOTTEST_BROKEN"

// TestSuiteFindsFaults runs the suite in a child on each broken adapter and wants it to fail.
func TestSuiteFindsFaults(t *testing.T) {
	if name := os.Getenv(brokenEnv); name != "" {
		b := broken[name]
		opt := platform.Options{Echo: true, Features: wire.Features{Edits: true, Nonce: true, LookBack: true, TextLimit: 80}}
		bottest.Run(t, bottest.Harness{
			Traits:   bottest.Traits{Platform: "test", Redelivers: true, Breaks: true, Echoes: true, Faults: allFaults},
			Patience: 2 * time.Second,
			New: func(t *testing.T, r chat.Receiver) bottest.Fixture {
				if b.receiver != nil {
					r = b.receiver(r)
				}
				l := newLab(t, opt, r)
				if b.adapter != nil {
					l.adapter = b.adapter(l.adapter)
				}
				return l
			},
		})
		return
	}
	t.Parallel()
	for name := range broken {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSuiteFindsFaults$", "-test.count=1", "-rapid.nofailfile", "-rapid.checks=20", "-rapid.shrinktime=1s")
			cmd.Env = append(os.Environ(), brokenEnv+"="+name)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL") {
				t.Errorf("the suite finds nothing wrong (%v):\n%s", err, out)
			}
		})
	}
}
