package main

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"herald/bots/bottest/slackfake"
)

// slackSample is how many deaths on the fake Slack a plain test run plays.
const slackSample = 24

// TestSlackMatrix plays every story of the fake Slack without a death, and then a seeded sample of deaths.
func TestSlackMatrix(t *testing.T) {
	var out bytes.Buffer
	r, err := run(t.Context(), settings{sample: slackSample, seed: 1, stores: []string{onSQLite, onRedis}, platforms: []string{onSlack}, jobs: 6, out: &out})
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if r.failed > 0 {
		t.Errorf("%d of %d cases failed:\n%s", r.failed, len(r.verdicts), out.String())
	}
	t.Logf("%d fail points at %d sites, %d cases, %d never came to their point, %.0fs", r.points, len(r.sites), len(r.verdicts), r.missed, r.took.Seconds())
	if len(r.verdicts) < slackSample || r.missed > slackSample/3 {
		t.Errorf("%d cases were played and %d never came to their point: the sample proves too little", len(r.verdicts), r.missed)
	}
	for _, site := range []string{
		"send", "edit", "find", "ack", "model", "claim:turns", "claim:outbox", "claim:handover", "extend", "tool:" + toolEffect,
		"intake.message", "intake.change", "intake.click", "intake.order", "intake.full", "intake.letter", "handover.message",
	} {
		if !r.sites[site] {
			t.Errorf("no story comes to %s", site)
		}
	}
}

// TestSlackOracle proves that the oracle sees what an app does wrong on the fake Slack.
func TestSlackOracle(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name         string
		posts        []string
		named, stray bool
		want         string
	}{
		{"as it should be", []string{"#a", "#b"}, false, false, ""},
		{"lost", []string{"#a"}, false, false, "#b is covered by 0 answers"},
		{"doubled", []string{"#a", "#a", "#b"}, false, false, "#a is covered by 2 answers"},
		{"turned round", []string{"#b", "#a"}, false, false, "answered in the order"},
		{"one piece twice", []string{"#a #b", "#a #b"}, true, false, "piece 0 of d1 stands twice"},
		{"refused", []string{"#a", "#b", ""}, false, false, `chat.postMessage: no_text`},
		{"beside the thread", []string{"#a", "#b"}, false, true, `"Sorry." stands outside of every thread`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s, err := open(t.Context(), t.TempDir(), onSlack, "memory:", sendTimeout)
			if err != nil {
				t.Fatal(err)
			}
			defer s.close()
			s.say("t1", "a", verbPlain)
			s.say("t1", "b", verbPlain)
			for _, text := range tc.posts {
				args := url.Values{"channel": {slackfake.General}, "thread_ts": {s.slack.roots["t1"]}, "text": {text}}
				if tc.named {
					args.Set("metadata", `{"event_type":"herald_delivery","event_payload":{"delivery":"d1","piece":0}}`)
				}
				post(t, s.slack.APIURL()+"chat.postMessage", args)
			}
			if tc.stray {
				post(t, s.slack.APIURL()+"chat.postMessage", url.Values{"channel": {slackfake.General}, "text": {"Sorry."}})
			}
			got := strings.Join(s.judge(), "\n")
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("the oracle says %q, want %q", got, tc.want)
			}
		})
	}
}

func post(t *testing.T, address string, args url.Values) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(args.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Authorization", "Bearer "+slackfake.BotToken)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Body.Close(); err != nil {
		t.Fatal(err)
	}
}
