package slackfake_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"herald/bots/bottest/slackfake"
)

// delivered is a request to the app's request URL.
type delivered struct {
	header http.Header
	body   []byte
	gone   <-chan struct{} // closed when the sender has lost patience
}

// requestURL is an app's server; each request waits for its answer in answers.
func requestURL(t *testing.T, answer func(n int, w http.ResponseWriter, r delivered)) (url string, got chan delivered) {
	t.Helper()
	got = make(chan delivered, 100)
	n := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		d := delivered{r.Header, body, r.Context().Done()}
		got <- d
		n++
		answer(n, w, d)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, got
}

func TestEventsOverHTTP(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, reason string
		answer       func(http.ResponseWriter, delivered)
	}{
		{"error", "http_error", func(w http.ResponseWriter, _ delivered) { w.WriteHeader(http.StatusInternalServerError) }},
		{"redirect", "http_error", func(w http.ResponseWriter, _ delivered) {
			w.Header().Set("Location", "/else")
			w.WriteHeader(http.StatusFound)
		}},
		{"broken", "connection_failed", func(http.ResponseWriter, delivered) { panic(http.ErrAbortHandler) }},
		{"slow", "http_timeout", func(_ http.ResponseWriter, d delivered) { <-d.gone }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			url, got := requestURL(t, func(n int, w http.ResponseWriter, d delivered) {
				if n == 1 {
					c.answer(w, d)
				}
			})
			s := start(t, slackfake.Options{App: slackfake.App{RequestURL: url}, RetryAfter: []time.Duration{time.Millisecond}, AckTimeout: 200 * time.Millisecond})
			told := s.Say(slackfake.Say{Text: "hello"})
			first, second := <-got, <-got
			stamp := first.header.Get("X-Slack-Request-Timestamp")
			if want := slackfake.Sign(slackfake.SigningSecret, stamp, first.body); first.header.Get("X-Slack-Signature") != want {
				t.Errorf("the signature is %q, want %q", first.header.Get("X-Slack-Signature"), want)
			}
			if first.header.Get("X-Slack-Retry-Num") != "" || second.header.Get("X-Slack-Retry-Num") != "1" || second.header.Get("X-Slack-Retry-Reason") != c.reason {
				t.Errorf("the retry says %v", second.header)
			}
			var a, b object
			if json.Unmarshal(first.body, &a) != nil || json.Unmarshal(second.body, &b) != nil || str(a, "event_id") != told.Events[0] || str(b, "event_id") != told.Events[0] {
				t.Errorf("got %s and %s", first.body, second.body)
			}
			wait(t, s, "the retry is acknowledged", func(v slackfake.View) bool { return v.Acked(told.Events...) && v.Event(told.Events[0]).Attempts == 2 })
		})
	}
}

func TestNoRetryHeader(t *testing.T) {
	t.Parallel()
	url, got := requestURL(t, func(_ int, w http.ResponseWriter, _ delivered) {
		w.Header().Set("X-Slack-No-Retry", "1")
		w.WriteHeader(http.StatusInternalServerError)
	})
	s := start(t, slackfake.Options{App: slackfake.App{RequestURL: url}, RetryAfter: []time.Duration{0, 0}})
	told := s.Say(slackfake.Say{Text: "hello"})
	<-got
	wait(t, s, "it is given up", func(v slackfake.View) bool { e := v.Event(told.Events[0]); return e.GaveUp && e.Attempts == 1 })
}

// The signature of the example in Slack's documentation.
func TestSignature(t *testing.T) {
	t.Parallel()
	body := "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA" +
		"&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554" +
		"%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
	got := slackfake.Sign("8f742231b10e8888abcd99yyyzzz85a5", "1531420618", []byte(body))
	if want := "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestChallenge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer func(http.ResponseWriter, object)
		ok     bool
	}{
		"json":   {func(w http.ResponseWriter, in object) { fmt.Fprintf(w, `{"challenge":%q}`, in["challenge"]) }, true},
		"text":   {func(w http.ResponseWriter, in object) { fmt.Fprint(w, in["challenge"]) }, true},
		"wrong":  {func(w http.ResponseWriter, _ object) { fmt.Fprint(w, `{"challenge":"other"}`) }, false},
		"nobody": {func(w http.ResponseWriter, _ object) { w.WriteHeader(http.StatusUnauthorized) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, _ := requestURL(t, func(_ int, w http.ResponseWriter, d delivered) {
				var in object
				_ = json.Unmarshal(d.body, &in)
				c.answer(w, in)
			})
			s := start(t, slackfake.Options{App: slackfake.App{RequestURL: url}})
			if err := s.Challenge(slackfake.AppID); (err == nil) != c.ok {
				t.Errorf("the challenge ended with %v", err)
			}
		})
	}
}
