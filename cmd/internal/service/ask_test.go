package service_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"herald/bots/bottest/slackfake"
	"herald/cmd/internal/service"
	"herald/core/model"
	"herald/core/model/modeltest"
)

// A question by slash command in a channel shows there who asked what, and is answered once, by the agent that it names.
func TestSlackAsk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "poet.md"), []byte("---\ntype: chat\ndescription: writes verses\n---\nYou are the poet of this house.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	who := func(q *model.Request) (modeltest.Reply, bool) {
		name := "main"
		if strings.Contains(strings.Join(q.System, "\n"), "the poet of this house") {
			name = "poet"
		}
		return modeltest.Say(name + " heard: " + q.Messages[len(q.Messages)-1].Text), true
	}
	r := onSlack(t, slackfake.Options{}, func(o *service.Options) { o.Models = scripted(who) }, "HERALD_AGENTS__DIR="+dir)
	r.until("ready", func() bool { code, _ := r.get("/readyz"); return code == http.StatusOK })
	for i, tt := range []struct{ text, shown, answer string }{
		{"ask how are you?", "how are you?", "main heard:"},
		{"ask poet a verse, please", "a verse, please", "poet heard:"},
		{"ask and another one", "and another one", "poet heard:"},
	} {
		r.slack.Command(slackfake.Command{Text: tt.text})
		got := r.said(slackfake.General, "", 2*i+2)
		if q := got[2*i]; !strings.Contains(q, "asks") || !strings.Contains(q, tt.shown) {
			t.Errorf("%s: shown is %q", tt.text, q)
		}
		if a := got[2*i+1]; !strings.Contains(a, tt.answer) || !strings.Contains(a, tt.shown) {
			t.Errorf("%s: the answer is %q", tt.text, a)
		}
	}
	r.slack.Command(slackfake.Command{Text: "ask @painter a picture"})
	r.wait("the unknown agent is refused", func(v slackfake.View) bool {
		for _, m := range v.Whispers(slackfake.General, slackfake.Alice) {
			if strings.Contains(m.Text, "painter") && strings.Contains(m.Text, "poet") {
				return true
			}
		}
		return false
	})
	r.only(slackfake.General, "", 6)
}
