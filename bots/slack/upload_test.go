package slack_test

import (
	"testing"

	"herald/bots/bottest/slackfake"
	"herald/core/chat"
)

// A file is put into the thread, and the token stays with Slack's API.
func TestUpload(t *testing.T) {
	t.Parallel()
	s := world(t, slackfake.Options{})
	f := connect(t, s, options(t, s, &inbox{}))
	at := s.Say(slackfake.Say{Text: "hello"})
	c := chat.Conversation{Workspace: "slack:" + slackfake.Team, Channel: slackfake.General, Thread: at.TS}
	if err := f.adapter.Upload(within(t), c, "report.md", []byte("# Report\n")); err != nil {
		t.Fatal(err)
	}
	f.wait("the file is shared", func(v slackfake.View) bool {
		for _, rec := range v.Journal() {
			if rec.Kind == slackfake.Shared && rec.Thread == at.TS && rec.Text == "report.md" {
				return true
			}
		}
		return false
	})
	for method, kind := range map[string]slackfake.FaultKind{"files.getUploadURLExternal": slackfake.Refusal, slackfake.UploadMethod: slackfake.ServerError, "files.completeUploadExternal": slackfake.Mute} {
		s.Inject(slackfake.Fault{Method: method, Kind: kind, Times: 1})
		if err := f.adapter.Upload(within(t), c, "report.md", []byte("x")); err == nil {
			t.Errorf("%s failed and nobody said so", method)
		}
	}
	c.Channel = "C0NONE"
	if err := f.adapter.Upload(within(t), c, "report.md", []byte("x")); err == nil {
		t.Error("a channel that does not exist was taken")
	}
}
