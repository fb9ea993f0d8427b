package slack_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/bots/bottest/slackfake"
	"herald/bots/slack"
	"herald/core/chat"
)

// inbox is a receiver that remembers.
type inbox struct {
	mu     sync.Mutex
	got    []chat.Inbound
	decide func(context.Context, *chat.Inbound) error
}

func (r *inbox) Receive(ctx context.Context, in *chat.Inbound) (chat.Outcome, error) {
	r.mu.Lock()
	r.got = append(r.got, *in)
	r.mu.Unlock()
	if r.decide != nil {
		if err := r.decide(ctx, in); err != nil {
			return "", err
		}
	}
	return chat.Kept, nil
}

// last is the last event of a kind; the echo of our own words may come behind it.
func (r *inbox) last(k chat.Kind) (in chat.Inbound) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, i := range r.got {
		if i.Kind == k && !i.Sender.Self {
			in = i
		}
	}
	return in
}

func (r *inbox) texts() (out []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, in := range r.got {
		if !in.Sender.Self {
			out = append(out, in.Text)
		}
	}
	return out
}

// counter counts what the adapter reports.
type counter struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *counter) add(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[string]int{}
	}
	c.n[what]++
}

func (c *counter) get(what string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n[what]
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// wait waits until the fake's state fulfils cond.
func (f *fixture) wait(what string, cond func(slackfake.View) bool) {
	f.t.Helper()
	if err := f.server.Wait(within(f.t), what, cond); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) connected(n int) {
	f.t.Helper()
	f.wait(fmt.Sprintf("%d connections were made", n), func(v slackfake.View) bool { return v.Counts().Connected >= n })
	if n > 1 {
		return
	}
	// The first greeting was sent; what a test does next must not come before it was read.
	for ctx := within(f.t); f.adapter.Ready() != nil; {
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			f.t.Fatal(f.adapter.Ready())
		}
	}
}

// probe says something and waits for its acknowledgement.
func (f *fixture) probe(text string) {
	f.t.Helper()
	told := f.server.Say(slackfake.Say{Text: text})
	f.wait(text+" is acknowledged", func(v slackfake.View) bool { return v.Acked(told.Events...) })
}

// most is the largest number of sockets that stood at once.
func most(all []slackfake.Record) (n int) {
	now := 0
	for _, r := range all {
		switch r.Kind {
		case slackfake.Connected:
			now++
		case slackfake.Disconnected:
			now--
		}
		n = max(n, now)
	}
	return n
}

func TestRefreshMakesBeforeItBreaks(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"warning", "refresh_requested"} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			s := world(t, slackfake.Options{Notice: 300 * time.Millisecond, AckTimeout: 3 * time.Second})
			f := connect(t, s, options(t, s, &inbox{}))
			f.connected(1)
			s.Disconnect("", reason)
			f.connected(2)
			f.probe("on the new connection")
			f.wait("the old connection ended", func(v slackfake.View) bool { return v.Counts().Sockets == 1 })
			f.probe("after the old one")
			made, broke := -1, -1
			for _, r := range s.Journal() {
				if r.Kind == slackfake.Connected && r.Conn == 2 {
					made = r.Seq
				}
				if r.Kind == slackfake.Disconnected && r.Conn == 1 {
					broke = r.Seq
				}
			}
			if made < 0 || broke < 0 || made > broke {
				t.Errorf("the old connection broke at %d, the new one was made at %d", broke, made)
			}
			if n := most(s.Journal()); n != 2 {
				t.Errorf("%d connections stood at once, want one live and one draining", n)
			}
			if err := f.adapter.Ready(); err != nil {
				t.Error(err)
			}
			if c := s.Counts(); c.Redelivered != 0 {
				t.Errorf("%d events were sent again", c.Redelivered)
			}
		})
	}
}

