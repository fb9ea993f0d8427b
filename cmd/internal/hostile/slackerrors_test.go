package hostile_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"herald/bots/bottest/slackfake"
	"herald/cmd/internal/service"
	"herald/core/model"
	"herald/core/model/modeltest"
	"herald/core/outbox"
	"herald/core/store"
	"herald/core/store/memory"
)

// sends are the methods by which an answer begins to stand.
var sends = []string{"chat.postMessage", "chat.startStream"}

// setAside are the dead letters of deliveries by the message that stays without an answer.
func setAside(t *testing.T, st store.Store) map[string]outbox.Letter {
	t.Helper()
	all, err := st.DeadLetters(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]outbox.Letter{}
	for _, l := range all {
		var note outbox.Letter
		if json.Unmarshal(l.Note, &note) != nil {
			t.Errorf("the note of a dead letter cannot be read: %s", l.Note)
		}
		for _, c := range note.Covers {
			out[c] = note
		}
	}
	return out
}

// Each error that Slack's reference names for a send comes to pass: the answer is sent again, in another form, or it is set aside with Slack's
// word and what an admin can do. All others of the workspace are answered meanwhile.
func TestErrorsOfASendInSlack(t *testing.T) {
	t.Parallel()
	again := []string{ // nothing was done, or nobody knows: it is tried again by itself
		"accesslimited", "external_channel_migrating", "message_limit_exceeded", "rate_limited", "ratelimited", "team_added_to_org", "update_failed",
		"fatal_error", "internal_error", "request_timeout", "service_unavailable",
	}
	operator := []string{ // … once an operator has mended it, without a new token
		"missing_scope", "org_login_required", "ekm_access_denied", "enterprise_is_restricted", "team_access_not_granted", "two_factor_setup_required", "team_disabled",
	}
	otherForm := []string{"channel_type_not_supported", "missing_recipient_team_id", "missing_recipient_user_id"} // of a stream
	aside := []string{                                                                                            // it will never be done as it is
		"as_user_not_supported", "cannot_reply_to_message", "channel_not_found", "deprecated_endpoint", "invalid_arguments", "invalid_arg_name", "invalid_array_arg",
		"invalid_attachments", "invalid_blocks", "invalid_blocks_format", "invalid_charset", "invalid_form_data", "invalid_metadata_format",
		"invalid_metadata_schema", "invalid_post_type", "is_archived", "markdown_text_conflict", "messages_tab_disabled", "metadata_must_be_sent_from_app",
		"metadata_too_large", "method_deprecated", "missing_post_type", "msg_blocks_too_long", "msg_too_long", "no_text", "not_in_channel", "restricted_action",
		"restricted_action_non_threadable_channel", "restricted_action_read_only_channel", "restricted_action_thread_locked",
		"restricted_action_thread_only_channel", "slack_connect_file_link_sharing_blocked", "thread_not_found", "too_many_attachments", "user_disabled",
		"user_not_found", "user_not_in_channel", "a_word_of_next_year",
	}
	st := memory.New(memory.Options{})
	r := beginSlack(t, slackfake.Options{}, setup{
		env: []string{"HERALD_OUTBOX__MAX_ATTEMPTS=2"}, rules: slackRules, change: func(o *service.Options) { o.Store = st },
	})
	told := map[string]slackfake.Told{}
	n := 0
	ask := func(word string, times int, methods ...string) {
		n++
		id := fmt.Sprintf("C0E%03d", n)
		r.slack.AddChannel(slackfake.Channel{ID: id, Name: "e" + fmt.Sprint(n), Team: slackfake.Team, Members: []string{slackfake.Alice, slackfake.BotUser}})
		for _, m := range methods {
			r.slack.Inject(slackfake.Fault{Method: m, Kind: slackfake.Refusal, Error: word, Channel: id, Times: times})
		}
		told[word] = r.ask(id, "good one")
	}
	for _, word := range slices.Concat(again, operator) {
		ask(word, 1, sends...)
	}
	for _, word := range otherForm {
		ask(word, -1, "chat.startStream")
	}
	for _, word := range aside {
		ask(word, -1, sends...)
	}
	for _, word := range slices.Concat(again, operator, otherForm) {
		r.answered(told[word], "well answered")
	}
	var notes map[string]outbox.Letter
	r.until("set aside what Slack refuses", func() bool {
		notes = setAside(t, st)
		return !slices.ContainsFunc(aside, func(word string) bool { return notes[told[word].TS].Delivery == "" })
	})
	for _, word := range aside {
		l := notes[told[word].TS]
		known := !strings.HasPrefix(word, "a_word")
		if l.Code != word || l.Reason != outbox.ReasonRefused || l.Refusals != 2 || l.Standing != 0 || !strings.Contains(l.Detail, "it says "+word) || strings.Contains(l.Detail, "; ") != known {
			t.Errorf("%s: the letter says %+v, want Slack's word and what to do", word, l)
		}
	}
	r.slack.Look(func(v slackfake.View) {
		for _, word := range aside {
			if got := v.Said(told[word].Channel, told[word].TS); len(got) > 0 {
				t.Errorf("%s: %d messages stand", word, len(got))
			}
		}
	})
	if got := len(notes); got != len(aside) {
		t.Errorf("%d answers were set aside, want %d", got, len(aside))
	}
	if code, body := r.get("/readyz"); code != http.StatusOK {
		t.Errorf("refusals of single channels made the service unready: %s", body)
	}
	r.up()
}

