package slack_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"herald/bots/bottest/slackfake"
	"herald/bots/slack"
	"herald/core/chat"
)

// overHTTP is a fixture whose events come as requests.
func overHTTP(t *testing.T, r chat.Receiver, change func(*slack.Options), before ...func(*slackfake.Server)) (*fixture, *httptest.Server) {
	t.Helper()
	s := world(t, slackfake.Options{})
	opt := options(t, s, r)
	opt.Mode, opt.SigningSecret = slack.HTTP, slackfake.SigningSecret
	if change != nil {
		change(&opt)
	}
	for _, b := range before {
		b(s)
	}
	f := connect(t, s, opt)
	web := httptest.NewServer(f.adapter.Handler())
	t.Cleanup(web.Close)
	deadline := within(t)
	for f.adapter.Ready() != nil && deadline.Err() == nil {
		<-time.After(time.Millisecond)
	}
	s.AddApp(slackfake.App{ID: slackfake.AppID, Name: "herald", AppToken: slackfake.AppToken, SigningSecret: slackfake.SigningSecret, RequestURL: web.URL})
	return f, web
}

// call sends a request with the headers and body given and returns status and answer.
func call(t *testing.T, target, body string, header map[string]string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(within(t), http.MethodPost, target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range header {
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	buf := make([]byte, 4096)
	n, _ := res.Body.Read(buf)
	return res.StatusCode, string(buf[:n])
}

// signed are the headers of a genuine request of the age given.
func signed(body, kind string, age time.Duration) map[string]string {
	stamp := strconv.FormatInt(time.Now().Add(-age).Unix(), 10)
	return map[string]string{"Content-Type": kind, "X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": slackfake.Sign(slackfake.SigningSecret, stamp, []byte(body))}
}

const (
	asJSON = "application/json"
	asForm = "application/x-www-form-urlencoded"
	event  = `{"type":"event_callback","api_app_id":"A0HERALD","team_id":"T0LAB","event_id":"Ev1","event":{"type":"message","channel":"C0GENERAL","channel_type":"channel","user":"U0ALICE","text":"signed","ts":"1700000000.000100"}}`
)

func TestSignature(t *testing.T) {
	t.Parallel()
	r := &inbox{}
	f, web := overHTTP(t, r, nil)
	_ = f
	for _, tt := range []struct {
		name   string
		body   string
		change func(h map[string]string)
		age    time.Duration
		want   int
	}{
		{name: "genuine", want: http.StatusOK},
		{name: "four minutes old", age: 4 * time.Minute, want: http.StatusOK},
		{name: "six minutes old", age: 6 * time.Minute, want: http.StatusUnauthorized},
		{name: "from the future", age: -6 * time.Minute, want: http.StatusUnauthorized},
		{name: "another body", body: strings.Replace(event, "signed", "forged", 1), want: http.StatusUnauthorized},
		{name: "the same JSON, written otherwise", body: strings.Replace(event, ":", ": ", 1), want: http.StatusUnauthorized},
		{name: "another time", change: func(h map[string]string) {
			h["X-Slack-Request-Timestamp"] = strconv.FormatInt(time.Now().Unix()-1, 10)
		}, want: http.StatusUnauthorized},
		{name: "no signature", change: func(h map[string]string) { delete(h, "X-Slack-Signature") }, want: http.StatusUnauthorized},
		{name: "no time", change: func(h map[string]string) { delete(h, "X-Slack-Request-Timestamp") }, want: http.StatusUnauthorized},
		{name: "short signature", change: func(h map[string]string) { h["X-Slack-Signature"] = h["X-Slack-Signature"][:10] }, want: http.StatusUnauthorized},
		{name: "other version", change: func(h map[string]string) { h["X-Slack-Signature"] = "v1" + h["X-Slack-Signature"][2:] }, want: http.StatusUnauthorized},
	} {
		before := len(r.texts())
		h := signed(event, asJSON, tt.age)
		if tt.change != nil {
			tt.change(h)
		}
		body := tt.body
		if body == "" {
			body = event
		}
		got, _ := call(t, web.URL, body, h)
		if got != tt.want {
			t.Errorf("%s: status %d, want %d", tt.name, got, tt.want)
		}
		if taken := len(r.texts()) > before; taken != (tt.want == http.StatusOK) {
			t.Errorf("%s: taken %v", tt.name, taken)
		}
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	r := &inbox{}
	f, web := overHTTP(t, r, nil)
	if err := f.server.Challenge(slackfake.AppID); err != nil {
		t.Error(err)
	}
	check := "ssl_check=1&token=legacy"
	if code, body := call(t, web.URL, check, signed(check, asForm, 0)); code != http.StatusOK || body != "" {
		t.Errorf("ssl_check: %d %q, want 200 and nothing", code, body)
	}
	// What the address says beside the body is not signed.
	form := url.Values{"command": {"/herald"}, "text": {"help"}, "channel_id": {slackfake.General}, "user_id": {slackfake.Alice}, "team_id": {slackfake.Team}, "trigger_id": {"t.1"}}.Encode()
	if code, _ := call(t, web.URL+"?ssl_check=1&payload=%7B%7D&text=forged", form, signed(form, asForm, 0)); code != http.StatusOK {
		t.Errorf("a command: %d", code)
	}
	if got := r.texts(); len(got) != 1 || got[0] != "help" {
		t.Errorf("received %q, want the command's own text", got)
	}
	for _, body := range []string{"{", `{"type":"event_callback","event":7}`, `{"type":"something_new"}`} {
		if code, _ := call(t, web.URL, body, signed(body, asJSON, 0)); code != http.StatusOK {
			t.Errorf("%s: %d; what cannot be read would be sent for ever", body, code)
		}
	}
	res, err := http.Get(web.URL) //nolint:noctx // a test
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", res.StatusCode)
	}
	// A click and a message by the real way.
	told := f.server.Say(slackfake.Say{Text: "<@" + slackfake.BotUser + "> over HTTP"})
	f.wait("the message is acknowledged", func(v slackfake.View) bool { return v.Acked(told.Events...) })
}

// What is not taken is sent again, also when it first comes as a repeat.
func TestRequestsAgain(t *testing.T) {
	t.Parallel()
	fails := 1
	r := &inbox{decide: func(context.Context, *chat.Inbound) error {
		if fails > 0 {
			fails--
			return errors.New("the store is away")
		}
		return nil
	}}
	_, web := overHTTP(t, r, nil)
	h := signed(event, asJSON, 0)
	if code, _ := call(t, web.URL, event, h); code != http.StatusServiceUnavailable {
		t.Errorf("an event that was not taken: status %d", code)
	}
	h["X-Slack-Retry-Num"], h["X-Slack-Retry-Reason"] = "1", "http_error"
	if code, _ := call(t, web.URL, event, h); code != http.StatusOK || len(r.texts()) != 2 {
		t.Errorf("its repeat: status %d, received %q", code, r.texts())
	}
}

// An interaction that fails is answered with a sentence, for Slack never sends it again.
func TestFailedCommandIsAnswered(t *testing.T) {
	t.Parallel()
	for _, mode := range []slack.Mode{slack.Socket, slack.HTTP} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			r := &inbox{decide: func(context.Context, *chat.Inbound) error { return errors.New("away") }}
			sentence := func(o *slack.Options) { o.Sentence = func(error) string { return "The store is away." } }
			var f *fixture
			if mode == slack.HTTP {
				f, _ = overHTTP(t, r, sentence)
			} else {
				s := world(t, slackfake.Options{})
				opt := options(t, s, r)
				sentence(&opt)
				f = connect(t, s, opt)
				f.connected(1)
			}
			told := f.server.Command(slackfake.Command{Text: "new"})
			f.wait("the person is told", func(v slackfake.View) bool {
				for _, m := range v.Whispers(slackfake.General, slackfake.Alice) {
					if m.Text == "The store is away." && m.Interaction != "" {
						return v.Event(told.ID).Acked
					}
				}
				return false
			})
		})
	}
}

// Over HTTP what was missed is read back at the start, under the names that the events would have.
func TestBackfillOverHTTP(t *testing.T) {
	t.Parallel()
	r := &inbox{}
	var told slackfake.Told
	f, _ := overHTTP(t, r, func(o *slack.Options) {
		o.Active = func(context.Context, time.Time) ([]slack.Active, error) {
			return []slack.Active{{Conversation: chat.Conversation{Workspace: "slack:" + slackfake.Team, Channel: told.Channel, Thread: told.TS}, Last: time.Now()}}, nil
		}
	}, func(s *slackfake.Server) {
		told = s.Say(slackfake.Say{Text: "<@" + slackfake.BotUser + "> missed", Held: true})
	})
	for ctx := within(t); len(r.texts()) == 0; {
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			t.Fatal("nothing was read back")
		}
	}
	f.server.Deliver(told.Events...)
	f.wait("the late events are acknowledged", func(v slackfake.View) bool { return v.Acked(told.Events...) })
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, in := range r.got {
		if in.Text != "missed" || in.DedupeKey() != r.got[0].DedupeKey() || in.App != slackfake.AppID {
			t.Errorf("received %+v", in)
		}
	}
}
