package turn

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/model"
	"herald/core/prompt"
	"herald/core/session"
	"herald/core/store"
	"herald/core/tool"
)

// outcome is what the work of a decision came to, to be committed by the loop.
type outcome struct {
	d      session.Decision
	answer *model.Answer
	// summary is what a model call was for that summarised a history, from the entry on with which the rest begins.
	summary bool
	from    int64
	// tools are what the model was shown.
	tools []tool.Tool
	// partial is what was shown of an answer that was broken off.
	partial string
	// spent is an estimate of what a call took that was broken off after it had begun.
	spent  model.Usage
	result tool.Result
	status session.Status
	took   time.Duration
	err    error
	panic  any
	stack  []byte
}

// performAll begins decisions and commits the outcome of one that ended. Work that nothing else runs beside is done in line.
func (r *run) performAll(ctx context.Context, ds []session.Decision) error {
	work := r.working()
	for _, d := range ds {
		do, err := r.begin(ctx, d)
		if err != nil {
			return err
		}
		if do == nil {
			continue // it ended in its beginning
		}
		r.fresh = false
		r.busy[d.ID] = true
		perform := func() { o := r.guarded(work, d, do); r.results <- &o }
		if r.Spawn == nil || len(ds) == 1 && len(r.busy) == 1 {
			perform()
		} else {
			r.Spawn(perform)
		}
	}
	if len(r.busy) == 0 {
		return nil
	}
	return r.end(ctx, work, *<-r.results)
}

// drain waits for what is under way after a stop, so that its outcome is in the log.
func (r *run) drain(ctx context.Context) error {
	for len(r.busy) > 0 {
		if err := r.end(ctx, ctx, *<-r.results); err != nil && !errors.Is(err, ErrStopped) {
			return err
		}
	}
	return nil
}

// guarded runs the work of a decision and keeps a panic for the loop.
func (r *run) guarded(ctx context.Context, d session.Decision, do func(context.Context) outcome) (o outcome) {
	begin := r.Clock()
	defer func() {
		if p := recover(); p != nil {
			if isCrash(p) {
				panic(p)
			}
			o = outcome{panic: p, stack: debug.Stack()}
		}
		o.d, o.took = d, r.Clock().Sub(begin)
	}()
	return do(ctx)
}

// begin commits what must be in the log before the work of d and gives the work; nil when there is none.
func (r *run) begin(ctx context.Context, d session.Decision) (func(context.Context) outcome, error) {
	switch d.Do {
	case session.CallModel:
		return r.beginModel(ctx, d)
	case session.RunCall:
		return r.beginCall(ctx, d)
	case session.Refuse:
		r.mu.Lock()
		defer r.mu.Unlock()
		r.stage(session.Finish(d.Frame, d.Call, session.Errored, d.Text))
		r.unsaid = true
		return nil, nil
	case session.PopFrame:
		r.mu.Lock()
		defer r.mu.Unlock()
		_, err := r.step(ctx, "turn.pop", false, []session.Event{{Kind: session.FramePopped, ID: d.ID, Frame: d.Frame, Pop: &session.Pop{Status: d.Status, Text: d.Text}}})
		return nil, err
	default:
		return nil, fmt.Errorf("conversation %s: decision %s to %q cannot be begun", r.conv.Key(), d.ID, d.Do)
	}
}

