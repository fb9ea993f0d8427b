package service_test

import (
	"strings"
	"testing"

	"herald/bots/bottest/slackfake"
)

// An admin chooses for a channel which messages of its threads are for Herald, whoever opened a thread for that thread.
func TestSlackThreadsAreChosen(t *testing.T) {
	t.Parallel()
	r := onSlack(t, slackfake.Options{}, nil, "HERALD_ADMINS=slack:"+slackfake.Team+"/"+slackfake.Bob)
	told := r.slack.Say(slackfake.Say{Text: mention + "hello there"})
	r.said(told.Channel, told.TS, 1)
	whispers := func(user, want string, n int) {
		t.Helper()
		r.wait(user+" is told: "+want, func(v slackfake.View) bool {
			all := v.Whispers(told.Channel, user)
			return len(all) == n && strings.Contains(all[n-1].Text, want)
		})
	}
	r.slack.Command(slackfake.Command{Channel: told.Channel, User: slackfake.Alice, Text: "threads mention"})
	whispers(slackfake.Alice, "for a whole channel an admin chooses", 1)
	r.slack.Command(slackfake.Command{Channel: told.Channel, User: slackfake.Bob, Text: "threads mention"})
	whispers(slackfake.Bob, "This was chosen for this channel.", 1)

	r.slack.Say(slackfake.Say{Thread: told.TS, Text: "among ourselves"})
	r.only(told.Channel, told.TS, 1)
	r.slack.Say(slackfake.Say{Thread: told.TS, Text: mention + "and again"})
	if got := r.said(told.Channel, told.TS, 2); !strings.Contains(got[1], "and again") {
		t.Errorf("answers %q", got)
	}
	r.slack.Say(slackfake.Say{Thread: told.TS, Text: mention + "!herald threads always"})
	if got := r.said(told.Channel, told.TS, 3); !strings.Contains(got[2], "This was chosen for this thread.") {
		t.Errorf("answers %q", got)
	}
	r.slack.Say(slackfake.Say{Thread: told.TS, Text: "to all"})
	if got := r.said(told.Channel, told.TS, 4); !strings.Contains(got[3], "to all") {
		t.Errorf("answers %q", got)
	}
}
