package service_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"herald/bots/bottest/slackfake"
	"herald/cmd/internal/service"
	"herald/config"
	"herald/core/store/memory"
)

// slackRig is a service that is connected to a fake Slack beside the test platform.
type slackRig struct {
	*rig
	slack *slackfake.Server
}

func onSlack(t *testing.T, opt slackfake.Options, change func(*service.Options), env ...string) *slackRig {
	t.Helper()
	if opt.RetryAfter == nil {
		for range 20 {
			opt.RetryAfter = append(opt.RetryAfter, 50*time.Millisecond)
		}
		opt.Patient = true
	}
	s, err := slackfake.Start(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return &slackRig{start(t, slackConfig(t, s, env...), change), s}
}

func slackConfig(t *testing.T, s *slackfake.Server, env ...string) *config.Config {
	t.Helper()
	return load(t, append([]string{
		"BOT=" + slackfake.BotToken, "APP=" + slackfake.AppToken, "SIGN=" + slackfake.SigningSecret,
		"HERALD_SLACK__BOT_TOKEN_ENV=BOT", "HERALD_SLACK__APP_TOKEN_ENV=APP", "HERALD_SLACK__SIGNING_SECRET_ENV=SIGN", "HERALD_SLACK__API_URL=" + s.APIURL(),
		"HERALD_SLACK__INTRODUCE=false", // tests count what is said
	}, env...)...)
}

func (r *slackRig) wait(what string, cond func(slackfake.View) bool) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 20*time.Second)
	defer cancel()
	if err := r.slack.Wait(ctx, what, cond); err != nil {
		r.t.Fatalf("%v\n%s", err, r.log)
	}
}

// said waits for n messages of the app in a thread.
func (r *slackRig) said(channel, thread string, n int) []string {
	r.t.Helper()
	var texts []string
	r.wait(fmt.Sprintf("%d answers stand in %s %s", n, channel, thread), func(v slackfake.View) bool {
		texts = nil
		for _, m := range v.Said(channel, thread) {
			texts = append(texts, m.Text)
		}
		return len(texts) >= n
	})
	return texts
}

// quiet checks after a probe was answered elsewhere that a thread holds n messages of the app.
func (r *slackRig) only(channel, thread string, n int) {
	r.t.Helper()
	probe := r.slack.Say(slackfake.Say{User: slackfake.Carol, Text: "<@" + slackfake.BotUser + "> probe"})
	r.said(probe.Channel, probe.TS, 1)
	if got := r.said(channel, thread, n); len(got) != n {
		r.t.Errorf("in %s %s stand %q, want %d", channel, thread, got, n)
	}
}

const mention = "<@" + slackfake.BotUser + "> "

func TestSlackMentionOpensThread(t *testing.T) {
	t.Parallel()
	r := onSlack(t, slackfake.Options{}, nil)
	told := r.slack.Say(slackfake.Say{Text: mention + "hello there"})
	if got := r.said(told.Channel, told.TS, 1); !strings.Contains(got[0], "hello there") || strings.Contains(got[0], slackfake.BotUser) {
		t.Errorf("answer %q", got)
	}
	if len(told.Events) != 2 {
		t.Fatalf("a mention made the events %v, want the message and the mention", told.Events)
	}
	r.only(told.Channel, told.TS, 1)
	// In its thread it answers without a mention, but not what is meant for somebody else.
	r.slack.Say(slackfake.Say{Thread: told.TS, User: slackfake.Bob, Text: "and then?"})
	if got := r.said(told.Channel, told.TS, 2); !strings.Contains(got[1], "and then?") {
		t.Errorf("answer %q", got[1])
	}
	r.slack.Say(slackfake.Say{Thread: told.TS, User: slackfake.Bob, Text: "<@" + slackfake.Carol + "> what do you think?"})
	r.slack.Say(slackfake.Say{Text: "nobody is meant"})
	other := r.slack.Say(slackfake.Say{User: slackfake.Carol, Text: "a thread of people"})
	r.slack.Say(slackfake.Say{Thread: other.TS, User: slackfake.Bob, Text: "indeed"})
	r.only(told.Channel, told.TS, 2)
	r.only(other.Channel, other.TS, 0)
}

