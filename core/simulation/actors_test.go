package simulation_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"time"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/handover"
	"herald/core/intake"
	"herald/core/model"
	"herald/core/model/modeltest"
	"herald/core/outbox"
	"herald/core/prompt"
	"herald/core/session"
	"herald/core/store"
	"herald/core/store/memory"
	"herald/core/tool"
	"herald/core/tool/stack"
	"herald/core/turn"
	"herald/core/worker"
)

const leaseTime = 30 * time.Second

// effects counts how often calls began.
type effects struct {
	begun      map[string]int
	repeatable map[string]bool
}

// start begins the process: a new holder, new handles.
func (p *process) start() {
	p.holder = p.w.id()
	p.store = p.w.base.Attach(memory.Options{Faults: memory.FaultFunc(p.fault)})
	p.spawn("gateway", p.gateway)
	p.spawn("turns", p.turns)
	p.spawn("outbox", p.deliveries)
	p.spawn("handover", p.handovers)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// gateway hands events on and acknowledges what was taken.
func (p *process) gateway(a *actor) {
	in := must(intake.New(intake.Options{Store: handle{p.store, a}, NewID: p.w.id}))
	for {
		a.give()
		e := p.w.plat.pending()
		if e == nil {
			continue
		}
		p.w.plat.step++
		if e.copies++; e.copies == 1 {
			e.sentAt = p.w.plat.step
		}
		ev := e.in
		out, err := in.Receive(context.Background(), &ev)
		p.w.note("%s hands on %s %s: %s %v", a.name, e.in.Kind, e.in.MessageID, out, err)
		if err != nil {
			continue
		}
		a.give()
		p.w.plat.step++
		if !e.acked {
			e.acked, e.ackedAt = true, p.w.plat.step
		}
	}
}

// work claims and handles, as the worker does with goroutines.
func (p *process) work(a *actor, agenda store.Agenda, h worker.Handler) {
	st := handle{p.store, a}
	for {
		a.give()
		cs, err := st.Claim(context.Background(), store.ClaimRequest{Agenda: agenda, Holder: p.holder, Lease: leaseTime, Limit: 1})
		if err != nil {
			continue
		}
		for _, c := range cs {
			p.handle(a, c, h)
		}
	}
}

func (p *process) handle(a *actor, c store.Claim, h worker.Handler) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	// The holder's own clock began at the request, so its lease ends before the store's.
	p.w.leases = append(p.w.leases, lease{c.Since.Add(leaseTime), cancel})
	p.w.pass(0) // a claim that waited for its turn may have ended already
	p.w.note("%s claims %s (attempt %d)", a.name, c.Member, c.Attempt)
	p.hold(1)
	err := h(ctx, c, nil)
	p.w.note("%s is done with %s: %v", a.name, c.Member, err)
	if err != nil && !errors.Is(err, store.ErrFenced) {
		// What the worker does with an error that speaks of the store or asks for it: release uncounted.
		_, _ = handle{p.store, a}.Commit(context.Background(), store.Commit{
			ID: p.w.id(), Partition: c.Member.Partition(), Claim: &c,
			Ops: []store.Op{store.Release{Claim: c, Again: true, In: 100 * time.Millisecond, KeepAttempt: true}},
		})
	}
	p.hold(-1)
}

func (p *process) hold(n int) { p.running, p.w.running = p.running+n, p.w.running+n }

func (p *process) turns(a *actor) {
	o := turn.Options{
		Store: handle{p.store, a}, Agents: agents{}, Models: &models{a}, Tools: p.w.registry(a), Gate: tool.AllowList{"effect", "look", "ask", "wait", "forward"},
		Outbox: express{p, a}, Adapter: func(chat.Workspace) chat.Adapter { return adapter{p.w.plat, a} }, DefaultAgent: "main", NewID: p.w.id,
		Clock: p.clock, Zone: time.UTC, MaxRounds: 8, MaxAttempts: 1000, LiveAfter: p.w.liveAfter(), Log: slog.New(slog.DiscardHandler),
	}
	if p.w.team != nil {
		o.Agents, o.Sources, o.Gate = teamAgents{}, []tool.Source{delegation}, append(tool.AllowList(stack.Names()), o.Gate.(tool.AllowList)...)
		o.CompactAt, o.ContextTokens = 0.7, func(prompt.Agent) int { return 12 } // what a request takes is its messages
	}
	p.work(a, store.Turns, turn.New(o).Handle)
}

