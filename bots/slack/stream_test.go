package slack_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"herald/bots/bottest/slackfake"
	"herald/core/chat"
)

// asked is a thread in which a person has asked something, and a live post that answers.
func asked(t *testing.T, s *slackfake.Server, f *fixture) *chat.Post {
	t.Helper()
	told := s.Say(slackfake.Say{Text: "<@" + slackfake.BotUser + "> tell me"})
	f.wait("the question is acknowledged", func(v slackfake.View) bool { return v.Acked(told.Events...) })
	return &chat.Post{
		Conversation: chat.Conversation{Workspace: "slack:" + slackfake.Team, Channel: told.Channel, Thread: told.TS},
		DeliveryID:   "d1", ReplyTo: told.TS, Live: true, Text: "First words ", After: time.Now(),
	}
}

// stands checks that exactly one message of the app stands in the thread, with this text.
func (f *fixture) stands(p *chat.Post, text string) *slackfake.Message {
	f.t.Helper()
	var only *slackfake.Message
	f.server.Look(func(v slackfake.View) {
		said := v.Said(p.Conversation.Channel, p.Conversation.Thread)
		if len(said) != 1 || shown(said[0]) != text {
			for _, m := range said {
				f.t.Errorf("%s stands: %q", m.TS, shown(m))
			}
			f.t.Fatalf("%d messages stand, want one with %q", len(said), text)
		}
		m := *said[0]
		only = &m
	})
	return only
}

func edit(t *testing.T, a chat.Adapter, p *chat.Post, r chat.Receipt, text string, final bool) {
	t.Helper()
	p.Text, p.Live = text, !final
	if err := a.Edit(within(t), p, r, final); err != nil {
		t.Fatalf("edit to %q: %v", text, err)
	}
}