// A channel or a person that changes while the model thinks: the answer is set aside with the reason.
func TestPlacesThatCloseInSlack(t *testing.T) {
	t.Parallel()
	st := memory.New(memory.Options{})
	gate := make(chan struct{})
	wait := func(*model.Request) (modeltest.Reply, bool) { <-gate; return modeltest.Reply{}, false }
	r := beginSlack(t, slackfake.Options{}, setup{
		env: []string{"HERALD_OUTBOX__MAX_ATTEMPTS=2"}, rules: append([]modeltest.Rule{wait}, slackRules...), change: func(o *service.Options) { o.Store = st },
	})
	opened := false
	t.Cleanup(func() {
		if !opened {
			close(gate)
		}
	})
	type closing struct {
		word, say string
		told      slackfake.Told
	}
	var all []closing
	in := func(word, say string, change func(id string)) {
		id := "C0X" + strings.ToUpper(word)
		r.slack.AddChannel(slackfake.Channel{ID: id, Name: word, Team: slackfake.Team, Members: []string{slackfake.Alice, slackfake.BotUser}})
		c := closing{word, say, r.ask(id, "good one")}
		r.wait("the question is taken", func(v slackfake.View) bool { return v.Acked(c.told.Events...) })
		change(id)
		all = append(all, c)
	}
	in("is_archived", "unarchive", func(id string) { r.slack.SetChannel(id, func(c *slackfake.Channel) { c.Archived = true }) })
	in("restricted_action", "admin", func(id string) { r.slack.SetChannel(id, func(c *slackfake.Channel) { c.AdminsOnly = true }) })
	in("restricted_action_non_threadable_channel", "admin", func(id string) { r.slack.SetChannel(id, func(c *slackfake.Channel) { c.NoThreads = true }) })
	in("not_in_channel", "/invite", func(id string) { r.slack.Leave(id, slackfake.BotUser) })
	dm := r.slack.DM(slackfake.Bob, "")
	c := closing{"user_disabled", "deactivated", r.slack.Say(slackfake.Say{Channel: dm, User: slackfake.Bob, Text: "good one"})}
	r.wait("the question is taken", func(v slackfake.View) bool { return v.Acked(c.told.Events...) })
	r.slack.SetUser(slackfake.Bob, func(u *slackfake.User) { u.Deactivated = true })
	all = append(all, c)
	opened = true
	close(gate)
	var notes map[string]outbox.Letter
	r.until("set aside what has no place any more", func() bool {
		notes = setAside(t, st)
		return !slices.ContainsFunc(all, func(c closing) bool { return notes[c.told.TS].Delivery == "" })
	})
	for _, c := range all {
		if l := notes[c.told.TS]; l.Code != c.word || !strings.Contains(l.Detail, c.say) {
			t.Errorf("%s: the letter says %+v", c.word, l)
		}
	}
	// Where the place opens again, the next question is answered.
	r.slack.SetChannel(all[0].told.Channel, func(c *slackfake.Channel) { c.Archived = false })
	r.answered(r.ask(all[0].told.Channel, "good one"), "well answered")
	r.up()
}

