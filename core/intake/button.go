package intake

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/session"
	"herald/core/store"
)

// retryQueries ask for the record of the turn, for who has started it over, and for the open session.
func retryQueries(p store.Partition, turn string) []store.Query {
	return []store.Query{
		store.Get{Partition: p, Key: conversation.TurnKey(turn)},
		store.Get{Partition: p, Key: conversation.RetriedKey(turn)},
		store.Get{Partition: p, Key: conversation.CurrentKey},
	}
}

// retry writes the control that starts a failed turn over: once, by a mark that is put in with it.
func (i *Intake) retry(ctx context.Context, e *event, turn string) (chat.Outcome, Reason, error) {
	stands := e.extra
	for range tries {
		d, err := mayRetry(e, stands)
		if err != nil {
			return "", Failed, err
		}
		if d.why != "" {
			return i.turnAway(ctx, e, d)
		}
		c := e.control(conversation.Retry)
		c.Target = turn
		out, lost, err := i.commit(ctx, e, "intake.retry", []store.Guard{store.At{Key: conversation.RetriedKey(turn)}},
			store.Put{Key: conversation.RetriedKey(turn), Value: conversation.Encode(conversation.Retried{V: conversation.Version, By: e.who.ID, At: e.now})},
			store.Put{Key: c.Key(), Value: conversation.Encode(c)}, e.audit(string(conversation.Retry), "", turn), e.wake())
		if !lost {
			return outcome(out, Retried, err)
		}
		if stands, err = i.store.Read(ctx, retryQueries(e.part, turn)...); err != nil {
			return "", Failed, err
		}
	}
	return "", Failed, fmt.Errorf("start turn %s over: %d others in a row were faster; try again: %w", turn, tries, store.ErrConflict)
}

// mayRetry turns away whoever neither asked nor opened the session nor is an admin, and what was started over before.
func mayRetry(e *event, stands []store.Answer) (decision, error) {
	var (
		d       decision
		rec     conversation.TurnRecord
		retried conversation.Retried
		cur     conversation.Current
	)
	for n, into := range []conversation.Document{&rec, &retried, &cur} {
		if doc, ok := stands[n].Doc(); ok {
			if err := conversation.Decode(doc, into); err != nil {
				return d, err
			}
		}
	}
	mine := slices.ContainsFunc(rec.Covers, func(c session.Cover) bool { return c.Person == e.who.ID }) ||
		rec.Session == cur.State.Session && cur.State.Opener == e.who.ID
	switch {
	case rec.Failure == nil:
		return d.away(TooLate, textNoRetry), nil
	case !mine && !e.admin():
		return d.away(Forbidden, textNotYourTurn), nil
	case retried.By == e.who.ID:
		return d.away(TooLate, textRetriedMe), nil
	case retried.By != "":
		d.other, d.format = retried.By, textRetried
		return d.away(TooLate, ""), nil
	}
	return d, nil
}

// showAll shows all arguments of the call that an approval is about, to who may decide alone.
func (i *Intake) showAll(ctx context.Context, e *event, wait string) (chat.Outcome, Reason, error) {
	at, stands, err := i.origin(ctx, e, wait)
	if err != nil {
		return "", Failed, err
	}
	var doc conversation.WaitDoc
	stored, ok := store.Doc{}, false
	if len(stands) > 0 {
		stored, ok = stands[0].Doc()
	}
	if ok {
		if err := conversation.Decode(stored, &doc); err != nil {
			return "", Failed, err
		}
	}
	switch {
	case !ok:
		return i.say(ctx, e, TooLate, textNoWait, true)
	case !mayDecide(&doc.Wait, e):
		return i.say(ctx, e, Forbidden, textNotYours, true)
	}
	as, err := i.store.Read(ctx, store.Get{Partition: at.part, Key: conversation.CurrentKey})
	if err != nil {
		return "", Failed, err
	}
	var cur conversation.Current
	if d, ok := as[0].Doc(); ok {
		if err := conversation.Decode(d, &cur); err != nil {
			return "", Failed, err
		}
	}
	_, call := cur.State.Call(doc.Wait.Call)
	if call == nil || call.Ended() {
		return i.say(ctx, e, TooLate, textNoWait, true)
	}
	return i.say(ctx, e, Shown, fmt.Sprintf(textArguments, call.Name)+"\n\n"+allArguments(call.Arguments), true)
}

// allArguments shows arguments whole, each as code that its content cannot end.
func allArguments(raw json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fenced(string(raw))
	}
	var out []string
	for d.More() {
		name, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return fenced(string(raw))
		}
		shown := string(value)
		var text string
		if json.Unmarshal(value, &text) == nil {
			shown = text
		}
		out = append(out, fenced(fmt.Sprint(name)+":\n"+shown))
	}
	return strings.Join(out, "\n\n")
}

// fenced is a block of code that its content cannot end.
func fenced(s string) string {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + "\n" + conversation.Visible(strings.ToValidUTF8(s, "\uFFFD")) + "\n" + fence
}

// showQueries ask for the delivery where it stands when it is settled, and while it is not.
func showQueries(p store.Partition, delivery string) []store.Query {
	d := conversation.Delivery{ID: delivery}
	return []store.Query{store.Get{Partition: p, Key: d.SentKey()}, store.Get{Partition: p, Key: d.Key()}}
}

// show puts the text of an answer in the place of the line that its age had made of it, for all who see that line.
func (i *Intake) show(ctx context.Context, e *event, delivery string) (chat.Outcome, Reason, error) {
	stands := e.extra
	for range tries {
		doc, sent := stands[0].Doc()
		if !sent {
			doc, _ = stands[1].Doc()
		}
		var d conversation.Delivery
		if doc.Value != nil {
			if err := conversation.Decode(doc, &d); err != nil {
				return "", Failed, err
			}
		}
		switch {
		case d.ID == "" || d.Only != "" && d.Only != e.in.Sender.Identity || d.Replaced == "" && !d.Uncut && !d.Revealed:
			return i.say(ctx, e, TooLate, textNoShow, true)
		case !sent || d.Replaced == "":
			return i.say(ctx, e, TooLate, textShown, true)
		}
		reveal(&d, e.now)
		ops := append([]store.Op{store.Delete{Key: d.SentKey()}}, conversation.Say(e.part, &d)...)
		out, lost, err := i.commit(ctx, e, "intake.show", []store.Guard{store.At{Key: d.SentKey(), Version: doc.Version}}, ops...)
		if !lost {
			return outcome(out, Shown, err)
		}
		if stands, err = i.store.Read(ctx, showQueries(e.part, delivery)...); err != nil {
			return "", Failed, err
		}
	}
	return "", Failed, fmt.Errorf("show %s: %d others in a row were faster; try again: %w", delivery, tries, store.ErrConflict)
}

// reveal makes a delivery say its own text again, in the message that stands.
func reveal(d *conversation.Delivery, now time.Time) {
	d.Text, d.Replaced, d.Card, d.Uncut, d.Revealed = d.Replaced, "", nil, true, true
	d.MadeAt, d.NotBefore, d.Resend, d.Refusals = now, time.Time{}, time.Time{}, 0
	for n := range d.Pieces {
		d.Pieces[n].Settled = false
	}
}
