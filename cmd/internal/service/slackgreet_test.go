package service_test

import (
	"strings"
	"testing"

	"herald/bots/bottest/slackfake"
)

// Herald introduces itself once in a channel and once to a person, beside the answer to the message, and the answer is not disturbed.
func TestSlackIntroduction(t *testing.T) {
	t.Parallel()
	r := onSlack(t, slackfake.Options{}, nil, "HERALD_SLACK__INTRODUCE=true")
	split := func(channel, thread string, n int) (introductions, answers int) {
		t.Helper()
		for _, text := range r.said(channel, thread, n) {
			if strings.Contains(text, "I am **Herald**") {
				introductions++
			} else {
				answers++
			}
		}
		return introductions, answers
	}
	one := r.slack.Say(slackfake.Say{Text: mention + "hello"})
	if i, a := split(one.Channel, one.TS, 2); i != 1 || a != 1 {
		t.Errorf("at the first mention stand %d introductions and %d answers", i, a)
	}
	two := r.slack.Say(slackfake.Say{User: slackfake.Bob, Text: mention + "and me?"})
	r.only(two.Channel, two.TS, 1)
	if i, a := split(two.Channel, two.TS, 1); i != 0 || a != 1 {
		t.Errorf("at the second mention stand %d introductions and %d answers", i, a)
	}
	dm := r.slack.DM(slackfake.Bob, "")
	r.slack.Say(slackfake.Say{Channel: dm, User: slackfake.Bob, Text: "hello"})
	if i, a := split(dm, "", 2); i != 1 || a != 1 {
		t.Errorf("at the first direct message stand %d introductions and %d answers", i, a)
	}
	r.slack.Say(slackfake.Say{Channel: dm, User: slackfake.Bob, Text: "again"})
	if i, a := split(dm, "", 3); i != 1 || a != 2 {
		t.Errorf("after two direct messages stand %d introductions and %d answers", i, a)
	}
	r.only(one.Channel, one.TS, 2)
}
