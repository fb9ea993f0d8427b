package service_test

import (
	"strings"
	"testing"
	"time"

	"herald/bots/bottest/slackfake"
	"herald/cmd/internal/service"
	"herald/core/model/modeltest"
)

// A slash command carries no thread: a stop lists the caller's running turns with buttons, and a press on one stops that turn.
func TestSlackStopWithoutThread(t *testing.T) {
	t.Parallel()
	r := onSlack(t, slackfake.Options{}, func(o *service.Options) {
		o.Models = scripted(modeltest.When("for ever", modeltest.Reply{Text: "never", FirstDelay: time.Hour}), modeltest.Always(modeltest.Say("ok")))
	})
	told := r.slack.Say(slackfake.Say{User: slackfake.Alice, Text: mention + "work for ever"})
	r.wait("the message is taken", func(v slackfake.View) bool { return v.Acked(told.Events...) }) // a command is sent to a connection that stands, or not at all
	var ts string
	for n := 1; ts == "" && n <= 50; n++ {
		r.slack.Command(slackfake.Command{Channel: told.Channel, User: slackfake.Alice, Text: "stop"})
		// The turn may not have begun when the first list is made.
		r.wait("the stop is answered", func(v slackfake.View) bool {
			all := v.Whispers(told.Channel, slackfake.Alice)
			for _, m := range all {
				if strings.Contains(string(m.Blocks), "stop:"+told.TS) {
					ts = m.TS
				}
			}
			return len(all) >= n
		})
	}
	if _, err := r.slack.Click(slackfake.Click{Channel: told.Channel, TS: ts, User: slackfake.Alice, ActionID: "herald_0"}); err != nil {
		t.Fatal(err)
	}
	if got := r.said(told.Channel, told.TS, 1); !strings.Contains(got[0], "topped") {
		t.Errorf("in the thread stands %q", got)
	}
	r.only(told.Channel, told.TS, 1)
	r.slack.Look(func(v slackfake.View) {
		if said := v.Said(told.Channel, ""); len(said) > 0 {
			t.Errorf("it was said in the channel: %q", said[0].Text)
		}
	})
}
