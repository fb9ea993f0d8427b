package slack_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"herald/bots/bottest/slackfake"
	"herald/bots/slack"
	"herald/core/chat"
)

// What was said while no connection stood, and Slack has given up, is read back at the start: once, in order, under the name that its event would have.
func TestBackfillAtTheStart(t *testing.T) {
	t.Parallel()
	s := world(t, slackfake.Options{})
	root := s.Say(slackfake.Say{Text: "<@" + slackfake.BotUser + "> hello", Held: true})
	dm := s.DM(slackfake.Bob, "")
	for i := range 3 {
		s.Say(slackfake.Say{Thread: root.TS, User: slackfake.Bob, Text: fmt.Sprint("missed ", i), Held: true})
		s.Say(slackfake.Say{Channel: dm, User: slackfake.Bob, Text: fmt.Sprint("direct ", i), Held: true})
	}
	s.Say(slackfake.Say{Channel: slackfake.Random, Text: "elsewhere", Held: true})
	old := s.Say(slackfake.Say{Channel: slackfake.Random, Text: "before what was kept last", Held: true})
	thread := chat.Conversation{Workspace: "slack:" + slackfake.Team, Channel: root.Channel, Thread: root.TS}
	direct := chat.Conversation{Workspace: "slack:" + slackfake.Team, Channel: dm}
	older := chat.Conversation{Workspace: "slack:" + slackfake.Team, Channel: slackfake.Random, Thread: old.TS}
	r, c := &inbox{}, &counter{}
	fails := 2
	r.decide = func(_ context.Context, in *chat.Inbound) error {
		if in.Text == "missed 1" && fails > 0 {
			fails--
			return errors.New("the store is away")
		}
		return nil
	}
	opt := options(t, s, r)
	opt.Count, opt.BackfillPace = c.add, time.Millisecond
	opt.Active = func(context.Context, time.Time) ([]slack.Active, error) {
		return []slack.Active{{direct, time.Now()}, {thread, time.Now()}, {older, time.Now().Add(time.Hour)}}, nil
	}
	f := connect(t, s, opt)
	f.connected(1)
	deadline := within(t)
	for len(r.texts()) < 9 && deadline.Err() == nil {
		<-time.After(2 * time.Millisecond)
	}
	var inThread, inDM []string
	keys := map[string]bool{}
	r.mu.Lock()
	for _, in := range r.got {
		if in.App != slackfake.AppID || !in.Addressed {
			t.Errorf("%q comes as of app %q, addressed %v", in.Text, in.App, in.Addressed)
		}
		keys[in.DedupeKey()] = true
		switch in.Conversation {
		case thread:
			inThread = append(inThread, in.Text)
		case direct:
			inDM = append(inDM, in.Text)
		default:
			t.Errorf("%q was read back in %s", in.Text, in.Conversation.Key())
		}
	}
	r.mu.Unlock()
	if want := []string{"hello", "missed 0", "missed 1", "missed 1", "missed 1", "missed 2"}; !slices.Equal(inThread, want) {
		t.Errorf("in the thread came %q, want %q", inThread, want)
	}
	if want := []string{"direct 0", "direct 1", "direct 2"}; !slices.Equal(inDM, want) {
		t.Errorf("in the direct message came %q, want %q", inDM, want)
	}
	// The event itself, late, is the same to the receiver.
	s.Deliver(root.Events...)
	f.wait("the late events are acknowledged", func(v slackfake.View) bool { return v.Acked(root.Events...) })
	r.mu.Lock()
	defer r.mu.Unlock()
	if last := r.got[len(r.got)-1]; !keys[last.DedupeKey()] {
		t.Errorf("the late event has the name %s, which none of those that were read back has", last.DedupeKey())
	}
}

// A short gap is left to Slack's own retries, a long one is read back.
func TestBackfillAfterALongGapOnly(t *testing.T) {
	t.Parallel()
	for name, long := range map[string]bool{"short": false, "long": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := world(t, slackfake.Options{})
			asked := make(chan time.Time, 8)
			opt := options(t, s, &inbox{})
			opt.GapAfter = time.Hour
			if long {
				opt.GapAfter = time.Nanosecond
			}
			opt.Active = func(_ context.Context, since time.Time) ([]slack.Active, error) {
				asked <- since
				return nil, nil
			}
			f := connect(t, s, opt)
			f.connected(1)
			<-asked // the start: of the last day, and then of all time
			<-asked
			s.Sever("")
			f.connected(2)
			f.probe("back")
			if long {
				select {
				case <-asked:
				case <-within(t).Done():
					t.Error("nothing was read back after a long gap")
				}
			} else if len(asked) != 0 {
				t.Error("a short gap was read back")
			}
		})
	}
}

// The bound holds and is reported.
func TestBackfillBound(t *testing.T) {
	t.Parallel()
	s := world(t, slackfake.Options{})
	var places []slack.Active
	for i := range 60 {
		told := s.Say(slackfake.Say{Text: fmt.Sprint("root ", i), Held: true})
		places = append(places, slack.Active{Conversation: chat.Conversation{Workspace: "slack:" + slackfake.Team, Channel: told.Channel, Thread: told.TS}, Last: time.Now()})
	}
	r, c := &inbox{}, &counter{}
	opt := options(t, s, r)
	opt.Count, opt.BackfillPace = c.add, time.Microsecond
	opt.Active = func(context.Context, time.Time) ([]slack.Active, error) { return places, nil }
	f := connect(t, s, opt)
	f.connected(1)
	deadline := within(t)
	for c.get("backfill_left_out") < 10 && deadline.Err() == nil {
		<-time.After(2 * time.Millisecond)
	}
	if got, out := c.get("backfilled"), c.get("backfill_left_out"); got != 50 || out != 10 {
		t.Errorf("%d messages were read back and %d conversations reported as left out, want 50 and 10", got, out)
	}
}
