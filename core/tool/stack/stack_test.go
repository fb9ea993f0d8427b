package stack_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herald/core/prompt"
	"herald/core/session"
	"herald/core/tool"
	"herald/core/tool/stack"
)

type directory map[string]prompt.Agent

func (d directory) Agent(_ context.Context, s tool.Scope) (prompt.Agent, error) {
	a, ok := d[s.Agent]
	if !ok {
		return a, fmt.Errorf("no agent %q", s.Agent)
	}
	return a, nil
}

func (d directory) List(context.Context) []stack.Info {
	var out []stack.Info
	for _, id := range []string{"a.b", "lead", "main", "night"} {
		if a, ok := d[id]; ok {
			out = append(out, stack.Info{ID: id, Type: a.Type, Description: a.Description, Instructions: a.Instructions})
		}
	}
	return out
}

func source(groups map[string][]string, lists map[string]func(context.Context, tool.Scope) (string, error)) *stack.Source {
	return stack.New(stack.Options{
		Agents: directory{
			"main": {Type: "chat"}, "lead": {Type: "task", Delegates: []string{"a.b"}}, "a.b": {Type: "task", Description: "Does b.", Instructions: "Name the file.", Delegates: []string{}},
			"night": {Type: "system", Tools: []string{}},
		},
		Resolve: func(prompt.Agent) error { return nil }, Groups: func() map[string][]string { return groups }, Lists: lists,
	})
}

// Each agent has the tools of its place and its file, all of which a provider takes.
func TestToolsOfAPlace(t *testing.T) {
	t.Parallel()
	groups := map[string][]string{"web": {"web_fetch"}}
	for _, tc := range []struct {
		agent string
		depth int
		want  string
	}{
		{"main", 0, "write_todos update_scratchpad ask_user_clarification execute_task list_items activate_tools"},
		{"main", 1, "write_todos update_scratchpad ask_user_clarification execute_subtask list_items activate_tools"},
		{"main", session.MaxDepth - 1, "write_todos update_scratchpad ask_user_clarification execute_subtask list_items activate_tools"},
		{"main", session.MaxDepth, "write_todos update_scratchpad ask_user_clarification list_items activate_tools"},
		{"lead", 0, "write_todos update_scratchpad ask_user_clarification agent_a_b activate_tools"},
		{"lead", session.MaxDepth, "write_todos update_scratchpad ask_user_clarification activate_tools"},
		{"a.b", 1, "write_todos update_scratchpad ask_user_clarification activate_tools"},
		{"night", 0, "write_todos update_scratchpad ask_user_clarification execute_task list_items"},
	} {
		ts, err := source(groups, nil).Tools(t.Context(), tool.Scope{Agent: tc.agent, Depth: tc.depth})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, x := range ts {
			if err := x.Check(); err != nil || !x.Own || !json.Valid(x.Spec.Parameters) {
				t.Errorf("%s: own %v, %v", x.Spec.Name, x.Own, err)
			}
			names = append(names, x.Spec.Name)
		}
		if got := strings.Join(names, " "); got != tc.want {
			t.Errorf("%s at %d: got %q, want %q", tc.agent, tc.depth, got, tc.want)
		}
	}
}

// call runs a tool of main's.
func call(t *testing.T, s *stack.Source, name, args string) (tool.Result, error) {
	t.Helper()
	sc := tool.Scope{Agent: "main"}
	ts, err := s.Tools(t.Context(), sc)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range ts {
		if x.Spec.Name == name {
			return x.Run(t.Context(), tool.Call{Scope: sc, Name: name, Arguments: json.RawMessage(args)})
		}
	}
	t.Fatalf("main has no %s", name)
	return tool.Result{}, nil
}

