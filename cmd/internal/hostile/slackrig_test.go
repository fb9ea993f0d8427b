package hostile_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"herald/bots/bottest/slackfake"
)

// slackRig is a rig that a fake Slack is connected to beside the test platform.
type slackRig struct {
	*rig
	slack *slackfake.Server
}

// fakeSlack starts a Slack that sends again soon and for as long as a test may take.
func fakeSlack(t *testing.T, o slackfake.Options) *slackfake.Server {
	t.Helper()
	o.Patient, o.AckTimeout = true, 2*time.Second
	for range 100 {
		o.RetryAfter = append(o.RetryAfter, 200*time.Millisecond)
	}
	s, err := slackfake.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// slackEnv are the settings that connect a service with a fake Slack of the standing world.
func slackEnv(s *slackfake.Server, more ...string) []string {
	return append([]string{
		"BOT=" + slackfake.BotToken, "APP=" + slackfake.AppToken, "SIGN=" + slackfake.SigningSecret,
		"HERALD_SLACK__BOT_TOKEN_ENV=BOT", "HERALD_SLACK__APP_TOKEN_ENV=APP", "HERALD_SLACK__SIGNING_SECRET_ENV=SIGN", "HERALD_SLACK__API_URL=" + s.APIURL(),
	}, more...)
}

// beginSlack starts a rig on a fake Slack.
func beginSlack(t *testing.T, o slackfake.Options, su setup) *slackRig {
	t.Helper()
	s := fakeSlack(t, o)
	su.env = slackEnv(s, su.env...)
	r := &slackRig{begin(t, su), s}
	r.until("ready", func() bool { code, _ := r.get("/readyz"); return code == 200 })
	return r
}

func (r *slackRig) wait(what string, cond func(slackfake.View) bool) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	if err := r.slack.Wait(ctx, what, cond); err != nil {
		r.t.Fatalf("%v\n%s", err, r.tail())
	}
}

// ask makes Alice mention the app in a new thread.
func (r *slackRig) ask(channel, text string) slackfake.Told {
	return r.slack.Say(slackfake.Say{Channel: channel, Text: "<@" + slackfake.BotUser + "> " + text})
}

// standing are the texts of the app's messages in a thread; none while one is still being written.
func standing(v slackfake.View, t slackfake.Told) []string {
	var out []string
	for _, m := range v.Said(t.Channel, t.TS) {
		if m.Stream == slackfake.Streaming {
			return nil
		}
		if !strings.HasPrefix(m.Text, "Hello, I am **Herald**") { // said once in a channel, beside the answer
			out = append(out, m.Text)
		}
	}
	return out
}

// answered waits for the answer to a message, which must be one and hold the words.
func (r *slackRig) answered(t slackfake.Told, words string) {
	r.t.Helper()
	var texts []string
	r.wait("an answer with "+words, func(v slackfake.View) bool {
		texts = standing(v, t)
		return len(texts) > 0 && v.Acked(t.Events...)
	})
	if len(texts) != 1 || !strings.Contains(texts[0], words) {
		r.t.Errorf("answered with %.300q, want one that holds %q", texts, words)
	}
}
