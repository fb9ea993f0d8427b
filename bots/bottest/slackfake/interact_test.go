package slackfake_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"herald/bots/bottest/slackfake"
)

const modal = `{"type":"modal","callback_id":"form","title":{"type":"plain_text","text":"Form"},"submit":{"type":"plain_text","text":"Send"},` +
	`"blocks":[{"type":"input","block_id":"name","label":{"type":"plain_text","text":"Name"},"element":{"type":"plain_text_input","action_id":"text"}}]}`

// respond posts to a response_url.
func respond(t *testing.T, to string, body any) (int, string) {
	t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.Post(to, "application/json", strings.NewReader(string(raw))) //nolint:noctx // loopback
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(answer)
}

// card posts a message with elements and gives its timestamp.
func card(t *testing.T, s *slackfake.Server, elements string) string {
	t.Helper()
	return str(call(t, s, "chat.postMessage", "channel", slackfake.General, "text", "choose", "blocks", `[{"type":"actions","block_id":"row","elements":[`+elements+`]}]`), "ts")
}

func TestClick(t *testing.T) {
	t.Parallel()
	s := start(t, slackfake.Options{Silent: true})
	k := open(t, s)
	ts := card(t, s, `{"type":"button","action_id":"yes","value":"v","text":{"type":"plain_text","text":"Yes"}},`+
		`{"type":"static_select","action_id":"pick","options":[{"text":{"type":"plain_text","text":"A"},"value":"a"},{"text":{"type":"plain_text","text":"B"},"value":"b"}]}`)
	did, err := s.Click(slackfake.Click{Channel: slackfake.General, TS: ts, User: slackfake.Bob, ActionID: "yes"})
	if err != nil {
		t.Fatal(err)
	}
	f := k.take()
	p, _ := f["payload"].(object)
	actions, _ := p["actions"].([]any)
	if f["type"] != "interactive" || str(p, "type") != "block_actions" || str(p, "user", "id") != slackfake.Bob || str(p, "container", "message_ts") != ts ||
		len(actions) != 1 || str(actions[0], "value") != "v" || str(actions[0], "block_id") != "row" || str(p, "trigger_id") != did.Trigger || str(p, "message", "text") != "choose" {
		t.Errorf("the click arrives as %v", f)
	}
	if _, err := s.Click(slackfake.Click{Channel: slackfake.General, TS: ts, ActionID: "pick", Value: "b"}); err != nil {
		t.Fatal(err)
	}
	actions, _ = dig(k.take(), "payload", "actions").([]any)
	if str(actions[0], "selected_option", "value") != "b" {
		t.Errorf("the choice arrives as %v", actions)
	}
	for name, c := range map[string]slackfake.Click{
		"no such element": {Channel: slackfake.General, TS: ts, ActionID: "no"},
		"no such choice":  {Channel: slackfake.General, TS: ts, ActionID: "pick", Value: "c"},
		"no such message": {Channel: slackfake.General, TS: "1.000001", ActionID: "yes"},
	} {
		if _, err := s.Click(c); err == nil {
			t.Errorf("%s: the click went through", name)
		}
	}
}

func TestInteractionIsNeverSentAgain(t *testing.T) {
	t.Parallel()
	s := start(t, slackfake.Options{AckTimeout: 20 * time.Millisecond, RetryAfter: []time.Duration{0}, Silent: true})
	k := open(t, s)
	ran := s.Command(slackfake.Command{Text: "help <me>"})
	f := k.next()
	if f["type"] != "slash_commands" || str(f, "payload", "text") != "help &lt;me&gt;" || str(f, "payload", "command") != "/herald" {
		t.Errorf("the command arrives as %v", f)
	}
	wait(t, s, "the person sees an error", func(v slackfake.View) bool { return v.Event(ran.ID).GaveUp })
	s.Advance(time.Hour)
	told := s.Say(slackfake.Say{Text: "next"})
	if f := k.take(); str(f, "payload", "event_id") != told.Events[0] {
		t.Errorf("after the command came %v", f)
	}
}

func TestCommandAnswers(t *testing.T) {
	t.Parallel()
	s := start(t, slackfake.Options{})
	k := open(t, s)
	ran := s.Command(slackfake.Command{Text: "help"})
	k.ack(k.next(), object{"text": "wait"})
	wait(t, s, "the answer shows", func(v slackfake.View) bool {
		w := v.Whispers(slackfake.General, slackfake.Alice)
		return len(w) == 1 && w[0].Text == "wait" && w[0].Interaction == ran.ID
	})
	for i := range 5 {
		if status, body := respond(t, ran.ResponseURL, object{"text": fmt.Sprint("part ", i)}); status != http.StatusOK || body != "ok" {
			t.Fatalf("part %d: %d %s", i, status, body)
		}
	}
	if status, body := respond(t, ran.ResponseURL, object{"text": "a sixth"}); status != http.StatusNotFound || !strings.Contains(body, "used_url") {
		t.Errorf("the sixth answer: %d %s", status, body)
	}
	again := s.Command(slackfake.Command{Text: "help"})
	k.take()
	if status, body := respond(t, again.ResponseURL, object{"markdown_text": "not known here"}); status != http.StatusNotFound || !strings.Contains(body, "no_text") {
		t.Errorf("markdown alone: %d %s", status, body)
	}
	s.Advance(30 * time.Minute)
	if status, body := respond(t, again.ResponseURL, object{"text": "late"}); status != http.StatusNotFound || !strings.Contains(body, "expired_url") {
		t.Errorf("the late answer: %d %s", status, body)
	}
	s.Look(func(v slackfake.View) {
		if n := len(v.Whispers(slackfake.General, slackfake.Alice)); n != 6 {
			t.Errorf("alice sees %d answers", n)
		}
		if n := len(v.Whispers(slackfake.General, slackfake.Bob)); n != 0 {
			t.Errorf("bob sees %d of them", n)
		}
	})
}

