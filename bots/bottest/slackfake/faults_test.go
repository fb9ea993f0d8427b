package slackfake_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/bots/bottest/slackfake"
)

func TestFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault   slackfake.Fault
		stands  bool   // the message was posted all the same
		status  int    // 0: no answer that could be read whole
		holds   string // the body has this
		isntFor string // Retry-After is this
	}{
		{fault: slackfake.Fault{Kind: slackfake.RateLimit, RetryAfter: 1500 * time.Millisecond}, status: 429, holds: "ratelimited", isntFor: "2"},
		{fault: slackfake.Fault{Kind: slackfake.RateLimit}, status: 429, holds: "ratelimited"},
		{fault: slackfake.Fault{Kind: slackfake.LimitBody}, status: 200, holds: "ratelimited"},
		{fault: slackfake.Fault{Kind: slackfake.Refusal, Error: "restricted_action", Messages: []string{"why"}}, status: 200, holds: `"messages":["why"]`},
		{fault: slackfake.Fault{Kind: slackfake.Refusal}, status: 200, holds: "fatal_error"},
		{fault: slackfake.Fault{Kind: slackfake.Mute}, status: 200, holds: `{"ok":false}`},
		{fault: slackfake.Fault{Kind: slackfake.ServerError, Status: 502}, status: 502},
		{fault: slackfake.Fault{Kind: slackfake.HTML}, status: 200, holds: "<html>"},
		{fault: slackfake.Fault{Kind: slackfake.ApplyError}, status: 503, stands: true},
		{fault: slackfake.Fault{Kind: slackfake.Reset}},
		{fault: slackfake.Fault{Kind: slackfake.LoseReply}, stands: true},
		{fault: slackfake.Fault{Kind: slackfake.CutReply}, stands: true},
	} {
		t.Run(string(c.fault.Kind), func(t *testing.T) {
			t.Parallel()
			s := start(t, slackfake.Options{})
			c.fault.Method, c.fault.Channel = "chat.postMessage", slackfake.General
			s.Inject(c.fault)
			call(t, s, "chat.postMessage", "channel", slackfake.Random, "text", "another channel")
			call(t, s, "auth.test")
			res, body, err := post(t, s, slackfake.BotToken, "chat.postMessage", "channel", slackfake.General, "text", "hello")
			switch {
			case c.status == 0 && err == nil:
				t.Errorf("answered %d %s", res.StatusCode, body)
			case c.status != 0 && err != nil:
				t.Error(err)
			case err == nil && (res.StatusCode != c.status || !strings.Contains(string(body), c.holds) || res.Header.Get("Retry-After") != c.isntFor):
				t.Errorf("answered %d %v %s", res.StatusCode, res.Header, body)
			}
			if n := len(s.Messages(slackfake.General, "")); (n == 1) != c.stands {
				t.Errorf("%d messages stand", n)
			}
			call(t, s, "chat.postMessage", "channel", slackfake.General, "text", "the fault is used up")
		})
	}
}

func TestHangEndsWithTheServer(t *testing.T) {
	t.Parallel()
	for _, kind := range []slackfake.FaultKind{slackfake.Hang, slackfake.HangApplied} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			s := start(t, slackfake.Options{})
			s.Inject(slackfake.Fault{Method: "chat.postMessage", Kind: kind})
			done := make(chan error, 1)
			go func() {
				_, _, err := post(t, s, slackfake.BotToken, "chat.postMessage", "channel", slackfake.General, "text", "hello")
				done <- err
			}()
			wait(t, s, "the call hangs", func(v slackfake.View) bool {
				return v.Counts().Faulted == 1 && v.Counts().Sent == len(v.Messages(slackfake.General, ""))
			})
			if kind == slackfake.HangApplied {
				wait(t, s, "its message stands", func(v slackfake.View) bool { return v.Counts().Sent == 1 })
			}
			select {
			case err := <-done:
				t.Errorf("the call ended: %v", err)
			default:
			}
			s.Close()
			if err := <-done; err == nil {
				t.Error("the call was answered")
			}
		})
	}
}

func TestFaultsCount(t *testing.T) {
	t.Parallel()
	s := start(t, slackfake.Options{})
	s.Inject(slackfake.Fault{Kind: slackfake.Refusal, Error: "once", Skip: 1, Times: 2})
	var got []string
	for range 4 {
		got = append(got, str(try(t, s, "auth.test"), "error"))
	}
	if want := []string{"", "once", "once", ""}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	s.Inject(slackfake.Fault{Kind: slackfake.Refusal, Error: "always", Times: -1})
	for range 3 {
		refused(t, s, "always", "auth.test")
	}
	s.Heal()
	call(t, s, "auth.test")
}

