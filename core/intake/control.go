package intake

import (
	"context"
	"fmt"

	"herald/core/chat"
	"herald/core/command"
	"herald/core/conversation"
	"herald/core/people"
	"herald/core/store"
)

// target is the dedupe key of the message that an edit or a deletion speaks of.
func target(in *chat.Inbound) string {
	t := *in
	t.Kind = chat.Message
	return t.DedupeKey()
}

// change writes an edit or a deletion as a control. It has a dedupe key of its own and leaves that of its message alone.
func (i *Intake) change(ctx context.Context, e *event) (chat.Outcome, Reason, error) {
	if size := len(e.in.Text); size > e.policy.Text {
		return i.say(ctx, e, TooLong, tooLong(size, e.policy.Text), false)
	}
	why, kind, text := Edited, conversation.Edit, i.asked(e.in.Text)
	if e.in.Kind == chat.Delete {
		why, kind, text = Deleted, conversation.Delete, ""
	}
	c := e.control(kind)
	// A deletion can carry its message's own place, where a stop may stand that came as that message.
	c.ID += "/" + string(kind)
	c.Target, c.TargetKey, c.Text = e.in.MessageID, target(e.in), text
	out, _, err := i.commit(ctx, e, "intake.change", nil, store.Put{Key: c.Key(), Value: conversation.Encode(c)}, e.wake())
	return outcome(out, why, err)
}

func (e *event) control(kind conversation.ControlKind) *conversation.Control {
	c := &conversation.Control{
		V: conversation.Version, Kind: kind, ID: e.in.MessageID, Order: e.in.Order,
		By: e.who.ID, Name: e.in.Sender.Name, At: e.now,
	}
	if e.in.Kind.Interaction() {
		c.Interaction = e.in.MessageID
	}
	return c
}

// runCommand carries a command out, or answers why not.
func (i *Intake) runCommand(ctx context.Context, e *event) (chat.Outcome, Reason, error) {
	spec := e.command.Spec
	switch {
	case spec == nil:
		return i.say(ctx, e, UnknownCommand, i.commands.Unknown(e.who.Role, e.command.Word), false)
	case !e.who.Role.Covers(spec.Least):
		return i.say(ctx, e, Forbidden, fmt.Sprintf(textForbidden, spec.Name, spec.Least, e.who.Role), false)
	case e.command.Misused:
		return i.say(ctx, e, UnknownCommand, spec.Usage(), false)
	case e.scattered():
		return i.listRunning(ctx, e)
	case spec.Name == command.Ask:
		return i.ask(ctx, e)
	case spec.Name == command.Compact:
		return i.compact(ctx, e)
	case spec.Run == nil:
		return i.order(ctx, e, conversation.ControlKind(spec.Name))
	}
	call := command.Call{Read: i.store, Where: e.part, Person: e.who, Args: e.command.Args, Event: e.key, Mark: e.policy.Mark}
	if e.in.Kind == chat.Command {
		call.Mark = e.policy.SlashMark
	}
	if e.lacksThread() {
		nearby, err := i.nearby(ctx, e)
		if err != nil {
			return "", Failed, err
		}
		for _, c := range nearby {
			call.Nearby = append(call.Nearby, conversation.Partition(c))
		}
	}
	text, err := spec.Run(ctx, call)
	if err != nil {
		return "", Failed, err
	}
	return i.say(ctx, e, Commanded, text, false)
}

// compact has the turn's holder summarise the history; it stops nothing.
func (i *Intake) compact(ctx context.Context, e *event) (chat.Outcome, Reason, error) {
	c := e.control(conversation.Compact)
	out, _, err := i.commit(ctx, e, "intake.compact", nil, store.Put{Key: c.Key(), Value: conversation.Encode(c)}, e.audit(string(c.Kind), "", ""), e.wake())
	return outcome(out, Commanded, err)
}

// order writes stop or new: the control, the head that refuses older work, and the audit row, in one commit. The turn's
// holder carries it out and confirms it.
func (i *Intake) order(ctx context.Context, e *event, kind conversation.ControlKind) (chat.Outcome, Reason, error) {
	head := e.extra[0]
	for range tries {
		ops, version, err := order(e, kind, head)
		if err != nil {
			return "", Failed, err
		}
		out, lost, err := i.commit(ctx, e, "intake.order", []store.Guard{store.At{Key: conversation.HeadKey, Version: version}}, ops...)
		if !lost {
			return outcome(out, Commanded, err)
		}
		answers, err := i.store.Read(ctx, store.Get{Partition: e.part, Key: conversation.HeadKey})
		if err != nil {
			return "", Failed, err
		}
		head = answers[0]
	}
	return "", Failed, fmt.Errorf("write %s: %d others in a row were faster; try again: %w", kind, tries, store.ErrConflict)
}

// order is the operations of stop or new on the head that stands. A late one that is older than the newest leaves the head: it
// must not refuse the work that began since.
func order(e *event, kind conversation.ControlKind, stands store.Answer) ([]store.Op, int64, error) {
	var head conversation.Head
	doc, ok := stands.Doc()
	if ok {
		if err := conversation.Decode(doc, &head); err != nil {
			return nil, 0, err
		}
	}
	c := e.control(kind)
	ops := []store.Op{store.Put{Key: c.Key(), Value: conversation.Encode(c)}}
	if !ok || e.in.Order > head.StopOrder {
		head = conversation.Head{V: conversation.Version, StopOrder: e.in.Order, By: e.who.ID}
		ops = append(ops, store.Put{Key: conversation.HeadKey, Value: conversation.Encode(head)})
	}
	return append(ops, e.audit(string(kind), "", ""), e.wake()), doc.Version, nil
}

// admin reports whether the sender is an admin now.
func (e *event) admin() bool { return e.who.Role.Covers(people.Admin) }