// What came over the old connection is acknowledged there, also after the new one stands.
func TestRefreshDrains(t *testing.T) {
	t.Parallel()
	s := world(t, slackfake.Options{Notice: 5 * time.Second, AckTimeout: 10 * time.Second})
	release, entered := make(chan struct{}), make(chan struct{}, 1)
	r := &inbox{decide: func(ctx context.Context, in *chat.Inbound) error {
		if in.Text != "slow" {
			return nil
		}
		entered <- struct{}{}
		select {
		case <-release:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}
	f := connect(t, s, options(t, s, r))
	f.connected(1)
	told := s.Say(slackfake.Say{Text: "slow"})
	<-entered
	s.Disconnect("", "refresh_requested")
	f.connected(2)
	f.probe("on the new connection")
	close(release)
	f.wait("the slow one is acknowledged", func(v slackfake.View) bool { return v.Acked(told.Events...) })
	if c := s.Counts(); c.Redelivered != 0 {
		t.Errorf("%d events were sent again", c.Redelivered)
	}
}

func TestComesBack(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]func(*slackfake.Server){
		"severed":             func(s *slackfake.Server) { s.Sever("") },
		"middle of a frame":   func(s *slackfake.Server) { s.CutFrame("") },
		"silent":              func(s *slackfake.Server) { s.Hush("") },
		"too many websockets": func(s *slackfake.Server) { s.Disconnect("", "too_many_websockets") },
		"link disabled":       func(s *slackfake.Server) { s.Disconnect("", "link_disabled") },
		"an unknown reason":   func(s *slackfake.Server) { s.Disconnect("", "because") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := world(t, slackfake.Options{})
			opt := options(t, s, &inbox{})
			opt.PingEvery, opt.SlowProbe = 40*time.Millisecond, 50*time.Millisecond
			f := connect(t, s, opt)
			f.connected(1)
			trouble(s)
			f.connected(2)
			f.probe("after the trouble")
			if n := most(s.Journal()); n > 2 {
				t.Errorf("%d connections stood at once", n)
			}
		})
	}
}

func TestSilenceIsNoticed(t *testing.T) {
	t.Parallel()
	s := world(t, slackfake.Options{PingEvery: time.Hour})
	opt := options(t, s, &inbox{})
	opt.PingEvery = 30 * time.Millisecond
	f := connect(t, s, opt)
	f.connected(1)
	f.probe("a sign of life")
	s.Inject(slackfake.Fault{Method: "apps.connections.open", Kind: slackfake.ServerError, Times: -1})
	s.Hush("")
	f.wait("an attempt to connect", func(v slackfake.View) bool { return v.Counts().Faulted > 0 })
	if err := f.adapter.Ready(); err == nil {
		t.Error("the connection is silent, and the adapter says that all is well")
	}
	s.Heal()
	f.connected(2)
	f.probe("back")
}

// An idle connection stays as long as the server answers pings, and also when it alone sends them.
func TestIdleConnectionStays(t *testing.T) {
	t.Parallel()
	for name, every := range map[string]time.Duration{"both ping": 20 * time.Millisecond, "only we ping": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := world(t, slackfake.Options{PingEvery: every})
			opt := options(t, s, &inbox{})
			opt.PingEvery = 100 * time.Millisecond
			f := connect(t, s, opt)
			f.connected(1)
			<-time.After(time.Second) // the time itself is what is tested: ten intervals
			f.probe("still there")
			if c := s.Counts(); c.Connected != 1 {
				t.Errorf("%d connections were made", c.Connected)
			}
		})
	}
}

func TestAttemptsSpread(t *testing.T) {
	t.Parallel()
	s := world(t, slackfake.Options{})
	s.Inject(slackfake.Fault{Method: "apps.connections.open", Kind: slackfake.RateLimit, RetryAfter: time.Second})
	opt := options(t, s, &inbox{})
	f := connect(t, s, opt)
	f.connected(1)
	var opens []time.Time
	for _, r := range s.Journal() {
		if r.Kind == slackfake.Called && r.Method == "apps.connections.open" {
			opens = append(opens, r.At)
		}
	}
	if len(opens) != 2 || opens[1].Sub(opens[0]) < 900*time.Millisecond {
		t.Errorf("connections were asked for at %v, want two with the second that Slack demanded between", opens)
	}
}