// beginModel takes in what came since the last look, and lays out the request.
func (r *run) beginModel(ctx context.Context, d session.Decision) (func(context.Context) outcome, error) {
	if !r.fresh {
		if err := r.lookAgain(ctx); err != nil {
			return nil, err
		}
		if t := r.state.Turn; t == nil || t.Cancel != nil {
			return nil, nil
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.unsaid {
		if _, err := r.step(ctx, "turn.step", false, nil); err != nil {
			return nil, err
		}
	}
	f := r.state.Frame(d.Frame)
	agent, err := r.agent(ctx, f)
	if err != nil {
		r.frameFailed(f, "agent", "I cannot answer: the agent "+quoted(f.Agent)+" cannot be used. An admin must look at it.", err.Error())
		return nil, nil
	}
	m, err := r.Models.Model(agent)
	if err != nil {
		r.modelFailed(f, err)
		return nil, nil
	}
	if do := r.beginCompaction(f, agent, m); do != nil {
		return do, nil
	}
	shown, err := r.tools(ctx, f)
	if err != nil {
		return nil, err
	}
	root := f.Parent == ""
	if root {
		agent, r.cur.Shown = r.prompts.Hold(agent, shown, r.cur.Shown)
	} else {
		agent, _ = r.prompts.Hold(agent, shown, "")
	}
	if lines := tool.Bound(r.gate).Lines; len(lines) > 0 {
		agent.Tail = append([]string{"<note>" + strings.Join(lines, "\n") + "</note>"}, agent.Tail...)
	}
	if pad := session.PadNote(r.state.Pad); pad != "" {
		agent.Tail = append([]string{pad}, agent.Tail...)
	}
	req := prompt.Build(agent, shown, r.hist.Visible(f.ID), r.now(), r.Zone)
	req.NewCallID = r.NewID
	return func(ctx context.Context) outcome {
		if !root {
			r.showProgress(ctx)
		}
		o := r.callModel(ctx, m, req, root)
		o.tools = shown
		return o
	}, nil
}

// callModel streams the answer of a model into the live message.
func (r *run) callModel(ctx context.Context, m model.Model, req *model.Request, root bool) outcome {
	live := r.liveWriter(root)
	var said strings.Builder
	broken := func(err error) outcome {
		o := outcome{err: err, partial: live.text.String()}
		if said.Len() > 0 || ctx.Err() != nil {
			// The provider counts what it read and said, and does not tell it for a stream that does not come to its end.
			o.spent = model.Usage{Input: req.Tokens(), Output: model.TextTokens(said.String())}
		}
		return o
	}
	for c, err := range m.Generate(ctx, req) {
		if err != nil {
			return broken(err)
		}
		if c.Done != nil {
			return outcome{answer: c.Done}
		}
		said.WriteString(c.Text)
		live.write(ctx, c.Text)
	}
	return broken(&model.Error{Kind: model.Unavailable, Message: "the stream ended without an answer"})
}

// beginCall asks the gate, and commits the start of the call or what it waits for.
func (r *run) beginCall(ctx context.Context, d session.Decision) (func(context.Context) outcome, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, cs := r.state.Call(d.Call)
	f := r.state.Frame(d.Frame)
	c := r.asking(f)
	c.ID, c.Name, c.Arguments, c.Approved = cs.ID, cs.Name, cs.Arguments, cs.Approved
	t, hidden, ok := r.bound(ctx, f, cs.Name)
	if !ok {
		rule := "the agent has no tool of this name"
		if hidden {
			rule = "a rule hides this tool"
		}
		// The log tells the two apart; to the model both are missing.
		r.stage(r.refusal(d, c, tool.Decision{Answer: tool.Deny, Rule: rule}), session.Finish(d.Frame, d.Call, session.Errored, tool.ErrUnknown.Error()+": "+cs.Name))
		r.unsaid = true
		return nil, nil
	}
	g := tool.AskAll(ctx, r.gate, c, agentsOf(r.callers(f)))
	switch {
	case g.Answer == tool.Deny:
		r.stage(r.refusal(d, c, g), session.Finish(d.Frame, d.Call, session.Denied, session.RefusalText(g.Refusal, "")))
		r.unsaid = true
		return nil, nil
	case g.Answer == tool.Require && c.Approved == "":
		return nil, r.askApproval(ctx, d, c, g)
	}
	again := r.again[d.Call]
	delete(r.again, d.Call)
	if again {
		// The log has its start already; a commit says that it begins once more, and that this process holds the claim still.
		c.Approved = cs.Approved
	}
	if t.Traits.Delegates {
		// Choosing an agent has no effect; the frame's push is the start of the call.
		r.stage(gated(d, c, g))
		return func(ctx context.Context) outcome { return runCall(ctx, t, c) }, nil
	}
	start := session.Event{Kind: session.CallStarted, ID: "start/" + d.Call, Frame: d.Frame, Call: &session.CallRef{IDs: []string{d.Call}, Again: again}}
	if _, err := r.step(ctx, "turn.start", guardHead, []session.Event{gated(d, c, g), start}); err != nil {
		if again {
			r.again[d.Call] = true
		}
		return nil, err
	}
	return func(ctx context.Context) outcome { return runCall(ctx, t, c) }, nil
}

func runCall(ctx context.Context, t tool.Tool, c tool.Call) outcome {
	res, err := t.Run(ctx, c)
	switch {
	case err == nil:
		return outcome{result: res, status: session.Done}
	case ctx.Err() != nil:
		return outcome{status: session.Stopped, result: tool.Result{Text: "A person stopped this call while it ran. Whether it took effect is not known."}, err: context.Cause(ctx)}
	default:
		return outcome{status: session.Errored, result: tool.Result{Text: "Error: " + err.Error()}}
	}
}

// end commits the outcome of a decision.
func (r *run) end(ctx, work context.Context, o outcome) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.busy, o.d.ID)
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx) // the claim is lost or the process ends: nothing more may be written
	}
	if o.panic != nil && o.d.Do == session.CallModel {
		panic(fmt.Sprintf("the call of a model panicked: %v\n%s", o.panic, o.stack))
	}
	if o.summary {
		return r.endCompaction(ctx, work, o)
	}
	if o.d.Do == session.CallModel {
		return r.endModel(work, o)
	}
	return r.endCall(ctx, o)
}

