package intake_test

import (
	"strings"
	"testing"
	"time"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/intake"
)

// mention is the n-th message of a bot that mentions Herald.
func mention(n int) *chat.Inbound {
	in := from(message(n, "beep"), robot)
	in.Mentioned = true
	return in
}

func TestBotsThatMention(t *testing.T) {
	t.Parallel()
	r := newRig(t, withPolicy(intake.Policy{Bots: intake.BotsMentioned}))
	r.take(mention(1), chat.Kept)
	plain := mention(2)
	plain.Mentioned = false
	r.take(plain, chat.Ignored)
	for n, text := range []string{"stop", "/nonsense", ""} {
		in := mention(3 + n)
		in.Text = text
		r.take(in, chat.Ignored)
	}
	slash := mention(7)
	slash.Kind, slash.Text = chat.Command, "stop"
	r.take(slash, chat.Ignored)
	click := clicked("c1", intake.Approve, robot)
	click.Mentioned = true
	r.take(click, chat.Ignored)
	if len(r.inbox()) != 1 || len(r.controls()) != 0 || len(r.notices()) != 0 {
		t.Errorf("inbox %v, controls %v, notices %v; want the mention alone", r.inbox(), r.controls(), r.notices())
	}
}

// Twenty exchanges in a minute are talk, one more is a loop: then a minute of silence, over conversations and replicas.
func TestLoopGuard(t *testing.T) {
	t.Parallel()
	bots := withPolicy(intake.Policy{Bots: intake.BotsMentioned})
	r := newRig(t, bots)
	other, _ := r.replica(bots)
	for n := 1; n <= intake.DefaultExchanges; n++ {
		r.take(mention(n), chat.Kept)
		r.take(mention(n), chat.Duplicate) // a redelivery counts once
		r.clock.advance(time.Second)
	}
	elsewhere := mention(50)
	elsewhere.Conversation.Thread = "T2"
	if out, err := other.Receive(t.Context(), elsewhere); err != nil || out != chat.Ignored {
		t.Fatalf("exchange %d on another replica in another thread = %q, %v; want silence", intake.DefaultExchanges+1, out, err)
	}
	r.clock.advance(intake.DefaultSilence - time.Millisecond)
	r.take(mention(51), chat.Ignored)
	r.clock.advance(time.Millisecond)
	r.take(mention(52), chat.Kept)
	if got := r.counted(intake.BotLoop); got != 2 {
		t.Errorf("%d events were counted as a loop, want 2", got)
	}
	r.take(message(60, "a human is not concerned"), chat.Kept)
}

func TestSlowBotsAreNoLoop(t *testing.T) {
	t.Parallel()
	r := newRig(t, withPolicy(intake.Policy{Bots: intake.BotsMentioned}))
	for n := range 3 * intake.DefaultExchanges {
		r.take(mention(n), chat.Kept)
		r.clock.advance(intake.DefaultWindow/intake.DefaultExchanges + time.Millisecond)
	}
	// What the guard keeps of a bot does not grow.
	for line := range strings.Lines(dump(t, r.seen)) {
		if n, part, _ := strings.Cut(line, " index exchange/A1 "); part != "" && strings.Contains(part, "m000") {
			t.Errorf("the first exchange is still kept in %s", n)
		}
	}
	if !strings.Contains(dump(t, r.seen), " index exchange/A1 ") {
		t.Error("no exchange is kept at all")
	}
}

func TestBotsHaveLoopsOfTheirOwn(t *testing.T) {
	t.Parallel()
	r := newRig(t, withPolicy(intake.Policy{Bots: intake.BotsMentioned, Exchanges: 1}))
	r.take(mention(1), chat.Kept)
	r.take(mention(2), chat.Ignored)
	second := mention(3)
	second.Sender = chat.Sender{Identity: "test:w/other", Bot: true}
	r.take(second, chat.Kept)
}

// A full inbox answers no bot: the answer would be the next exchange.
func TestFullInboxAnswersNoBot(t *testing.T) {
	t.Parallel()
	r := newRig(t, withPolicy(intake.Policy{Bots: intake.BotsMentioned, Inbox: 1}))
	r.take(message(1, "text"), chat.Kept)
	r.take(mention(2), chat.Kept)
	if len(r.notices()) != 0 || len(r.letters()) != 1 {
		t.Errorf("notices %v, rows %v; want a row alone", r.notices(), r.letters())
	}
}

// A bot's correction of a message that was taken in is a control like anybody's.
func TestBotsEdit(t *testing.T) {
	t.Parallel()
	r := newRig(t, withPolicy(intake.Policy{Bots: intake.BotsMentioned}))
	r.take(mention(1), chat.Kept)
	e := from(edit(1, "002", "boop"), robot)
	e.Addressed = false
	r.take(e, chat.Kept)
	if c := r.controls(); len(c) != 1 || c[0].Kind != conversation.Edit {
		t.Errorf("controls = %+v, want the edit", c)
	}
}