func (w *world) liveAfter() time.Duration {
	if w.plat.caps.Edits {
		return 0
	}
	return -1
}

// clock is the process's own clock: wrong, but steady.
func (p *process) clock() time.Time { return p.w.clock.Add(p.skew) }

func (p *process) deliverer(a *actor) *outbox.Deliverer {
	return must(outbox.New(outbox.Options{
		Store: handle{p.store, a}, Adapter: func(chat.Conversation) (chat.Adapter, bool) { return adapter{p.w.plat, a}, true },
		Pacer: outbox.NewPacer(handle{p.store, a}, nil), NewID: p.w.id, Random: p.w.rng.Float64, Clock: p.clock, Sleep: func(time.Duration) { a.give() }, Rules: outbox.Rules{MaxAttempts: 1000, StaleAfter: -1},
	}))
}

// taken are deliveries that the engine handed over with their claim.
type taken struct {
	claim store.Claim
	t     outbox.Taken
}

func (p *process) deliveries(a *actor) {
	d := p.deliverer(a)
	st := handle{p.store, a}
	for {
		a.give()
		if len(p.express) > 0 {
			t := p.express[0]
			p.express = p.express[1:]
			p.hold(-1)
			p.handle(a, t.claim, func(ctx context.Context, c store.Claim, _ <-chan struct{}) error { return d.DeliverTaken(ctx, c, t.t) })
			continue
		}
		cs, err := st.Claim(context.Background(), store.ClaimRequest{Agenda: store.Outbox, Holder: p.holder, Lease: leaseTime, Limit: 1})
		if err != nil {
			continue
		}
		for _, c := range cs {
			p.handle(a, c, d.Run)
		}
	}
}

// express is the outbox as the engine of a process sees it.
type express struct {
	p *process
	a *actor
}

func (x express) Express(c chat.Conversation, d *conversation.Delivery, standing bool) ([]store.Guard, []store.Op, func(*store.Claim, int64, time.Time)) {
	armed := outbox.Arm(d, d.MadeAt)
	guards, ops := outbox.Express(conversation.Partition(c), d, standing, x.p.holder, leaseTime)
	return guards, ops, func(c *store.Claim, version int64, now time.Time) {
		if c != nil {
			x.p.hold(1)
			x.p.express = append(x.p.express, taken{*c, outbox.Taken{Delivery: d, Version: version, Now: now, Armed: armed}})
		}
	}
}

func (express) Room(context.Context, chat.Conversation) (bool, error) { return true, nil }

func (x express) Edit(ctx context.Context, m *chat.Post, r chat.Receipt) error {
	return adapter{x.p.w.plat, x.a}.Edit(ctx, m, r, false)
}

func (p *process) handovers(a *actor) {
	st := handle{p.store, a}
	cards := handover.Copies{Store: st, Edits: func(chat.Conversation) bool { return p.w.plat.caps.Edits }}
	h := must(handover.NewWorker(handover.Options{
		Store: st, Takers: map[string]handover.Taker{
			handover.MessageKind: handover.Messages{Store: st}, conversation.TaskKind: handover.Tasks{Store: st}, conversation.TaskResultKind: handover.Tasks{Store: st},
			conversation.CopyKind: cards, conversation.CopyEndKind: cards,
		}, NewID: p.w.id, Random: p.w.rng.Float64, MaxAttempts: 1000,
	}, worker.Options{Holder: p.holder}))
	p.work(a, store.Handover, h.Handle)
}

type agents struct{}

func (agents) Agent(_ context.Context, s tool.Scope) (prompt.Agent, error) {
	return prompt.Agent{ID: s.Agent, Text: "You are a test."}, nil
}

// models is a strict model that does what the last user message says.
type models struct{ a *actor }

