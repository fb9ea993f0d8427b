package handover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"herald/core/conversation"
	"herald/core/store"
)

// Tasks takes the starts of tasks into partitions of their own, and their results into the conversations that began them.
type Tasks struct{ Store store.Store }

// Take implements [Taker].
func (t Tasks) Take(ctx context.Context, from store.Partition, owed *conversation.Owed) (bool, error) {
	if owed.Kind == conversation.TaskResultKind {
		return t.land(ctx, from, owed)
	}
	return t.begin(ctx, from, owed)
}

// begin puts a task before an agent: once, for its document is there or is not.
func (t Tasks) begin(ctx context.Context, from store.Partition, owed *conversation.Owed) (bool, error) {
	var s conversation.TaskStart
	if err := json.Unmarshal(owed.Data, &s); err != nil || s.ID == "" || s.Agent == "" || s.Prompt == "" {
		return false, fmt.Errorf("take the task %s of %s: it has no id, no agent, no prompt or is no JSON: %w", owed.ID, from, errors.Join(ErrMalformed, err))
	}
	if s.V > conversation.Version {
		return false, fmt.Errorf("take the task %s of %s: version %d: %w", owed.ID, from, s.V, conversation.ErrNewer)
	}
	if c, ok := conversation.Of(owed.To); !ok || !conversation.IsTask(c) {
		return false, fmt.Errorf("take the task %s of %s: %s is no place for one: %w", owed.ID, from, owed.To, ErrMalformed)
	}
	m := &conversation.Message{V: conversation.Version, MessageID: "task-" + s.ID, Order: "0", SentAt: s.At, Person: s.Person, Direct: s.Direct, Text: s.Prompt}
	ops := []store.Op{
		store.Put{Key: conversation.TaskKey, Value: owed.Data},
		store.Put{Key: m.Key(), Value: conversation.Encode(m)},
		store.Wake{Agenda: store.Turns, Member: store.MemberOf(owed.To, "")},
	}
	bound, err := t.runContext(ctx, from)
	if err != nil {
		return false, err
	}
	if bound != nil {
		ops = append(ops, store.Put{Key: conversation.ContextKey, Value: bound})
	}
	return taken(t.Store.Commit(ctx, store.Commit{
		ID: "handover.task/" + s.ID, Partition: owed.To, Guards: []store.Guard{store.At{Key: conversation.TaskKey}}, Ops: ops,
	}))
}

// runContext is the run context of the conversation that begins a task: its own, else that of its channel; nil where there is none.
func (t Tasks) runContext(ctx context.Context, from store.Partition) ([]byte, error) {
	c, _ := conversation.Of(from)
	c.Thread = ""
	as, err := t.Store.Read(ctx, store.Get{Partition: from, Key: conversation.ContextKey}, store.Get{Partition: conversation.Partition(c), Key: conversation.ContextKey})
	if err != nil {
		return nil, err
	}
	for _, a := range as {
		if d, ok := a.Doc(); ok {
			return d.Value, nil
		}
	}
	return nil, nil
}

// land puts a task's result before the agent that asked for it: once, for the task runs there or has landed.
func (t Tasks) land(ctx context.Context, from store.Partition, owed *conversation.Owed) (bool, error) {
	var r conversation.TaskResult
	if err := json.Unmarshal(owed.Data, &r); err != nil || r.ID == "" || r.Status == "" {
		return false, fmt.Errorf("take the result %s of %s: it names no task, no status or is no JSON: %w", owed.ID, from, errors.Join(ErrMalformed, err))
	}
	if r.V > conversation.Version {
		return false, fmt.Errorf("take the result %s of %s: version %d: %w", owed.ID, from, r.V, conversation.ErrNewer)
	}
	d := conversation.TaskDoc{ID: r.ID}
	as, err := t.Store.Read(ctx, store.Get{Partition: owed.To, Key: d.Key()})
	if err != nil {
		return false, err
	}
	doc, ok := as[0].Doc()
	if !ok {
		return false, fmt.Errorf("take the result of the task %s: the conversation that began it is gone: %w", r.ID, ErrGone)
	}
	if err := conversation.Decode(doc, &d); err != nil {
		return false, err
	}
	if d.State != conversation.TaskRunning {
		return false, nil
	}
	d.State, d.Status, d.EndedAt = conversation.TaskLanded, r.Status, as[0].Now
	m := conversation.TaskMessage(&d, &r)
	return taken(t.Store.Commit(ctx, store.Commit{
		ID: "handover.landed/" + r.ID, Partition: owed.To, Guards: []store.Guard{store.At{Key: d.Key(), Version: doc.Version}},
		Ops: []store.Op{
			store.Put{Key: d.Key(), Value: conversation.Encode(d)},
			store.Put{Key: m.Key(), Value: conversation.Encode(m)},
			store.Wake{Agenda: store.Turns, Member: store.MemberOf(owed.To, "")},
		},
	}))
}
