package intake

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/people"
	"herald/core/session"
	"herald/core/store"
)

// The choices of an approval's buttons; those of a question are the numbers of its choices, from 0.
const (
	Approve = conversation.Approve
	// ApproveMinutes and ApproveSession let further calls of the same tool through: for [BypassFor], and as long as the session lasts.
	ApproveMinutes = conversation.ApproveMinutes
	ApproveSession = conversation.ApproveSession
	// Deny may carry a reason as the click's value.
	Deny = conversation.Deny
)

// BypassFor is how long [ApproveMinutes] holds: long enough for a piece of work, short enough to be remembered.
const BypassFor = 15 * time.Minute

// maxReason is the longest reason of a refusal in runes that a model is told.
const maxReason = conversation.MaxReason

// WaitAction is the action of a button that decides the wait: choice is one of the choices of an approval or the number of a choice.
func WaitAction(wait, choice string) string { return conversation.Action(wait, choice) }

func waitKey(wait string) store.Key {
	return (&conversation.WaitDoc{Wait: session.Wait{ID: wait}}).Key()
}

// waitQueries ask for the wait, for what is left of it when its turn went on, and for the bypasses that stand.
func waitQueries(p store.Partition, wait string) []store.Query {
	d := conversation.WaitDoc{Wait: session.Wait{ID: wait}}
	return []store.Query{
		store.Get{Partition: p, Key: d.Key()}, store.Get{Partition: p, Key: d.EndedKey()}, store.Get{Partition: p, Key: conversation.BypassKey},
	}
}

// button is what a click is on: what it does, and the id of what it acts on.
type button struct{ mark, ref, choice string }

// buttonOf reads an action; the mark is empty for one that means nothing.
func buttonOf(action string) button {
	if wait, choice, ok := conversation.ParseAction(action); ok {
		return button{conversation.ActionMark, wait, choice}
	}
	for _, mark := range []string{conversation.AgainMark, conversation.ShowMark, conversation.AllMark} {
		if ref, ok := strings.CutPrefix(action, mark); ok && ref != "" {
			return button{mark: mark, ref: ref}
		}
	}
	return button{}
}

func (e *event) clickQueries() []store.Query {
	switch b := buttonOf(e.in.Action); b.mark {
	case conversation.ActionMark, conversation.AllMark:
		return append(waitQueries(e.part, b.ref), store.Get{Partition: e.part, Key: conversation.CopiedKey(b.ref)})
	case conversation.AgainMark:
		return retryQueries(e.part, b.ref)
	case conversation.ShowMark:
		return showQueries(e.part, b.ref)
	}
	return nil
}

// click does what the button stands for. Whoever may not, or came too late, is told so alone.
func (i *Intake) click(ctx context.Context, e *event) (chat.Outcome, Reason, error) {
	switch b := buttonOf(e.in.Action); b.mark {
	case conversation.ActionMark:
		return i.decide(ctx, e, b.ref, b.choice)
	case conversation.AgainMark:
		return i.retry(ctx, e, b.ref)
	case conversation.ShowMark:
		return i.show(ctx, e, b.ref)
	case conversation.AllMark:
		return i.showAll(ctx, e, b.ref)
	default:
		return i.say(ctx, e, UnknownAction, textNoAction, true)
	}
}

// decide makes a click the outcome of its wait: the first one wins, by the version of the wait's document.
func (i *Intake) decide(ctx context.Context, e *event, wait, choice string) (chat.Outcome, Reason, error) {
	at, stands, err := i.origin(ctx, e, wait)
	if err != nil {
		return "", Failed, err
	}
	if stands == nil {
		out, err := i.again(ctx, at)
		return outcome(out, Decided, err)
	}
	for range tries {
		d, err := judgeClick(e, choice, stands)
		if err != nil {
			return "", Failed, err
		}
		switch {
		case d.outcome == nil:
			return i.turnAway(ctx, e, d)
		case e.in.Opens:
			return chat.Ready, Asked, nil
		case d.invalid != "":
			return "", Invalid, &chat.Invalid{Text: d.invalid}
		}
		d.wait.Outcome = d.outcome
		guards, bypass, err := bypassing(d, choice, stands)
		if err != nil {
			return "", Failed, err
		}
		result := string(d.outcome.Result)
		if bypass != nil && choice != Approve {
			result = choice
		}
		ops := append([]store.Op{store.Put{Key: waitKey(wait), Value: conversation.Encode(d.wait)}}, bypass...)
		out, lost, err := i.commit(ctx, at, "intake.click", append([]store.Guard{store.At{Key: waitKey(wait), Version: d.version}}, guards...),
			append(ops, at.audit("decide", wait, result), at.wake())...)
		if !lost {
			return outcome(out, Decided, err)
		}
		if stands, err = i.store.Read(ctx, waitQueries(at.part, wait)...); err != nil {
			return "", Failed, err
		}
	}
	return "", Failed, fmt.Errorf("decide %s: %d others in a row were faster; try again: %w", wait, tries, store.ErrConflict)
}

