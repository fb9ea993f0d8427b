package service_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"herald/bots/bottest/platform"
	"herald/cmd/internal/service"
	"herald/core/chat"
	"herald/core/model"
	"herald/core/model/modeltest"
	"herald/core/people"
	"herald/core/store/memory"
	"herald/core/tool"
)

// cards are the cards that stand in a thread with their buttons, and those that were decided without.
func cards(v platform.View, thread string) (open []*platform.Message, closed []string) {
	for _, m := range v.Messages("c", thread) {
		switch {
		case !m.ByApp || !strings.Contains(m.Text, "May I run"):
		case !strings.Contains(m.Text, "Approved by") && !strings.Contains(m.Text, "Denied by"):
			open = append(open, m)
		default:
			closed = append(closed, m.Text)
		}
	}
	return open, closed
}

func button(t *testing.T, m *platform.Message, label string) string {
	t.Helper()
	var c chat.Card
	if err := json.Unmarshal(m.Card, &c); err != nil {
		t.Fatal(err)
	}
	for _, b := range c.Buttons {
		if strings.Contains(b.Label, label) {
			return b.Action
		}
	}
	t.Fatalf("the card %s has no button %q", m.Card, label)
	return ""
}

// A fresh installation answers what people ask every day without asking anybody.
func TestEverydayRequestsNeedNoCard(t *testing.T) {
	t.Parallel()
	requests := []struct{ text, tool, args string }{
		{"what day is it", "current_time", `{}`},
		{"what time is it in Tokyo", "current_time", `{"timezone":"Asia/Tokyo"}`},
		{"remember that we meet at nine", "remember", `{"text":"we meet at nine"}`},
		{"what do you know", "recall", `{}`},
		{"when do we meet", "recall", `{"query":"meet"}`},
		{"note the door code", "remember", `{"text":"the door code"}`},
		{"is it a weekend", "current_time", `{}`},
		{"remind me what the code was", "recall", `{"query":"code"}`},
		{"hello there", "", ``},
		{"remember my tea", "remember", `{"text":"tea"}`},
	}
	var rules []modeltest.Rule
	for _, q := range requests {
		if q.tool != "" {
			rules = append(rules, modeltest.When(q.text, modeltest.Use(q.tool, q.args)))
		}
	}
	for _, name := range []string{"current_time", "remember", "recall"} {
		rules = append(rules, modeltest.AfterTool(name, modeltest.Say("done with "+name)))
	}
	r := start(t, load(t), func(o *service.Options) { o.Models = scripted(append(rules, modeltest.Echo())...) })
	for _, q := range requests {
		got := r.answer(r.ask(q.text))
		if q.tool != "" && !strings.Contains(got, "done with "+q.tool) {
			t.Errorf("%s: %q", q.text, got)
		}
	}
	r.wait("the threads", func(v platform.View) bool {
		for i := range requests {
			if open, closed := cards(v, fmt.Sprint("t", i+1)); len(open)+len(closed) > 0 {
				t.Errorf("%s: a card", requests[i].text)
			}
		}
		return true
	})
}

// counting is a tool that counts its runs.
func counting(name string, n *atomic.Int64) tool.Tool {
	return tool.Tool{
		Spec: model.ToolSpec{Name: name, Description: name, Parameters: json.RawMessage(`{"type":"object"}`)},
		Run: func(context.Context, tool.Call) (tool.Result, error) {
			n.Add(1)
			return tool.Result{Text: "ran"}, nil
		},
	}
}

// card waits for the n-th open card of a thread.
func (r *rig) card(thread string) *platform.Message {
	r.t.Helper()
	var m *platform.Message
	r.wait("a card", func(v platform.View) bool {
		open, _ := cards(v, thread)
		if len(open) == 0 {
			return false
		}
		m = open[len(open)-1]
		return true
	})
	return m
}

// A card asks once; who may not decide cannot; a bypass lets the next calls of this tool through and no other's; a stop ends it; why
// tells the decisions with their rules.
func TestAnApprovalAndItsBypass(t *testing.T) {
	t.Parallel()
	var sent, dropped atomic.Int64
	r := start(t, load(t), func(o *service.Options) {
		o.Tools = []tool.Tool{counting("send", &sent), counting("drop", &dropped)}
		o.Models = scripted(
			modeltest.When("please send", modeltest.Use("send", `{"to":"`+strings.Repeat("x", 600)+`"}`)), modeltest.When("please drop", modeltest.Use("drop", `{}`)),
			modeltest.AfterTool("send", modeltest.Say("sent it")), modeltest.AfterTool("drop", modeltest.Say("dropped it")), modeltest.Echo(),
		)
	})
	say := func(text string) platform.Told {
		return r.chat.Post(platform.Say{Channel: "c", Thread: "t1", Text: text, Mention: true})
	}
	click := func(user, action string) {
		r.chat.Click(platform.Say{Channel: "c", Thread: "t1", User: user}, action, "")
	}
	first := say("please send")
	card := r.card("t1")
	for _, want := range []string{"`send", "shortened: 602 characters", "Why I ask: rule seed-last", "the person who asked", "counts as denied"} {
		if want == "`send" {
			want = "May I run send?"
		}
		if !strings.Contains(card.Text, want) {
			t.Errorf("the card lacks %q: %s", want, card.Text)
		}
	}
	click("mallory", button(t, card, "Approve once"))
	r.wait("the refusal of a stranger", func(v platform.View) bool {
		for _, m := range v.Messages("c", "t1") {
			if m.Only == "mallory" && strings.Contains(m.Text, "not yours") {
				return true
			}
		}
		return false
	})
	if sent.Load() != 0 {
		t.Fatal("it ran by a stranger's click")
	}
	click("alice", button(t, card, "this session"))
	if got := r.answer(first); !strings.Contains(got, "sent it") {
		t.Errorf("answer %q", got)
	}
	r.wait("the card that says who decided", func(v platform.View) bool {
		_, closed := cards(v, "t1")
		return len(closed) == 1 && strings.Contains(closed[0], "Approved by alice")
	})
	if got := r.answer(say("please send")); !strings.Contains(got, "sent it") || sent.Load() != 2 {
		t.Errorf("with the bypass: %q, %d runs", got, sent.Load())
	}
	why := r.answer(say("/why"))
	if !strings.Contains(why, "send") || !strings.Contains(why, "let this tool through until this session") {
		t.Errorf("why says %q", why)
	}
	// Another tool is asked about, and a denial's reason reaches the model.
	say("please drop")
	r.card("t1")
	if got := r.answer(say("deny: not on a Friday")); !strings.Contains(got, "dropped it") || dropped.Load() != 0 {
		t.Errorf("after a denial: %q, %d runs", got, dropped.Load())
	}
	r.answer(say("stop"))
	say("please send")
	r.card("t1")
	if sent.Load() != 2 {
		t.Errorf("%d runs after a stop ended the bypass", sent.Load())
	}
}

