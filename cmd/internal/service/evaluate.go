package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"time"

	"herald/agents"
	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/handover"
	"herald/core/model"
	"herald/core/prompt"
	"herald/core/session"
	"herald/core/store"
	"herald/core/store/memory"
	"herald/core/tool"
	"herald/core/tool/builtin"
	"herald/core/tool/files"
	"herald/core/tool/stack"
	"herald/core/tool/web"
	"herald/core/turn"
)

const (
	// evalRounds bounds the model calls of one scenario.
	evalRounds = 30
	// evalLease is longer than any scenario takes: nothing renews its claim.
	evalLease = 24 * time.Hour
	// evalPerson is who asks.
	evalPerson = "person"
)

// evalPlace is where a scenario plays: alone with a person. A task plays in a place of its own that was begun there.
var evalPlace = chat.Conversation{Workspace: "eval:eval", Channel: "direct"}

// Evaluation is what came of one scenario.
type Evaluation struct {
	Answer string
	Calls  []agents.Called
	// Missing is what the property lacks, empty when it holds.
	Missing []string
	// Strangers are tools that it called and does not have.
	Strangers []string
}

// Evaluate plays a scenario with a model. The turn is a real one, in a store of its own: the agent has its prompt, the tools that it would have, and
// what a session has. Tools that reach out of the session are played: files live in memory, other tools answer what the scenario says, and nothing
// outside is touched.
func Evaluate(ctx context.Context, reg *agents.Registry, a agents.Agent, s agents.Scenario, m model.Model) (Evaluation, error) {
	p, err := newPlay(reg, a, s, m)
	if err != nil {
		return Evaluation{}, err
	}
	if err := p.begin(ctx); err != nil {
		return Evaluation{}, err
	}
	for {
		claims, err := p.store.Claim(ctx, store.ClaimRequest{Agenda: store.Turns, Holder: "eval", Lease: evalLease, Limit: 1})
		if err != nil {
			return Evaluation{}, err
		}
		if len(claims) == 0 {
			return p.judge(ctx, s)
		}
		if err := p.engine.Handle(ctx, claims[0], nil); err != nil {
			return Evaluation{}, err
		}
	}
}

// play is a scenario on its stage.
type play struct {
	agent  agents.Agent
	prompt string
	place  store.Partition
	store  *memory.Store
	engine *turn.Engine
}

func newPlay(reg *agents.Registry, a agents.Agent, s agents.Scenario, m model.Model) (*play, error) {
	st := stage{files: maps.Clone(s.Files), answers: s.Tools}
	if st.files == nil {
		st.files = map[string]string{}
	}
	begin := time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)
	clock := func() time.Time { return begin }
	p := &play{agent: a, prompt: s.Prompt, place: conversation.Partition(evalPlace), store: memory.New(memory.Options{Clock: clock})}
	if a.Type == agents.Task {
		p.place = conversation.Partition(conversation.TaskPlace(evalPlace.Workspace, "eval"))
	}
	source := evalAgents{
		agentSource: agentSource{registry: reg, clean: func(s string) string { return s }, value: func(_ context.Context, _ tool.Scope, key string) (string, error) { return s.Values[key], nil }},
		files:       st.files,
	}
	tools, err := evalTools(a, st)
	if err != nil {
		return nil, err
	}
	own := stack.New(stack.Options{Agents: directory{source.agentSource}, Groups: tools.Groups, Async: true, Resolve: func(prompt.Agent) error { return nil }})
	ids := 0
	p.engine = turn.New(turn.Options{
		Store: p.store, Agents: source, Models: evalModel{m}, Tools: tools, Gate: evalGate{}, Outbox: evalOutbox{}, DefaultAgent: a.ID, Clock: clock, Zone: time.UTC,
		Sources: []tool.Source{tool.SourceFunc(func(ctx context.Context, of tool.Scope) ([]tool.Tool, error) {
			list, err := own.Tools(ctx, of)
			return st.staged(list), err
		})},
		Adapter:   func(chat.Workspace) chat.Adapter { return evalAdapter{} },
		MaxRounds: evalRounds, LiveAfter: -1, NewID: func() string { ids++; return fmt.Sprint("eval", ids) }, Log: slog.New(slog.DiscardHandler),
	})
	return p, nil
}

// begin puts the scenario's prompt before the agent: as a message, or as a task that main gave.
func (p *play) begin(ctx context.Context) error {
	if p.agent.Type == agents.Task {
		start := conversation.TaskStart{
			V: conversation.Version, ID: "eval", Origin: evalPlace, Agent: p.agent.ID, Title: "a scenario", Prompt: p.prompt, Person: evalPerson, Askers: []string{evalPerson},
			Direct: true, Callers: []string{agents.Main},
		}
		_, err := handover.Tasks{Store: p.store}.Take(ctx, conversation.Partition(evalPlace), &conversation.Owed{
			ID: "eval", Kind: conversation.TaskKind, To: p.place, Data: conversation.Encode(start),
		})
		return err
	}
	m := conversation.Message{V: conversation.Version, MessageID: "1", Order: "1", Person: evalPerson, Direct: true, Text: p.prompt}
	_, err := p.store.Commit(ctx, store.Commit{ID: "eval.begin", Partition: p.place, Ops: []store.Op{
		store.Put{Key: m.Key(), Value: conversation.Encode(m)}, store.Wake{Agenda: store.Turns, Member: store.MemberOf(p.place, "")},
	}})
	return err
}

