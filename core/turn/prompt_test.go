package turn_test

import (
	"context"
	"strings"
	"testing"

	"herald/core/conversation"
	"herald/core/model"
	"herald/core/model/modeltest"
	"herald/core/prompt"
	"herald/core/session"
	"herald/core/tool"
	"herald/core/turn"
)

// growing is one agent whose list of agents changes.
type growing struct {
	*rig
	agents []prompt.Delegate
}

func (g *growing) Agent(_ context.Context, s tool.Scope) (prompt.Agent, error) {
	return prompt.Agent{ID: s.Agent, Text: "You are a test.\n<!-- AGENTS_LIST -->", Agents: g.agents}, nil
}

// hiding hides a tool while it is set.
type hiding struct {
	gate
	tool *string
}

func (h hiding) Hides(_ context.Context, _ tool.Call, name string) bool { return name == *h.tool }

// A session goes on with the list that it began with and is told what came; a rule that hides delegation, a summary and a new session lay the prompt
// out anew.
func TestASessionKeepsTheListThatItBeganWith(t *testing.T) {
	t.Parallel()
	var last model.Request
	r := newRig(t, func(q *model.Request) (modeltest.Reply, bool) {
		if summarising(q) {
			return modeltest.Say("## Goal\nNone."), true
		}
		last = *q
		return modeltest.Say("fine"), true
	})
	read, _ := r.opts.Tools.Get("read")
	reg, err := tool.NewRegistry(read, tool.Tool{
		Spec: model.ToolSpec{Name: "give", Parameters: []byte(`{"type":"object"}`)}, Traits: session.Traits{Delegates: true},
		Run: func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	g, hidden := &growing{rig: r, agents: []prompt.Delegate{{ID: "b"}}}, ""
	r.opts.Tools, r.opts.Agents, r.opts.Gate = reg, g, hiding{tool: &hidden}
	e := r.engine()
	for _, step := range []struct {
		name   string
		do     func()
		engine *turn.Engine // nil for the one before
		list   string
		added  bool
	}{
		{name: "the beginning", do: func() {}, list: "- **b** — "},
		{name: "an agent came", do: func() { g.agents = append(g.agents, prompt.Delegate{ID: "c"}) }, list: "- **b** — ", added: true},
		{name: "the next turn", do: func() {}, list: "- **b** — ", added: true},
		{name: "a rule hides delegation", do: func() { hidden = "give" }},
		{name: "the rule is gone", do: func() { hidden = "" }, added: true},
		{name: "an agent is gone", do: func() { g.agents = g.agents[1:]; hidden = "give" }},
		{name: "a new session", do: func() { hidden = ""; r.control(conversation.New, "31", "ann") }, list: "- **c** — "},
		{name: "another came", do: func() { g.agents = append(g.agents, prompt.Delegate{ID: "d"}) }, list: "- **c** — ", added: true},
		{name: "another process", do: func() {}, engine: r.engine(), list: "- **c** — \n- **d** — "},
		{name: "one more came", do: func() { g.agents = append(g.agents, prompt.Delegate{ID: "e"}) }, list: "- **c** — \n- **d** — ", added: true},
		{name: "a summary", do: func() { r.control(conversation.Compact, "62", "ann") }, list: "- **c** — \n- **d** — \n- **e** — "},
	} {
		if step.engine != nil {
			e = step.engine
		}
		step.do()
		handle(t, r, e)
		r.nextID++
		r.say(string(rune('a'+r.nextID)), "ann", "go "+strings.Repeat("on ", 50))
		handle(t, r, e)
		system := strings.TrimSpace(strings.TrimPrefix(last.System[0], "You are a test."))
		if system != strings.TrimSpace(step.list) {
			t.Errorf("%s: the list is %q, want %q", step.name, system, step.list)
		}
		if told := strings.Contains(last.Messages[len(last.Messages)-1].Text, "<added to="); told != step.added {
			t.Errorf("%s: told of what came: %v, want %v", step.name, told, step.added)
		}
	}
}

func handle(t *testing.T, r *rig, e *turn.Engine) {
	t.Helper()
	for c, ok := r.claim(); ok; c, ok = r.claim() {
		if err := e.Handle(t.Context(), c, nil); err != nil {
			t.Fatal(err)
		}
	}
}