// A token that dies later is not tried again, and the adapter says so; what an operator can mend without a new token is probed slowly.
func TestFatalLater(t *testing.T) {
	t.Parallel()
	for word, again := range map[string]bool{"token_revoked": false, "invalid_auth": false, "team_disabled": true} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			s := world(t, slackfake.Options{})
			c := &counter{}
			opt := options(t, s, &inbox{})
			opt.Count, opt.SlowProbe = c.add, 20*time.Millisecond
			f := connect(t, s, opt)
			f.connected(1)
			f.probe("up") // the greeting was read: what comes now is later
			s.Inject(slackfake.Fault{Method: "apps.connections.open", Kind: slackfake.Refusal, Error: word, Times: -1})
			s.Sever("")
			f.wait("it was tried", func(v slackfake.View) bool { return v.Counts().Faulted > 0 })
			if again {
				f.wait("it is probed", func(v slackfake.View) bool { return v.Counts().Faulted > 2 })
				s.Heal()
				f.connected(2)
				f.probe("back")
				return
			}
			deadline := within(t)
			for c.get("given_up") == 0 && deadline.Err() == nil {
				<-time.After(time.Millisecond)
			}
			<-time.After(150 * time.Millisecond) // seven probes would fit
			if n := s.Counts().Faulted; n != 1 {
				t.Errorf("it was tried %d times", n)
			}
			if err := f.adapter.Ready(); err == nil || !strings.Contains(err.Error(), word) {
				t.Errorf("ready says %v", err)
			}
		})
	}
}

func TestFatalAtTheStart(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ method, word, want string }{
		{"auth.test", "invalid_auth", "install the app"},
		{"apps.connections.open", "not_allowed_token_type", "xapp-"},
		{"apps.connections.open", "missing_scope", "scope"},
		{"apps.connections.open", "team_disabled", "switched off"},
	} {
		t.Run(tt.method+" "+tt.word, func(t *testing.T) {
			t.Parallel()
			s := world(t, slackfake.Options{})
			s.Inject(slackfake.Fault{Method: tt.method, Kind: slackfake.Refusal, Error: tt.word, Times: -1})
			a, err := slack.New(options(t, s, &inbox{}))
			if err != nil {
				t.Fatal(err)
			}
			if err := a.Run(within(t)); err == nil || !strings.Contains(err.Error(), tt.word) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an end with %q and %q", err, tt.word, tt.want)
			}
			if a.Ready() == nil {
				t.Error("the adapter says that all is well")
			}
		})
	}
}

