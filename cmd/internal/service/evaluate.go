package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"herald/agents"
	"herald/core/model"
	"herald/core/prompt"
	"herald/core/tool"
	"herald/core/tool/builtin"
	"herald/core/tool/files"
	"herald/core/tool/stack"
	"herald/core/tool/web"
)

// evalRounds bounds the model calls of one scenario.
const evalRounds = 30

// Evaluation is what came of one scenario.
type Evaluation struct {
	Answer string
	Calls  []agents.Called
	// Missing is what the property lacks, empty when it holds.
	Missing []string
}

// Evaluate plays a scenario with a model. The agent has its real prompt and the real descriptions of its tools; the tools themselves are played:
// files live in memory, other tools answer what the scenario says, and nothing outside is touched.
func Evaluate(ctx context.Context, reg *agents.Registry, a agents.Agent, s agents.Scenario, m model.Model) (Evaluation, error) {
	source := agentSource{registry: reg, clean: func(s string) string { return s }}
	scope := scopeOf(a)
	of := source.describe(reg.Now(), a)
	stage := stage{files: maps.Clone(s.Files), answers: s.Tools}
	if stage.files == nil {
		stage.files = map[string]string{}
	}
	for _, path := range a.InjectMemory {
		name := strings.TrimPrefix(path, agents.WorkDir+"/")
		text, ok := stage.files[name]
		of.Sections = append(of.Sections, prompt.Section{Name: path, Text: prompt.MemoryFile(name, text, ok)})
	}
	tools, err := evalTools(ctx, source, of, scope)
	if err != nil {
		return Evaluation{}, err
	}
	of, _ = new(prompt.Stable).Hold(of, tools, "")
	var e Evaluation
	history := []model.Message{{Role: model.User, Text: s.Prompt}}
	ids := 0
	for range evalRounds {
		r := prompt.Build(of, tools, history, time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC), time.UTC)
		r.NewCallID = func() string { ids++; return fmt.Sprint("call_", ids) }
		answer, err := generate(ctx, m, r)
		if err != nil {
			return e, err
		}
		history = append(history, model.Message{Role: model.Assistant, Text: answer.Text, Calls: answer.Calls})
		if len(answer.Calls) == 0 {
			e.Answer = answer.Text
			e.Missing = s.Judge(e.Answer, e.Calls)
			return e, nil
		}
		for _, c := range answer.Calls {
			e.Calls = append(e.Calls, agents.Called{Tool: c.Name, Arguments: string(c.Arguments)})
			text, failed := tool.ErrUnknown.Error(), true
			if slices.ContainsFunc(tools, func(t tool.Tool) bool { return t.Spec.Name == c.Name }) {
				text, failed = stage.play(c)
			}
			history = append(history, model.Message{Role: model.Tool, CallID: c.ID, Text: text, Failed: failed})
		}
	}
	e.Missing = append(s.Judge("", e.Calls), fmt.Sprintf("there is no answer after %d model calls", evalRounds))
	return e, nil
}

// scopeOf is where a scenario plays: alone with a person, and below another agent where others delegate to it.
func scopeOf(a agents.Agent) tool.Scope {
	scope := tool.Scope{Agent: a.ID, Direct: true, Person: "person", Askers: []string{"person"}}
	if a.Type == agents.Task {
		scope.Depth = 1
	}
	return scope
}

func generate(ctx context.Context, m model.Model, r *model.Request) (*model.Answer, error) {
	for chunk, err := range m.Generate(ctx, r) {
		if err != nil {
			return nil, err
		}
		if chunk.Done != nil {
			return chunk.Done, nil
		}
	}
	return nil, errors.New("the model gave no answer")
}

