package service_test

import (
	"strings"
	"testing"
	"time"

	"herald/bots/bottest/slackfake"
	"herald/cmd/internal/service"
)

// An admin whom the configuration names is told once what to do next, once of each trouble, and once that it is over; nobody else is told.
func TestSlackAdminsAreTold(t *testing.T) {
	t.Parallel()
	r := onSlack(t, slackfake.Options{}, func(o *service.Options) {
		o.AlarmEvery = 20 * time.Millisecond
		o.Models = nil // there is none
	}, "HERALD_SLACK__INTRODUCE=true", "HERALD_ADMINS=slack:"+slackfake.Team+"/"+slackfake.Alice)
	dm, others := r.slack.DM(slackfake.Alice, ""), map[string]string{"Bob": r.slack.DM(slackfake.Bob, ""), "Carol": r.slack.DM(slackfake.Carol, "")}
	has := func(part string) func(slackfake.View) bool {
		return func(v slackfake.View) bool {
			for _, m := range v.Said(dm, "") {
				if strings.Contains(m.Text, part) {
					return true
				}
			}
			return false
		}
	}
	r.wait("the admin is told what to do next", has("these are the next steps"))
	r.wait("the admin is told of the missing model", has("Trouble: models"))
	var scopes []string
	for _, s := range slackScopes() {
		if s != "files:read" {
			scopes = append(scopes, s)
		}
	}
	r.slack.SetScopes(slackfake.BotToken, scopes)
	r.wait("the admin is told of the missing scope", has("`files:read`"))
	r.slack.SetScopes(slackfake.BotToken, nil)
	r.wait("the admin is told that it is over", has("Over: scopes"))
	seen := map[string]int{}
	r.slack.Look(func(v slackfake.View) {
		for _, m := range v.Said(dm, "") {
			seen[strings.SplitN(m.Text, "\n", 2)[0]]++
		}
		for other, channel := range others {
			for _, m := range v.Said(channel, "") {
				t.Errorf("%s is told %q", other, m.Text)
			}
		}
	})
	for line, n := range seen {
		if n != 1 {
			t.Errorf("%d times it is said: %s", n, line)
		}
		if strings.Contains(line, slackfake.BotToken) {
			t.Error("the token is told")
		}
	}
}
