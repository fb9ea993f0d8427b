package intake

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/people"
	"herald/core/session"
	"herald/core/store"
)

// The choices of an approval's buttons; those of a question are the numbers of its choices, from 0.
const (
	Approve = "approve"
	Deny    = "deny"
)

// waitAction begins the action of a button that decides a wait.
const waitAction = "wait:"

// WaitAction is the action of a button that decides the wait: choice is [Approve], [Deny] or the number of a choice.
func WaitAction(wait, choice string) string { return waitAction + wait + ":" + choice }

// parseAction reads what WaitAction wrote.
func parseAction(action string) (wait, choice string, ok bool) {
	rest, ok := strings.CutPrefix(action, waitAction)
	if !ok {
		return "", "", false
	}
	n := strings.LastIndexByte(rest, ':')
	if n <= 0 || n == len(rest)-1 {
		return "", "", false
	}
	return rest[:n], rest[n+1:], true
}

func waitKey(wait string) store.Key {
	return (&conversation.WaitDoc{Wait: session.Wait{ID: wait}}).Key()
}

// waitQueries ask for the wait, and for what is left of it when its turn went on.
func waitQueries(p store.Partition, wait string) []store.Query {
	d := conversation.WaitDoc{Wait: session.Wait{ID: wait}}
	return []store.Query{store.Get{Partition: p, Key: d.Key()}, store.Get{Partition: p, Key: d.EndedKey()}}
}

func (e *event) clickQueries() []store.Query {
	if wait, _, ok := parseAction(e.in.Action); ok {
		return waitQueries(e.part, wait)
	}
	return nil
}

// click makes a click the outcome of its wait: the first one wins, by the version of the wait's document. Whoever may not decide,
// or came too late, is told so alone.
func (i *Intake) click(ctx context.Context, e *event) (chat.Outcome, Reason, error) {
	wait, choice, ok := parseAction(e.in.Action)
	if !ok {
		return i.say(ctx, e, UnknownAction, textNoAction, true)
	}
	stands := e.extra
	for range tries {
		d, err := decide(e, choice, stands)
		if err != nil {
			return "", Failed, err
		}
		if d.outcome == nil {
			return i.turnAway(ctx, e, d)
		}
		d.wait.Outcome = d.outcome
		out, lost, err := i.commit(ctx, e, "intake.click", []store.Guard{store.At{Key: waitKey(wait), Version: d.version}},
			store.Put{Key: waitKey(wait), Value: conversation.Encode(d.wait)},
			e.audit("decide", wait, string(d.outcome.Result)), e.wake())
		if !lost {
			return outcome(out, Decided, err)
		}
		if stands, err = i.store.Read(ctx, waitQueries(e.part, wait)...); err != nil {
			return "", Failed, err
		}
	}
	return "", Failed, fmt.Errorf("decide %s: %d others in a row were faster; try again: %w", wait, tries, store.ErrConflict)
}

// decision is what a click comes to: an outcome, or the reason and the text that turn it away.
type decision struct {
	wait    conversation.WaitDoc
	version int64
	outcome *session.Outcome
	why     Reason
	text    string
	// other is the person who had decided, said what.
	other, said string
}

func (d decision) away(why Reason, text string) decision {
	d.why, d.text = why, text
	return d
}

// decide judges the click by the wait that stands. Rights come first: who may not decide learns nothing of the decision.
func decide(e *event, choice string, stands []store.Answer) (decision, error) {
	var d decision
	doc, ok := stands[0].Doc()
	if !ok {
		if doc, ok = stands[1].Doc(); !ok {
			return d.away(TooLate, textNoWait), nil
		}
	}
	if err := conversation.Decode(doc, &d.wait); err != nil {
		return d, err
	}
	d.version = doc.Version
	w := &d.wait.Wait
	if !mayDecide(w, e) {
		return d.away(Forbidden, textNotYours), nil
	}
	if o := d.wait.Outcome; o != nil {
		switch {
		case o.By == "" || o.Result == session.Expired || o.Result == session.Elapsed:
			return d.away(TooLate, textEnded), nil
		case o.By == e.who.ID:
			return d.away(TooLate, fmt.Sprintf(textDecidedMe, said(o))), nil
		default:
			d.other, d.said = o.By, said(o)
			return d.away(TooLate, ""), nil
		}
	}
	if doc.Key.Collection == conversation.Waited {
		return d.away(TooLate, textNoWait), nil
	}
	if !w.End.IsZero() && !stands[0].Now.Before(w.End) {
		return d.away(TooLate, textEnded), nil
	}
	o := session.Outcome{Wait: w.ID, By: e.who.ID}
	switch n, err := strconv.Atoi(choice); {
	case w.Kind == session.Approval && choice == Approve:
		o.Result = session.Approved
	case w.Kind == session.Approval && choice == Deny:
		o.Result = session.Refused
	case w.Kind == session.Question && err == nil && n >= 0 && n < len(w.Choices):
		o.Result, o.Text = session.Replied, w.Choices[n]
	default:
		return d.away(UnknownAction, textBadChoice), nil
	}
	d.outcome = &o
	return d, nil
}

// mayDecide reports whether the sender of e may end the wait: one of its deciders where they are named, else the person who is
// asked. Being an admin helps only where the role is named among the deciders.
func mayDecide(w *session.Wait, e *event) bool {
	if len(w.Deciders) == 0 {
		return w.Person == e.who.ID
	}
	return slices.Contains(w.Deciders, e.who.ID) || slices.Contains(w.Deciders, string(people.Admin)) && e.admin()
}

func said(o *session.Outcome) string {
	if o.Result == session.Replied {
		return short(o.Text)
	}
	return string(o.Result)
}

// turnAway tells the sender alone why the click did nothing, and who was faster.
func (i *Intake) turnAway(ctx context.Context, e *event, d decision) (chat.Outcome, Reason, error) {
	text := d.text
	if d.other != "" {
		name, err := i.people.Name(ctx, d.other)
		if err != nil {
			return "", Failed, err
		}
		text = fmt.Sprintf(textDecided, name, d.said)
	}
	return i.say(ctx, e, d.why, text, true)
}