func (r *run) endModel(work context.Context, o outcome) error {
	if o.err != nil {
		r.noteBroken(o.spent)
		if errors.Is(context.Cause(work), ErrStopped) {
			r.partial = o.partial
			return ErrStopped
		}
		if e, ok := errors.AsType[*model.Error](o.err); ok && e.Kind == model.ContextTooLong && !r.compacted[o.d.Frame] && r.hist.HasOlder(o.d.Frame) {
			r.mustCompact(o.d.Frame) // once; then it goes on
			return nil
		}
		r.modelFailed(r.state.Frame(o.d.Frame), o.err)
		return nil
	}
	tasks := 0
	a := session.Answer{Text: o.answer.Text, Finish: o.answer.Finish, Usage: o.answer.Usage, Model: o.answer.Model}
	if cost, ok := r.Models.Cost(a.Model, a.Usage); ok {
		a.Cost = &cost
	}
	for _, c := range o.answer.Calls {
		asked := session.Asked{Call: c}
		if i := slices.IndexFunc(o.tools, func(t tool.Tool) bool { return t.Spec.Name == c.Name }); i >= 0 {
			asked.Traits = o.tools[i].Traits
		}
		if asked.Delegates {
			tasks++
		}
		if tasks > session.MaxTasks && asked.Delegates && asked.Malformed == "" {
			asked.Malformed = fmt.Sprintf("Not begun: at most %d tasks can be given away in one answer. Give this one away after the others have ended.", session.MaxTasks)
		}
		if o.answer.Finish == model.FinishLength && asked.Malformed == "" {
			asked.Malformed = "The answer was cut off at its length limit, so the call may be incomplete and was not run. Make it shorter."
		}
		a.Calls = append(a.Calls, asked)
	}
	a = bounded(a, held(&r.state))
	r.stage(session.Event{Kind: session.ModelAnswered, ID: o.d.ID, Frame: o.d.Frame, Model: &a})
	r.unsaid = true
	return nil
}

// noteBroken keeps what a call took that was broken off, for the record of the turn.
func (r *run) noteBroken(u model.Usage) {
	if r.state.Turn == nil || u == (model.Usage{}) {
		return
	}
	if r.broken == nil {
		r.broken = map[string]model.Usage{}
	}
	r.broken[r.state.Turn.ID] = r.broken[r.state.Turn.ID].Add(u)
}

func (r *run) endCall(ctx context.Context, o outcome) error {
	_, cs := r.state.Call(o.d.Call)
	name := cs.Name
	if o.panic != nil {
		r.log.Error("a tool panicked", "tool", name, "call", o.d.Call, "panic", fmt.Sprint(o.panic), "stack", string(o.stack))
		o.status, o.result = session.Errored, tool.Result{Text: "Error: the tool crashed. Tell the person; an admin finds more in the log."}
	}
	if r.Observer.ToolEnded != nil {
		r.Observer.ToolEnded(name, string(o.status), o.took)
	}
	if o.status == session.Stopped && !errors.Is(o.err, ErrStopped) {
		return o.err
	}
	var ops []store.Op
	for i, debt := range o.result.Owe {
		owed := &conversation.Owed{ID: fmt.Sprintf("%s.%d", o.d.Call, i), Kind: debt.Kind, To: store.Partition(debt.To), Data: debt.Data, At: r.now()}
		ops = append(ops, conversation.Owe(r.p, owed)...)
	}
	if t := o.result.Task; t != nil && o.status == session.Done {
		return r.beginTask(ctx, o.d, *t)
	}
	if p := o.result.Push; p != nil && o.status == session.Done {
		return r.push(ctx, o.d, *p)
	}
	if w := o.result.Wait; w != nil && o.status == session.Done {
		w.Call = o.d.Call
		w.ID = conversation.ID("w", string(r.p), o.d.Call)
		if w.Person == "" && w.Kind == session.Question {
			w.Person = r.state.Turn.Person()
		}
		if w.End.IsZero() {
			w.End = r.now().Add(waitEnds) // nothing waits for ever for somebody who does not come back
		}
		return r.wait(ctx, "turn.wait", o.d, *w, ops)
	}
	if len(o.result.Text) > tool.MaxResult {
		o.result.Text = cutText(o.result.Text, tool.MaxResult) + "\n[The result was cut here.]"
	}
	done := session.Finish(o.d.Frame, o.d.Call, o.status, o.result.Text)
	if o.status == session.Done {
		done.Result.Pad, done.Result.Groups = o.result.Pad, o.result.Groups
		if l := o.result.Pad; l != nil && l.Value != "" && session.PadSize(session.PadWith(r.state.Pad, *l)) > session.MaxPad {
			done = session.Finish(o.d.Frame, o.d.Call, session.Errored, fmt.Sprintf("Error: the scratchpad holds at most %d bytes. Shorten this line, or take others away by giving them an empty value.", session.MaxPad))
		}
	}
	_, err := r.step(ctx, "turn.result", len(ops) > 0, []session.Event{done}, ops...)
	if err != nil {
		return err
	}
	if o.status == session.Stopped {
		return ErrStopped
	}
	return nil
}

