package turn

import (
	"context"
	"slices"

	"herald/core/conversation"
	"herald/core/session"
	"herald/core/store"
	"herald/core/tool"
)

// beginTask commits the start of a task that runs beside this turn: the call has its result, the conversation knows that the task runs, and
// its start is owed to a partition of its own, all in one.
func (r *run) beginTask(ctx context.Context, d session.Decision, t tool.Task) error {
	f := r.state.Frame(d.Frame)
	c := r.asking(f)
	id := conversation.ID("k", r.state.Session, d.Call)
	at := r.now()
	start := conversation.TaskStart{
		V: conversation.Version, ID: id, Origin: r.conv, Agent: t.Agent, Client: t.Client, Title: t.Title, Prompt: t.Prompt, Person: c.Person, Askers: c.Askers,
		Direct: c.Direct, Callers: append(agentsOf(r.callers(f)), f.Agent), Pad: r.state.Pad, At: at,
	}
	doc := conversation.TaskDoc{
		V: conversation.Version, ID: id, State: conversation.TaskRunning, Agent: t.Agent, Title: t.Title, Person: c.Person, Direct: c.Direct, At: at,
	}
	ops := append([]store.Op{store.Put{Key: doc.Key(), Value: conversation.Encode(doc)}}, conversation.Owe(r.p, &conversation.Owed{
		ID: "task." + id, Kind: conversation.TaskKind, To: conversation.Partition(conversation.TaskPlace(r.conv.Workspace, id)), Data: conversation.Encode(start), At: at,
	})...)
	done := session.Finish(d.Frame, d.Call, session.Done, "The task "+id+" has begun beside this conversation. Its result comes as a message of its own; do not wait for it.")
	_, err := r.step(ctx, "turn.task", guardHead, []session.Event{done}, ops...)
	return err
}

// place makes the run of a task's partition speak for the conversation that began it.
func (r *run) place(doc store.Doc) error {
	r.task = &conversation.TaskStart{}
	if err := conversation.Decode(doc, r.task); err != nil {
		return err
	}
	r.conv = r.task.Origin
	return nil
}

// saying is the operations that say a delivery: from here, or, for a task, in the conversation that began it. A card there leads back to the wait here.
func (r *run) saying(d *conversation.Delivery, wait session.Wait) []store.Op {
	if r.task == nil {
		return conversation.Say(r.p, d)
	}
	d.V = conversation.Version
	d.Text = "The task " + quoted(r.task.Title) + " asks.\n\n" + d.Text
	return r.oweOrigin(conversation.CopyKind, &conversation.Copy{Wait: wait.ID, Person: r.task.Person, Delivery: d})
}

// oweOrigin is the operations that owe the conversation which began the task a card, or its end.
func (r *run) oweOrigin(kind string, c *conversation.Copy) []store.Op {
	c.V, c.At = conversation.Version, conversation.Partition(r.task.Origin)
	return conversation.Owe(r.p, &conversation.Owed{
		ID: conversation.ID(kind+".", c.Wait, string(c.At)), Kind: kind, To: c.At, Data: conversation.Encode(c), At: r.now(),
	})
}

// finishTask ends the only turn of a task: its result is owed to the conversation that began it. The caller holds mu.
func (r *run) finishTask(ctx context.Context, text string, events []session.Event, ops []store.Op) (store.Result, error) {
	res := conversation.TaskResult{V: conversation.Version, ID: r.task.ID, Status: session.Done, Text: text}
	head := guardHead
	switch t := r.state.Turn; {
	case t.Cancel != nil:
		res.Status, head = session.Stopped, false
	case t.Failure != nil:
		res.Status = session.Errored
	}
	if res.Status != session.Done && r.partial != "" {
		res.Text += "\n\nWhat it had said until then:\n" + r.partial
	}
	if len(res.Text) > tool.MaxResult {
		res.Text = cutText(res.Text, tool.MaxResult) + "\n[The result was cut here.]"
	}
	for _, l := range r.state.Pad {
		if !slices.Contains(r.task.Pad, l) {
			res.Pad = append(res.Pad, l)
		}
	}
	ops = append(ops, conversation.Owe(r.p, &conversation.Owed{
		ID: "result." + r.task.ID, Kind: conversation.TaskResultKind, To: conversation.Partition(r.task.Origin), Data: conversation.Encode(res), At: r.now(),
	})...)
	return r.step(ctx, "turn.taskend", head, events, ops...)
}
