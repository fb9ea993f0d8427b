package testbot_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"herald/bots/bottest/platform"
	"herald/bots/bottest/testbot"
	"herald/bots/bottest/wire"
	"herald/core/chat"
)

// taker is a receiver with a memory; answer decides each event's fate.
type taker struct {
	mu     sync.Mutex
	got    []*chat.Inbound
	answer func(n int, in *chat.Inbound) error
}

func (r *taker) Receive(_ context.Context, in *chat.Inbound) (chat.Outcome, error) {
	r.mu.Lock()
	n := len(r.got)
	r.got = append(r.got, in)
	f := r.answer
	r.mu.Unlock()
	if f != nil {
		if err := f(n, in); err != nil {
			return "", err
		}
	}
	return chat.Kept, nil
}

func start(t *testing.T, opt platform.Options) *platform.Server {
	t.Helper()
	s, err := platform.Start(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func run(t *testing.T, s *platform.Server, opt testbot.Options) *testbot.Bot {
	t.Helper()
	opt.URL = s.URL()
	b, err := testbot.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	return b
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func TestAckFollowsReceive(t *testing.T) {
	t.Parallel()
	s := start(t, platform.Options{RedeliverAfter: 50 * time.Millisecond})
	r := &taker{answer: func(n int, _ *chat.Inbound) error {
		if n < 2 {
			return errors.New("the store is away")
		}
		return nil
	}}
	run(t, s, testbot.Options{Receiver: r})
	told := s.Post(platform.Say{Channel: "c", Text: "hello"})
	if err := s.Wait(within(t), "the event is acknowledged", func(v platform.View) bool { return v.Acked(told.Event) }); err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.got) != 3 {
		t.Errorf("the receiver saw the event %d times, want 3: two failures and a success", len(r.got))
	}
	if c := s.Counts(); c.Redelivered != 2 {
		t.Errorf("redelivered %d times, want 2", c.Redelivered)
	}
}

// TestReconnect loses the stream in the middle of a receive: the event is finished, delivered again on the new stream and acknowledged there.
func TestReconnect(t *testing.T) {
	t.Parallel()
	s := start(t, platform.Options{RedeliverAfter: time.Hour})
	entered, release := make(chan struct{}), make(chan struct{})
	r := &taker{answer: func(n int, _ *chat.Inbound) error {
		if n == 0 {
			close(entered)
			<-release
		}
		return nil
	}}
	run(t, s, testbot.Options{Receiver: r, ReconnectMin: time.Millisecond})
	first := s.Post(platform.Say{Channel: "c", Text: "one"})
	<-entered
	s.Disconnect()
	if err := s.Wait(within(t), "a second stream stands", func(v platform.View) bool { return v.Counts().Connected == 2 && v.Counts().Streams == 1 }); err != nil {
		t.Fatal(err)
	}
	second := s.Post(platform.Say{Channel: "c", Text: "two"})
	other := s.Post(platform.Say{Channel: "d", Text: "not held up"})
	if err := s.Wait(within(t), "another conversation goes on", func(v platform.View) bool { return v.Acked(other.Event) }); err != nil {
		t.Fatal(err)
	}
	close(release)
	if err := s.Wait(within(t), "both are acknowledged", func(v platform.View) bool { return v.Acked(first.Event) && v.Acked(second.Event) }); err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var texts []string
	for _, in := range r.got {
		if in.Conversation.Channel == "c" {
			texts = append(texts, in.Text)
		}
	}
	if got, want := fmt.Sprint(texts), "[one one two]"; got != want {
		t.Errorf("the conversation was handed on as %s, want %s", got, want)
	}
}

func TestLostAckIsSentAgain(t *testing.T) {
	t.Parallel()
	s := start(t, platform.Options{RedeliverAfter: 30 * time.Millisecond})
	s.Inject(platform.Fault{Op: platform.OpAck, Kind: platform.Reset})
	r := &taker{}
	run(t, s, testbot.Options{Receiver: r})
	told := s.Post(platform.Say{Channel: "c", Text: "hello"})
	if err := s.Wait(within(t), "the event is acknowledged", func(v platform.View) bool { return v.Acked(told.Event) }); err != nil {
		t.Fatal(err)
	}
	if c := s.Counts(); c.Redelivered != 1 || c.Faulted != 1 {
		t.Errorf("counts %+v, want one lost acknowledgement and one redelivery", c)
	}
}

func TestOverflowLosesNothing(t *testing.T) {
	t.Parallel()
	s := start(t, platform.Options{RedeliverAfter: 40 * time.Millisecond})
	release := make(chan struct{})
	r := &taker{answer: func(n int, _ *chat.Inbound) error {
		if n == 0 {
			<-release
		}
		return nil
	}}
	run(t, s, testbot.Options{Receiver: r, Backlog: 2})
	const n = 20
	for i := range n {
		s.Post(platform.Say{Channel: "c", Text: fmt.Sprint(i)})
	}
	if err := s.Wait(within(t), "all were delivered once", func(v platform.View) bool { return v.Counts().Delivered >= n }); err != nil {
		t.Fatal(err)
	}
	close(release)
	if err := s.Wait(within(t), "all are acknowledged", func(v platform.View) bool { return v.Counts().Acked == n }); err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := map[string]bool{}
	for _, in := range r.got {
		seen[in.Text] = true
	}
	if len(seen) != n {
		t.Errorf("%d different messages were handed on, want %d", len(seen), n)
	}
}

func TestObserveStages(t *testing.T) {
	t.Parallel()
	s := start(t, platform.Options{})
	stages := make(chan testbot.Stage, 3)
	run(t, s, testbot.Options{Receiver: &taker{}, Observe: func(st testbot.Stage, _ *chat.Inbound) { stages <- st }})
	s.Post(platform.Say{Channel: "c", Text: "hello"})
	for _, want := range []testbot.Stage{testbot.BeforeReceive, testbot.BeforeAck, testbot.AfterAck} {
		if got := <-stages; got != want {
			t.Errorf("stage %s, want %s", got, want)
		}
	}
}

func TestRunEndsWithADeadToken(t *testing.T) {
	t.Parallel()
	s := start(t, platform.Options{})
	s.Inject(platform.Fault{Op: platform.OpStream, Kind: platform.DeadToken, Times: -1})
	b, err := testbot.New(testbot.Options{URL: s.URL(), Receiver: &taker{}})
	if err != nil {
		t.Fatal(err)
	}
	o, ok := errors.AsType[*chat.Outage](b.Run(within(t)))
	if !ok || !o.Dead {
		t.Errorf("Run: %v, want an outage that an operator must end", o)
	}
}

func TestNewRefusesWhatItCannotUse(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]string{
		"no url":        "",
		"no workspace":  "http://127.0.0.1:1/",
		"other scheme":  "https://127.0.0.1:1/?workspace=w",
		"broken number": "http://127.0.0.1:1/?workspace=w&text_limit=x",
		"negative":      "http://127.0.0.1:1/?workspace=w&nonce_for_ms=-1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := testbot.New(testbot.Options{URL: url}); err == nil {
				t.Errorf("New(%q) took it", url)
			}
		})
	}
}

func TestCapabilitiesComeFromTheAddress(t *testing.T) {
	t.Parallel()
	f := wire.Features{Workspace: "w", Edits: true, EditEvery: time.Second, Nonce: true, NonceFor: time.Minute, LookBack: true, TextLimit: 500, SendTimeout: 2 * time.Second}
	b, err := testbot.New(testbot.Options{URL: wire.Address("http://127.0.0.1:1", f)})
	if err != nil {
		t.Fatal(err)
	}
	want := chat.Capabilities{Edits: true, EditEvery: time.Second, Threads: true, Nonce: true, NonceFor: time.Minute, LookBack: true, TextLimit: 500, SendTimeout: 2 * time.Second}
	if got := b.Capabilities(chat.Conversation{}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
