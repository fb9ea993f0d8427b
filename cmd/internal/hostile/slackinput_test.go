package hostile_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"herald/bots/bottest/slackfake"
	"herald/core/model/modeltest"
)

var slackRules = []modeltest.Rule{modeltest.Whenever("good", modeltest.Say("well answered")), modeltest.Always(modeltest.Say("read"))}

// envelope is a frame of the socket with its id and payload.
func envelope(n int, kind, payload string) string {
	return fmt.Sprintf(`{"envelope_id":"bad-%d","type":%q,"accepts_response_payload":false,"payload":%s}`, n, kind, payload)
}

// deep is JSON within JSON.
func deep(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }

// inner is the body of an event that can be read but for what it holds.
func inner(event string) string {
	return `{"type":"event_callback","api_app_id":"A0HERALD","team_id":"T0LAB","event_id":"EvBad","event":` + event + `}`
}

// Frames of every bad kind come over the sockets between good messages. Each good message is answered once; each bad frame that names an envelope
// is acknowledged, so that Slack does not send it for ever.
func TestHostileFramesOfSlack(t *testing.T) {
	t.Parallel()
	const unread, acked = false, true
	bad := []struct {
		name string
		make func(n int) string
		ack  bool
	}{
		{"an empty frame", func(int) string { return "" }, unread},
		{"no JSON", func(int) string { return "hello" }, unread},
		{"bytes", func(int) string { return "\x00\xff\xfe\x01" }, unread},
		{"null", func(int) string { return "null" }, unread},
		{"a list", func(int) string { return "[{}]" }, unread},
		{"truncated JSON", func(n int) string { return envelope(n, "events_api", inner(`{"type":"message"}`))[:90] }, unread},
		{"deep JSON", func(int) string { return deep(20_000) }, unread},
		{"no envelope", func(int) string { return `{"type":"events_api","payload":{}}` }, unread},
		{"an id that is a number", func(int) string { return `{"envelope_id":7,"type":"events_api","payload":{}}` }, unread},
		{"a type that is a list", func(int) string { return `{"envelope_id":"x","type":["hello"],"payload":{}}` }, unread},
		{"another hello", func(int) string { return `{"type":"hello","num_connections":"many"}` }, unread},
		{"a disconnect without a reason", func(int) string { return `{"type":"disconnect"}` }, unread},

		{"an unknown envelope", func(n int) string { return envelope(n, "carrier_pigeon", `{}`) }, acked},
		{"an envelope without a type", func(n int) string { return fmt.Sprintf(`{"envelope_id":"bad-%d"}`, n) }, acked},
		{"a payload that is a text", func(n int) string { return envelope(n, "events_api", `"text"`) }, acked},
		{"a payload of nothing", func(n int) string { return envelope(n, "events_api", `null`) }, acked},
		{"a deep payload", func(n int) string { return envelope(n, "events_api", deep(5000)) }, acked},
		{"a deep event", func(n int) string { return envelope(n, "events_api", inner(deep(5000))) }, acked},
		{"an unknown outer event", func(n int) string {
			return envelope(n, "events_api", `{"type":"app_rate_limited","minute_rate_limited":1}`)
		}, acked},
		{"an unknown event", func(n int) string { return envelope(n, "events_api", inner(`{"type":"moon_phase"}`)) }, acked},
		{"an event of a megabyte", func(n int) string {
			return envelope(n, "events_api", inner(`{"type":"moon_phase","x":"`+strings.Repeat("x", 1<<20)+`"}`))
		}, acked},
		{"an event that is a list", func(n int) string { return envelope(n, "events_api", inner(`[]`)) }, acked},
		{"other types in known fields", func(n int) string {
			return envelope(n, "events_api", inner(`{"type":"message","channel":7,"user":{},"text":[],"ts":true,"blocks":"x","files":{}}`))
		}, acked},
		{"a message without a time", func(n int) string {
			return envelope(n, "events_api", inner(`{"type":"message","channel":"C0GENERAL","user":"U0ALICE","text":"x"}`))
		}, acked},
		{"a time that is none", func(n int) string {
			return envelope(n, "events_api", inner(`{"type":"message","channel":"C0GENERAL","user":"U0ALICE","text":"x","ts":"../..\u0000"}`))
		}, acked},
		{"an edit of nothing", func(n int) string {
			return envelope(n, "events_api", inner(`{"type":"message","subtype":"message_changed","channel":"C0GENERAL","ts":"1.000001"}`))
		}, acked},
		{"a deletion of nothing", func(n int) string {
			return envelope(n, "events_api", inner(`{"type":"message","subtype":"message_deleted","channel":"C0GENERAL","ts":"1.000001"}`))
		}, acked},
		{"an unknown subtype", func(n int) string {
			return envelope(n, "events_api", inner(`{"type":"message","subtype":"`+strings.Repeat("x", 5000)+`","channel":"C0GENERAL","ts":"1.000001"}`))
		}, acked},
		{"a command of nothing", func(n int) string { return envelope(n, "slash_commands", `{}`) }, acked},
		{"a command of other types", func(n int) string { return envelope(n, "slash_commands", `{"command":7,"channel_id":[]}`) }, acked},
		{"a click of nothing", func(n int) string { return envelope(n, "interactive", `{"type":"block_actions"}`) }, acked},
		{"a click of other types", func(n int) string {
			return envelope(n, "interactive", `{"type":"block_actions","actions":{"a":1},"user":[],"message":"x","container":7}`)
		}, acked},
		{"an unknown interaction", func(n int) string { return envelope(n, "interactive", `{"type":"telepathy"}`) }, acked},
	}
	r := beginSlack(t, slackfake.Options{}, setup{rules: slackRules})
	var good []slackfake.Told
	for i, b := range bad {
		r.wait("a socket", func(v slackfake.View) bool { return v.Counts().Sockets > 0 })
		r.slack.Frame("", b.make(i))
		good = append(good, r.ask("", "good one"))
		if b.ack {
			r.wait("acknowledgement of "+b.name, func(v slackfake.View) bool {
				for _, rec := range v.Journal() {
					if rec.Kind == slackfake.AckUnknown && rec.Envelope == fmt.Sprint("bad-", i) {
						return true
					}
				}
				return false
			})
		}
		r.answered(good[i], "well answered")
	}
	// Each socket ends in the middle of a frame, without a word, and in order.
	for _, end := range []func(){
		func() { r.slack.CutFrame("") }, func() { r.slack.Sever("") }, func() { r.slack.Disconnect("", "too_many_websockets") },
		func() { r.slack.Disconnect("", "refresh_requested") }, func() { r.slack.Disconnect("", "made_up") },
	} {
		held := r.slack.Say(slackfake.Say{Text: "<@" + slackfake.BotUser + "> good one", Copies: 2})
		end()
		good = append(good, held, r.ask("", "good one"))
		r.answered(held, "well answered")
	}
	// People's own odd messages are read, and do not disturb.
	for name, text := range map[string]string{
		"a megabyte": strings.Repeat("word ", 1<<20/5), "control characters": "\x07\x1b]0;x\x07\u202e\u200b\ufeff", "tokens": "<@><#|><!><http://|><@U|<@U>>",
	} {
		told := r.slack.Say(slackfake.Say{Text: "<@" + slackfake.BotUser + "> " + text, Raw: true})
		r.wait("an acknowledgement of "+name, func(v slackfake.View) bool { return v.Acked(told.Events...) && len(standing(v, told)) == 1 })
	}
	for _, g := range good {
		r.answered(g, "well answered")
	}
	for _, what := range []string{"malformed", "unknown_event", "unknown_envelope", "unknown_frame", "outer_app_rate_limited"} {
		if n := r.metric(`herald_platform_events_total{platform="slack",what="` + what + `"}`); n == "0" {
			t.Errorf("nothing was counted as %s", what)
		}
	}
	r.up()
}