func TestLostAck(t *testing.T) {
	t.Parallel()
	s := start(t, slackfake.Options{AckTimeout: 30 * time.Millisecond, RetryAfter: []time.Duration{0, time.Hour}})
	k := open(t, s)
	s.Inject(slackfake.Fault{Method: slackfake.AckMethod, Kind: slackfake.DropAck})
	told := s.Say(slackfake.Say{Text: "hello"})
	k.take()
	if f := k.take(); f["retry_attempt"] != float64(1) {
		t.Errorf("got %v", f)
	}
	wait(t, s, "the second acknowledgement counts", func(v slackfake.View) bool { return v.Acked(told.Events...) })
}

func TestPace(t *testing.T) {
	t.Parallel()
	s := start(t, slackfake.Options{Pace: slackfake.Pace{PerChannel: time.Hour, Burst: 2, Tiers: true}})
	say := func(channel string) (int, string) {
		t.Helper()
		res, _, err := post(t, s, slackfake.BotToken, "chat.postMessage", "channel", channel, "text", "x")
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, res.Header.Get("Retry-After")
	}
	for range 2 {
		if status, _ := say(slackfake.General); status != http.StatusOK {
			t.Fatalf("a post within the burst: %d", status)
		}
	}
	if status, after := say(slackfake.General); status != http.StatusTooManyRequests || after != "3600" {
		t.Errorf("the third post: %d, Retry-After %q", status, after)
	}
	if status, _ := say(slackfake.Random); status != http.StatusOK {
		t.Errorf("a post in another channel: %d", status)
	}
	s.Advance(time.Hour)
	if status, _ := say(slackfake.General); status != http.StatusOK {
		t.Errorf("a post after the pause: %d", status)
	}
	for i := range 21 {
		res, _, err := post(t, s, slackfake.BotToken, "users.list")
		if err != nil {
			t.Fatal(err)
		}
		if (res.StatusCode == http.StatusOK) != (i < 20) {
			t.Errorf("call %d of a method with 20 a minute: %d", i+1, res.StatusCode)
		}
	}
}

func TestObserve(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var got []slackfake.Call
	var stages []slackfake.Stage
	s := start(t, slackfake.Options{Observe: func(stage slackfake.Stage, c slackfake.Call) {
		if c.Method == "chat.postMessage" {
			mu.Lock()
			defer mu.Unlock()
			got, stages = append(got, c), append(stages, stage)
		}
	}})
	out := call(t, s, "chat.postMessage", "channel", slackfake.General, "text", "hello")
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(stages, []slackfake.Stage{slackfake.Arrived, slackfake.Applied}) || got[0].TS != "" || got[1].TS != str(out, "ts") || got[1].Args["text"] != "hello" {
		t.Errorf("observed %v %+v", stages, got)
	}
	for _, r := range s.Journal() {
		if raw, err := json.Marshal(r); err != nil || strings.Contains(string(raw), slackfake.BotToken) {
			t.Errorf("the journal holds a token: %s (%v)", raw, err)
		}
	}
}

func TestArgumentsInEveryForm(t *testing.T) {
	t.Parallel()
	s := start(t, slackfake.Options{})
	const where = `"channel":"` + slackfake.General + `"`
	multipart := "--b\r\nContent-Disposition: form-data; name=\"channel\"\r\n\r\n" + slackfake.General +
		"\r\n--b\r\nContent-Disposition: form-data; name=\"text\"\r\n\r\nhello\r\n--b--\r\n"
	for name, c := range map[string]struct{ kind, query, body, want string }{
		"json":          {"application/json", "", `{` + where + `,"text":"hello","blocks":[{"type":"divider"}],"unfurl_links":false}`, ""},
		"json charset":  {"application/json; charset=utf-8", "", `{` + where + `,"text":"hello"}`, ""},
		"form":          {"application/x-www-form-urlencoded", "", "text=hello&channel=" + slackfake.General, ""},
		"multipart":     {"multipart/form-data; boundary=b", "", multipart, ""},
		"query":         {"application/x-www-form-urlencoded", "?channel=" + slackfake.General, "text=hello", ""},
		"broken json":   {"application/json", "", `{`, "invalid_json"},
		"something new": {"application/xml", "", `<a/>`, "invalid_post_type"},
	} {
		req, err := http.NewRequestWithContext(within(t), http.MethodPost, s.APIURL()+"chat.postMessage"+c.query, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", c.kind)
		req.Header.Set("Authorization", "Bearer "+slackfake.BotToken)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		var out object
		err = json.NewDecoder(res.Body).Decode(&out)
		_ = res.Body.Close()
		if err != nil || str(out, "error") != c.want || c.want == "" && str(out, "message", "text") != "hello" {
			t.Errorf("%s: %v %v", name, out, err)
		}
	}
}