func TestReplaceAndDeleteOriginal(t *testing.T) {
	t.Parallel()
	s := start(t, slackfake.Options{Silent: true})
	k := open(t, s)
	ts := card(t, s, `{"type":"button","action_id":"yes","text":{"type":"plain_text","text":"Yes"}}`)
	did, err := s.Click(slackfake.Click{Channel: slackfake.General, TS: ts, ActionID: "yes"})
	if err != nil {
		t.Fatal(err)
	}
	k.take()
	respond(t, did.ResponseURL, object{"text": "decided", "replace_original": true})
	if m := s.Messages(slackfake.General, ts); m[0].Text != "decided" || m[0].Blocks != nil || len(m) != 1 {
		t.Errorf("replaced: %+v", m)
	}
	respond(t, did.ResponseURL, object{"delete_original": true})
	if m := s.Messages(slackfake.General, ts); !m[0].Deleted {
		t.Errorf("deleted: %+v", m)
	}
}

func TestTriggers(t *testing.T) {
	t.Parallel()
	s := start(t, slackfake.Options{})
	k := open(t, s)
	first := s.Command(slackfake.Command{}).Trigger
	k.take()
	refused(t, s, "invalid_trigger_id", "views.open", "trigger_id", "other", "view", modal)
	refused(t, s, "invalid_arguments", "views.open", "trigger_id", first, "view", strings.Replace(modal, "Form", strings.Repeat("x", 25), 1))
	call(t, s, "views.open", "trigger_id", first, "view", modal)
	refused(t, s, "exchanged_trigger_id", "views.open", "trigger_id", first, "view", modal)
	late := s.Command(slackfake.Command{}).Trigger
	k.take()
	s.Advance(3 * time.Second)
	refused(t, s, "expired_trigger_id", "views.open", "trigger_id", late, "view", modal)
}

func TestViews(t *testing.T) {
	t.Parallel()
	s := start(t, slackfake.Options{})
	k := open(t, s)
	trigger := func() string {
		id := s.Command(slackfake.Command{}).Trigger
		k.take()
		return id
	}
	v := call(t, s, "views.open", "trigger_id", trigger(), "view", modal)
	id, hash := str(v, "view", "id"), str(v, "view", "hash")
	call(t, s, "views.update", "view_id", id, "hash", hash, "view", modal)
	refused(t, s, "hash_conflict", "views.update", "view_id", id, "hash", hash, "view", modal)
	refused(t, s, "not_found", "views.update", "view_id", "V0", "view", modal)
	call(t, s, "views.push", "trigger_id", trigger(), "view", modal)
	call(t, s, "views.push", "trigger_id", trigger(), "view", modal)
	refused(t, s, "push_limit_reached", "views.push", "trigger_id", trigger(), "view", modal)
	stack := func() (all []slackfake.Modal) {
		s.Look(func(v slackfake.View) { all = v.Modals(slackfake.AppID, slackfake.Alice) })
		return all
	}
	if len(stack()) != 3 {
		t.Fatalf("the stack is %+v", stack())
	}
	answer := func(top int, payload any) slackfake.Invoked {
		t.Helper()
		did, err := s.Submit(stack()[top].ID, slackfake.Alice, map[string]map[string]any{"name": {"text": slackfake.Text("Ann")}})
		if err != nil {
			t.Fatal(err)
		}
		f := k.next()
		if got := str(f, "payload", "view", "state", "values", "name", "text", "value"); got != "Ann" {
			t.Errorf("the form arrives as %v", f)
		}
		k.ack(f, payload)
		wait(t, s, "the form is acknowledged", func(v slackfake.View) bool { return v.Acked(did.ID) })
		return did
	}
	answer(2, object{"response_action": "errors", "errors": object{"name": "no"}})
	if got := stack()[2].Errors["name"]; got != "no" {
		t.Errorf("the form shows %q", got)
	}
	answer(2, nil)
	if n := len(stack()); n != 2 {
		t.Errorf("after the empty answer %d modals stand", n)
	}
	answer(1, object{"response_action": "update", "view": json.RawMessage(strings.Replace(modal, "Form", "Done", 1))})
	if got := stack()[1].Title; got != "Done" {
		t.Errorf("the changed modal is titled %q", got)
	}
	answer(1, object{"response_action": "clear"})
	if n := len(stack()); n != 0 {
		t.Errorf("after clear %d modals stand", n)
	}
}

func TestHome(t *testing.T) {
	t.Parallel()
	s := start(t, slackfake.Options{})
	const home = `{"type":"home","blocks":[{"type":"divider"}]}`
	v := call(t, s, "views.publish", "user_id", slackfake.Bob, "view", home)
	call(t, s, "views.publish", "user_id", slackfake.Bob, "view", home, "hash", str(v, "view", "hash"))
	refused(t, s, "hash_conflict", "views.publish", "user_id", slackfake.Bob, "view", home, "hash", str(v, "view", "hash"))
}
