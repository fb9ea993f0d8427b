package slackfake_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"herald/bots/bottest/slackfake"
)

func TestPostIsEchoed(t *testing.T) {
	t.Parallel()
	s := start(t, slackfake.Options{})
	k := open(t, s)
	root := s.Say(slackfake.Say{Text: "question"})
	k.take()
	out := call(t, s, "chat.postMessage", "channel", slackfake.General, "thread_ts", root.TS, "text", "answer")
	e := event(k.take())
	if str(e, "bot_id") != slackfake.BotID || str(e, "user") != slackfake.BotUser || e["subtype"] != nil || str(e, "thread_ts") != root.TS || str(e, "ts") != str(out, "ts") {
		t.Errorf("the app hears of its own post as %v", e)
	}
	call(t, s, "chat.update", "channel", slackfake.General, "ts", str(out, "ts"), "text", "better answer")
	e = event(k.take())
	if str(e, "subtype") != "message_changed" || e["hidden"] != true || str(e, "message", "text") != "better answer" || str(e, "previous_message", "text") != "answer" {
		t.Errorf("the app hears of its own edit as %v", e)
	}
	call(t, s, "chat.delete", "channel", slackfake.General, "ts", str(out, "ts"))
	e = event(k.take())
	if str(e, "subtype") != "message_deleted" || str(e, "deleted_ts") != str(out, "ts") {
		t.Errorf("the app hears of its own deletion as %v", e)
	}
	if m := s.Messages(slackfake.General, root.TS); len(m) != 2 || !m[1].Deleted || m[1].Edits != 1 {
		t.Errorf("the thread is %+v", m)
	}
}