// push begins the frame of a child, unless it would stand too deep.
func (r *run) push(ctx context.Context, d session.Decision, p tool.Push) error {
	_, cs := r.state.Call(d.Call)
	switch depth := r.state.Frame(d.Frame).Depth + 1; {
	case !cs.Delegates:
		return fmt.Errorf("conversation %s: the tool %s pushes a frame and does not declare that it delegates", r.conv.Key(), cs.Name)
	case depth > session.MaxDepth:
		r.stage(session.Finish(d.Frame, d.Call, session.Errored, fmt.Sprintf("Error: agents may delegate %d deep and no deeper. Do this part yourself.", session.MaxDepth)))
		r.unsaid = true
		return nil
	}
	frame := conversation.ID("f", r.state.Session, d.Call)
	_, err := r.step(ctx, "turn.push", guardHead, []session.Event{{
		Kind: session.FramePushed, ID: "push/" + d.Call, Frame: frame, Push: &session.Push{Frame: frame, Agent: p.Agent, Call: d.Call, Prompt: p.Prompt, Client: p.Client},
	}})
	return err
}

// wait commits a wait with what asks the person.
func (r *run) wait(ctx context.Context, site string, d session.Decision, w session.Wait, ops []store.Op, before ...session.Event) error {
	return r.waitWith(ctx, site, d, w, nil, ops, before...)
}

// waitWith is wait for one whose card is copied to others.
func (r *run) waitWith(ctx context.Context, site string, d session.Decision, w session.Wait, copies []chat.IdentityID, ops []store.Op, before ...session.Event) error {
	doc := &conversation.WaitDoc{V: conversation.Version, Session: r.state.Session, Wait: w, Copies: copies}
	ops = append(ops, store.Put{Key: doc.Key(), Value: conversation.Encode(doc)})
	switch {
	case w.Kind == session.Question && r.questionOpen():
		r.cur.Held = append(slices.Clip(r.cur.Held), w.ID)
	case w.Kind != session.Timer:
		ops = append(ops, r.ask(w)...)
	}
	events := append(before, session.Event{Kind: session.WaitBegan, ID: "wait/" + w.ID, Frame: d.Frame, Wait: &w})
	res, err := r.step(ctx, site, guardHead, events, ops...)
	if err == nil {
		// The document's version is that of its Put: the first of ops that puts, behind the session's own and what was pending.
		r.waits[w.ID] = waitDoc{WaitDoc: *doc, version: versionOf(res, ops, doc.Key())}
	}
	return err
}

// ask is the operations that put a wait before the person.
func (r *run) ask(w session.Wait) []store.Op {
	d := &conversation.Delivery{
		ID: askID(w.ID), Kind: conversation.Ask, Text: askText(w), Turn: r.state.Turn.ID, MadeAt: r.now(), After: r.now(),
	}
	if r.caps.Cards {
		d.Card = r.waitCard(w)
	}
	return r.saying(d, w)
}

// questionOpen reports whether a question of the session waits for its answer: the next one is asked after it, so that an answer has one meaning.
func (r *run) questionOpen() bool {
	return slices.ContainsFunc(r.state.Waits, func(w session.Wait) bool { return w.Kind == session.Question && !r.held(w) })
}

// held reports whether a question is kept back until the one before it has its answer.
func (r *run) held(w session.Wait) bool { return slices.Contains(r.cur.Held, w.ID) }

// askNext asks the oldest question that was kept back.
func (r *run) askNext() {
	if r.questionOpen() {
		return
	}
	for _, w := range r.state.Waits {
		if r.held(w) {
			r.cur.Held = slices.DeleteFunc(slices.Clone(r.cur.Held), func(id string) bool { return id == w.ID })
			r.ops = append(r.ops, r.ask(w)...)
			r.unsaid = true
			return
		}
	}
}
