package testbot_test

import (
	"errors"
	"testing"
	"time"

	"herald/bots/bottest/platform"
	"herald/bots/bottest/testbot"
	"herald/core/chat"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// received does deeds one after the other and gives what came of them.
func received(t *testing.T, s *platform.Server, r *taker, deeds ...func()) []*chat.Inbound {
	t.Helper()
	for _, do := range deeds {
		do()
	}
	if err := s.Wait(within(t), "all events are acknowledged", func(v platform.View) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return v.Counts().Unacked == 0 && len(r.got) == len(deeds)
	}); err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.got
}

func TestKindsOfEvents(t *testing.T) {
	t.Parallel()
	s := start(t, platform.Options{RedeliverAfter: time.Hour})
	r := &taker{}
	b := run(t, s, testbot.Options{Receiver: r})
	if err := s.Wait(within(t), "the bot is connected", func(v platform.View) bool { return v.Counts().Streams == 1 }); err != nil {
		t.Fatal(err)
	}
	place := platform.Say{Channel: "c", Thread: "t", User: "bob"}
	with := func(f func(*platform.Say)) platform.Say { say := place; f(&say); return say }
	var first platform.Told
	must := func(_ platform.Told, err error) {
		if err != nil {
			t.Error(err)
		}
	}
	got := received(t, s, r,
		func() {
			first = s.Post(with(func(s *platform.Say) { s.Text, s.Mention, s.Mass, s.Direct = "hello", true, true, true }))
		},
		func() { must(s.Change(first.Message, platform.Say{Text: "hallo"})) },
		func() { must(s.Change(first.Message, platform.Say{Text: "halloo", Unfurl: true})) },
		func() { must(s.Remove(first.Message)) },
		func() { s.Post(with(func(s *platform.Say) { s.Text, s.Bot, s.Aside = "beep", true, true })) },
		func() { s.Click(with(func(s *platform.Say) { s.Text = "" }), "act-1", "yes") },
		func() { s.Command(with(func(s *platform.Say) { s.Text = "status" })) },
	)
	who := chat.Sender{Identity: "test:lab/bob", Name: "bob"}
	bot := who
	bot.Bot = true
	c := b.Conversation("c", "t")
	id := first.Message
	want := []*chat.Inbound{
		{Kind: chat.Message, MessageID: id, Sender: who, Text: "hello", Direct: true, Addressed: true, MassMention: true, Mentioned: true},
		{Kind: chat.Edit, MessageID: id, Sender: who, Text: "hallo", Addressed: true},
		{Kind: chat.Edit, MessageID: id, Sender: who, Text: "halloo", Addressed: true, Unfurl: true},
		{Kind: chat.Delete, MessageID: id, Sender: who, Addressed: true},
		{Kind: chat.Message, Sender: bot, Text: "beep"},
		{Kind: chat.Click, Sender: who, Addressed: true, Action: "act-1", Value: "yes"},
		{Kind: chat.Command, Sender: who, Text: "status", Addressed: true},
	}
	keys := map[string]bool{}
	for i, in := range got {
		want[i].App, want[i].Conversation, want[i].SentAt, want[i].Order = "app", c, in.SentAt, in.Order
		if want[i].MessageID == "" {
			want[i].MessageID = in.MessageID
		}
		if i > 0 && in.Order <= got[i-1].Order {
			t.Errorf("%s has the order %s, not after %s", in.Kind, in.Order, got[i-1].Order)
		}
		keys[in.DedupeKey()] = true
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("received (-want +got):\n%s", diff)
	}
	if len(keys) != len(got) {
		t.Errorf("%d events have %d keys", len(got), len(keys))
	}
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	s := start(t, platform.Options{})
	b, err := testbot.New(testbot.Options{URL: s.URL()})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	_, err = b.Send(within(t), &chat.Post{Conversation: b.Conversation("c", ""), DeliveryID: "d", Text: "x"})
	if o, ok := errors.AsType[*chat.Outage](err); !ok || !o.NotSent {
		t.Errorf("got %v, want an outage in which surely nothing was sent", err)
	}
}

// TestOneLaneServesAll: with a single worker conversations are handed on one after the other, and none is forgotten.
func TestOneLaneServesAll(t *testing.T) {
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
	run(t, s, testbot.Options{Receiver: r, Lanes: 1})
	s.Post(platform.Say{Channel: "a", Text: "1"})
	<-entered
	for _, c := range []string{"b", "a", "c", "b"} {
		s.Post(platform.Say{Channel: c, Text: "2"})
	}
	close(release)
	if err := s.Wait(within(t), "all are acknowledged", func(v platform.View) bool { return v.Counts().Acked == 5 }); err != nil {
		t.Fatal(err)
	}
}
