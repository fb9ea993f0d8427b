package platform_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/bots/bottest/platform"
	"herald/bots/bottest/testbot"
	"herald/bots/bottest/wire"
	"herald/core/chat"

	"github.com/google/go-cmp/cmp"
)

func start(t *testing.T, opt platform.Options) (*platform.Server, *testbot.Bot) {
	t.Helper()
	s, err := platform.Start(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	b, err := testbot.New(testbot.Options{URL: s.URL()})
	if err != nil {
		t.Fatal(err)
	}
	return s, b
}

type take func(context.Context, *chat.Inbound) error

func (f take) Receive(ctx context.Context, in *chat.Inbound) (chat.Outcome, error) {
	return chat.Kept, f(ctx, in)
}

// connect runs an app on its own stream and returns what ends it.
func connect(t *testing.T, s *platform.Server, f take) (cut func()) {
	t.Helper()
	before := s.Counts().Connected
	b, err := testbot.New(testbot.Options{URL: s.URL(), Receiver: f})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx) }()
	stop := func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
		done <- nil
	}
	t.Cleanup(stop)
	await(t, s, "the app is connected", func(v platform.View) bool { return v.Counts().Connected > before })
	return stop
}

func await(t *testing.T, s *platform.Server, what string, cond func(platform.View) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := s.Wait(ctx, what, cond); err != nil {
		t.Fatal(err)
	}
}

func post(b *testbot.Bot, delivery, text string) *chat.Post {
	return &chat.Post{Conversation: b.Conversation("c", "t"), DeliveryID: delivery, Text: text}
}

func TestNonce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		f        wire.Features
		messages int
	}{
		"with a nonce the first message comes back": {wire.Features{Nonce: true}, 1},
		"without one a repeat is a second message":  {wire.Features{}, 2},
		"a nonce that is over is new":               {wire.Features{Nonce: true, NonceFor: time.Nanosecond}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, b := start(t, platform.Options{Features: c.f})
			first, err := b.Send(t.Context(), post(b, "d1", "hello"))
			if err != nil {
				t.Fatal(err)
			}
			second, err := b.Send(t.Context(), post(b, "d1", "hello"))
			if err != nil {
				t.Fatal(err)
			}
			if got := len(s.Messages("c", "t")); got != c.messages {
				t.Errorf("%d messages stand, want %d", got, c.messages)
			}
			if same := first.MessageID == second.MessageID; same != (c.messages == 1) {
				t.Errorf("receipts %q and %q", first.MessageID, second.MessageID)
			}
			if got := s.Counts(); got.Sent != c.messages || got.Sent+got.Repeated != 2 {
				t.Errorf("counts %+v", got)
			}
		})
	}
}

// TestFaults checks for each fault what stands afterwards and what the app can know.
func TestFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault   platform.Fault
		stands  bool
		refused bool
		want    chat.Outage
	}{
		"rate limit":   {platform.Fault{Kind: platform.RateLimit, RetryAfter: 1500 * time.Millisecond, Whole: true}, false, false, chat.Outage{RetryAfter: 2 * time.Second, Whole: true, NotSent: true}},
		"server error": {platform.Fault{Kind: platform.ServerError, Status: 502}, false, false, chat.Outage{}},
		"dead token":   {platform.Fault{Kind: platform.DeadToken}, false, false, chat.Outage{NotSent: true, Dead: true}},
		"refusal":      {platform.Fault{Kind: platform.Refusal, Code: "not_in_channel"}, false, true, chat.Outage{}},
		"reset":        {platform.Fault{Kind: platform.Reset}, false, false, chat.Outage{}},
		"hang":         {platform.Fault{Kind: platform.Hang}, false, false, chat.Outage{}},
		"hang applied": {platform.Fault{Kind: platform.HangApplied}, true, false, chat.Outage{}},
		"lose reply":   {platform.Fault{Kind: platform.LoseReply}, true, false, chat.Outage{}},
		"cut reply":    {platform.Fault{Kind: platform.CutReply}, true, false, chat.Outage{}},
		"apply error":  {platform.Fault{Kind: platform.ApplyError}, true, false, chat.Outage{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, b := start(t, platform.Options{Features: wire.Features{LookBack: true, SendTimeout: 300 * time.Millisecond}})
			c.fault.Op = platform.OpSend
			s.Inject(c.fault)
			p := post(b, "d1", "hello")
			_, err := b.Send(t.Context(), p)
			if r, ok := errors.AsType[*chat.Refused](err); ok != c.refused || ok && r.Code != c.fault.Code {
				t.Errorf("error %v; refused is wanted: %v", err, c.refused)
			}
			if o, ok := errors.AsType[*chat.Outage](err); ok == c.refused {
				t.Errorf("error %v; an outage is wanted: %v", err, !c.refused)
			} else if ok && (o.NotSent != c.want.NotSent || o.Dead != c.want.Dead || o.Whole != c.want.Whole || o.RetryAfter != c.want.RetryAfter) {
				t.Errorf("outage %+v, want %+v", o, c.want)
			}
			r, found, err := b.Find(t.Context(), p)
			if err != nil || found != c.stands || found != (r.MessageID != "") {
				t.Errorf("Find: %+v, %v, %v; want found %v", r, found, err, c.stands)
			}
			if _, err := b.Send(t.Context(), post(b, "d2", "next")); err != nil {
				t.Errorf("the fault was for one call, but the next failed: %v", err)
			}
		})
	}
}