// judge reads from the log what the agent did.
func (p *play) judge(ctx context.Context, s agents.Scenario) (Evaluation, error) {
	as, err := p.store.Read(ctx, store.Range{Partition: p.place, Log: conversation.Log, From: 1})
	if err != nil {
		return Evaluation{}, err
	}
	var e Evaluation
	answered := false
	for _, en := range as[0].Entries {
		ev, err := session.Decode(en.Kind, en.ID, en.Seq, en.At, en.Data)
		switch {
		case err != nil:
			return e, err
		case ev.Failure != nil && strings.HasPrefix(ev.Failure.Kind, "loop"):
			e.Missing = append(e.Missing, "there is no answer: "+ev.Failure.Detail)
		case ev.Failure != nil:
			return e, errors.New(ev.Failure.Detail)
		case ev.Model != nil:
			e.Answer, answered = ev.Model.Text, len(ev.Model.Calls) == 0
			for _, c := range ev.Model.Calls {
				e.Calls = append(e.Calls, agents.Called{Tool: c.Name, Arguments: string(c.Arguments)})
			}
		case ev.Result != nil:
			if name, ok := strings.CutPrefix(ev.Result.Text, tool.ErrUnknown.Error()+": "); ok && ev.Result.Status != session.Done {
				e.Strangers = append(e.Strangers, name)
			}
		}
	}
	if !answered {
		e.Answer = ""
	}
	e.Missing = append(s.Judge(e.Answer, e.Calls), e.Missing...)
	return e, nil
}

// evalTools are the tools of an installation that has all of them. The system agents are given notify by whoever runs them.
func evalTools(a agents.Agent, st stage) (*tool.Registry, error) {
	o := files.Options{}
	w := web.New(web.Options{Search: func() web.Search { return web.Search{} }})
	defer w.Close()
	all := append([]tool.Tool{builtin.CurrentTime(time.UTC, time.Now)}, (&builtin.Desk{}).Tools()...)
	all = append(append(append(all, o.Tools()...), o.Command(nil)), w.Tools()...)
	if a.Type == agents.System {
		all = append(all, tool.Tool{Own: true, Spec: model.ToolSpec{
			Name: "notify", Description: "Interrupts the person with a message now. There is no silent form of it.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"source":{"type":"string"},"summary":{"type":"string"},"event_type":{"type":"string"},"event_time":{"type":"string"},"severity":{"type":"string","enum":["info","notice","alert"]},"refs":{"type":"object"}},"required":["source","summary"]}`),
		}})
	}
	return tool.NewRegistry(st.staged(grouped(all))...)
}

// evalAgents reads what inject_memory names from the stage.
type evalAgents struct {
	agentSource
	files map[string]string
}

// Agent is the agent of a frame.
func (s evalAgents) Agent(ctx context.Context, of tool.Scope) (prompt.Agent, error) {
	set := s.registry.Now()
	a, err := set.Agent(of.Agent)
	if err != nil {
		return prompt.Agent{}, err
	}
	out := s.describe(set, a)
	for _, path := range a.InjectMemory {
		name := strings.TrimPrefix(path, agents.WorkDir+"/")
		text, ok := s.files[name]
		out.Sections = append(out.Sections, prompt.Section{Name: path, Text: prompt.MemoryFile(name, text, ok)})
	}
	return out, s.fill(ctx, of, &out)
}

// evalModel is the one model of a scenario.
type evalModel struct{ m model.Model }

// Model is the model.
func (m evalModel) Model(prompt.Agent) (model.Model, error) { return m.m, nil }

// Cost is unknown.
func (evalModel) Cost(string, model.Usage) (float64, bool) { return 0, false }

// evalGate lets everything through: what is called is played.
type evalGate struct{}

// Decide allows the call.
func (evalGate) Decide(context.Context, tool.Call) (tool.Decision, error) {
	return tool.Decision{Answer: tool.Allow, Rule: "a scenario plays its tools"}, nil
}

// evalOutbox keeps what is said where it stands.
type evalOutbox struct{}

// Express says d as usual.
func (evalOutbox) Express(c chat.Conversation, d *conversation.Delivery, _ bool) ([]store.Guard, []store.Op, func(*store.Claim, int64, time.Time)) {
	return nil, conversation.Say(conversation.Partition(c), d), func(*store.Claim, int64, time.Time) {}
}

// Room is never there: nothing is shown.
func (evalOutbox) Room(context.Context, chat.Conversation) (bool, error) { return false, nil }

// Edit shows nothing.
func (evalOutbox) Edit(context.Context, *chat.Post, chat.Receipt) error { return nil }

// evalAdapter is a platform that shows nothing.
type evalAdapter struct{}

var errStage = errors.New("a scenario has no platform")

// Capabilities are none.
func (evalAdapter) Capabilities(chat.Conversation) chat.Capabilities { return chat.Capabilities{} }

// Cut leaves a text as it is.
func (evalAdapter) Cut(_ chat.Conversation, markdown string) []string { return []string{markdown} }

// Send refuses.
func (evalAdapter) Send(context.Context, *chat.Post) (chat.Receipt, error) {
	return chat.Receipt{}, errStage
}

// Edit refuses.
func (evalAdapter) Edit(context.Context, *chat.Post, chat.Receipt, bool) error { return errStage }

// Find finds nothing.
func (evalAdapter) Find(context.Context, *chat.Post) (chat.Receipt, bool, error) {
	return chat.Receipt{}, false, nil
}
