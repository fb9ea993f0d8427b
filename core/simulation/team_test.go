package simulation_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"herald/core/conversation"
	"herald/core/model"
	"herald/core/prompt"
	"herald/core/store"
	"herald/core/tool"
	"herald/core/tool/stack"
)

// team is what the model of a world knows in which agents delegate. Each piece of work has a number of its own, so that what became of it
// can be counted in what the model is shown.
type team struct {
	jobs int
	// beside are the jobs at which an agent began to work beside a conversation.
	beside map[string]bool
	// probed are the jobs whose results the model was shown when all was done.
	probed    map[string]bool
	probing   bool
	landed    int
	summaries int
}

// asked are what people ask of a team, by the words that they use.
var asked = []string{
	"give effect", "give danger", "give ask", "give look", "give wait", "give beyond", "pair", "pair", "beside effect", "beside effect", "beside danger",
	"beside ask", "beside wait", "hello", "effect", "stop",
}

// teamAgents is the directory of a world in which agents delegate.
type teamAgents struct{}

func (teamAgents) Agent(_ context.Context, s tool.Scope) (prompt.Agent, error) {
	kinds := map[string]string{"main": "chat", "helper": "task", "second": "task"}
	if kinds[s.Agent] == "" {
		return prompt.Agent{}, fmt.Errorf("there is no agent %q", s.Agent)
	}
	return prompt.Agent{ID: s.Agent, Type: kinds[s.Agent], Text: "You are " + s.Agent + "."}, nil
}

func (teamAgents) List(context.Context) []stack.Info {
	return []stack.Info{{ID: "helper", Type: "task"}, {ID: "main", Type: "chat"}, {ID: "second", Type: "task"}}
}

// delegation is the tools of delegation; nothing in them changes from story to story.
var delegation = stack.New(stack.Options{
	Agents: teamAgents{}, Groups: func() map[string][]string { return nil }, Resolve: func(prompt.Agent) error { return nil }, Async: true,
})

var (
	jobNumber = regexp.MustCompile(`#\d+`)
	// doneMark is the result of a job in what a model is shown: the note of a task that ran beside, whether it was done or not, or what an
	// agent said at the end whose caller waited.
	doneMark = regexp.MustCompile(`\(beside \w+ #\d+\)|done #\d+`)
)

// answer is what the model says in a world in which agents delegate.
func (t *team) answer(r *model.Request) (text string, calls []model.Call) {
	if strings.HasPrefix(r.System[0], "You summarise") {
		t.summaries++
		return "summary: " + strings.Join(doneMark.FindAllString(r.Messages[0].Text, -1), ", "), nil
	}
	call := func(name string, args any) {
		b, err := json.Marshal(args)
		if err != nil {
			panic(err)
		}
		calls = append(calls, model.Call{ID: r.NewCallID(), Name: name, Arguments: b})
	}
	give := func(name, agent, mode, work string) {
		t.jobs++
		args := map[string]string{"agent_id": agent, "prompt": fmt.Sprintf("%s #%d", work, t.jobs)}
		if mode != "" {
			args["mode"] = mode
		}
		call(name, args)
	}
	said, ran := sinceAnswer(r)
	if r.System[0] != "You are main." {
		number := jobNumber.FindString(said)
		if strings.HasPrefix(said, "beside") {
			t.beside[number] = true
		}
		switch {
		case ran && strings.HasPrefix(said, "beside"):
			return "it is finished", nil
		case ran:
			return "done " + number, nil
		}
		for _, w := range []string{"effect", "danger", "ask", "look", "wait"} {
			if strings.Contains(said, w) {
				call(w, struct{}{})
				return "let me see", calls
			}
		}
		give(stack.ExecuteSubtask, "second", "", "effect") // "beyond": one agent further
		return "I pass it on", calls
	}
	switch verb, work, _ := strings.Cut(said, " "); {
	case ran:
	case verb == "give":
		give(stack.ExecuteTask, "helper", "sync", work)
	case verb == "pair":
		give(stack.ExecuteTask, "helper", "sync", "effect")
		give(stack.ExecuteTask, "second", "sync", "effect")
	case verb == "beside":
		give(stack.ExecuteTask, "helper", "async", "beside "+work)
	case verb == "effect":
		call("effect", struct{}{})
	}
	return "I answer", calls
}

// sinceAnswer is the first that was said since the last answer, and whether anything ran since.
func sinceAnswer(r *model.Request) (said string, ran bool) {
	for _, m := range slices.Backward(r.Messages) {
		switch {
		case m.Role == model.Assistant && len(m.Calls) == 0:
			return said, ran
		case m.Role == model.Tool:
			ran = true
		case m.Role == model.User:
			said, _, _ = strings.Cut(m.Text, "\n") // what Herald adds stands below
		}
	}
	return said, ran
}

// count counts the results that the model is shown: one result must never stand twice.
func (t *team) count(r *model.Request) error {
	n := make(map[string]int)
	for _, m := range r.Messages {
		if m.Role == model.Assistant {
			continue
		}
		for _, d := range doneMark.FindAllString(m.Text, -1) {
			n[jobNumber.FindString(d)]++
		}
	}
	for job, k := range n {
		if k > 1 {
			return fmt.Errorf("the result of %s stands %d times in what the model is shown:\n%+v", job, k, r.Messages)
		}
		if t.probing {
			t.probed[job] = true
		}
	}
	return nil
}

// probe asks once more in each conversation, so that the model is shown what has landed there.
func (w *world) probe(said *[]*event) error {
	t := w.team
	for n := range 2 {
		t.probing, t.probed = true, map[string]bool{}
		*said = append(*said, w.plat.say("message", conv(n), "u0", "hello"))
		if err := w.rest(); err != nil {
			return err
		}
		t.probing = false
		for job := range t.probed {
			if t.beside[job] {
				t.landed++
			}
			delete(t.beside, job)
		}
	}
	for job := range t.beside {
		return fmt.Errorf("the result of %s, which ran beside its conversation, has not landed there", job)
	}
	return nil
}

// standsTasks checks the partitions in which the tasks of a conversation ran.
func (w *world) standsTasks(p store.Partition) error {
	as, err := w.base.Read(context.Background(), store.List{Partition: p, Collection: conversation.Tasks})
	if err != nil {
		return err
	}
	for _, doc := range as[0].Docs {
		var d conversation.TaskDoc
		if err := conversation.Decode(doc, &d); err != nil {
			return err
		}
		if d.State != conversation.TaskLanded {
			return fmt.Errorf("%s: the task %s is %s when all is done", p, d.ID, d.State)
		}
		if err := w.standsIn(conversation.Partition(conversation.TaskPlace(workspace, d.ID))); err != nil {
			return err
		}
	}
	return nil
}
