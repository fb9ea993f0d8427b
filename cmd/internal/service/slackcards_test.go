package service_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"herald/bots/bottest/slackfake"
	"herald/cmd/internal/service"
	"herald/core/model"
	"herald/core/model/modeltest"
	"herald/core/tool"
)

// cardIn waits for a card of a call that is open in a channel and thread and gives its message; skip leaves out those seen before.
func (r *slackRig) cardIn(channel, thread string, skip ...string) string {
	r.t.Helper()
	ts := ""
	r.wait("an open card in "+channel, func(v slackfake.View) bool {
		for _, m := range v.Said(channel, thread) {
			if strings.Contains(m.Text+string(m.Blocks), "May I run") && strings.Contains(string(m.Blocks), "herald_0") && !contains(skip, m.TS) {
				ts = m.TS
				return true
			}
		}
		return false
	})
	return ts
}

func contains(all []string, s string) bool {
	for _, x := range all {
		if x == s {
			return true
		}
	}
	return false
}

// over waits until a card says how it ended, without buttons.
func (r *slackRig) over(channel, ts, how string) {
	r.t.Helper()
	r.wait("the card in "+channel+" says "+how, func(v slackfake.View) bool {
		m := v.Message(channel, ts)
		return strings.Contains(m.Text+m.Markdown+string(m.Blocks), how) && !strings.Contains(string(m.Blocks), "herald_0")
	})
}

func (r *slackRig) press(user, channel, ts, action string) {
	r.t.Helper()
	if _, err := r.slack.Click(slackfake.Click{User: user, Channel: channel, TS: ts, ActionID: action}); err != nil {
		r.t.Fatal(err)
	}
}

// What an admin decides is asked in the thread and in the admin's direct messages; whoever asked cannot decide it; a reason comes from a form; the tool runs
// once, and each copy of the card says by whom it was decided.
func TestSlackApprovalByAnAdmin(t *testing.T) {
	t.Parallel()
	var ran atomic.Int64
	told := make(chan string, 10)
	r := onSlack(t, slackfake.Options{AckTimeout: 20 * time.Second, TriggerTTL: 20 * time.Second}, func(o *service.Options) {
		o.Tools = []tool.Tool{counting("send", &ran)}
		o.Models = scripted(func(q *model.Request) (modeltest.Reply, bool) {
			if m := q.Messages[len(q.Messages)-1]; m.Role == model.Tool {
				told <- m.Text
			}
			return modeltest.Reply{}, false
		}, modeltest.AfterTool("send", modeltest.Say("that is that")), modeltest.When("please send", modeltest.Use("send", `{"sum":12}`)), modeltest.Echo())
	}, "HERALD_ADMINS=slack:"+slackfake.Team+"/"+slackfake.Bob)
	dm := r.slack.DM(slackfake.Bob, "")
	r.slack.Say(slackfake.Say{Channel: dm, User: slackfake.Bob, Text: "!herald rule add send require deciders=admin priority=1"})
	if got := r.said(dm, "", 1); !strings.Contains(got[0], "Rule added") {
		t.Fatalf("the rule: %q", got)
	}
	asked := r.slack.Say(slackfake.Say{Text: mention + "please send"})
	inThread, inDM := r.cardIn(asked.Channel, asked.TS), r.cardIn(dm, "")

	r.press(slackfake.Alice, asked.Channel, inThread, "herald_0")
	r.wait("Alice is refused, alone", func(v slackfake.View) bool {
		all := v.Whispers(asked.Channel, slackfake.Alice)
		return len(all) == 1 && strings.Contains(all[0].Text, "This decision is not yours to make.")
	})
	r.press(slackfake.Bob, dm, inDM, "herald_3")
	form := ""
	r.wait("Bob is asked for a reason", func(v slackfake.View) bool {
		all := v.Modals(slackfake.AppID, slackfake.Bob)
		if len(all) == 1 {
			form = all[0].ID
		}
		return len(all) == 1
	})
	if _, err := r.slack.Submit(form, slackfake.Bob, map[string]map[string]any{"herald_text": {"herald_text": slackfake.Text("not on a Friday")}}); err != nil {
		t.Fatal(err)
	}
	r.over(dm, inDM, "Denied by")
	r.over(asked.Channel, inThread, "Denied by")
	if got := <-told; !strings.Contains(got, "not on a Friday") || ran.Load() != 0 {
		t.Errorf("the model was told %q, the tool ran %d times", got, ran.Load())
	}

	again := r.slack.Say(slackfake.Say{Text: mention + "please send once more"})
	second := r.cardIn(dm, "", inDM)
	third := r.cardIn(again.Channel, again.TS)
	r.press(slackfake.Bob, dm, second, "herald_0")
	r.over(again.Channel, third, "Approved by")
	r.over(dm, second, "Approved by")
	if got := <-told; got != "ran" || ran.Load() != 1 {
		t.Errorf("the model was told %q, the tool ran %d times", got, ran.Load())
	}
}