// request sends a body to the route of Slack's requests and returns the status.
func (r *slackRig) request(body string, header map[string]string) int {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, "http://"+r.svc.Address()+"/slack/events", bytes.NewReader([]byte(body)))
	if err != nil {
		r.t.Fatal(err)
	}
	for k, v := range header {
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// signedAs are the headers of a request of an age, signed by a secret.
func signedAs(secret, body string, age time.Duration) map[string]string {
	stamp := strconv.FormatInt(time.Now().Add(-age).Unix(), 10)
	return map[string]string{
		"Content-Type": "application/json", "X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": slackfake.Sign(secret, stamp, []byte(body)),
	}
}

// Requests without Slack's own signature do nothing; signed ones that nobody can read are taken and counted; one that is replayed is not answered
// twice; and each message of a person is answered once between them.
func TestHostileRequestsAsSlack(t *testing.T) {
	t.Parallel()
	r := beginSlack(t, slackfake.Options{}, setup{env: []string{"HERALD_SLACK__MODE=http"}, rules: slackRules})
	r.slack.AddApp(slackfake.App{ID: slackfake.AppID, Name: "herald", SigningSecret: slackfake.SigningSecret, RequestURL: "http://" + r.svc.Address() + "/slack/events"})
	root := r.ask("", "good one")
	r.answered(root, "well answered")
	body := func(id, ts, text string) string {
		return fmt.Sprintf(`{"type":"event_callback","api_app_id":"A0HERALD","team_id":"T0LAB","event_id":%q,"event":{"type":"message","channel":%q,"channel_type":"channel","user":"U0ALICE","thread_ts":%q,"ts":%q,"text":%q}}`,
			id, slackfake.General, root.TS, ts, text)
	}
	forged := body("EvForged", root.TS[:len(root.TS)-6]+"999001", "<@"+slackfake.BotUser+"> forged")
	with := func(key, value string) map[string]string {
		h := signedAs(slackfake.SigningSecret, forged, 0)
		h[key] = value
		return h
	}
	for _, tc := range []struct {
		name   string
		header map[string]string
	}{
		{"no headers", nil},
		{"no signature", with("X-Slack-Signature", "")},
		{"no time", with("X-Slack-Request-Timestamp", "")},
		{"another secret", signedAs("guessed", forged, 0)},
		{"an empty secret", signedAs("", forged, 0)},
		{"another body", signedAs(slackfake.SigningSecret, forged+" ", 0)},
		{"a replay of six minutes ago", signedAs(slackfake.SigningSecret, forged, 6*time.Minute)},
		{"one of the future", signedAs(slackfake.SigningSecret, forged, -6*time.Minute)},
		{"a time that is none", with("X-Slack-Request-Timestamp", "now")},
		{"a time without end", with("X-Slack-Request-Timestamp", strings.Repeat("9", 1000))},
		{"half of a signature", with("X-Slack-Signature", signedAs(slackfake.SigningSecret, forged, 0)["X-Slack-Signature"][:20])},
		{"a signature of zeros", with("X-Slack-Signature", "v0="+strings.Repeat("0", 64))},
		{"a signature of a megabyte", with("X-Slack-Signature", "v0="+strings.Repeat("0", 1<<19))},
		{"another version", with("X-Slack-Signature", "v1="+strings.Repeat("0", 64))},
	} {
		if got := r.request(forged, tc.header); got != http.StatusUnauthorized {
			t.Errorf("%s: status %d, want 401", tc.name, got)
		}
	}
	// What is signed is Slack's own word, however odd it is.
	for _, tc := range []struct {
		name, body, kind string
		want             int
	}{
		{"nothing", "", "", 200},
		{"truncated JSON", forged[:100], "", 200},
		{"deep JSON", deep(20_000), "", 200},
		{"a deep event", inner(deep(5000)), "", 200},
		{"other types", inner(`{"type":"message","channel":7,"user":{},"text":[],"ts":true}`), "", 200},
		{"an unknown event", inner(`{"type":"moon_phase"}`), "", 200},
		{"an unknown outer event", `{"type":"app_rate_limited"}`, "", 200},
		{"a megabyte", inner(`{"type":"moon_phase","x":"` + strings.Repeat("x", 1<<20) + `"}`), "", 200},
		{"more than Slack ever sends", inner(`{"type":"moon_phase","x":"` + strings.Repeat("x", 5<<20) + `"}`), "", 400},
		{"a form that is none", "%zz=%", "application/x-www-form-urlencoded", 200},
		{"a form of nothing", "a=b", "application/x-www-form-urlencoded", 200},
		{"a payload that is none", "payload=%7B", "application/x-www-form-urlencoded", 200},
		{"a click of other types", "payload=%7B%22type%22%3A%22block_actions%22%2C%22actions%22%3A7%7D", "application/x-www-form-urlencoded", 200},
	} {
		h := signedAs(slackfake.SigningSecret, tc.body, 0)
		if tc.kind != "" {
			h["Content-Type"] = tc.kind
		}
		if got := r.request(tc.body, h); got != tc.want {
			t.Errorf("%s: status %d, want %d", tc.name, got, tc.want)
		}
	}
	// A genuine request that comes again and again makes one turn.
	told := r.slack.Say(slackfake.Say{Thread: root.TS, User: slackfake.Bob, Text: "<@" + slackfake.BotUser + "> good, and said once", Held: true})
	again := body("EvAgain", told.TS, "<@"+slackfake.BotUser+"> good, and said once")
	header := signedAs(slackfake.SigningSecret, again, 4*time.Minute)
	for range 3 {
		if got := r.request(again, header); got != http.StatusOK {
			t.Errorf("a genuine request: status %d", got)
		}
	}
	r.slack.Deliver(told.Events...)
	r.wait("the repeats are acknowledged", func(v slackfake.View) bool { return v.Acked(told.Events...) && len(standing(v, root)) >= 2 })
	probe := r.ask(slackfake.Random, "good one")
	r.answered(probe, "well answered")
	r.slack.Look(func(v slackfake.View) {
		if got := standing(v, root); len(got) != 2 {
			t.Errorf("in the thread stand %q, want the two answers", got)
		}
	})
	for _, rec := range r.model.Records() {
		if bytes.Contains(rec.Body, []byte("forged")) {
			t.Error("a forged message reached a model")
		}
	}
	if n := r.metric(`herald_platform_events_total{platform="slack",what="bad_signature"}`); n != "14" {
		t.Errorf("%s requests were counted as badly signed, want 14", n)
	}
	r.up()
}
