package slackfake_test

import (
	"strings"
	"testing"
	"time"

	"herald/bots/bottest/slackfake"
)

// stream starts one in a thread of General and gives the root and the message.
func stream(t *testing.T, s *slackfake.Server) (root, ts string) {
	t.Helper()
	root = s.Say(slackfake.Say{Text: "question"}).TS
	out := call(t, s, "chat.startStream", "channel", slackfake.General, "thread_ts", root, "markdown_text", "one ",
		"recipient_team_id", slackfake.Team, "recipient_user_id", slackfake.Alice)
	return root, str(out, "ts")
}

func TestStream(t *testing.T) {
	t.Parallel()
	s := start(t, slackfake.Options{})
	root, ts := stream(t, s)
	refused(t, s, "streaming_state_conflict", "chat.update", "channel", slackfake.General, "ts", ts, "text", "x")
	call(t, s, "chat.appendStream", "channel", slackfake.General, "ts", ts, "markdown_text", "two ")
	call(t, s, "chat.appendStream", "channel", slackfake.General, "ts", ts, "chunks",
		`[{"type":"markdown_text","text":"three "},{"type":"task_update","id":"1","title":"look","status":"in_progress"}]`)
	refused(t, s, "no_text", "chat.appendStream", "channel", slackfake.General, "ts", ts)
	refused(t, s, "msg_too_long", "chat.appendStream", "channel", slackfake.General, "ts", ts, "markdown_text", strings.Repeat("x", 12001))
	refused(t, s, "invalid_chunks", "chat.appendStream", "channel", slackfake.General, "ts", ts, "chunks", `[{"type":"song"}]`)
	refused(t, s, "invalid_blocks", "chat.stopStream", "channel", slackfake.General, "ts", ts, "blocks", `[{"type":"song"}]`)
	call(t, s, "chat.stopStream", "channel", slackfake.General, "ts", ts, "markdown_text", "end", "metadata", `{"event_type":"d","event_payload":{"id":"1"}}`)
	for _, method := range []string{"chat.appendStream", "chat.stopStream"} {
		refused(t, s, "message_not_in_streaming_state", method, "channel", slackfake.General, "ts", ts, "markdown_text", "late")
	}
	call(t, s, "chat.update", "channel", slackfake.General, "ts", ts, "markdown_text", "all anew")
	m := s.Messages(slackfake.General, root)[1]
	if m.Markdown != "all anew" || m.Stream != slackfake.Stopped || m.Appends != 4 || len(m.Chunks) != 1 || m.Edits != 1 {
		t.Errorf("the message is %+v", m)
	}
	edits := ""
	for _, r := range s.Journal() {
		if r.Kind == slackfake.Edited && r.Method != "chat.update" {
			edits += r.Text
		}
	}
	if edits != "two three end" {
		t.Errorf("the journal tells of %q", edits)
	}
}

func TestStreamEnds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, code string
		state      slackfake.StreamState
		end        func(*slackfake.Server, string)
	}{
		{"by itself", "message_not_in_streaming_state", slackfake.Expired, func(s *slackfake.Server, _ string) { s.Advance(5 * time.Minute) }},
		{"by the person", "stopped_by_user", slackfake.StoppedByUser, func(s *slackfake.Server, ts string) {
			if told, err := s.StopStream(slackfake.General, ts, slackfake.Alice); err != nil || len(told.Events) != 1 {
				panic("the app was not told")
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, slackfake.Options{App: slackfake.App{AgentView: true}})
			root, ts := stream(t, s)
			c.end(s, ts)
			refused(t, s, c.code, "chat.appendStream", "channel", slackfake.General, "ts", ts, "markdown_text", "late")
			refused(t, s, c.code, "chat.stopStream", "channel", slackfake.General, "ts", ts)
			call(t, s, "chat.update", "channel", slackfake.General, "ts", ts, "text", "an edit may still come")
			if m := s.Messages(slackfake.General, root)[1]; m.Stream != c.state || m.Text != "an edit may still come" {
				t.Errorf("the message is %+v", m)
			}
		})
	}
}

func TestStreamNeedsItsPlace(t *testing.T) {
	t.Parallel()
	s := start(t, slackfake.Options{})
	root := s.Say(slackfake.Say{Text: "question"}).TS
	const in, team, user = slackfake.General, slackfake.Team, slackfake.Alice
	refused(t, s, "invalid_arguments", "chat.startStream", "channel", in, "recipient_team_id", team, "recipient_user_id", user)
	refused(t, s, "missing_recipient_team_id", "chat.startStream", "channel", in, "thread_ts", root)
	refused(t, s, "missing_recipient_user_id", "chat.startStream", "channel", in, "thread_ts", root, "recipient_team_id", team)
	dm := s.DM(slackfake.Bob, "")
	said := s.Say(slackfake.Say{Channel: dm, User: slackfake.Bob, Text: "hello"})
	out := call(t, s, "chat.startStream", "channel", dm, "thread_ts", said.TS)
	refused(t, s, "message_not_owned_by_app", "chat.appendStream", "channel", dm, "ts", said.TS, "markdown_text", "x")
	call(t, s, "chat.appendStream", "channel", dm, "ts", str(out, "ts"), "markdown_text", "x")
}