// A failed answer has a button that starts the turn over, once.
func TestSlackTryAgain(t *testing.T) {
	t.Parallel()
	var well atomic.Bool
	r := onSlack(t, slackfake.Options{AckTimeout: 20 * time.Second}, func(o *service.Options) {
		o.Models = scripted(func(*model.Request) (modeltest.Reply, bool) {
			return modeltest.Reply{Err: &model.Error{Kind: model.BadRequest, Message: "no"}}, !well.Load()
		}, modeltest.Echo())
	})
	asked := r.slack.Say(slackfake.Say{Text: mention + "hello there"})
	ts, ref := "", ""
	r.wait("a failed answer with a button", func(v slackfake.View) bool {
		for _, m := range v.Said(asked.Channel, asked.TS) {
			if strings.Contains(string(m.Blocks), "Try again") {
				ts = m.TS
				_, ref, _ = strings.Cut(string(m.Blocks), "!herald why ")
				ref, _, _ = strings.Cut(ref, "`")
				return true
			}
		}
		return false
	})
	well.Store(true)
	r.press(slackfake.Bob, asked.Channel, ts, "herald_0")
	r.wait("Bob is refused, alone", func(v slackfake.View) bool {
		all := v.Whispers(asked.Channel, slackfake.Bob)
		return len(all) == 1 && strings.Contains(all[0].Text, "can try this again")
	})
	for range 3 {
		_, _ = r.slack.Click(slackfake.Click{Channel: asked.Channel, TS: ts, ActionID: "herald_0"}) // the button may be gone by then
	}
	r.over(asked.Channel, ts, "Tried again by")
	if got := r.said(asked.Channel, asked.TS, 2); !strings.Contains(got[1], "hello there") {
		t.Errorf("answers %q", got)
	}
	r.only(asked.Channel, asked.TS, 2)
	// What the failed answer says to write resolves its reference.
	r.slack.Say(slackfake.Say{Thread: asked.TS, Text: "!herald why " + ref})
	if got := r.said(asked.Channel, asked.TS, 3); ref == "" || !strings.Contains(got[2], ref) || !strings.Contains(got[2], "It failed") {
		t.Errorf("why %q: %q", ref, got)
	}
	// Slack's own command carries no thread; the caller's threads of the channel are looked through.
	r.slack.Command(slackfake.Command{Channel: asked.Channel, Text: "why " + ref})
	r.slack.Command(slackfake.Command{Channel: asked.Channel, User: slackfake.Carol, Text: "why " + ref})
	r.wait("the command is answered, to each alone", func(v slackfake.View) bool {
		mine, others := v.Whispers(asked.Channel, slackfake.Alice), v.Whispers(asked.Channel, slackfake.Carol)
		return len(mine) > 0 && strings.Contains(mine[len(mine)-1].Text, "It failed") && len(others) == 1 && strings.Contains(others[0].Text, "names no answer")
	})
}
