package slackfake_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"herald/bots/bottest/slackfake"
)

func TestDirectMessages(t *testing.T) {
	t.Parallel()
	s := start(t, slackfake.Options{App: slackfake.App{AgentView: true}})
	k := open(t, s)
	opened := s.OpenDM(slackfake.Bob, "")
	if e := event(k.take()); str(e, "type") != "app_home_opened" || str(e, "tab") != "messages" || str(e, "channel") != opened.Channel {
		t.Errorf("opening the DM arrives as %v", e)
	}
	out := call(t, s, "conversations.open", "users", slackfake.Bob)
	if str(out, "channel", "id") != opened.Channel {
		t.Errorf("conversations.open gives %v, want %s", out, opened.Channel)
	}
	s.Say(slackfake.Say{Channel: opened.Channel, User: slackfake.Bob, Text: "hello <@" + slackfake.BotUser + ">"})
	if e := event(k.take()); str(e, "channel_type") != "im" || str(e, "type") != "message" {
		t.Errorf("the DM arrives as %v", e)
	}
	posted := call(t, s, "chat.postMessage", "channel", slackfake.Bob, "text", "by the person's id")
	if str(posted, "channel") != opened.Channel {
		t.Errorf("posted to %v", posted)
	}
	refused(t, s, "channel_not_found", "chat.update", "channel", slackfake.Bob, "ts", str(posted, "ts"), "text", "an update needs the channel's id")
	if e := event(k.take()); str(e, "type") != "message" || str(e, "bot_id") != slackfake.BotID {
		t.Errorf("after the DM, which is no mention event, came %v", e)
	}
	call(t, s, "assistant.threads.setSuggestedPrompts", "channel_id", opened.Channel, "prompts", `[{"title":"a","message":"b"}]`)
	call(t, s, "agents.sessions.setStatus", "channel", opened.Channel, "thread_ts", str(posted, "ts"), "status", "processing")
	call(t, s, "agents.sessions.rename", "channel", opened.Channel, "thread_ts", str(posted, "ts"), "title", "talk")
	s.Look(func(v slackfake.View) {
		if th := v.Thread(opened.Channel, str(posted, "ts")); th.State != "processing" || th.Title != "talk" {
			t.Errorf("the session is %+v", th)
		}
	})
}

func TestStatus(t *testing.T) {
	t.Parallel()
	s := start(t, slackfake.Options{})
	root := s.Say(slackfake.Say{Text: "question"}).TS
	status := func() (text string) {
		s.Look(func(v slackfake.View) { text = v.Thread(slackfake.General, root).Status })
		return text
	}
	set := func(text string) {
		call(t, s, "assistant.threads.setStatus", "channel_id", slackfake.General, "thread_ts", root, "status", text, "loading_messages", `["a","b, c"]`)
	}
	set("thinks")
	if status() != "thinks" {
		t.Errorf("the status is %q", status())
	}
	call(t, s, "chat.postMessage", "channel", slackfake.General, "thread_ts", root, "text", "answer")
	if status() != "" {
		t.Errorf("after a post the status is %q", status())
	}
	set("thinks")
	s.Advance(2 * time.Minute)
	if status() != "" {
		t.Errorf("after its time the status is %q", status())
	}
	refused(t, s, "invalid_arguments", "assistant.threads.setStatus", "channel_id", slackfake.General, "thread_ts", root, "status", "x",
		"loading_messages", `["1","2","3","4","5","6","7","8","9","10","11"]`)
	refused(t, s, "invalid_arguments", "assistant.threads.setSuggestedPrompts", "channel_id", slackfake.General, "thread_ts", root, "prompts", `[{"title":"a","message":"b"}]`)
	refused(t, s, "feature_not_enabled", "agents.sessions.setStatus", "channel", slackfake.General, "thread_ts", root, "status", "active")
}

func TestTwoAppsHearTheSame(t *testing.T) {
	t.Parallel()
	s := start(t, slackfake.Options{})
	s.AddApp(slackfake.App{ID: "A0OTHER", AppToken: "xapp-other"})
	s.Install(slackfake.Install{App: "A0OTHER", Team: slackfake.Team, Token: "xoxb-other", BotUser: "U0OTHER", BotID: "B0OTHER"})
	s.Join(slackfake.General, "U0OTHER")
	told := s.Say(slackfake.Say{Text: "<@U0OTHER> hello"})
	if len(told.Events) != 3 {
		t.Errorf("%d events for two apps, one of them mentioned", len(told.Events))
	}
	s.Leave(slackfake.General, "U0OTHER")
	if told := s.Say(slackfake.Say{Text: "<@U0OTHER> hello"}); len(told.Events) != 1 {
		t.Errorf("%d events when one app has left", len(told.Events))
	}
}

