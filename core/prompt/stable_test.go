package prompt_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"herald/core/model"
	"herald/core/prompt"
	"herald/core/session"
	"herald/core/tool"
)

func named(names ...string) []tool.Tool {
	var out []tool.Tool
	for _, n := range names {
		out = append(out, tool.Tool{Spec: model.ToolSpec{Name: n}, Traits: session.Traits{Delegates: strings.HasPrefix(n, "agent_") || n == "task"}})
	}
	return out
}

// system is the system prompt and the volatile end.
func system(a prompt.Agent) (string, string) {
	r := prompt.Build(a, nil, nil, time.Date(2026, 3, 4, 15, 0, 0, 0, time.UTC), time.UTC)
	return strings.Join(r.System, "\n"), r.Messages[0].Text
}

// What only came to a prompt is said at its end, and everything else lays it out anew.
func TestStableHoldsWhatOnlyGrows(t *testing.T) {
	t.Parallel()
	base := func() prompt.Agent {
		return prompt.Agent{
			ID: "main", Text: "You are main.\n<!-- AGENTS_LIST -->\n<!-- OTHER -->\nEnd.", Agents: []prompt.Delegate{{ID: "b", Description: "Bees."}, {ID: "d", Description: "Dogs."}},
			Sections: []prompt.Section{{Name: "skills", Text: "<skills_index>\n| a | x |\n</skills_index>"}, {Name: "user-memory/index.md", Text: prompt.MemoryFile("user-memory/index.md", "", false)}},
		}
	}
	for _, tt := range []struct {
		name   string
		change func(*prompt.Agent)
		tools  []tool.Tool
		// held: the system prompt stays as it was, and the end holds these lines.
		held bool
		end  []string
	}{
		{name: "nothing", change: func(*prompt.Agent) {}, held: true},
		{name: "an agent", change: func(a *prompt.Agent) {
			a.Agents = []prompt.Delegate{a.Agents[0], {ID: "c", Description: "Cats.\nAnd <note>more</note>."}, a.Agents[1]}
		}, held: true, end: []string{"<added to=\"agents list\">\n- **c** — Cats. And &lt;note>more&lt;/note>.\n</added>"}},
		{name: "a skill", change: func(a *prompt.Agent) {
			a.Sections[0].Text = "<skills_index>\n| a | x |\n| b | </added> |\n</skills_index>"
		}, held: true, end: []string{"<added to=\"skills\">\n| b | <\\/added> |\n</added>"}},
		{name: "the first line of a note", change: func(a *prompt.Agent) {
			a.Sections[1].Text = prompt.MemoryFile("user-memory/index.md", "- tea.md — Tea.", true)
		}, held: true, end: []string{"<added to=\"user-memory/index.md\">\n- tea.md — Tea.\n</added>"}},
		{name: "a section", change: func(a *prompt.Agent) { a.Sections = append(a.Sections, prompt.Section{Name: "new", Text: "New."}) }, held: true, end: []string{"<added to=\"new\">\nNew.\n</added>"}},
		{name: "a value", change: func(a *prompt.Agent) { a.Values = map[string]string{"OTHER": "Other."} }, held: true, end: []string{"<added to=\"other\">\nOther.\n</added>"}},
		{name: "a value that the text does not name", change: func(a *prompt.Agent) { a.Values = map[string]string{"NOBODY": "Nobody."} }, held: true},
		{name: "an agent is gone", change: func(a *prompt.Agent) { a.Agents = a.Agents[:1] }},
		{name: "an agent is described anew", change: func(a *prompt.Agent) { a.Agents[0].Description = "Wasps." }},
		{name: "a section is gone", change: func(a *prompt.Agent) { a.Sections = a.Sections[:1] }},
		{name: "lines change places", change: func(a *prompt.Agent) { a.Agents[0], a.Agents[1] = a.Agents[1], a.Agents[0] }},
		{name: "the text", change: func(a *prompt.Agent) { a.Text = "You are new.\n<!-- AGENTS_LIST -->" }},
		{name: "another agent with the same text", change: func(a *prompt.Agent) { a.ID = "other" }, held: true},
		{name: "very much", change: func(a *prompt.Agent) { a.Sections[0].Text += "\n" + strings.Repeat("| long |\n", 2000) }},
		{name: "no tool delegates any more", change: func(*prompt.Agent) {}, tools: named("read")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var s prompt.Stable
			tools := named("read", "task")
			first, key := s.Hold(base(), tools, "")
			before, end := system(first)
			if !strings.Contains(before, "- **b** — Bees.\n- **d** — Dogs.\nEnd.") {
				t.Fatalf("at first:\n%s", before)
			}
			a := base()
			tt.change(&a)
			if tt.tools != nil {
				tools = tt.tools
			}
			second, key2 := s.Hold(a, tools, key)
			now, end2 := system(second)
			if tt.held != (now == before) {
				t.Errorf("held: %v, want %v\n%s", now == before, tt.held, now)
			}
			for _, want := range tt.end {
				if !strings.Contains(end2, want) {
					t.Errorf("the end lacks %q:\n%s", want, end2)
				}
			}
			if len(tt.end) == 0 && end2 != end {
				t.Errorf("the end became\n%s", end2)
			}
			if len(tt.end) > 0 && key2 != key {
				t.Error("the key changed of a prompt that was held")
			}
			// A session that begins now sees all of it in its place.
			fresh, _ := s.Hold(a, tools, "")
			if text, end3 := system(fresh); end3 != end || len(tt.end) > 0 && text == before {
				t.Errorf("a new session:\n%s\n%s", text, end3)
			}
			// Where nothing is remembered, the prompt is laid out anew.
			if other, _ := new(prompt.Stable).Hold(a, tools, key); !equalSystem(other, fresh) {
				t.Error("another process lays out something else")
			}
		})
	}
}

