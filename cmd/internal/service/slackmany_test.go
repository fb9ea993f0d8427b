package service_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"herald/bots/bottest/slackfake"
	"herald/cmd/internal/service"
	"herald/core/model/modeltest"
)

// Two hundred threads in three channels, told in turns, while one thread waits for a model that never answers: every answer stands in its own thread,
// once, and none at the top of a channel.
func TestSlackInterleavedThreads(t *testing.T) {
	t.Parallel()
	r := onSlack(t, slackfake.Options{AckTimeout: 30 * time.Second}, func(o *service.Options) {
		o.Models = scripted(modeltest.When("for ever", modeltest.Reply{Text: "never", FirstDelay: time.Hour}), modeltest.Echo())
	}, "HERALD_OUTBOX__CHANNEL_INTERVAL_MS=0", "HERALD_OUTBOX__WORKSPACE_INTERVAL_MS=0") // the pace has tests of its own
	r.slack.AddChannel(slackfake.Channel{ID: "C0THIRD", Name: "third", Team: slackfake.Team, Members: []string{slackfake.Alice, slackfake.Bob, slackfake.BotUser}})
	channels := []string{slackfake.General, slackfake.Random, "C0THIRD"}
	stuck := r.slack.Say(slackfake.Say{Text: mention + "work for ever"})
	const n = 200
	roots := make([]slackfake.Told, n)
	for i := range roots {
		roots[i] = r.slack.Say(slackfake.Say{Channel: channels[i%len(channels)], Text: fmt.Sprintf("%sthread-%d begins", mention, i)})
		if j := i - 20; j >= 0 {
			r.slack.Say(slackfake.Say{Channel: roots[j].Channel, Thread: roots[j].TS, User: slackfake.Bob, Text: fmt.Sprintf("thread-%d goes on", j)})
		}
	}
	for i, root := range roots {
		begun, went := fmt.Sprintf("thread-%d begins", i), fmt.Sprintf("thread-%d goes on", i)
		var all string
		r.wait("the answers in "+root.TS, func(v slackfake.View) bool {
			all = ""
			for _, m := range v.Said(root.Channel, root.TS) {
				all += m.Text + "\n"
			}
			return strings.Contains(all, begun) && (i >= n-20 || strings.Contains(all, went))
		})
		// A message that came before the turn of the first one began is answered with it.
		if strings.Count(all, "thread-") != strings.Count(all, fmt.Sprintf("thread-%d ", i)) || strings.Count(all, begun) != 1 {
			t.Errorf("in thread %d stands\n%s", i, all)
		}
	}
	r.slack.Look(func(v slackfake.View) {
		for _, c := range channels {
			for _, m := range v.Said(c, "") {
				if m.Thread == "" {
					t.Errorf("at the top of %s stands %q", c, m.Text)
				}
			}
		}
		if said := v.Said(stuck.Channel, stuck.TS); len(said) > 0 && strings.Contains(said[0].Text, "never") {
			t.Errorf("the stuck thread says %q", said[0].Text)
		}
	})
	r.slack.Say(slackfake.Say{Channel: stuck.Channel, Thread: stuck.TS, Text: "stop"})
	r.wait("the stuck thread is stopped", func(v slackfake.View) bool {
		said := v.Said(stuck.Channel, stuck.TS)
		return len(said) > 0 && strings.Contains(said[len(said)-1].Text, "topped")
	})
}

// Who calls a whole channel does not call Herald, neither in the channel nor in a thread in which it takes part.
func TestSlackMassMentionIsNotForHerald(t *testing.T) {
	t.Parallel()
	r := onSlack(t, slackfake.Options{}, nil, "HERALD_OUTBOX__CHANNEL_INTERVAL_MS=0")
	told := r.slack.Say(slackfake.Say{Text: mention + "hello there"})
	r.said(told.Channel, told.TS, 1)
	for _, all := range []string{"<!here>", "<!channel>", "<!everyone>"} {
		r.slack.Say(slackfake.Say{Thread: told.TS, Text: all + " look", Raw: true})
		top := r.slack.Say(slackfake.Say{Text: all + " look", Raw: true})
		r.only(top.Channel, top.TS, 0)
	}
	r.only(told.Channel, told.TS, 1)
	r.slack.Say(slackfake.Say{Thread: told.TS, Text: "<!here> and " + mention + "too", Raw: true})
	if got := r.said(told.Channel, told.TS, 2); len(got) != 2 || !strings.Contains(got[1], "too") {
		t.Errorf("answers %q", got)
	}
}