func TestSlackConnect(t *testing.T) {
	t.Parallel()
	s := start(t, slackfake.Options{})
	k := open(t, s)
	s.AddWorkspace(slackfake.Workspace{ID: "T0FAR"})
	s.AddUser(slackfake.User{ID: "U0FAR", Team: "T0FAR", Email: "far@away.example"})
	s.AddChannel(slackfake.Channel{ID: "C0SHARED", Name: "shared", Team: slackfake.Team, SharedWith: []string{"T0FAR"}, Members: []string{slackfake.Alice, "U0FAR", slackfake.BotUser}})
	s.Say(slackfake.Say{Channel: "C0SHARED", User: "U0FAR", Text: "hello"})
	f := k.take()
	p, _ := f["payload"].(object)
	auth, _ := p["authorizations"].([]any)
	if str(p, "team_id") != "T0FAR" || str(p, "context_team_id") != slackfake.Team || p["is_ext_shared_channel"] != true || str(auth[0], "team_id") != slackfake.Team || str(event(f), "user_team") != "T0FAR" {
		t.Errorf("a message from the other workspace arrives as %v", p)
	}
	out := call(t, s, "users.info", "user", "U0FAR")
	if dig(out, "user", "is_stranger") != true || str(out, "user", "profile", "email") != "" {
		t.Errorf("the stranger is shown as %v", out)
	}
}

func TestOrgInstall(t *testing.T) {
	t.Parallel()
	s := start(t, slackfake.Options{Bare: true})
	s.AddWorkspace(slackfake.Workspace{ID: "T1", Enterprise: "E1"})
	s.AddUser(slackfake.User{ID: "W1", Team: "T1", Guest: true})
	s.AddApp(slackfake.App{ID: "A1", AppToken: slackfake.AppToken, Events: []string{"message.groups"}})
	s.Install(slackfake.Install{App: "A1", Enterprise: "E1", Token: slackfake.BotToken, BotUser: "UBOT", BotID: "BBOT"})
	s.AddChannel(slackfake.Channel{ID: "C1", Name: "open", Team: "T1", Members: []string{"W1", "UBOT"}})
	s.AddChannel(slackfake.Channel{ID: "G1", Name: "closed", Team: "T1", Private: true, Members: []string{"W1", "UBOT"}})
	k, _ := dial(t, s)
	if told := s.Say(slackfake.Say{Channel: "C1", User: "W1", Text: "not subscribed"}); len(told.Events) != 0 {
		t.Errorf("an event that nobody subscribed to: %v", told)
	}
	s.Say(slackfake.Say{Channel: "G1", User: "W1", Text: "hello"})
	p, _ := k.take()["payload"].(object)
	auth, _ := p["authorizations"].([]any)
	if str(p, "team_id") != "T1" || str(auth[0], "enterprise_id") != "E1" || dig(auth[0], "team_id") != nil || dig(auth[0], "is_enterprise_install") != true {
		t.Errorf("the event arrives as %v", p)
	}
	out := call(t, s, "auth.test")
	if str(out, "enterprise_id") != "E1" || out["is_enterprise_install"] != true {
		t.Errorf("auth.test says %v", out)
	}
	if out := call(t, s, "users.info", "user", "W1"); dig(out, "user", "is_restricted") != true {
		t.Errorf("the guest is shown as %v", out)
	}
}

func TestRevoke(t *testing.T) {
	t.Parallel()
	s := start(t, slackfake.Options{})
	k := open(t, s)
	s.Revoke(slackfake.BotToken, true)
	if a, b := event(k.take()), event(k.take()); str(a, "type") != "tokens_revoked" || str(b, "type") != "app_uninstalled" {
		t.Errorf("told %v and %v", a, b)
	}
	refused(t, s, "token_revoked", "auth.test")
	if told := s.Say(slackfake.Say{Text: "anybody?"}); len(told.Events) != 0 {
		t.Errorf("a dead install is told %v", told)
	}
}

func TestOddEvents(t *testing.T) {
	t.Parallel()
	s := start(t, slackfake.Options{})
	k := open(t, s)
	s.Emit(slackfake.BotToken, json.RawMessage(`{"type":"brand_new","x":1}`))
	if e := event(k.take()); str(e, "type") != "brand_new" {
		t.Errorf("got %v", e)
	}
	s.EmitBody(slackfake.AppID, json.RawMessage(`{"type":"app_rate_limited","team_id":"T0LAB"}`))
	if f := k.take(); str(f, "payload", "type") != "app_rate_limited" {
		t.Errorf("got %v", f)
	}
	s.Frame("", `{"type":"hologram","envelope_id":"e1"}`)
	if f := k.next(); f["type"] != "hologram" {
		t.Errorf("got %v", f)
	}
	k.ack(object{"envelope_id": "e1"}, nil)
	wait(t, s, "the acknowledgement of nothing is noted", func(v slackfake.View) bool {
		return slices.ContainsFunc(v.Journal(), func(r slackfake.Record) bool { return r.Kind == slackfake.AckUnknown })
	})
}