// A token that died: the adapter stops calling, and says so by readyz and doctor. What was to be said is kept.
func TestDeadTokensOfSlack(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"token_revoked", "account_inactive", "invalid_auth", "not_authed", "token_expired", "user_removed_from_team", "app_uninstalled"} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			st := memory.New(memory.Options{})
			gate := make(chan struct{})
			wait := func(*model.Request) (modeltest.Reply, bool) { <-gate; return modeltest.Reply{}, false }
			r := beginSlack(t, slackfake.Options{}, setup{rules: append([]modeltest.Rule{wait}, slackRules...), change: func(o *service.Options) { o.Store = st }})
			told := r.ask("", "good one")
			r.wait("the question is taken", func(v slackfake.View) bool { return v.Acked(told.Events...) })
			r.slack.Kill(slackfake.BotToken, word)
			close(gate)
			r.until("unready", func() bool {
				code, body := r.get("/readyz")
				return code == http.StatusServiceUnavailable && strings.Contains(body, word) && strings.Contains(body, "install the app")
			})
			calls := func() (n int) {
				r.slack.Look(func(v slackfake.View) {
					for _, rec := range v.Journal() {
						if rec.Kind == slackfake.Called && slices.Contains(sends, rec.Method) {
							n++
						}
					}
				})
				return n
			}
			before := calls()
			// The outbox comes back to it after five seconds, and Slack is not asked.
			r.until("again at the answer", func() bool { return strings.Count(r.log.String(), word) > 1 })
			if got := calls(); got != before || got > 3 {
				t.Errorf("the dead token was tried %d times, %d of them after it was known", got, got-before)
			}
			found := false
			for _, c := range service.CheckSlack(t.Context(), r.cfg) {
				found = found || c.Status == service.Bad && strings.Contains(c.Text+c.Remedy, word)
			}
			if !found {
				t.Errorf("doctor does not name %s: %+v", word, service.CheckSlack(t.Context(), r.cfg))
			}
			if n := len(setAside(t, st)); n > 0 {
				t.Errorf("%d answers were given up; a new token would have brought them", n)
			}
		})
	}
}

// Slack limits post after post. Each waits as long as it is told; nothing is lost, doubled or turned round, and other channels go on.
func TestRateLimitStormInSlack(t *testing.T) {
	t.Parallel()
	const channels, each = 4, 4
	r := beginSlack(t, slackfake.Options{}, setup{rules: []modeltest.Rule{echoNumber}})
	for c := range channels {
		id := fmt.Sprint("C0STORM", c)
		r.slack.AddChannel(slackfake.Channel{ID: id, Name: id, Team: slackfake.Team, Members: []string{slackfake.Alice, slackfake.BotUser}})
		kind := []slackfake.FaultKind{slackfake.RateLimit, slackfake.LimitBody}[c%2]
		r.slack.Inject(slackfake.Fault{Method: "chat.postMessage", Channel: id, Kind: kind, Times: each, RetryAfter: time.Second})
	}
	asked := map[string][]slackfake.Told{}
	for i := range channels * each {
		id := fmt.Sprint("C0STORM", i%channels)
		asked[id] = append(asked[id], r.ask(id, fmt.Sprint("n ", i)))
	}
	began := time.Now()
	r.answered(r.ask("", "n 1000"), "answer 1000")
	if d := time.Since(began); d > 20*time.Second {
		t.Errorf("another channel waited %s", d)
	}
	for c := range channels {
		for k, told := range asked[fmt.Sprint("C0STORM", c)] {
			r.answered(told, fmt.Sprint("answer ", k*channels+c))
		}
	}
	limited := 0
	r.slack.Look(func(v slackfake.View) {
		until := map[string]time.Time{}
		for _, rec := range v.Journal() {
			if rec.Method != "chat.postMessage" {
				continue
			}
			left := until[rec.Channel].Sub(rec.At)
			switch rec.Kind {
			case slackfake.Faulted:
				limited++
				if left <= 0 { // a later one was under way with it
					until[rec.Channel] = rec.At.Add(time.Second)
				}
			case slackfake.Sent:
				if left > 0 && left < time.Second-underWay {
					t.Errorf("a post to %s came %s before its time", rec.Channel, left)
				}
			default:
			}
		}
	})
	if limited < channels*each {
		t.Errorf("%d calls were limited, want %d", limited, channels*each)
	}
	r.up()
}