func TestLookBackByMetadata(t *testing.T) {
	t.Parallel()
	s := start(t, slackfake.Options{})
	root := s.Say(slackfake.Say{Text: "question"})
	for i := range 5 {
		call(t, s, "chat.postMessage", "channel", slackfake.General, "thread_ts", root.TS, "text", fmt.Sprint("piece ", i),
			"metadata", fmt.Sprintf(`{"event_type":"delivery","event_payload":{"id":"d1","piece":%d}}`, i))
	}
	var got []float64
	cursor, pages := "", 0
	for {
		out := call(t, s, "conversations.replies", "channel", slackfake.General, "ts", root.TS, "include_all_metadata", "true", "limit", "3", "cursor", cursor)
		pages++
		for _, m := range out["messages"].([]any) {
			if n, ok := dig(m, "metadata", "event_payload", "piece").(float64); ok {
				got = append(got, n)
			}
		}
		if cursor = str(out, "response_metadata", "next_cursor"); cursor == "" {
			break
		}
	}
	if fmt.Sprint(got) != "[0 1 2 3 4]" || pages < 2 {
		t.Errorf("found pieces %v on %d pages", got, pages)
	}
	out := call(t, s, "conversations.replies", "channel", slackfake.General, "ts", root.TS)
	messages := out["messages"].([]any)
	if first := messages[0].(object); first["reply_count"] != float64(5) || str(first, "thread_ts") != root.TS {
		t.Errorf("the root is %v", first)
	}
	if _, ok := messages[1].(object)["metadata"]; ok {
		t.Error("metadata came unasked")
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	s := start(t, slackfake.Options{})
	var all []string
	for i := range 7 {
		all = append(all, s.Say(slackfake.Say{Text: fmt.Sprint("m", i)}).TS)
	}
	s.Say(slackfake.Say{Text: "a reply", Thread: all[3]})
	s.Say(slackfake.Say{Text: "a reply for all", Thread: all[3], Broadcast: true})
	texts := func(fields ...string) (got string) {
		cursor := ""
		for {
			out := call(t, s, "conversations.history", append([]string{"channel", slackfake.General, "cursor", cursor}, fields...)...)
			for _, m := range out["messages"].([]any) {
				got += str(m, "text") + " "
			}
			if cursor = str(out, "response_metadata", "next_cursor"); cursor == "" {
				return strings.TrimSpace(got)
			}
			got += "| "
		}
	}
	for _, c := range []struct {
		name, want string
		fields     []string
	}{
		{"all, newest first", "a reply for all m6 m5 m4 m3 m2 m1 m0", nil},
		{"pages", "a reply for all m6 m5 | m4 m3 m2 | m1 m0", []string{"limit", "3"}},
		{"after", "a reply for all m6", []string{"oldest", all[5]}},
		{"from", "a reply for all m6 m5", []string{"oldest", all[5], "inclusive", "true"}},
		{"before", "m1 m0", []string{"latest", all[2]}},
		{"window in pages", "m3 m2 | m1", []string{"oldest", all[0], "latest", all[4], "limit", "2"}},
	} {
		if got := texts(c.fields...); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	s := start(t, slackfake.Options{})
	s.AddChannel(slackfake.Channel{ID: "C0AWAY", Name: "away", Team: slackfake.Team, Members: []string{slackfake.Alice}})
	s.AddChannel(slackfake.Channel{ID: "C0HIDDEN", Name: "hidden", Team: slackfake.Team, Private: true, Members: []string{slackfake.Alice}})
	for id, change := range map[string]func(*slackfake.Channel){
		"C0ARCHIVED": func(c *slackfake.Channel) { c.Archived = true },
		"C0ADMINS":   func(c *slackfake.Channel) { c.AdminsOnly = true },
		"C0THREADS":  func(c *slackfake.Channel) { c.ThreadsOnly = true },
		"C0FLAT":     func(c *slackfake.Channel) { c.NoThreads = true },
	} {
		c := slackfake.Channel{ID: id, Name: strings.ToLower(id), Team: slackfake.Team, Members: []string{slackfake.Alice, slackfake.BotUser}}
		change(&c)
		s.AddChannel(c)
	}
	s.AddUser(slackfake.User{ID: "U0GONE", Team: slackfake.Team, Deactivated: true})
	root := s.Say(slackfake.Say{Text: "root"})
	reply := s.Say(slackfake.Say{Text: "reply", Thread: root.TS})
	flat := s.Say(slackfake.Say{Channel: "C0FLAT", Text: "root"})
	many := "[" + strings.TrimSuffix(strings.Repeat(`{"type":"divider"},`, 51), ",") + "]"
	section := func(n int) string {
		return fmt.Sprintf(`{"type":"section","text":{"type":"mrkdwn","text":%q}}`, strings.Repeat("x", n))
	}
	const where = slackfake.General
	for _, c := range []struct {
		name, want string
		fields     []string
	}{
		{"unknown channel", "channel_not_found", []string{"channel", "C0NONE", "text", "x"}},
		{"private channel of others", "channel_not_found", []string{"channel", "C0HIDDEN", "text", "x"}},
		{"not a member", "not_in_channel", []string{"channel", "C0AWAY", "text", "x"}},
		{"archived", "is_archived", []string{"channel", "C0ARCHIVED", "text", "x"}},
		{"admins only", "restricted_action", []string{"channel", "C0ADMINS", "text", "x"}},
		{"threads only", "restricted_action_thread_only_channel", []string{"channel", "C0THREADS", "text", "x"}},
		{"no threads", "restricted_action_non_threadable_channel", []string{"channel", "C0FLAT", "text", "x", "thread_ts", flat.TS}},
		{"deactivated person", "user_disabled", []string{"channel", "U0GONE", "text", "x"}},
		{"nothing said", "no_text", []string{"channel", where}},
		{"thread of nothing", "thread_not_found", []string{"channel", where, "text", "x", "thread_ts", "1.000001"}},
		{"thread of a reply", "cannot_reply_to_message", []string{"channel", where, "text", "x", "thread_ts", reply.TS}},
		{"thread that is no timestamp", "invalid_thread_ts", []string{"channel", where, "text", "x", "thread_ts", "soon"}},
		{"two texts", "markdown_text_conflict", []string{"channel", where, "text", "x", "markdown_text", "x"}},
		{"long markdown", "msg_too_long", []string{"channel", where, "markdown_text", strings.Repeat("x", 12001)}},
		{"blocks that are no JSON", "invalid_blocks_format", []string{"channel", where, "blocks", "[{"}},
		{"too many blocks", "invalid_blocks", []string{"channel", where, "blocks", many}},
		{"long section", "invalid_blocks", []string{"channel", where, "blocks", "[" + section(3001) + "]"}},
		{"long in all", "msg_blocks_too_long", []string{"channel", where, "blocks", "[" + strings.Repeat(section(2900)+",", 4) + section(2900) + "]"}},
		{"long header", "invalid_blocks", []string{"channel", where, "blocks", `[{"type":"header","text":{"type":"plain_text","text":"` + strings.Repeat("x", 151) + `"}}]`}},
		{"card outside of a stream", "invalid_blocks", []string{"channel", where, "blocks", `[{"type":"card"}]`}},
		{"one block_id twice", "invalid_blocks", []string{"channel", where, "blocks", `[{"type":"divider","block_id":"a"},{"type":"divider","block_id":"a"}]`}},
		{"metadata without type", "invalid_metadata_schema", []string{"channel", where, "text", "x", "metadata", `{"event_payload":{}}`}},
	} {
		out := refused(t, s, c.want, "chat.postMessage", c.fields...)
		if words, _ := dig(out, "response_metadata", "messages").([]any); c.want == "invalid_blocks" && len(words) == 0 {
			t.Errorf("%s: no word about which block", c.name)
		}
	}
	if n := s.Counts().Sent; n != 0 {
		t.Errorf("%d refused posts stand", n)
	}
	refused(t, s, "cant_update_message", "chat.update", "channel", where, "ts", root.TS, "text", "x")
	refused(t, s, "message_not_found", "chat.update", "channel", where, "ts", "1.000001", "text", "x")
	refused(t, s, "cant_delete_message", "chat.delete", "channel", where, "ts", root.TS)
	refused(t, s, "unknown_method", "chat.shout")
	out := call(t, s, "chat.postMessage", "channel", where, "text", "mine")
	refused(t, s, "msg_too_long", "chat.update", "channel", where, "ts", str(out, "ts"), "text", strings.Repeat("x", 4001))
}

func TestTokens(t *testing.T) {
	t.Parallel()
	s := start(t, slackfake.Options{})
	is := func(want, token, method string, fields ...string) {
		t.Helper()
		_, raw, err := post(t, s, token, method, fields...)
		if err != nil {
			t.Fatal(err)
		}
		var out object
		if err := json.Unmarshal(raw, &out); err != nil || str(out, "error") != want {
			t.Errorf("%s with %q: %s, want %q", method, token, raw, want)
		}
	}
	is("not_authed", "", "auth.test")
	is("invalid_auth", "xoxb-other", "auth.test")
	is("", slackfake.BotToken, "auth.test")
	is("not_allowed_token_type", slackfake.BotToken, "apps.connections.open")
	is("not_allowed_token_type", slackfake.AppToken, "chat.postMessage")
	s.SetScopes(slackfake.BotToken, []string{"chat:write"})
	is("missing_scope", slackfake.BotToken, "users.info", "user", slackfake.Alice)
	is("", slackfake.BotToken, "chat.postMessage", "channel", slackfake.General, "text", "x")
	s.Kill(slackfake.BotToken, "token_revoked")
	is("token_revoked", slackfake.BotToken, "chat.postMessage", "channel", slackfake.General, "text", "x")
	s.Kill(slackfake.BotToken, "")
	is("", slackfake.BotToken, "auth.test")
}