func TestDeedsOfPeople(t *testing.T) {
	t.Parallel()
	s := start(t, slackfake.Options{})
	k := open(t, s)
	said := s.Say(slackfake.Say{Text: "see https://example.com/a?b=1&c=2."})
	if e := event(k.take()); str(e, "text") != "see <https://example.com/a?b=1&amp;c=2>." {
		t.Errorf("the link arrives as %v", e["text"])
	}
	deed := func(name string, told slackfake.Told, err error) object {
		t.Helper()
		if err != nil || len(told.Events) != 1 {
			t.Fatalf("%s: %+v %v", name, told, err)
		}
		return event(k.take())
	}
	told, err := s.Unfurl(slackfake.General, said.TS)
	if e := deed("unfurl", told, err); str(e, "subtype") != "message_changed" || str(e, "message", "text") != str(e, "previous_message", "text") || dig(e, "message", "edited") != nil {
		t.Errorf("the unfurl arrives as %v", e)
	}
	told, err = s.Edit(slackfake.General, said.TS, "see nothing")
	if e := deed("edit", told, err); str(e, "message", "text") != "see nothing" || str(e, "message", "edited", "user") != slackfake.Alice {
		t.Errorf("the edit arrives as %v", e)
	}
	told, err = s.React(slackfake.General, said.TS, slackfake.Bob, "eyes")
	if e := deed("reaction", told, err); str(e, "type") != "reaction_added" || str(e, "item", "ts") != said.TS {
		t.Errorf("the reaction arrives as %v", e)
	}
	told, err = s.Delete(slackfake.General, said.TS)
	if e := deed("deletion", told, err); str(e, "subtype") != "message_deleted" || str(e, "previous_message", "text") != "see nothing" {
		t.Errorf("the deletion arrives as %v", e)
	}
	if _, err := s.Edit(slackfake.General, said.TS, "too late"); err == nil {
		t.Error("a deleted message was edited")
	}
	held := s.Say(slackfake.Say{Text: "first", Held: true})
	later := s.Say(slackfake.Say{Text: "second", Held: true})
	s.Deliver(later.Events[0], held.Events[0])
	if a, b := event(k.take()), event(k.take()); str(a, "text") != "second" || str(b, "text") != "first" || str(a, "ts") < str(b, "ts") {
		t.Errorf("out of order came %v and %v", a, b)
	}
	s.Say(slackfake.Say{Text: "twice", Copies: 2})
	if a, b := k.take(), k.take(); str(a, "payload", "event_id") != str(b, "payload", "event_id") || str(a, "envelope_id") == str(b, "envelope_id") {
		t.Errorf("the copies are %v and %v", a, b)
	}
}

func TestShownAndLive(t *testing.T) {
	t.Parallel()
	rich := `[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"a < b "},{"type":"user","user_id":"U1"}]},` +
		`{"type":"rich_text_preformatted","elements":[{"type":"text","text":"<!here>"}]}]}]`
	for _, c := range []struct {
		name        string
		m           slackfake.Message
		shown, live string
	}{
		{"text", slackfake.Message{Text: "1 &lt; 2 &amp;lt; <@U1> &lt;!here&gt;"}, "1 < 2 &lt; <@U1> <!here>", "<@U1>"},
		{"markdown", slackfake.Message{Text: "x", Markdown: "`<@U1>` <!here> \n```\n<@U2>\n``` &lt;@U3&gt; <https://a|b>"}, "x", "<!here> <https://a|b>"},
		{"rich text", slackfake.Message{Text: "fallback <@U9>", Blocks: json.RawMessage(rich)}, "a < b <@U1>\n<!here>", "<@U1>"},
		{"section", slackfake.Message{Blocks: json.RawMessage(`[{"type":"header","text":{"type":"plain_text","text":"A &amp; <!here>"}},` +
			`{"type":"section","text":{"type":"mrkdwn","text":"&amp; <#C1|c>"}}]`)}, "A &amp; <!here>\n& <#C1|c>", "<#C1|c>"},
	} {
		if got := c.m.Shown(); got != c.shown {
			t.Errorf("%s shows %q, want %q", c.name, got, c.shown)
		}
		if got := strings.Join(c.m.Live(), " "); got != c.live {
			t.Errorf("%s sets off %q, want %q", c.name, got, c.live)
		}
	}
}