func TestSlackDirectMessage(t *testing.T) {
	t.Parallel()
	r := onSlack(t, slackfake.Options{}, nil)
	dm := r.slack.DM(slackfake.Alice, "")
	r.slack.Say(slackfake.Say{Channel: dm, Text: "a & b < c"})
	if got := r.said(dm, "", 1); !strings.Contains(got[0], "a & b &lt; c") {
		t.Errorf("answer %q", got)
	}
}

func TestSlackLostReplySaysItOnce(t *testing.T) {
	t.Parallel()
	r := onSlack(t, slackfake.Options{}, nil)
	r.slack.Inject(slackfake.Fault{Method: "chat.postMessage", Kind: slackfake.LoseReply})
	told := r.slack.Say(slackfake.Say{Text: mention + "once"})
	r.said(told.Channel, told.TS, 1)
	// The look comes after the time-out of a send; until then nothing is known.
	r.wait("the message was looked for", func(v slackfake.View) bool {
		for _, rec := range v.Journal() {
			if rec.Kind == slackfake.Called && rec.Method == "conversations.replies" {
				return true
			}
		}
		return false
	})
	r.only(told.Channel, told.TS, 1)
}

func TestSlackSilentSocketIsNotReady(t *testing.T) {
	t.Parallel()
	r := onSlack(t, slackfake.Options{}, nil)
	r.until("ready", func() bool { code, _ := r.get("/readyz"); return code == http.StatusOK })
	r.slack.Kill(slackfake.BotToken, "token_revoked")
	r.slack.Hush("")
	r.slack.Inject(slackfake.Fault{Method: "apps.connections.open", Kind: slackfake.ServerError, Times: -1})
	r.until("not ready", func() bool {
		code, body := r.get("/readyz")
		return code == http.StatusServiceUnavailable && strings.Contains(body, "slack: not ready")
	})
}

func TestSlackOverHTTP(t *testing.T) {
	t.Parallel()
	r := onSlack(t, slackfake.Options{}, nil, "HERALD_SLACK__MODE=http")
	r.slack.AddApp(slackfake.App{ID: slackfake.AppID, Name: "herald", SigningSecret: slackfake.SigningSecret, RequestURL: "http://" + r.svc.Address() + "/slack/events"})
	if err := r.slack.Challenge(slackfake.AppID); err != nil {
		t.Fatal(err)
	}
	told := r.slack.Say(slackfake.Say{Text: mention + "over HTTP"})
	if got := r.said(told.Channel, told.TS, 1); !strings.Contains(got[0], "over HTTP") {
		t.Errorf("answer %q", got)
	}
	r.only(told.Channel, told.TS, 1)
}

func TestSlackCommand(t *testing.T) {
	t.Parallel()
	r := onSlack(t, slackfake.Options{}, nil)
	r.until("ready", func() bool { code, _ := r.get("/readyz"); return code == http.StatusOK })
	for _, tt := range []struct{ text, want string }{{"help", "status"}, {"nonsense", "nonsense"}} {
		told := r.slack.Command(slackfake.Command{Text: tt.text})
		r.wait("the command "+tt.text+" is answered", func(v slackfake.View) bool {
			for _, m := range v.Whispers(slackfake.General, slackfake.Alice) {
				if strings.Contains(m.Text, tt.want) {
					return v.Event(told.ID).Acked
				}
			}
			return false
		})
	}
	r.slack.Look(func(v slackfake.View) {
		if said := v.Said(slackfake.General, ""); len(said) > 0 {
			t.Errorf("a command was answered in public: %q", said[0].Text)
		}
	})
}

