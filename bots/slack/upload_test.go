package slack_test

import (
	"strings"
	"testing"
	"time"

	"herald/bots/bottest/slackfake"
	"herald/core/chat"
)

// A file is put into the thread, and the token stays with Slack's API.
func TestUpload(t *testing.T) {
	t.Parallel()
	s := world(t, slackfake.Options{})
	opt := options(t, s, &inbox{})
	opt.ShareWait = time.Minute
	f := connect(t, s, opt)
	at := s.Say(slackfake.Say{Text: "hello"})
	c := chat.Conversation{Workspace: "slack:" + slackfake.Team, Channel: slackfake.General, Thread: at.TS}
	if err := f.adapter.Upload(within(t), c, "report.md", []byte("# Report\n")); err != nil {
		t.Fatal(err)
	}
	stands := false
	s.Look(func(v slackfake.View) {
		for _, rec := range v.Journal() {
			stands = stands || rec.Kind == slackfake.Shared && rec.Thread == at.TS && rec.Text == "report.md"
		}
	})
	if !stands {
		t.Error("the upload ended before the file stood in the thread")
	}
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

// A file that Slack has taken and never shows is not said to stand in the thread.
func TestUploadThatNeverAppears(t *testing.T) {
	t.Parallel()
	s := world(t, slackfake.Options{})
	opt := options(t, s, &inbox{})
	opt.ShareWait = 300 * time.Millisecond
	f := connect(t, s, opt)
	at := s.Say(slackfake.Say{Text: "hello"})
	c := chat.Conversation{Workspace: "slack:" + slackfake.Team, Channel: slackfake.General, Thread: at.TS}
	s.LoseShares(true)
	if err := f.adapter.Upload(within(t), c, "report.md", []byte("x")); err == nil || !strings.Contains(err.Error(), "did not show it") {
		t.Errorf("the file never came, and the upload said %v", err)
	}
	s.LoseShares(false)
	s.Inject(slackfake.Fault{Method: "files.info", Kind: slackfake.Refusal, Error: "file_not_found", Times: -1})
	if err := f.adapter.Upload(within(t), c, "report.md", []byte("x")); err == nil || !strings.Contains(err.Error(), "whether the uploaded file stands") {
		t.Errorf("whether the file came could not be seen, and the upload said %v", err)
	}
}