func send(t *testing.T, a chat.Adapter, p *chat.Post) chat.Receipt {
	t.Helper()
	r, err := a.Send(within(t), p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const whole = "First words and **more of them**\n\nat the end."

func TestStream(t *testing.T) {
	t.Parallel()
	s := world(t, slackfake.Options{})
	f := connect(t, s, options(t, s, &inbox{}))
	p := asked(t, s, f)
	r := send(t, f.adapter, p)
	edit(t, f.adapter, p, r, "First words and ", false)
	edit(t, f.adapter, p, r, "First words and \\*\\*mo", false) // what is not settled yet is rendered otherwise
	edit(t, f.adapter, p, r, "First words and **more of them**\n\nat", false)
	edit(t, f.adapter, p, r, whole, true)
	m := f.stands(p, whole)
	if m.Stream != slackfake.Stopped || m.Appends < 3 {
		t.Errorf("it is %s after %d parts, want a stream that grew and was ended", m.Stream, m.Appends)
	}
	if got, ok, err := f.adapter.Find(within(t), p); err != nil || !ok || got.MessageID != r.MessageID {
		t.Errorf("found %+v, %v, %v", got, ok, err)
	}
	for _, rec := range s.Journal() {
		if rec.Kind == slackfake.Called && rec.Method == "chat.update" {
			t.Error("a stream that fits was edited besides")
		}
	}
}

// Where more text changes what stood before, the final text replaces it.
func TestStreamIsCorrected(t *testing.T) {
	t.Parallel()
	s := world(t, slackfake.Options{})
	f := connect(t, s, options(t, s, &inbox{}))
	p := asked(t, s, f)
	r := send(t, f.adapter, p)
	edit(t, f.adapter, p, r, "Other words and more ", false)
	edit(t, f.adapter, p, r, "Other words, all of them.", true)
	if m := f.stands(p, "Other words, all of them."); m.Stream != slackfake.Stopped || live(m) {
		t.Errorf("it is %s, live %v", m.Stream, live(m))
	}
}

// Whatever ends a stream on the way, the whole text stands in its message at the end.
func TestStreamTroubles(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]func(t *testing.T, s *slackfake.Server, p *chat.Post, r chat.Receipt){
		"its time is over": func(_ *testing.T, s *slackfake.Server, _ *chat.Post, _ chat.Receipt) { s.Advance(6 * time.Minute) },
		"an append is lost": func(_ *testing.T, s *slackfake.Server, _ *chat.Post, _ chat.Receipt) {
			s.Inject(slackfake.Fault{Method: "chat.appendStream", Kind: slackfake.LoseReply})
		},
		"the end is lost": func(_ *testing.T, s *slackfake.Server, _ *chat.Post, _ chat.Receipt) {
			s.Inject(slackfake.Fault{Method: "chat.stopStream", Kind: slackfake.LoseReply})
		},
		"the end is refused": func(_ *testing.T, s *slackfake.Server, _ *chat.Post, _ chat.Receipt) {
			s.Inject(slackfake.Fault{Method: "chat.stopStream", Kind: slackfake.Refusal, Error: "message_not_in_streaming_state"})
		},
		"a person stops it": func(t *testing.T, s *slackfake.Server, p *chat.Post, r chat.Receipt) {
			t.Helper()
			if _, err := s.StopStream(p.Conversation.Channel, r.MessageID, slackfake.Alice); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := world(t, slackfake.Options{})
			f := connect(t, s, options(t, s, &inbox{}))
			p := asked(t, s, f)
			r := send(t, f.adapter, p)
			trouble(t, s, p, r)
			p.Text = "First words and more "
			err := f.adapter.Edit(within(t), p, r, false)
			if no, ok := errors.AsType[*chat.Refused](err); name == "a person stops it" != ok {
				t.Errorf("the next part: %v (%+v)", err, no)
			}
			p.Text, p.Live = whole, false
			for n := 0; ; n++ { // the outbox repeats what it does not know
				if err = f.adapter.Edit(within(t), p, r, true); err == nil || n == 3 {
					break
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			f.stands(p, whole)
			if m := f.stands(p, whole); live(m) {
				t.Error("the message still says that it grows")
			}
		})
	}
}

// Where Slack has no stream the answer grows by edits.
func TestStreamFallsBack(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"channel_type_not_supported", "missing_recipient_team_id", "unknown_method", "ratelimited", ""} {
		t.Run("without "+word, func(t *testing.T) {
			t.Parallel()
			s := world(t, slackfake.Options{})
			f := connect(t, s, options(t, s, &inbox{}))
			p := asked(t, s, f)
			if word == "" {
				p.ReplyTo = "1.000001" // nobody knows who is answered
			} else {
				s.Inject(slackfake.Fault{Method: "chat.startStream", Kind: slackfake.Refusal, Error: word})
			}
			r := send(t, f.adapter, p)
			edit(t, f.adapter, p, r, "First words and more ", false)
			if m := f.stands(p, "First words and more "); m.Stream != "" || !live(m) {
				t.Errorf("stream %q, live %v", m.Stream, live(m))
			}
			edit(t, f.adapter, p, r, whole, true)
			if m := f.stands(p, whole); live(m) {
				t.Error("the message still says that it grows")
			}
		})
	}
}

// Another process finds the stream that a dead one began, ends it and goes on in its message.
func TestStreamOfADeadProcess(t *testing.T) {
	t.Parallel()
	s := world(t, slackfake.Options{})
	f := connect(t, s, options(t, s, &inbox{}))
	p := asked(t, s, f)
	r := send(t, f.adapter, p)
	if err := f.Stop(within(t)); err != nil {
		t.Fatal(err)
	}
	next := connect(t, s, options(t, s, &inbox{}))
	next.connected(2)
	got, ok, err := next.adapter.Find(within(t), p)
	if err != nil || !ok || got.MessageID != r.MessageID {
		t.Fatalf("found %+v, %v, %v; want the open stream %s", got, ok, err, r.MessageID)
	}
	edit(t, next.adapter, p, got, whole, true)
	if m := next.stands(p, whole); m.Stream == slackfake.Streaming {
		t.Error("the stream is still open")
	}
	if again, ok, err := next.adapter.Find(within(t), p); err != nil || !ok || again.MessageID != r.MessageID {
		t.Errorf("afterwards found %+v, %v, %v", again, ok, err)
	}
	other := *p
	other.DeliveryID = "d2"
	if got, ok, err := next.adapter.Find(within(t), &other); err != nil || ok {
		t.Errorf("another delivery found %+v, %v", got, err)
	}
}

// The budget of streams is the workspace's: what is beyond grows by edits and is not refused.
func TestStreamBudget(t *testing.T) {
	t.Parallel()
	s := world(t, slackfake.Options{Pace: slackfake.Pace{Tiers: true}})
	f := connect(t, s, options(t, s, &inbox{}))
	for i := range 25 {
		p := asked(t, s, f)
		p.DeliveryID = fmt.Sprint("d", i)
		send(t, f.adapter, p)
	}
	starts := 0
	for _, rec := range s.Journal() {
		if rec.Kind == slackfake.Called && rec.Method == "chat.startStream" {
			starts++
		}
		if rec.Kind == slackfake.Refused && rec.Method == "chat.startStream" {
			t.Error("Slack's limit of streams was hit")
		}
	}
	if starts < 10 || starts > 20 {
		t.Errorf("%d streams were begun", starts)
	}
}

// A long text is edited whole; where Slack takes it only as a block it becomes one, and where it takes no block a plain text.
func TestLongEdit(t *testing.T) {
	t.Parallel()
	long := strings.TrimSpace(strings.Repeat("A sentence of some words. ", 400))
	for name, words := range map[string][]string{"at once": nil, "as a block": {"msg_too_long"}, "as plain text": {"msg_too_long", "msg_blocks_too_long"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := world(t, slackfake.Options{})
			f := connect(t, s, options(t, s, &inbox{}))
			p := asked(t, s, f)
			p.ReplyTo = ""
			r := send(t, f.adapter, p)
			for _, w := range words {
				s.Inject(slackfake.Fault{Method: "chat.update", Kind: slackfake.Refusal, Error: w})
			}
			edit(t, f.adapter, p, r, long, true)
			if len(words) < 2 {
				f.stands(p, long)
				return
			}
			var m slackfake.Message
			s.Look(func(v slackfake.View) { m = *v.Message(p.Conversation.Channel, r.MessageID) })
			if !strings.HasPrefix(m.Text, "A sentence") || len(m.Blocks) > 0 || live(&m) {
				t.Errorf("stands %.40q with blocks %.40s", m.Text, m.Blocks)
			}
		})
	}
}
