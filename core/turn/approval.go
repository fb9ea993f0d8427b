package turn

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/session"
	"herald/core/store"
	"herald/core/tool"
)

const (
	// waitEnds is how long a person is waited for unless the rule or the tool says otherwise.
	waitEnds = 24 * time.Hour
	// maxArgument is the longest argument in runes that a card shows whole; of a longer one it shows the head, the tail and the length.
	maxArgument, argumentHead, argumentTail = 500, 300, 100
	// maxListed is how many arguments a card shows; it says how many it leaves out.
	maxListed = 20
)

// asking is a call of an agent's frame, as far as it is the same for all tools.
func (r *run) asking(f *session.Frame) tool.Call { return tool.Call{Scope: r.scope(f)} }

// gated is what the gate said of a call, for the log.
func gated(d session.Decision, c tool.Call, g tool.Decision) session.Event {
	id := "gate/" + c.ID
	if c.Approved != "" {
		id += "/approved"
	}
	return session.Event{Kind: session.Gated, ID: id, Frame: d.Frame, Gate: &session.Gate{
		Call: c.ID, Tool: c.Name, Answer: string(g.Answer), Rule: cutText(g.Rule, 500),
	}}
}

// refusal is gated for a call that does not run. Whoever runs Herald finds it in the service's log too.
func (r *run) refusal(d session.Decision, c tool.Call, g tool.Decision) session.Event {
	e := gated(d, c, g)
	r.log.Info("a call was refused", "agent", c.Agent, "tool", cutText(c.Name, 100), "call", c.ID, "person", c.Person, "rule", e.Gate.Rule)
	return e
}

// askApproval commits the question whether the call may run.
func (r *run) askApproval(ctx context.Context, d session.Decision, c tool.Call, g tool.Decision) error {
	expires := g.Expires
	if expires <= 0 {
		expires = waitEnds
	}
	w := session.Wait{
		ID: conversation.ID("w", string(r.p), c.ID, "approval"), Kind: session.Approval, Call: c.ID, Tool: c.Name,
		Person: c.Person, Deciders: g.Deciders, Barred: g.Barred, Title: "May I run " + c.Name + "?", End: r.now().Add(expires),
	}
	w.Text = approvalText(c, r.state.Agent, g, w.End.In(r.Zone))
	copies := r.copiesOf(ctx, w, g)
	return r.waitWith(ctx, "turn.ask", d, w, copies, r.oweCopies(ctx, w, copies), gated(d, c, g))
}

// approvalText is what a person must know to decide: the arguments, why they are asked, who may decide and until when.
func approvalText(c tool.Call, root string, g tool.Decision, end time.Time) string {
	var b strings.Builder
	if c.Depth > 0 {
		fmt.Fprintf(&b, "The agent %s asks, which works for %s.\n", code(c.Agent), code(root))
	}
	arguments, _ := argumentsText(c.Arguments)
	b.WriteString(arguments)
	who := g.Who
	if who == "" {
		who = "the person who asked"
	}
	if g.Rule != "" {
		fmt.Fprintf(&b, "\nWhy I ask: %s.", g.Rule)
	}
	fmt.Fprintf(&b, "\nWho may decide: %s. Without a decision by %s it counts as denied.", who, end.Format("2 January 15:04 MST"))
	b.WriteString(denyHint)
	return b.String()
}

// denyHint says how to refuse where the card stands in the conversation of who may.
const denyHint = "\nTo refuse it with a reason, write `deny: ` and the reason."

// argumentsText lists arguments as code, so that nothing in them reads like a part of the card; whole is false where something is left out.
func argumentsText(raw json.RawMessage) (text string, whole bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return "It has no arguments that can be shown.", len(raw) == 0
	}
	var lines []string
	more := 0
	whole = true
	for d.More() {
		name, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return "Its arguments cannot be shown: they are malformed.", false
		}
		if len(lines) >= maxListed {
			more++
			continue
		}
		called, named := nameOfArgument(name)
		shown, all := argument(value)
		whole = whole && named && all
		lines = append(lines, fmt.Sprintf("- %s: %s", called, shown))
	}
	if len(lines) == 0 {
		return "It has no arguments.", true
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("- and %d more that are not shown here", more))
	}
	return "Arguments:\n" + strings.Join(lines, "\n"), whole && more == 0
}

// argument is a value on one line, and says so where it is not shown whole.
func argument(value json.RawMessage) (shown string, whole bool) {
	var line bytes.Buffer
	if json.Compact(&line, value) != nil {
		return "(malformed)", false
	}
	return shortened(line.String())
}

// nameOfArgument is a name as it stands, or in quotes where it would not stay on its line.
func nameOfArgument(name json.Token) (shown string, whole bool) {
	s := fmt.Sprint(name)
	if strings.ContainsFunc(s, unicode.IsControl) {
		s = strconv.Quote(s)
	}
	return shortened(s)
}

// shortened is a text of one line as code, and says so where it is not shown whole.
func shortened(line string) (shown string, whole bool) {
	r := []rune(conversation.Visible(line))
	if len(r) <= maxArgument {
		return code(string(r)), true
	}
	return fmt.Sprintf("%s … %s (shortened: %d characters)", code(string(r[:argumentHead])), code(string(r[len(r)-argumentTail:])), len(r)), false
}