func TestWhatCallsComeTo(t *testing.T) {
	t.Parallel()
	lists := map[string]func(context.Context, tool.Scope) (string, error){
		"skills": func(_ context.Context, s tool.Scope) (string, error) { return "skills of " + s.Agent, nil },
		"tasks":  func(context.Context, tool.Scope) (string, error) { return "", nil },
	}
	s := source(map[string][]string{"web": {"web_fetch"}, "files": {"read_file"}}, lists)
	long := strings.Repeat("x", 200)
	for _, tc := range []struct{ name, tool, args, want string }{
		{"todos", "write_todos", `{"todos":[{"content":"read  it","status":"completed"},{"content":"write it","status":"in_progress"},{"content":"send it","status":"pending"},{"content":"rest","status":"pending"}]}`, "[x] read it\n[~] write it\n[ ] send it\n[ ] rest\n1 completed, 1 in progress, 2 pending"},
		{"no todos", "write_todos", `{"todos":[]}`, "error: the list is empty; write the full list each time"},
		{"a todo without content", "write_todos", `{"todos":[{"content":" ","status":"pending"}]}`, "error: entry 1 has no content"},
		{"a todo of an unknown status", "write_todos", `{"todos":[{"content":"a","status":"done"}]}`, `error: entry 1: "done" is no status; there are pending, in_progress, completed`},
		{"the agents", "list_items", `{"type":"agents"}`, "- **a.b** — Does b.\n  How to ask it: Name the file.\n- **lead**"},
		{"another list", "list_items", `{"type":"skills"}`, "skills of main"},
		{"an empty list", "list_items", `{"type":"tasks"}`, "There are none."},
		{"a list of what does not exist yet", "list_items", `{"type":"mcp"}`, "There are none: this version connects to no MCP servers."},
		{"no list", "list_items", `{"type":"cats"}`, `error: there is no list of "cats"; there are agents, skills, tasks`},
		{"groups", "activate_tools", `{"groups":["web","web","files"]}`, "These tools are open now, as far as the rules let you use them.\nweb: web_fetch\nfiles: read_file"},
		{"the group that is reserved", "activate_tools", `{"groups":["config"]}`, `error: the group "config" is not open to agents; an admin changes the settings`},
		{"an unknown group", "activate_tools", `{"groups":["jobs"]}`, `error: there is no group "jobs"; there are files, web`},
		{"no group", "activate_tools", `{"groups":[]}`, "error: no group is named; there are files, web"},
		{"a line", "update_scratchpad", `{"key":" a  b ","value":"c"}`, "The line stands in the scratchpad."},
		{"a line taken away", "update_scratchpad", `{"key":"a","value":" "}`, "The line is gone from the scratchpad."},
		{"a line without a key", "update_scratchpad", `{"key":" ","value":"c"}`, "error: the line has no key"},
		{"a long key", "update_scratchpad", `{"key":"` + long + `","value":"c"}`, "error: the key has 200 characters, at most 80"},
		{"no question", "ask_user_clarification", `{"question":" "}`, "error: there is no question"},
		{"a long answer", "ask_user_clarification", `{"question":"q","suggested_answers":["` + long + `"]}`, `error: the suggested answer "` + long[:29] + `…" has more than 75 characters`},
		{"what is no JSON of the tool's", "write_todos", `{"todos":1}`, "error: the arguments do not fit"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			res, err := call(t, s, tc.tool, tc.args)
			got := res.Text
			if err != nil {
				got = "error: " + err.Error()
			}
			if got != tc.want && (tc.name != "what is no JSON of the tool's" || !strings.HasPrefix(got, tc.want)) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
	res, err := call(t, s, "ask_user_clarification", `{"title":"T","question":"q?","suggested_answers":["a","b","a",""]}`)
	if d := cmp.Diff(&session.Wait{Kind: session.Question, Title: "T", Text: "q?", Choices: []string{"a", "b"}}, res.Wait); d != "" || err != nil {
		t.Errorf("a question: %v\n%s", err, d)
	}
	if res, _ = call(t, s, "activate_tools", `{"groups":["web","files"]}`); !cmp.Equal(res.Groups, []string{"web", "files"}) {
		t.Errorf("groups %q", res.Groups)
	}
}
