package turn

import (
	"context"
	"fmt"
	"slices"

	"herald/core/conversation"
	"herald/core/session"
	"herald/core/store"
)

// applyControls applies the controls in the platform's order, in between the messages.
func (r *run) applyControls(ctx context.Context) error {
	var left []conversation.Control
	for _, c := range r.controls {
		done := true
		var err error
		switch c.Kind {
		case conversation.Stop, conversation.New:
			if r.state.Turn != nil && r.state.Turn.Cancel != nil {
				left = append(left, c) // one stop at a time: the next one finds the turn ended
				continue
			}
			err = r.stopOrNew(ctx, c)
		case conversation.Compact:
			r.askCompaction(c)
		case conversation.Edit, conversation.Delete:
			done, err = r.change(ctx, c)
		case conversation.Retry:
			done, err = r.retry(ctx, c)
		default:
			r.log.Warn("a control of an unknown kind was left out", "kind", c.Kind, "control", c.ID)
		}
		if err != nil {
			return err
		}
		if done {
			r.ops = append(r.ops, store.Delete{Key: c.Key()})
		} else {
			left = append(left, c)
		}
	}
	r.controls = r.dropRetries(left)
	return nil
}

// stopOrNew ends the turn under way and what was waiting before the control, and for New begins another session.
func (r *run) stopOrNew(ctx context.Context, c conversation.Control) error {
	var covers []session.Cover
	var older []conversation.Message
	for _, m := range r.inbox {
		if m.Order < c.Order {
			older = append(older, m)
			covers = append(covers, session.Cover{MessageID: m.MessageID, Order: m.Order, Person: m.Person})
		}
	}
	ok, err := r.mayStop(ctx, c.By, older)
	if err != nil {
		return err
	}
	if ok {
		r.cur.StopOrder = max(r.cur.StopOrder, c.Order)
		// Whoever says stop wants to be asked again.
		r.ops = append(r.ops, store.Delete{Key: conversation.BypassKey})
	}
	self := session.Cover{MessageID: c.ID, Order: c.Order, Person: c.By}
	switch {
	case !ok:
		r.confirm(c, textMayNotStop)
	case r.state.Turn != nil || len(covers) > 0:
		for _, m := range older {
			r.ops = append(r.ops, store.Delete{Key: m.Key()})
		}
		r.inbox = keep(r.inbox, func(m *conversation.Message) bool { return m.Order >= c.Order })
		if r.state.Turn == nil {
			r.open(c.By)
			r.cur.BeganAt = r.now()
		}
		id := conversation.ID("t", string(r.p), c.Order, c.ID)
		r.stage(session.Event{Kind: session.Cancelled, ID: id, Cancel: &session.Cancel{By: c.By, Covers: append(covers, self)}})
		r.unsaid = true
		if c.Kind == conversation.New {
			r.reopen = &c
		}
	case r.task != nil:
		// The task has ended already, and its result says how. Nobody reads here.
	case c.Kind == conversation.New:
		r.closeSession(&c)
		r.confirm(c, textNew)
	default:
		r.confirm(c, textNothingRuns)
	}
	return nil
}

// mayStop reports whether a person may stop what runs or waits: who wrote one of the messages, who opened the session, or an admin.
func (r *run) mayStop(ctx context.Context, person string, waiting []conversation.Message) (bool, error) {
	running := r.state.Turn != nil || len(waiting) > 0
	if !running || person == r.state.Opener {
		return true, nil
	}
	if t := r.state.Turn; t != nil && slices.ContainsFunc(t.Covers, func(c session.Cover) bool { return c.Person == person }) {
		return true, nil
	}
	if slices.ContainsFunc(waiting, func(m conversation.Message) bool { return m.Person == person }) {
		return true, nil
	}
	if r.Admin == nil {
		return false, nil
	}
	admin, err := r.Admin(ctx, person)
	if err != nil {
		return false, fmt.Errorf("who may stop %s: %w", r.conv.Key(), err)
	}
	return admin, nil
}

// closeSession ends the session and opens the next one.
func (r *run) closeSession(c *conversation.Control) {
	if r.state.Session != "" && !r.state.Closed {
		r.stage(session.Event{Kind: session.Closed, ID: "close/" + r.state.Session})
	}
	r.reopen = c
	r.open(c.By)
	r.reopen = nil
}

// confirm answers a control where no turn does.
func (r *run) confirm(c conversation.Control, text string) {
	d := &conversation.Delivery{
		ID: conversation.ID("d", string(r.p), "control", c.ID), Kind: conversation.Notice, Text: text, ReplyTo: c.ID, Interaction: c.Interaction,
		Covers: []session.Cover{{MessageID: c.ID, Order: c.Order, Person: c.By}}, MadeAt: r.now(), After: r.now(),
	}
	r.ops = append(r.ops, conversation.Say(r.p, d)...)
	r.unsaid = true // it is said before a model takes its time
}

// change applies an edit or a deletion. done is false while the message that it speaks of has not arrived.
func (r *run) change(ctx context.Context, c conversation.Control) (done bool, err error) {
	if i := slices.IndexFunc(r.inbox, func(m conversation.Message) bool { return m.MessageID == c.Target }); i >= 0 {
		m := &r.inbox[i]
		if c.Kind == conversation.Delete {
			r.ops = append(r.ops, store.Delete{Key: m.Key()})
			r.inbox = slices.Delete(r.inbox, i, i+1)
			return true, nil
		}
		m.Text = c.Text
		r.ops = append(r.ops, store.Put{Key: m.Key(), Value: conversation.Encode(m)})
		return true, nil
	}
	as, err := r.Store.Read(ctx, store.ScoreOf{Partition: r.p, Index: conversation.Dedupe, Member: c.TargetKey})
	if err != nil {
		return false, fmt.Errorf("look for the message that was changed in %s: %w", r.conv.Key(), err)
	}
	if len(as[0].Scored) == 0 {
		if r.now().Sub(c.At) < editPatience {
			return false, nil
		}
		r.log.Info("a change of a message that never arrived was left out", "message", c.Target, "kind", c.Kind)
		return true, nil
	}
	if r.state.Session == "" || r.state.Closed {
		return true, nil // the message was part of a conversation that is over
	}
	n := &session.Note{Kind: string(c.Kind), MessageID: c.Target, Text: "A message that was answered before was deleted by its writer."}
	if c.Kind == conversation.Edit {
		n.Text = "A message that was taken in before was changed by its writer. It now reads: " + c.Text
	}
	r.stage(session.Event{Kind: session.Noted, ID: "note/" + c.ID, Note: n})
	return true, nil
}