// origin is the event as it concerns the partition in which the wait stands, with what stands there: a card can have copies in other conversations, and
// a click on one of them decides the same wait. Nothing stands where this event was taken in before.
func (i *Intake) origin(ctx context.Context, e *event, wait string) (*event, []store.Answer, error) {
	stands := e.extra
	doc, ok := stands[len(stands)-1].Doc()
	if !ok {
		return e, stands[:len(stands)-1], nil
	}
	var c conversation.Copied
	if err := conversation.Decode(doc, &c); err != nil {
		return nil, nil, err
	}
	at := *e
	at.part = c.Origin
	stands, err := i.store.Read(ctx, append(waitQueries(at.part, wait), store.ScoreOf{Partition: at.part, Index: conversation.Dedupe, Member: e.key})...)
	if err != nil {
		return nil, nil, err
	}
	if last := len(stands) - 1; len(stands[last].Scored) == 0 {
		return &at, stands[:last], nil
	}
	return &at, nil, nil
}

// decision is what a click comes to: an outcome, or the reason and the text that turn it away.
type decision struct {
	wait    conversation.WaitDoc
	version int64
	outcome *session.Outcome
	why     Reason
	text    string
	// other is the person who was faster; format puts their name, and behind it said where that is set, into a text.
	other, said, format string
	// invalid says what is wrong with what the person typed.
	invalid string
}

func (d decision) away(why Reason, text string) decision {
	d.why, d.text = why, text
	return d
}

// judgeClick judges the click by the wait that stands. Rights come first: who may not decide learns nothing of the decision.
func judgeClick(e *event, choice string, stands []store.Answer) (decision, error) {
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
			d.other, d.said, d.format = o.By, said(o), textDecided
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
	case w.Kind == session.Approval && (choice == Approve || choice == ApproveMinutes || choice == ApproveSession):
		o.Result = session.Approved
	case w.Kind == session.Approval && choice == Deny:
		o.Result, o.Text = session.Refused, reason(e.in.Value)
	case w.Kind == session.Question && err == nil && n >= 0 && n < len(w.Choices):
		o.Result, o.Text = session.Replied, w.Choices[n]
	case w.Kind == session.Question && choice == conversation.FreeText:
		o.Result, o.Text = session.Replied, strings.TrimSpace(strings.ToValidUTF8(e.in.Value, "\uFFFD"))
		if o.Text == "" {
			d.invalid = textNoAnswer
		} else if n := utf8.RuneCountInString(o.Text); n > conversation.MaxFreeText {
			d.invalid = fmt.Sprintf(textLongAnswer, n, conversation.MaxFreeText)
		}
	default:
		return d.away(UnknownAction, textBadChoice), nil
	}
	d.outcome = &o
	return d, nil
}

// bypassing is what a choice that lets further calls through adds to the commit of its decision. The bypass stands from the instant of the
// decision, for the person who asked and for the tool of this call alone.
func bypassing(d decision, choice string, stands []store.Answer) ([]store.Guard, []store.Op, error) {
	w := &d.wait.Wait
	if choice != ApproveMinutes && choice != ApproveSession || w.Tool == "" {
		return nil, nil, nil
	}
	var all conversation.Bypasses
	doc, ok := stands[2].Doc()
	if ok {
		if err := conversation.Decode(doc, &all); err != nil {
			return nil, nil, err
		}
	}
	b := conversation.Bypass{Tool: w.Tool, Session: d.wait.Session, Person: w.Person, By: d.outcome.By, At: stands[2].Now}
	if choice == ApproveMinutes {
		b.Until = b.At.Add(BypassFor)
	}
	if !all.Add(b) {
		return nil, nil, nil // the call was approved; only the next one will be asked about again
	}
	return []store.Guard{store.At{Key: conversation.BypassKey, Version: doc.Version}},
		[]store.Op{store.Put{Key: conversation.BypassKey, Value: conversation.Encode(all)}}, nil
}

// reason is what a person gave as theirs, on one line and of a sane length.
func reason(s string) string {
	n := 0
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if n++; n > maxReason {
			return -1
		}
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD")))
}

// mayDecide reports whether the sender of e may end the wait: one of its deciders where they are named, else the person who is
// asked. Being an admin helps only where the role is named among the deciders, and nothing helps who is barred.
func mayDecide(w *session.Wait, e *event) bool {
	if slices.Contains(w.Barred, e.who.ID) {
		return false
	}
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
		args := []any{name}
		if d.said != "" {
			args = append(args, d.said)
		}
		text = fmt.Sprintf(d.format, args...)
	}
	return i.say(ctx, e, d.why, text, true)
}