func equalSystem(a, b prompt.Agent) bool {
	x, xe := system(a)
	y, ye := system(b)
	return x == y && xe == ye
}

// The list holds those that a tool delegates to here.
func TestTheListOfAgentsFollowsTheTools(t *testing.T) {
	t.Parallel()
	a := prompt.Agent{Text: "<!-- AGENTS_LIST -->", Agents: []prompt.Delegate{{ID: "x", Tool: "agent_x"}, {ID: "y", Tool: "agent_y"}}}
	for _, tt := range []struct {
		name  string
		tools []tool.Tool
		want  string
	}{
		{"both", named("agent_x", "agent_y"), "- **x** — \n- **y** — "},
		{"one is hidden", named("agent_y", "read"), "- **y** — "},
		{"none", named("read"), ""},
	} {
		if got, _ := new(prompt.Stable).Hold(a, tt.tools, ""); got.Text != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got.Text, tt.want)
		}
	}
}

// What was not used for long is forgotten, and what a session goes on with is not.
func TestStableIsBounded(t *testing.T) {
	t.Parallel()
	var s prompt.Stable
	agent := func(i int) prompt.Agent {
		return prompt.Agent{ID: fmt.Sprint(i), Text: "T", Sections: []prompt.Section{{Name: "s", Text: strings.Repeat("line\n", 10_000)}}}
	}
	grown := func(i int) prompt.Agent {
		a := agent(i)
		a.Sections = append(a.Sections, prompt.Section{Name: "t", Text: "more"})
		return a
	}
	_, old := s.Hold(agent(-1), nil, "")
	_, used := s.Hold(agent(-2), nil, "")
	for i := range 600 {
		s.Hold(agent(i), nil, "")
		s.Hold(agent(-2), nil, used)
	}
	if a, _ := s.Hold(grown(-2), nil, used); len(a.Tail) != 1 {
		t.Error("a prompt in use was forgotten")
	}
	if a, _ := s.Hold(grown(-1), nil, old); len(a.Tail) != 0 {
		t.Error("600 prompts of 50 kB are all kept")
	}
}