func (m *models) Model(prompt.Agent) (model.Model, error)  { return m, nil }
func (m *models) Cost(string, model.Usage) (float64, bool) { return 0, false }
func (m *models) Generate(ctx context.Context, r *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		if err := modeltest.Validate(r); err != nil {
			m.a.p.w.fault(fmt.Errorf("a strict provider refuses the history: %w\n%+v", err, r.Messages))
		}
		m.a.give()
		if err := ctx.Err(); err != nil {
			yield(model.Chunk{}, context.Cause(ctx))
			return
		}
		if m.a.p.w.chance(1) {
			yield(model.Chunk{}, &model.Error{Kind: model.Unavailable, Message: "drawn"})
			return
		}
		for _, q := range r.Messages { // who reads the result knows that the handover was committed with it
			if id, ok := strings.CutPrefix(q.Text, "sent "); ok && q.Role == model.Tool {
				m.a.p.w.forwarded[id] = true
			}
		}
		text, calls := m.answer(r)
		ans := &model.Answer{Text: text, Finish: model.FinishStop, Model: "sim", Calls: calls, Usage: model.Usage{Input: len(r.Messages), Output: 1}}
		if len(calls) > 0 {
			ans.Finish = model.FinishCalls
		}
		for _, part := range strings.SplitAfter(text, " ") {
			if !yield(model.Chunk{Text: part}, nil) {
				return
			}
			m.a.give()
			if ctx.Err() != nil {
				yield(model.Chunk{}, context.Cause(ctx))
				return
			}
		}
		yield(model.Chunk{Done: ans}, nil)
	}
}

func (m *models) answer(r *model.Request) (text string, calls []model.Call) {
	if t := m.a.p.w.team; t != nil {
		m.a.p.w.fault(t.count(r))
		return t.answer(r)
	}
	text, call := m.reply(r)
	if call != "" {
		calls = []model.Call{{ID: r.NewCallID(), Name: call, Arguments: json.RawMessage(`{}`)}}
	}
	return text, calls
}

// reply asks for the tool that the last messages of people name and that was not called since, else it answers with their words.
func (m *models) reply(r *model.Request) (text, call string) {
	i := len(r.Messages) - 1
	results := 0
	for ; i >= 0 && r.Messages[i].Role != model.User || i == len(r.Messages)-1 && strings.HasPrefix(r.Messages[i].Text, "<note>"); i-- {
		if r.Messages[i].Role == model.Tool {
			results++
		}
	}
	if i < 0 {
		return "nothing", ""
	}
	said := r.Messages[i].Text
	if results == 0 {
		for _, t := range []string{"effect", "look", "ask", "wait", "danger", "forward"} {
			if strings.Contains(said, t) {
				return "let me see", t
			}
		}
	}
	said, _, _ = strings.Cut(said, "<note>")
	return "answer to " + strings.Join(strings.Fields(said), " "), ""
}

// registry is the tools of the simulated installation.
func (w *world) registry(a *actor) *tool.Registry {
	spec := func(n string) model.ToolSpec {
		return model.ToolSpec{Name: n, Description: n, Parameters: json.RawMessage(`{"type":"object"}`)}
	}
	run := func(f func(c tool.Call) tool.Result) func(context.Context, tool.Call) (tool.Result, error) {
		return func(ctx context.Context, c tool.Call) (tool.Result, error) {
			w.tools.begun[c.ID]++
			w.tools.repeatable[c.ID] = c.Name == "look"
			w.note("%s runs %s (%s)", a.name, c.Name, c.ID)
			a.give()
			if err := ctx.Err(); err != nil {
				return tool.Result{}, err
			}
			r := f(c)
			a.give()
			return r, nil
		}
	}
	text := func(tool.Call) tool.Result { return tool.Result{Text: "ok"} }
	return must(tool.NewRegistry(
		tool.Tool{Spec: spec("effect"), Run: run(text)},
		tool.Tool{Spec: spec("danger"), Run: run(text)},
		tool.Tool{Spec: spec("look"), Traits: session.Traits{ReadOnly: true, Repeatable: true}, Run: run(text)},
		tool.Tool{Spec: spec("ask"), Run: run(func(tool.Call) tool.Result {
			return tool.Result{Wait: &session.Wait{Kind: session.Question, Title: "Which?", Choices: []string{"a", "b"}}}
		})},
		tool.Tool{Spec: spec("wait"), Run: run(func(tool.Call) tool.Result {
			return tool.Result{Wait: &session.Wait{Kind: session.Timer, End: w.clock.Add(time.Minute)}}
		})},
		tool.Tool{Spec: spec("forward"), Run: run(func(c tool.Call) tool.Result {
			w.plat.nextID++
			id := fmt.Sprintf("f%04d", w.plat.nextID)
			to := conv(9)
			return tool.Result{Text: "sent " + id, Owe: []tool.Debt{{Kind: handover.MessageKind, To: string(conversation.Partition(to)), Data: conversation.Encode(conversation.Message{
				V: conversation.Version, MessageID: id, Order: "m" + id[1:], Person: c.Person, Text: "forwarded", Direct: true, SentAt: w.clock,
			})}}}
		})},
	))
}
