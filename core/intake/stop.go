package intake

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"herald/core/chat"
	"herald/core/command"
	"herald/core/conversation"
	"herald/core/people"
	"herald/core/session"
	"herald/core/store"
)

const (
	// stopMark begins the action of a button that stops what runs in a thread of the channel in which it stands; the thread's id follows.
	stopMark = "stop:"
	// stopSpan is how far back a person's conversations are looked through for running turns, stopLook how many of them, newest first.
	stopSpan = 7 * 24 * time.Hour
	stopLook = 50
	// maxStops is how many running turns one card lists.
	maxStops = 10
)

// aimed is the event that a press on a button of the list of running turns stands for: a stop in the thread that the button names. Who may stop
// there is decided as for a stop that was written there.
func aimed(in *chat.Inbound) *chat.Inbound {
	thread, ok := strings.CutPrefix(in.Action, stopMark)
	if in.Kind != chat.Click || !ok || thread == "" {
		return in
	}
	out := *in
	out.Kind, out.Text, out.Action, out.Value = chat.Command, string(command.Stop), "", ""
	out.Conversation.Thread = thread
	return &out
}

// lacksThread reports whether e is a command that cannot say which thread it means.
func (e *event) lacksThread() bool {
	return e.command.Spec != nil && e.policy.Threadless && e.in.Kind == chat.Command && e.in.Conversation.Thread == ""
}

// scattered reports whether e is a stop that came without the thread that it means.
func (e *event) scattered() bool {
	return e.lacksThread() && e.command.Spec.Name == command.Stop && !e.in.Direct
}

// running is a turn that runs or waits in a thread of a channel.
type running struct {
	where chat.Conversation
	cur   conversation.Current
}

// listRunning answers a stop that has no thread: with the caller's running turns in the channel, each with a button.
func (i *Intake) listRunning(ctx context.Context, e *event) (chat.Outcome, Reason, error) {
	all, err := i.runningOf(ctx, e)
	if err != nil {
		return "", Failed, err
	}
	if len(all) == 0 {
		return i.say(ctx, e, Commanded, textNoneRuns, false)
	}
	d := e.delivery(textRuns, true)
	// The response to a command holds no buttons; a message for the caller alone does.
	d.Interaction = ""
	d.Card = &chat.Card{Title: textRunsTitle}
	for n, r := range all[:min(len(all), maxStops)] {
		name := fmt.Sprintf("%d", n+1)
		d.Card.Fields = append(d.Card.Fields, chat.Field{Name: name, Value: fmt.Sprintf(textRunsSince, r.cur.BeganAt.UTC().Format("15:04:05 UTC"), state(&r.cur.State))})
		d.Card.Buttons = append(d.Card.Buttons, chat.Button{Action: stopMark + r.where.Thread, Label: fmt.Sprintf(textRunsStop, name), Danger: true})
	}
	if more := len(all) - maxStops; more > 0 {
		d.Text += fmt.Sprintf(textRunsMore, more)
	}
	out, _, err := i.commit(ctx, e, "intake.running", nil, conversation.Say(e.part, d)...)
	return outcome(out, Commanded, err)
}

// state says in a word what a turn does.
func state(s *session.State) string {
	if len(s.Waits) > 0 {
		return textRunsWaits
	}
	return textRunsWorks
}

// nearby are the threads of this channel in which the caller spoke lately, newest first.
func (i *Intake) nearby(ctx context.Context, e *event) (where []chat.Conversation, err error) {
	since := float64(e.now.Add(-stopSpan).UnixMilli())
	as, err := i.store.Read(ctx, store.Scores{Partition: people.PersonPartition(e.who.ID), Index: people.Footprint, Min: since, Max: math.MaxFloat64})
	if err != nil {
		return nil, fmt.Errorf("look for the threads of %s: %w", e.who.ID, err)
	}
	scored := slices.Clone(as[0].Scored)
	slices.SortFunc(scored, func(a, b store.Scored) int { return cmp.Compare(b.Score, a.Score) })
	for _, s := range scored {
		c, ok := conversation.Of(store.Partition(s.Member))
		if !ok || c.Thread == "" || c.ChannelKey() != e.in.Conversation.ChannelKey() || len(where) == stopLook {
			continue
		}
		where = append(where, c)
	}
	return where, nil
}

// runningOf looks through the threads of this channel in which the caller spoke lately for turns that are theirs to stop, newest first.
func (i *Intake) runningOf(ctx context.Context, e *event) ([]running, error) {
	where, err := i.nearby(ctx, e)
	if err != nil || len(where) == 0 {
		return nil, err
	}
	var queries []store.Query
	for _, c := range where {
		p := conversation.Partition(c)
		queries = append(queries, store.Get{Partition: p, Key: conversation.CurrentKey}, store.List{Partition: p, Collection: conversation.Inbox})
	}
	as, err := i.store.Read(ctx, queries...)
	if err != nil {
		return nil, fmt.Errorf("look for running turns of %s: %w", e.who.ID, err)
	}
	var out []running
	for n := range where {
		r := running{where: where[n]}
		if doc, ok := as[2*n].Doc(); ok {
			if err := conversation.Decode(doc, &r.cur); err != nil {
				return nil, err
			}
		}
		t := r.cur.State.Turn
		mine := t != nil && (r.cur.State.Opener == e.who.ID || slices.ContainsFunc(t.Covers, func(c session.Cover) bool { return c.Person == e.who.ID }))
		// A message stays in the inbox until the first step of its turn is committed, which can be a whole model call later.
		for _, doc := range as[2*n+1].Docs {
			var m conversation.Message
			if err := conversation.Decode(doc, &m); err != nil {
				return nil, err
			}
			if m.Person != e.who.ID {
				continue
			}
			mine = true
			if r.cur.BeganAt.IsZero() || t == nil {
				r.cur.BeganAt = m.SentAt
			}
		}
		if mine {
			out = append(out, r)
		}
	}
	return out, nil
}
