package intake

import (
	"context"
	"errors"
	"fmt"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/people"
	"herald/core/session"
	"herald/core/store"
)

// queue puts a message into the inbox.
func (i *Intake) queue(ctx context.Context, e *event) (chat.Outcome, Reason, error) {
	out, lost, err := i.commit(ctx, e, "intake.message",
		[]store.Guard{store.Fewer{Collection: conversation.Inbox, N: e.policy.Inbox}}, message(e)...)
	if lost {
		return i.full(ctx, e)
	}
	return outcome(out, Queued, err)
}

// message is the operations that put a message into the inbox and wake its turn.
func message(e *event) []store.Op {
	in := e.in
	m := conversation.Message{
		V: conversation.Version, MessageID: in.MessageID, Order: in.Order, SentAt: in.SentAt,
		Person: e.who.ID, Sender: in.Sender, Text: in.Text, Files: in.Files, Direct: in.Direct,
		// The notes were looked for by the person whom the account itself names.
		NoNotes: e.untouched && e.who.ID == people.PersonOf(in.Sender.Identity),
		Agent:   e.agent,
	}
	ops := []store.Op{store.Put{Key: m.Key(), Value: conversation.Encode(m)}, e.wake()}
	if e.shown != nil {
		ops = append(ops, conversation.Say(e.part, e.shown)...)
	}
	return ops
}

// full answers a message that found no room. When the outbox is crowded too nobody reads these answers, and a row takes their place.
func (i *Intake) full(ctx context.Context, e *event) (chat.Outcome, Reason, error) {
	row := fmt.Sprintf("%d messages were waiting in its conversation", e.policy.Inbox)
	if e.in.Sender.Bot {
		return i.bury(ctx, e, Full, row)
	}
	ops := conversation.Say(e.part, e.delivery(fmt.Sprintf(textFull, e.policy.Inbox), false))
	out, lost, err := i.commit(ctx, e, "intake.full", []store.Guard{store.Fewer{Collection: conversation.Outgoing, N: e.policy.Notices}}, ops...)
	if lost {
		return i.bury(ctx, e, Full, row)
	}
	return outcome(out, Full, err)
}

// say answers an event with a notice; private ones are for its sender alone.
func (i *Intake) say(ctx context.Context, e *event, why Reason, text string, private bool) (chat.Outcome, Reason, error) {
	out, _, err := i.commit(ctx, e, "intake.notice", nil, conversation.Say(e.part, e.delivery(text, private))...)
	return outcome(out, why, err)
}

// delivery is the notice that answers e. Its id comes from the event: there is one, whoever answers it how often.
func (e *event) delivery(text string, private bool) *conversation.Delivery {
	d := &conversation.Delivery{
		ID: conversation.ID("n", e.key), Kind: conversation.Notice, Text: text, After: e.now, MadeAt: e.now,
	}
	switch {
	case e.in.Kind.Interaction():
		d.Interaction = e.in.MessageID
	default:
		d.ReplyTo = e.in.MessageID
	}
	if e.in.Kind == chat.Message {
		d.Covers = []session.Cover{{MessageID: e.in.MessageID, Order: e.in.Order, Person: e.who.ID}}
	}
	if private {
		d.Only = e.in.Sender.Identity
	}
	return d
}

// commit makes the entry of e: guarded against a second one, with its dedupe key in the same write. lost says that one of guards did not
// hold. what is the site in front of the commit's id; it tells apart the entries that one event can make.
func (i *Intake) commit(ctx context.Context, e *event, what string, guards []store.Guard, ops ...store.Op) (out chat.Outcome, lost bool, err error) {
	res, err := i.store.Commit(ctx, store.Commit{
		ID: conversation.ID(what+"/", e.key), Partition: e.part,
		Guards: append([]store.Guard{store.Absent{Index: conversation.Dedupe, Member: e.key}}, guards...),
		Ops: append([]store.Op{
			store.ScoreNow{Index: conversation.Dedupe, Member: e.key},
			store.TrimOlder{Index: conversation.Dedupe, Age: conversation.DedupeAge + skew},
		}, ops...),
	})
	if err == nil && !res.Repeated {
		return chat.Kept, false, nil
	}
	if err != nil {
		conflict, ok := errors.AsType[*store.ConflictError](err)
		switch {
		case !ok:
			out, err = i.refused(ctx, e, err)
			return out, false, err
		case conflict.Guard > 0:
			return "", true, nil
		}
	}
	out, err = i.again(ctx, e)
	return out, false, err
}

// again wakes what the first delivery of the event woke: its wake may have been lost with a store that went back, and a wake
// for nothing costs a glance.
func (i *Intake) again(ctx context.Context, e *event) (chat.Outcome, error) {
	_, err := i.store.Commit(ctx, store.Commit{
		ID: "intake.again/" + i.newID(), Partition: e.part,
		Ops: []store.Op{e.wake(), store.Wake{Agenda: store.Outbox, Member: store.MemberOf(e.part, "")}},
	})
	if err != nil {
		return "", fmt.Errorf("wake a repeated event: %w", err)
	}
	return chat.Duplicate, nil
}

// refused ends an event that the store will never take as a row; for all other errors it will come again.
func (i *Intake) refused(ctx context.Context, e *event, err error) (chat.Outcome, error) {
	if !errors.Is(err, store.ErrTooLarge) && !errors.Is(err, store.ErrInvalid) {
		return "", err
	}
	if buryErr := i.letter(ctx, e.part, e.in, Malformed, err.Error()); buryErr != nil {
		return "", buryErr
	}
	return chat.Kept, nil
}

func (e *event) wake() store.Op {
	return store.Wake{Agenda: store.Turns, Member: store.MemberOf(e.part, "")}
}