// What was said while Herald was away, and Slack does not send any more, is answered after the start.
func TestSlackReadsBackAfterTheStart(t *testing.T) {
	t.Parallel()
	st := memory.New(memory.Options{})
	t.Cleanup(func() { _ = st.Close() })
	keep := func(o *service.Options) { o.Store = st }
	first := onSlack(t, slackfake.Options{RetryAfter: []time.Duration{}}, keep)
	first.until("ready", func() bool { code, _ := first.get("/readyz"); return code == http.StatusOK })
	told := first.slack.Say(slackfake.Say{Text: mention + "first"})
	first.said(told.Channel, told.TS, 1)
	if err := first.end(); err != nil {
		t.Fatal(err)
	}
	missed := first.slack.Say(slackfake.Say{Thread: told.TS, User: slackfake.Bob, Text: "while you were away"})
	first.wait("Slack has given up", func(v slackfake.View) bool { return v.Event(missed.Events[0]).GaveUp })
	second := &slackRig{start(t, slackConfig(t, first.slack), keep), first.slack}
	if got := second.said(told.Channel, told.TS, 2); !strings.Contains(got[1], "while you were away") {
		t.Errorf("answer %q", got[1])
	}
	second.only(told.Channel, told.TS, 2)
}

// Two replicas, each with a socket, get the message and the mention of one text, each twice: one answer stands.
func TestSlackTwoReplicasAnswerOnce(t *testing.T) {
	t.Parallel()
	st := memory.New(memory.Options{})
	t.Cleanup(func() { _ = st.Close() })
	keep := func(o *service.Options) { o.Store = st }
	first := onSlack(t, slackfake.Options{}, keep)
	second := &slackRig{start(t, slackConfig(t, first.slack), keep), first.slack}
	second.wait("both are connected", func(v slackfake.View) bool { return v.Counts().Sockets == 2 })
	var roots []slackfake.Told
	for i := range 10 {
		roots = append(roots, first.slack.Say(slackfake.Say{Channel: slackfake.Random, Text: fmt.Sprint(mention, "number ", i), Copies: 2}))
	}
	for i, told := range roots {
		if got := first.said(told.Channel, told.TS, 1); !strings.Contains(got[0], fmt.Sprint("number ", i)) {
			t.Errorf("thread %d has the answer %q", i, got[0])
		}
	}
	for _, told := range roots {
		first.only(told.Channel, told.TS, 1)
	}
}

// A preview that Slack attaches, and an edit by its writer, make no second answer; an edit before the turn is not told twice.
func TestSlackUnfurlAndEditAnswerOnce(t *testing.T) {
	t.Parallel()
	r := onSlack(t, slackfake.Options{}, nil)
	told := r.slack.Say(slackfake.Say{Text: mention + "see https://example.org/x"})
	if _, err := r.slack.Unfurl(told.Channel, told.TS); err != nil {
		t.Fatal(err)
	}
	r.said(told.Channel, told.TS, 1)
	if _, err := r.slack.Unfurl(told.Channel, told.TS); err != nil {
		t.Fatal(err)
	}
	if _, err := r.slack.Edit(told.Channel, told.TS, mention+"see https://example.org/y"); err != nil {
		t.Fatal(err)
	}
	r.only(told.Channel, told.TS, 1)
}

// Under Slack's own pace of a channel nothing is lost, doubled or reordered.
func TestSlackRateLimit(t *testing.T) {
	t.Parallel()
	r := onSlack(t, slackfake.Options{Pace: slackfake.Pace{PerChannel: 100 * time.Millisecond, Burst: 2}}, nil)
	root := r.slack.Say(slackfake.Say{Channel: slackfake.Random, Text: mention + "begin"})
	r.said(root.Channel, root.TS, 1)
	const n = 6
	var roots []slackfake.Told
	for i := range n {
		roots = append(roots, r.slack.Say(slackfake.Say{Channel: slackfake.Random, Text: fmt.Sprint(mention, "burst ", i)}))
	}
	for i, told := range roots {
		if got := r.said(told.Channel, told.TS, 1); len(got) != 1 || !strings.Contains(got[0], fmt.Sprint("burst ", i)) {
			t.Errorf("thread %d has %q", i, got)
		}
	}
	refused := 0
	for _, rec := range r.slack.Journal() {
		if rec.Kind == slackfake.Refused && rec.Code == "ratelimited" {
			refused++
		}
	}
	if refused == 0 {
		t.Error("Slack's limit was never hit, so nothing was tested")
	}
	t.Logf("%d calls were refused by the limit", refused)
}
