package stack

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"herald/core/model"
	"herald/core/prompt"
	"herald/core/session"
	"herald/core/tool"
)

// Info is an agent as a list shows it to a model.
type Info struct {
	ID, Type, Description, Instructions string
}

// Directory finds agents.
type Directory interface {
	// Agent is the agent s.Agent as it is now.
	Agent(ctx context.Context, s tool.Scope) (prompt.Agent, error)
	// List is all agents, sorted by id.
	List(ctx context.Context) []Info
}

// Options of the tools. Agents, Resolve and Groups are required.
type Options struct {
	Agents Directory
	// Resolve reports why there is no model for an agent: the one that it names is none. Its error names the agent and the model.
	Resolve func(a prompt.Agent) error
	// Groups are the groups of tools that can be activated, with the names of their tools.
	Groups func() map[string][]string
	// Lists are what list_items shows beside agents, by its type; what has nothing to show answers "".
	Lists map[string]func(ctx context.Context, s tool.Scope) (string, error)
	// Async: tasks may run beside the turn.
	Async bool
}

// Names are the tools that a [Source] may give, for who writes rules about tools; the delegates of agents are named by [DelegatePrefix].
func Names() []string {
	return []string{ExecuteTask, ExecuteSubtask, ListItems, UpdateScratchpad, WriteTodos, AskClarification, ActivateTools}
}

// The names of the tools.
const (
	ExecuteTask      = "execute_task"
	ExecuteSubtask   = "execute_subtask"
	ListItems        = "list_items"
	UpdateScratchpad = "update_scratchpad"
	WriteTodos       = "write_todos"
	AskClarification = "ask_user_clarification"
	ActivateTools    = "activate_tools"
	// DelegatePrefix begins the name of a tool that delegates to one agent.
	DelegatePrefix = "agent_"
)

// Source gives the tools of a frame; see [New].
type Source struct {
	o Options
	// always are the tools of every frame; the others are given by what an agent may do where it runs.
	always              []tool.Tool
	task, subtask, list tool.Tool
}

// New is the engine's own tools as a [tool.Source].
func New(o Options) *Source {
	s := &Source{o: o}
	s.always = []tool.Tool{s.newTodos(), s.newScratchpad(), s.newClarification()}
	s.task, s.subtask, s.list = s.newTask(), s.newSubtask(), s.newList()
	return s
}

// taskType is the only type of agent that others may delegate to.
const taskType = "task"

// Tools implements [tool.Source].
func (s *Source) Tools(ctx context.Context, sc tool.Scope) ([]tool.Tool, error) {
	a, err := s.o.Agents.Agent(ctx, sc)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(s.always)
	tasks := slices.ContainsFunc(s.o.Agents.List(ctx), func(i Info) bool { return i.Type == taskType && i.ID != sc.Agent })
	switch deeper := sc.Depth < session.MaxDepth; {
	case !deeper:
	case a.Delegates != nil:
		for _, id := range a.Delegates {
			out = append(out, s.delegate(ctx, sc, id))
		}
	case tasks && sc.Depth == 0:
		out = append(out, s.task)
	case tasks:
		out = append(out, s.subtask)
	}
	if tasks && a.Delegates == nil || len(s.o.Lists) > 0 {
		out = append(out, s.list)
	}
	if a.Tools == nil && !a.AllTools && len(s.o.Groups()) > 0 {
		out = append(out, s.newActivate())
	}
	return out, nil
}

func own(name, description, parameters string, traits session.Traits, run func(context.Context, tool.Call) (tool.Result, error)) tool.Tool {
	return tool.Tool{
		Spec: model.ToolSpec{Name: name, Description: description, Parameters: json.RawMessage(parameters)}, Own: true, Traits: traits, Run: run,
	}
}

// delegates are the traits of a delegation: the push of its frame is what is committed, so that a repeated choice changes nothing.
var delegates = session.Traits{Delegates: true}

func (s *Source) newTask() tool.Tool {
	modes, how := `"sync"`, ""
	if s.o.Async {
		modes, how = `"sync","async"`, ` With mode "async" it works beside this conversation: you get the task's id at once, its result comes later as a message of its own.`
	}
	return own(ExecuteTask, `Gives a task to another agent. It sees nothing of this conversation: write into the prompt everything that it needs. With mode "sync" you wait for its result, and several such calls in one answer work side by side.`+how, `{"type":"object","properties":{"mode":{"type":"string","enum":[`+modes+`]},"agent_id":{"type":"string","description":"one of list_items with type agents"},"prompt":{"type":"string"},"title":{"type":"string","description":"what people read of the task"},"description":{"type":"string"},"client":{"type":"string","description":"a configured model; leave it out for the agent's own"}},"required":["mode","agent_id","prompt"]}`,
		delegates, func(ctx context.Context, c tool.Call) (tool.Result, error) {
			var in struct {
				asked
				Mode string `json:"mode"`
				Cron string `json:"cron"`
			}
			if err := c.Decode(&in); err != nil {
				return tool.Result{}, err
			}
			t, err := s.check(ctx, c, in.asked)
			if err != nil {
				return tool.Result{}, err
			}
			switch {
			case in.Mode == "" || in.Mode == "sync":
				return push(t), nil
			case in.Mode == "async" && s.o.Async:
				return tool.Result{Task: &t}, nil
			case in.Mode == "cron":
				return tool.Result{}, fmt.Errorf("mode %q is not offered here: this version runs no tasks by a timetable", in.Mode)
			default:
				return tool.Result{}, fmt.Errorf("there is no mode %q; there are %s", in.Mode, strings.ReplaceAll(modes, ",", ", "))
			}
		})
}