// code is a code span that its content cannot end.
func code(s string) string {
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

// denial is a message that refuses the oldest approval which its writer may refuse: "deny", or "deny:" with a reason. Whoever asked may
// always withdraw. It goes only this way: what lets a call through is a click, which names the call.
func (r *run) denial(w session.Wait) *session.Outcome {
	i := slices.IndexFunc(r.inbox, func(m conversation.Message) bool {
		_, ok := denies(m.Text)
		return ok && m.Task == nil && !r.elsewhere(&m) && (m.Person == w.Person || slices.Contains(w.Deciders, m.Person))
	})
	if i < 0 {
		return nil
	}
	m := r.inbox[i]
	reason, _ := denies(m.Text)
	r.ops = append(r.ops, store.Delete{Key: m.Key()})
	r.inbox = slices.Delete(r.inbox, i, i+1)
	return &session.Outcome{Wait: w.ID, Result: session.Refused, By: m.Person, Text: reason, MessageID: m.MessageID, Order: m.Order}
}

func denies(text string) (reason string, ok bool) {
	word, reason, _ := strings.Cut(strings.TrimSpace(text), ":")
	if !strings.EqualFold(strings.TrimSpace(word), "deny") {
		return "", false
	}
	return cutText(strings.TrimSpace(reason), 500), true
}

// closeWait makes the card of an approval that is over say how it ended.
func (r *run) closeWait(ctx context.Context, w session.Wait, how string) ([]store.Op, error) {
	if w.Kind != session.Approval {
		return nil, nil
	}
	if r.task != nil {
		return append(r.oweOrigin(conversation.CopyEndKind, &conversation.Copy{Wait: w.ID, Person: r.task.Person, How: how}), r.oweEnds(w.ID, how)...), nil
	}
	ops, err := r.closeCard(ctx, askID(w.ID), how)
	return append(ops, r.oweEnds(w.ID, how)...), err
}

// closeCard is the operations that make a card say how it ended, and take its buttons away, wherever it stands: sent, or still on its way.
func (r *run) closeCard(ctx context.Context, delivery, how string) ([]store.Op, error) {
	d := &conversation.Delivery{ID: delivery}
	sent := d.SentKey()
	as, err := r.Store.Read(ctx, store.Get{Partition: r.p, Key: sent}, store.Get{Partition: r.p, Key: d.Key()})
	if err != nil {
		return nil, fmt.Errorf("close the card %s of %s: %w", delivery, r.p, err)
	}
	doc, ok := as[0].Doc()
	if !ok {
		if doc, ok = as[1].Doc(); !ok {
			return nil, nil // it was given up
		}
	}
	if err := conversation.Decode(doc, d); err != nil {
		return nil, err
	}
	if !r.caps.Edits && slices.ContainsFunc(d.Pieces, func(p conversation.Piece) bool { return p.Attempts > 0 }) {
		return nil, nil // what stands cannot be changed; a click on it is told how it ended
	}
	d.Text, d.Card, d.Uncut, d.MadeAt = d.Text+"\n\n**"+how+"**", nil, true, r.now()
	for i := range d.Pieces {
		d.Pieces[i].Settled = false
	}
	r.guards = append(r.guards, store.At{Key: doc.Key, Version: doc.Version}) // the outbox may be writing its receipt
	ops := conversation.Say(r.p, d)
	if doc.Key == sent {
		ops = append([]store.Op{store.Delete{Key: sent}}, ops...)
	}
	return ops, nil
}

// ended says how an approval ended.
func (r *run) ended(ctx context.Context, o *session.Outcome) string {
	name := r.nameOf(ctx, o.By)
	switch o.Result {
	case session.Approved:
		return "Approved by " + name + "."
	case session.Refused:
		return "Denied by " + name + "."
	default:
		return "Denied: nobody decided in time."
	}
}

// askID names the delivery that asks for the outcome of a wait.
func askID(wait string) string { return conversation.ID("d", wait) }

// waitCard is the card of a wait.
func (r *run) waitCard(w session.Wait) *chat.Card {
	c := &chat.Card{Title: w.Title, Buttons: buttons(w)}
	if _, call := r.state.Call(w.Call); w.Kind == session.Approval && call != nil {
		if _, whole := argumentsText(call.Arguments); !whole {
			c.Buttons = append(c.Buttons, chat.Button{Action: conversation.AllMark + w.ID, Label: "Show all"})
		}
	}
	return c
}

// buttons are the choices of a wait.
func buttons(w session.Wait) []chat.Button {
	var out []chat.Button
	add := func(choice, label string, danger bool) {
		out = append(out, chat.Button{Action: conversation.Action(w.ID, choice), Label: label, Danger: danger})
	}
	if w.Kind == session.Approval {
		add(conversation.Approve, "Approve once", false)
		add(conversation.ApproveMinutes, "Allow for 15 minutes", false)
		add(conversation.ApproveSession, "Allow for this session", false)
		add(conversation.Deny, "Deny", true)
		out[len(out)-1].Form = &chat.Form{
			Title: "Deny", Label: "Reason (the agent is told it)", Submit: "Deny", Max: conversation.MaxReason, Optional: true,
		}
		return out
	}
	for i, c := range w.Choices {
		add(itoa(i), c, false)
	}
	add(conversation.FreeText, "Answer", false)
	if len(w.Choices) > 0 {
		out[len(out)-1].Label = "Another answer"
	}
	out[len(out)-1].Form = &chat.Form{Title: "Answer", Label: cutText(cmp.Or(w.Title, "Your answer"), 150), Submit: "Send", Max: conversation.MaxFreeText}
	return out
}