func TestFaultsMatchAndHeal(t *testing.T) {
	t.Parallel()
	s, b := start(t, platform.Options{})
	s.Inject(platform.Fault{Op: platform.OpSend, Kind: platform.Refusal, Channel: "other", Times: -1})
	s.Inject(platform.Fault{Kind: platform.Refusal, Skip: 1, Times: -1})
	if _, err := b.Send(t.Context(), post(b, "d1", "skipped by both")); err != nil {
		t.Error(err)
	}
	for range 3 {
		if _, err := b.Send(t.Context(), post(b, "d2", "x")); err == nil {
			t.Error("the second fault holds until it is healed, but the call went well")
		}
	}
	s.Heal()
	if _, err := b.Send(t.Context(), post(b, "d2", "x")); err != nil {
		t.Errorf("after healing: %v", err)
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	s, b := start(t, platform.Options{Features: wire.Features{Edits: true, TextLimit: 5}})
	mine, err := b.Send(t.Context(), post(b, "d1", "hello"))
	if err != nil {
		t.Fatal(err)
	}
	gone, err := b.Send(t.Context(), post(b, "d2", "gone"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Remove(gone.MessageID); err != nil {
		t.Fatal(err)
	}
	theirs := s.Post(platform.Say{Channel: "c", Thread: "t", Text: "hi"})
	edit := func(id, text string) error {
		p := post(b, "d1", text)
		return b.Edit(t.Context(), p, chat.Receipt{MessageID: id}, true)
	}
	send := func(p *chat.Post) error { _, err := b.Send(t.Context(), p); return err }
	card := post(b, "d3", "card")
	card.Card = &chat.Card{Title: "?"}
	for name, c := range map[string]struct {
		err  error
		code string
		gone bool
	}{
		"too long":           {send(post(b, "d3", "123456")), "too_long", false},
		"empty":              {send(post(b, "d3", "")), "empty", false},
		"no cards here":      {send(card), "not_supported", false},
		"no such channel":    {send(&chat.Post{Text: "x"}), "channel_not_found", false},
		"edit a gone one":    {edit(gone.MessageID, "x"), "message_gone", true},
		"edit what never is": {edit("999", "x"), "message_gone", true},
		"edit somebody's":    {edit(theirs.Message, "x"), "not_yours", false},
		"edit too long":      {edit(mine.MessageID, "123456"), "too_long", false},
	} {
		r, ok := errors.AsType[*chat.Refused](c.err)
		if !ok || r.Code != c.code || r.Gone != c.gone {
			t.Errorf("%s: %v, want a refusal %q, gone %v", name, c.err, c.code, c.gone)
		}
	}
	if _, _, err := b.Find(t.Context(), post(b, "d1", "")); err == nil {
		t.Error("Find on a platform without look-back must say that it cannot tell")
	}
	if err := edit(mine.MessageID, "new"); err != nil {
		t.Error(err)
	}
	if m := s.Messages("c", "t")[0]; m.Text != "new" || m.Edits != 1 || m.Live {
		t.Errorf("after the edit: %+v", m)
	}
}

func TestRedeliveryOnDemandAndOutOfOrder(t *testing.T) {
	t.Parallel()
	s, _ := start(t, platform.Options{RedeliverAfter: time.Hour})
	got := make(chan string, 16)
	connect(t, s, func(_ context.Context, in *chat.Inbound) error { got <- in.Text; return nil })
	one := s.Post(platform.Say{Channel: "c", Text: "one", Held: true})
	two := s.Post(platform.Say{Channel: "c", Text: "two", Held: true})
	if one.Message >= two.Message {
		t.Errorf("ids %s and %s do not grow", one.Message, two.Message)
	}
	if err := s.Deliver(two.Event, one.Event, two.Event, one.Event); err != nil {
		t.Fatal(err)
	}
	var texts []string
	for range 4 {
		texts = append(texts, <-got)
	}
	if diff := cmp.Diff([]string{"two", "one", "two", "one"}, texts); diff != "" {
		t.Errorf("delivered (-want +got):\n%s", diff)
	}
	s.Post(platform.Say{Channel: "c", Text: "thrice", Copies: 3})
	for range 3 {
		if text := <-got; text != "thrice" {
			t.Errorf("got %q", text)
		}
	}
	if err := s.Deliver("e0"); err == nil {
		t.Error("an unknown event was delivered")
	}
}

// TestTwoStreams: an event that one app does not answer goes to the other, at once when the first one dies.
func TestTwoStreams(t *testing.T) {
	t.Parallel()
	s, _ := start(t, platform.Options{RedeliverAfter: time.Hour})
	frozen := make(chan struct{}, 8)
	cut := connect(t, s, func(ctx context.Context, _ *chat.Inbound) error { frozen <- struct{}{}; <-ctx.Done(); return ctx.Err() })
	connect(t, s, func(context.Context, *chat.Inbound) error { return nil })
	for i := range 4 {
		s.Post(platform.Say{Channel: fmt.Sprint(i), Text: "x"})
	}
	await(t, s, "the living one acknowledged its share", func(v platform.View) bool { return v.Counts().Acked == 2 })
	<-frozen
	<-frozen
	cut()
	await(t, s, "the rest went to the living one", func(v platform.View) bool { return v.Counts().Acked == 4 })
}

func TestEventsWaitForAnApp(t *testing.T) {
	t.Parallel()
	s, _ := start(t, platform.Options{RedeliverAfter: time.Hour})
	s.Post(platform.Say{Channel: "c", Text: "one"})
	s.Command(platform.Say{Channel: "c", Text: "lost"})
	s.Post(platform.Say{Channel: "c", Text: "two"})
	got := make(chan string, 4)
	connect(t, s, func(_ context.Context, in *chat.Inbound) error { got <- in.Text; return nil })
	await(t, s, "both are acknowledged", func(v platform.View) bool { return v.Counts().Acked == 2 })
	if a, b := <-got, <-got; a != "one" || b != "two" {
		t.Errorf("got %q, %q", a, b)
	}
	missed := slices.ContainsFunc(s.Journal(), func(r platform.Record) bool { return r.Kind == platform.Missed })
	if !missed || len(got) != 0 {
		t.Error("an interaction that nobody was there for must be missed and never delivered later")
	}
}

func TestJournalIsOrdered(t *testing.T) {
	t.Parallel()
	s, b := start(t, platform.Options{Echo: true})
	connect(t, s, func(ctx context.Context, in *chat.Inbound) error {
		if in.Sender.Self {
			return nil
		}
		p := post(b, "d", "answer")
		p.ReplyTo = in.MessageID
		_, err := b.Send(ctx, p)
		return err
	})
	told := s.Post(platform.Say{Channel: "c", Thread: "t", Text: "question"})
	await(t, s, "the answer's echo is acknowledged", func(v platform.View) bool { return v.Counts().Acked == 2 && len(v.Answers(told.Message)) == 1 })
	var kinds []platform.RecordKind
	var last platform.Record
	for i, r := range s.Journal() {
		if r.Seq != i || r.At.Before(last.At) {
			t.Errorf("record %d is out of order: %+v after %+v", i, r, last)
		}
		last = r
		if r.Event == told.Event || r.Kind == platform.Sent {
			kinds = append(kinds, r.Kind)
		}
	}
	want := []platform.RecordKind{platform.Posted, platform.Delivered, platform.Sent, platform.Acked}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("the way of the message (-want +got):\n%s", diff)
	}
}

func TestWaitSaysWhatItWaitedFor(t *testing.T) {
	t.Parallel()
	s, _ := start(t, platform.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	err := s.Wait(ctx, "pigs fly", func(platform.View) bool { return false })
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	s.Close()
	if err := s.Wait(t.Context(), "pigs fly", func(platform.View) bool { return false }); err == nil {
		t.Error("waiting on a closed server did not end with an error")
	}
}

func BenchmarkEcho(b *testing.B) {
	s, err := platform.Start(b.Context(), platform.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	var bot *testbot.Bot
	bot, err = testbot.New(testbot.Options{URL: s.URL(), Receiver: take(func(ctx context.Context, in *chat.Inbound) error {
		_, err := bot.Send(ctx, &chat.Post{Conversation: in.Conversation, DeliveryID: in.MessageID, Text: "answer", ReplyTo: in.MessageID})
		return err
	})})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() { done <- bot.Run(ctx) }()
	b.ResetTimer()
	for i := range b.N {
		s.Post(platform.Say{Channel: "c", Thread: fmt.Sprint(i % 64), Text: "question"})
		if i%64 == 63 {
			if err := s.Wait(ctx, "at most 64 are in flight", func(v platform.View) bool { return v.Counts().Unacked < 64 }); err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := s.Wait(ctx, "all are acknowledged", func(v platform.View) bool { return v.Counts().Unacked == 0 }); err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	cancel()
	if err := <-done; err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
}

// TestFrozenApp: what one app does not answer in time goes to the other while both are connected.
func TestFrozenApp(t *testing.T) {
	t.Parallel()
	s, _ := start(t, platform.Options{RedeliverAfter: 30 * time.Millisecond})
	connect(t, s, func(ctx context.Context, _ *chat.Inbound) error { <-ctx.Done(); return ctx.Err() })
	connect(t, s, func(context.Context, *chat.Inbound) error { return nil })
	for i := range 6 {
		s.Post(platform.Say{Channel: fmt.Sprint(i), Text: "x"})
	}
	await(t, s, "the living one has all", func(v platform.View) bool { return v.Counts().Acked == 6 })
	before := map[string]int{}
	for _, r := range s.Journal() {
		if r.Kind != platform.Delivered {
			continue
		}
		if before[r.Event] == r.Stream {
			t.Errorf("event %s was sent again to the stream that had not answered", r.Event)
		}
		before[r.Event] = r.Stream
	}
}

func TestSticky(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sticky bool
		most   int
	}{"sticky": {true, 1}, "in turn": {false, 2}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := start(t, platform.Options{Sticky: c.sticky, RedeliverAfter: time.Hour})
			for range 2 {
				connect(t, s, func(context.Context, *chat.Inbound) error { return nil })
			}
			for i := range 40 {
				s.Post(platform.Say{Channel: "c", Thread: fmt.Sprint(i % 10), Text: "x"})
				s.Post(platform.Say{Channel: "c", Thread: fmt.Sprint(i % 10), Text: "y"})
			}
			await(t, s, "all are acknowledged", func(v platform.View) bool { return v.Counts().Acked == 80 })
			used, all := map[string]map[int]bool{}, map[int]bool{}
			for _, r := range s.Journal() {
				if r.Kind == platform.Delivered {
					if used[r.Thread] == nil {
						used[r.Thread] = map[int]bool{}
					}
					used[r.Thread][r.Stream], all[r.Stream] = true, true
				}
			}
			for thread, streams := range used {
				if len(streams) != c.most {
					t.Errorf("thread %s was spread over %d streams, want %d", thread, len(streams), c.most)
				}
			}
			if len(all) != 2 {
				t.Errorf("%d streams were used, want both", len(all))
			}
		})
	}
}

// TestObserve: a test can act between what the platform did and what the app knows.
func TestObserve(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var seen []string
	var standing []int
	var s *platform.Server
	s, b := start(t, platform.Options{Latency: 5 * time.Millisecond, Observe: func(st platform.Stage, c platform.Call) {
		n := len(s.Messages("c", "t"))
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, string(c.Op)+" "+string(st))
		standing = append(standing, n)
	}})
	began := time.Now()
	if _, err := b.Send(t.Context(), post(b, "d", "x")); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(began); d < 5*time.Millisecond {
		t.Errorf("the call took %s, less than the latency", d)
	}
	mu.Lock()
	defer mu.Unlock()
	if diff := cmp.Diff([]string{"send arrived", "send applied"}, seen); diff != "" {
		t.Errorf("stages (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{0, 1}, standing); diff != "" {
		t.Errorf("messages that stood (-want +got):\n%s", diff)
	}
}

// TestGarbage: what is no protocol is refused and noted; the platform stays up.
func TestGarbage(t *testing.T) {
	t.Parallel()
	s, b := start(t, platform.Options{})
	base, _, err := wire.ParseAddress(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{"no JSON": "hello", "truncated": `{"channel":"c","te`, "wrong type": `{"channel":7}`, "huge": `{"text":"` + strings.Repeat("x", wire.MaxLine) + `"}`} {
		resp, err := http.Post(base+wire.SendPath, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: status %d", name, resp.StatusCode)
		}
	}
	resp, err := http.Get(base + wire.StreamPath)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusUpgradeRequired {
		t.Errorf("a stream without its protocol: status %d", resp.StatusCode)
	}
	if c := s.Counts(); c.Refused != 4 || c.Sent != 0 {
		t.Errorf("counts %+v, want four refusals", c)
	}
	if _, err := b.Send(t.Context(), post(b, "d", "x")); err != nil {
		t.Error(err)
	}
}