// What nobody knows is acknowledged and counted, never sent again, and costs no message.
func TestUnknownIsAcknowledgedAndCounted(t *testing.T) {
	t.Parallel()
	s := world(t, slackfake.Options{})
	r, c := &inbox{}, &counter{}
	opt := options(t, s, r)
	opt.Count = c.add
	f := connect(t, s, opt)
	f.connected(1)
	events := []string{
		s.Emit(slackfake.BotToken, json.RawMessage(`{"type":"retired_event","x":[1]}`)),
		s.Emit(slackfake.BotToken, json.RawMessage(`{"type":"message","subtype":"new_subtype","channel":"C0GENERAL"}`)),
		s.Emit(slackfake.BotToken, json.RawMessage(`[]`)),
		s.EmitBody(slackfake.AppID, json.RawMessage(`{"type":"app_rate_limited","minute_rate_limited":1}`)),
	}
	odd := s.Emit(slackfake.BotToken, json.RawMessage(`{"type":"message","channel":"C0GENERAL","channel_type":"channel","user":"U0ALICE","text":"with an odd block","blocks":[{"type":"rich_text","elements":"none"},{"type":"brand_new"}],"ts":"1700000000.000100"}`))
	f.wait("all are acknowledged", func(v slackfake.View) bool { return v.Acked(append(events, odd)...) })
	s.Frame("", `{"type":"brand_new_envelope","envelope_id":"e-1","payload":{}}`)
	s.Frame("", `{"type":"events_api","envelope_id":"e-2","payload":`)
	s.Frame("", `not json at all`)
	f.probe("after all that")
	f.wait("the envelope that nobody knows is acknowledged", func(v slackfake.View) bool {
		acks := 0
		for _, rec := range v.Journal() {
			if rec.Kind == slackfake.AckUnknown && (rec.Envelope == "e-1" || rec.Envelope == "e-2") {
				acks++
			}
		}
		return acks == 2
	})
	for _, what := range []string{"unknown_event", "subtype_new_subtype", "malformed", "outer_app_rate_limited", "unknown_envelope"} {
		if c.get(what) == 0 {
			t.Errorf("%s was not counted: %v", what, c.n)
		}
	}
	if got := r.texts(); len(got) != 2 || got[0] != "with an odd block" || got[1] != "after all that" {
		t.Errorf("received %q", got)
	}
	if n := s.Counts(); n.Redelivered != 0 || n.Connected != 1 {
		t.Errorf("%d events were sent again, %d connections made", n.Redelivered, n.Connected)
	}
}

// An event that is delivered again after a lost acknowledgement is handed on again, with the same name.
func TestLostAcknowledgement(t *testing.T) {
	t.Parallel()
	s := world(t, slackfake.Options{})
	r := &inbox{}
	f := connect(t, s, options(t, s, r))
	f.connected(1)
	s.Inject(slackfake.Fault{Method: slackfake.AckMethod, Kind: slackfake.DropAck})
	f.probe("once more")
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.got) != 2 || r.got[0].DedupeKey() != r.got[1].DedupeKey() {
		t.Errorf("received %+v, want one event twice", r.got)
	}
}

// An event of nearly a megabyte is taken at its first delivery. A slow machine may take its time for it: the fake waits.
func TestLargeEvent(t *testing.T) {
	t.Parallel()
	s := world(t, slackfake.Options{AckTimeout: time.Minute})
	r := &inbox{}
	f := connect(t, s, options(t, s, r))
	f.connected(1)
	text := strings.Repeat("x", 900<<10)
	told := s.Say(slackfake.Say{Text: text})
	f.wait("a large event is acknowledged", func(v slackfake.View) bool { return v.Acked(told.Events...) })
	if got := r.texts(); len(got) != 1 || got[0] != text {
		t.Errorf("%d events were handed on, want the one with its whole text", len(got))
	}
}

// 1,000 reconnects under load lose nothing and leave nothing behind.
func TestManyReconnects(t *testing.T) {
	t.Parallel()
	s := world(t, slackfake.Options{})
	r := &inbox{}
	opt := options(t, s, r)
	opt.Backoff, opt.BackoffMax = time.Millisecond, 2*time.Millisecond
	f := connect(t, s, opt)
	f.connected(1)
	f.probe("first")
	before := f.goroutines()
	const n = 1000
	for i := range n {
		s.Say(slackfake.Say{Text: fmt.Sprint("m", i)})
		s.Sever("")
		f.connected(i + 2)
	}
	f.wait("all are acknowledged", func(v slackfake.View) bool { return v.Counts().Acked == n+1 })
	if c := s.Counts(); c.Sockets != 1 {
		t.Errorf("%d sockets stand", c.Sockets)
	}
	// A connection that ended takes a moment to be gone.
	for ctx := within(t); f.goroutines() > before+3; {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("%d goroutines ran before, %d after %d reconnects", before, f.goroutines(), n)
		}
	}
}