func (s *Source) newSubtask() tool.Tool {
	return own(ExecuteSubtask, `Gives a part of your task to another agent and waits for its result. It sees nothing of what you see: write into the prompt everything that it needs. Several such calls in one answer work side by side.`, `{"type":"object","properties":{"agent_id":{"type":"string","description":"one of list_items with type agents"},"prompt":{"type":"string"},"title":{"type":"string","description":"what people read of the task"},"description":{"type":"string"},"client":{"type":"string","description":"a configured model; leave it out for the agent's own"}},"required":["agent_id","prompt"]}`,
		delegates, func(ctx context.Context, c tool.Call) (tool.Result, error) {
			var in asked
			if err := c.Decode(&in); err != nil {
				return tool.Result{}, err
			}
			t, err := s.check(ctx, c, in)
			if err != nil {
				return tool.Result{}, err
			}
			return push(t), nil
		})
}

// delegate is the tool of one delegate. The agent is looked for when it is called: one that is missing is an answer, no failure.
func (s *Source) delegate(ctx context.Context, sc tool.Scope, id string) tool.Tool {
	about := "Gives a task to the agent " + id + " and waits for its result."
	for _, i := range s.o.Agents.List(ctx) {
		if i.ID == id && i.Description != "" {
			about += " " + i.Description
		}
	}
	return own(DelegateName(id), about+" It sees nothing of this conversation: write into the input everything that it needs.", `{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}`,
		delegates, func(ctx context.Context, c tool.Call) (tool.Result, error) {
			var in struct {
				Input string `json:"input"`
			}
			if err := c.Decode(&in); err != nil {
				return tool.Result{}, err
			}
			t, err := s.check(ctx, c, asked{Agent: id, Prompt: in.Input})
			if err != nil {
				return tool.Result{}, err
			}
			return push(t), nil
		})
}

// DelegateName is the name of the tool that delegates to an agent: providers take letters, digits, '_' and '-' there.
func DelegateName(id string) string {
	return DelegatePrefix + strings.Map(func(r rune) rune {
		if tool.ValidName(string(r)) {
			return r
		}
		return '_'
	}, id)
}

func push(t tool.Task) tool.Result {
	return tool.Result{Push: &tool.Push{Agent: t.Agent, Prompt: t.Prompt, Client: t.Client}}
}

// asked is what every way of delegating is told.
type asked struct {
	Agent       string `json:"agent_id"`
	Prompt      string `json:"prompt"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Client      string `json:"client"`
}

// check makes all checks of a delegation, in their order.
func (s *Source) check(ctx context.Context, c tool.Call, in asked) (tool.Task, error) {
	in.Agent, in.Client = strings.TrimSpace(in.Agent), strings.TrimSpace(in.Client)
	switch {
	case in.Agent == "" || strings.TrimSpace(in.Prompt) == "":
		return tool.Task{}, fmt.Errorf("agent_id and prompt are both needed")
	case in.Agent == c.Agent:
		return tool.Task{}, fmt.Errorf("an agent cannot give a task to itself; do it, or choose another agent")
	}
	sc := c.Scope
	sc.Agent = in.Agent
	a, err := s.o.Agents.Agent(ctx, sc)
	if ctx.Err() != nil {
		return tool.Task{}, context.Cause(ctx)
	}
	// One that nobody may delegate to, one that cannot be read and one that there is not look the same.
	if err != nil || a.Type != taskType {
		return tool.Task{}, fmt.Errorf("there is no agent %q that takes tasks%s", in.Agent, s.choice(ctx, c.Agent))
	}
	if c.Depth+1 > session.MaxDepth {
		return tool.Task{}, fmt.Errorf("agents may delegate %d deep and no deeper; do this part yourself", session.MaxDepth)
	}
	if in.Client != "" {
		a.Model = in.Client
	}
	if err := s.o.Resolve(a); err != nil {
		return tool.Task{}, err
	}
	t := tool.Task{Agent: in.Agent, Client: in.Client, Title: strings.TrimSpace(in.Title), Prompt: in.Prompt}
	if t.Title == "" {
		t.Title = short(in.Prompt, 60)
	}
	return t, nil
}

// choice names the agents that a caller could have meant.
func (s *Source) choice(ctx context.Context, caller string) string {
	var ids []string
	for _, i := range s.o.Agents.List(ctx) {
		if i.Type == taskType && i.ID != caller {
			ids = append(ids, i.ID)
		}
	}
	if len(ids) == 0 {
		return ""
	}
	return "; there are " + strings.Join(ids, ", ")
}

// short is the beginning of a text on one line.
func short(text string, n int) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}