// evalTools are the tools that the agent would have, with all groups open.
func evalTools(ctx context.Context, source agentSource, of prompt.Agent, scope tool.Scope) ([]tool.Tool, error) {
	o := files.Options{}
	w := web.New(web.Options{Search: func() web.Search { return web.Search{} }})
	defer w.Close()
	all := append([]tool.Tool{builtin.CurrentTime(time.UTC, time.Now)}, (&builtin.Desk{}).Tools()...)
	all = append(append(append(all, o.Tools()...), o.Command(nil)), w.Tools()...)
	all = grouped(append(all, tool.Tool{Own: true, Spec: model.ToolSpec{
		Name: "notify", Description: "Interrupts the person with a message now. There is no silent form of it.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"source":{"type":"string"},"summary":{"type":"string"},"event_type":{"type":"string"},"event_time":{"type":"string"},"severity":{"type":"string","enum":["info","notice","alert"]},"refs":{"type":"object"}},"required":["source","summary"]}`),
	}}))
	if of.Type != string(agents.System) {
		all = slices.DeleteFunc(all, func(t tool.Tool) bool { return t.Spec.Name == "notify" })
	}
	var groups []string
	for _, t := range all {
		if t.Group != "" && !slices.Contains(groups, t.Group) {
			groups = append(groups, t.Group)
		}
	}
	own, err := stack.New(stack.Options{Agents: evalDirectory{directory{source}, of}, Groups: func() map[string][]string { return nil }, Resolve: func(prompt.Agent) error { return nil }}).Tools(ctx, scope)
	if err != nil {
		return nil, err
	}
	return tool.Usable([]tool.Selection{{None: of.NoTools, All: of.AllTools, Names: of.Tools}}, groups, append(all, own...)), nil
}

// evalDirectory knows the agent that is tried without asking for its notes.
type evalDirectory struct {
	directory
	of prompt.Agent
}

// Agent is the agent that is tried.
func (d evalDirectory) Agent(context.Context, tool.Scope) (prompt.Agent, error) { return d.of, nil }

// stage plays tools.
type stage struct {
	files, answers map[string]string
}

func (s stage) play(c model.Call) (text string, failed bool) {
	if c.Malformed != "" {
		return c.Malformed, true
	}
	for expr, answer := range s.answers {
		if ok, err := regexp.MatchString("^(?:"+expr+")$", c.Name); err == nil && ok {
			return answer, false
		}
	}
	var in struct {
		Path    string `json:"path"`
		Content string `json:"content"`
		Text    string `json:"text"`
		Old     string `json:"old"`
		New     string `json:"new"`
	}
	if err := json.Unmarshal(c.Arguments, &in); err != nil {
		return "the arguments do not fit: " + err.Error(), true
	}
	held, there := s.files[in.Path]
	switch c.Name {
	case "read_file":
		if !there {
			return in.Path + " does not exist", true
		}
		return held, false
	case "list_files", "search_file", "grep_files":
		var out []string
		for _, name := range slices.Sorted(maps.Keys(s.files)) {
			for i, line := range strings.Split(strings.TrimSuffix(s.files[name], "\n"), "\n") {
				if c.Name == "list_files" {
					out = append(out, name)
					break
				}
				out = append(out, fmt.Sprintf("%s:%d: %s", name, i+1, line))
			}
		}
		return strings.Join(out, "\n"), false
	case "write_file":
		s.files[in.Path] = in.Content
	case "append_file":
		s.files[in.Path] = held + in.Content
	case "edit_file":
		if !there || in.Old == "" || !strings.Contains(held, in.Old) {
			return in.Path + " does not hold this text", true
		}
		s.files[in.Path] = strings.Replace(held, in.Old, in.New, 1)
	case "current_time":
		return "2026-03-04 09:00 UTC", false
	case "ask_user_clarification":
		return "Take what you think best.", false
	}
	return "done", false
}

// Script is a model that answers step by step and knows nothing.
type Script []agents.Step

// Generate gives the step for as many answers as the history holds.
func (s Script) Generate(_ context.Context, r *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		n := 0
		for _, m := range r.Messages {
			if m.Role == model.Assistant {
				n++
			}
		}
		if n >= len(s) {
			yield(model.Chunk{}, errors.New("the script has no further step"))
			return
		}
		a := &model.Answer{Text: s[n].Say, Finish: model.FinishStop}
		if s[n].Call != "" {
			a.Finish, a.Calls = model.FinishCalls, []model.Call{{ID: r.NewCallID(), Name: s[n].Call, Arguments: json.RawMessage(s[n].Arguments)}}
		}
		yield(model.Chunk{Done: a}, nil)
	}
}