// A tool that a rule of the file denies is not shown to the model and does not run when it is named.
func TestADeniedToolDoesNotExist(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64
	shown := make(chan []string, 10)
	cfg := load(t, "HERALD_RULES__1__TOOL=send", "HERALD_RULES__1__ACTION=deny")
	r := start(t, cfg, func(o *service.Options) {
		o.Tools = []tool.Tool{counting("send", &sent)}
		o.Models = scripted(func(q *model.Request) (modeltest.Reply, bool) {
			var names []string
			for _, t := range q.Tools {
				names = append(names, t.Name)
			}
			shown <- names
			return modeltest.Reply{}, false
		}, modeltest.When("please send", modeltest.Use("send", `{}`)), modeltest.AfterTool("send", modeltest.Say("gave up")), modeltest.Echo())
	})
	if got := r.answer(r.ask("please send")); !strings.Contains(got, "gave up") {
		t.Errorf("answer %q", got)
	}
	if names := strings.Join(<-shown, " "); strings.Contains(names, "send") || !strings.Contains(names, "recall") {
		t.Errorf("the model was shown %q", names)
	}
	if sent.Load() != 0 {
		t.Error("a denied tool ran")
	}
}

// An admin changes a rule from the chat and it holds from the next call on; nobody else sees or changes one.
func TestRulesAreChangedFromTheChat(t *testing.T) {
	t.Parallel()
	st := memory.New(memory.Options{})
	r := start(t, load(t), func(o *service.Options) {
		o.Store = st
		o.Models = scripted(modeltest.When("what do you know", modeltest.Use("recall", `{}`)), modeltest.AfterTool("recall", modeltest.Say("looked")), modeltest.Echo())
	})
	say := func(user, text string) string {
		return r.answer(r.chat.Post(platform.Say{Channel: "c", Thread: "t1", User: user, Text: text, Mention: true}))
	}
	if got := say("alice", "/rule add recall deny"); !strings.Contains(got, "admin") {
		t.Errorf("a member changed a rule: %q", got)
	}
	if got := say("alice", "/help"); strings.Contains(got, "rule add") {
		t.Errorf("a member is offered the command: %q", got)
	}
	if err := people.New(st).SyncAdmins(t.Context(), "1", []chat.IdentityID{"test:lab/alice"}); err != nil {
		t.Fatal(err)
	}
	if got := say("alice", "/rule add recall deny priority=-1 note=not today"); !strings.Contains(got, "run-000001") {
		t.Fatalf("an admin's rule: %q", got)
	}
	say("bob", "what do you know")
	if got := say("bob", "/why"); !strings.Contains(got, "Call of `recall`: deny") {
		t.Errorf("why says %q", got)
	}
	if got := say("alice", "/rules"); !strings.Contains(got, "`run-000001` deny `recall`") || !strings.Contains(got, "seed-recall") {
		t.Errorf("the rules: %q", got)
	}
}

// A rule of the file holds without a restart.
func TestRulesOfAChangedFileHoldAtOnce(t *testing.T) {
	t.Parallel()
	r := start(t, load(t), func(o *service.Options) {
		o.Models = scripted(modeltest.When("what do you know", modeltest.Use("recall", `{}`)), modeltest.AfterTool("recall", modeltest.Say("looked")), modeltest.Echo())
	})
	say := func(text string) string {
		return r.answer(r.chat.Post(platform.Say{Channel: "c", Thread: "t1", Text: text, Mention: true}))
	}
	say("what do you know")
	if got := say("/why"); !strings.Contains(got, "allow (rule seed-recall") {
		t.Errorf("before: %q", got)
	}
	if err := r.svc.Apply(t.Context(), load(t, "HERALD_RULES__1__TOOL=recall", "HERALD_RULES__1__ACTION=deny", "HERALD_RULES__1__PRIORITY=-1")); err != nil {
		t.Fatal(err)
	}
	say("what do you know")
	if got := say("/why"); !strings.Contains(got, "Call of `recall`: deny") {
		t.Errorf("after: %q", got)
	}
}
