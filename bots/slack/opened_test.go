package slack_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"herald/bots/bottest/slackfake"
	"herald/bots/slack"
	"herald/core/chat"
)

const mention = "<@" + slackfake.BotUser + "> "

func (c *counter) wait(t *testing.T, what string, n int) {
	t.Helper()
	for ctx := within(t); c.get(what) < n; {
		select {
		case <-time.After(2 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("%s was counted %d times, want %d", what, c.get(what), n)
		}
	}
}

// knows says that one conversation was kept an hour ago, so that the start is behind a gap of which something is known.
func knows(context.Context, time.Time) ([]slack.Active, error) {
	return []slack.Active{{
		Conversation: chat.Conversation{Workspace: "slack:" + slackfake.Team, Channel: slackfake.General, Thread: "1.000001"}, Last: time.Now().Add(-time.Hour),
	}}, nil
}

// What was begun during a gap is found, too: a thread that a mention opened, with what was said in it since, and a first direct message. Chatter
// is left alone, and what comes twice has one name.
func TestBackfillFindsWhatWasOpened(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"at the start", "after a long gap"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			s := world(t, slackfake.Options{})
			var events []string
			say := func(say slackfake.Say) slackfake.Told {
				say.Held = true
				told := s.Say(say)
				events = append(events, told.Events...)
				return told
			}
			gap := func() {
				say(slackfake.Say{Text: "chatter"})
				say(slackfake.Say{Text: mention + "alone"})
				talk := say(slackfake.Say{Channel: slackfake.Random, Text: mention + "with a thread"})
				say(slackfake.Say{Channel: slackfake.Random, User: slackfake.Bob, Thread: talk.TS, Text: "a follow-up"})
				late := say(slackfake.Say{Channel: slackfake.Random, Text: "people talk"})
				say(slackfake.Say{Channel: slackfake.Random, User: slackfake.Bob, Thread: late.TS, Text: mention + "asked within"})
				say(slackfake.Say{Channel: s.DM(slackfake.Carol, ""), User: slackfake.Carol, Text: "a first word"})
			}
			r, c := &inbox{}, &counter{}
			opt := options(t, s, r)
			opt.Count, opt.BackfillPace, opt.Active, opt.GapAfter = c.add, time.Millisecond, knows, time.Nanosecond
			opt.Joined = func(_ context.Context, in chat.Conversation) (slack.Part, error) {
				r.mu.Lock()
				defer r.mu.Unlock()
				return slack.Part{In: slices.ContainsFunc(r.got, func(g chat.Inbound) bool { return g.Conversation == in && g.Mentioned })}, nil
			}
			if when == "at the start" {
				gap()
			}
			f := connect(t, s, opt)
			f.connected(1)
			if when != "at the start" {
				s.Inject(slackfake.Fault{Method: "apps.connections.open", Kind: slackfake.Refusal, Error: "internal_error"})
				s.Sever("")
				gap()
				f.connected(2)
			}
			taken := func() (out []string) {
				r.mu.Lock()
				defer r.mu.Unlock()
				for _, in := range r.got {
					if in.Addressed && !in.Sender.Self && !slices.Contains(out, in.DedupeKey()) {
						out = append(out, in.DedupeKey())
					}
				}
				return out
			}
			for ctx := within(t); len(taken()) < 5; {
				select {
				case <-time.After(2 * time.Millisecond):
				case <-ctx.Done():
					t.Fatalf("%q were handed on", r.texts())
				}
			}
			before := taken()
			texts := r.texts()
			for _, want := range [][]string{{"with a thread", "a follow-up"}} {
				if a, b := find(texts, want[0]), find(texts, want[1]); a < 0 || b < a {
					t.Errorf("%q stands at %d and %q at %d of %q", want[0], a, want[1], b, texts)
				}
			}
			if find(texts, "chatter") >= 0 || find(texts, "people talk") >= 0 {
				t.Errorf("chatter was handed on: %q", texts)
			}
			s.Deliver(events...)
			f.wait("the late events are acknowledged", func(v slackfake.View) bool { return v.Acked(events...) })
			if after := taken(); !slices.Equal(before, after) {
				t.Errorf("the late events have other names: %q, then %q", before, after)
			}
		})
	}
}

// find is where a text stands that ends in what; -1 for nowhere.
func find(texts []string, what string) int {
	return slices.IndexFunc(texts, func(s string) bool { return len(s) >= len(what) && s[len(s)-len(what):] == what })
}

// called counts the calls of methods.
func called(v slackfake.View, methods ...string) (n int) {
	for _, r := range v.Journal() {
		if r.Kind == slackfake.Called && slices.Contains(methods, r.Method) {
			n++
		}
	}
	return n
}

// A new installation, of which nothing is known, answers nothing of before.
func TestBackfillLeavesWhatWasBeforeTheFirstStart(t *testing.T) {
	t.Parallel()
	s := world(t, slackfake.Options{})
	s.Say(slackfake.Say{Text: mention + "long ago", Held: true})
	r := &inbox{}
	opt := options(t, s, r)
	opt.BackfillPace = time.Millisecond
	opt.Active = func(context.Context, time.Time) ([]slack.Active, error) { return nil, nil }
	f := connect(t, s, opt)
	f.connected(1)
	f.probe("now")
	s.Look(func(v slackfake.View) {
		if n := called(v, "users.conversations", "conversations.history"); n != 0 {
			t.Errorf("%d calls were made to read back", n)
		}
	})
	if texts := r.texts(); find(texts, "long ago") >= 0 {
		t.Errorf("%q were handed on", texts)
	}
}

// The bound on channels holds and is reported; a channel that cannot be read costs no other.
func TestBackfillOfChannelsIsBounded(t *testing.T) {
	t.Parallel()
	s := world(t, slackfake.Options{})
	for i := range 110 {
		id := fmt.Sprintf("C1%03d", i)
		s.AddChannel(slackfake.Channel{ID: id, Name: fmt.Sprint("many-", i), Team: slackfake.Team, Members: []string{slackfake.Alice, slackfake.BotUser}})
		s.Say(slackfake.Say{Channel: id, Text: mention + fmt.Sprint("in ", i), Held: true})
	}
	s.Inject(slackfake.Fault{Method: "conversations.history", Channel: "C1003", Kind: slackfake.Refusal, Error: "channel_not_found", Times: -1})
	r, c := &inbox{}, &counter{}
	opt := options(t, s, r)
	opt.Count, opt.BackfillPace, opt.Active = c.add, time.Microsecond, knows
	f := connect(t, s, opt)
	f.connected(1)
	c.wait(t, "backfill_left_out", 1)
	looked := 0
	s.Look(func(v slackfake.View) { looked = called(v, "conversations.history") })
	if looked != 100 {
		t.Errorf("%d channels were looked through, want 100", looked)
	}
	if got := c.get("backfilled"); got < 90 {
		t.Errorf("%d messages were handed on, want nearly one of each channel", got)
	}
	if c.get("backfill_failed") < 2 { // the thread that is known does not exist, either
		t.Error("a channel that cannot be read was not counted")
	}
}
