package turn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"herald/core/conversation"
	"herald/core/model"
	"herald/core/session"
	"herald/core/store"
)

func itoa(i int) string { return strconv.Itoa(i) }

// stageFailure makes the turn end with a sentence to the person and a reference for the operator.
func (r *run) stageFailure(kind, reason, detail string) {
	t := r.state.Turn
	ref := strings.ToUpper(strings.TrimPrefix(t.ID, "t"))[:min(8, len(t.ID)-1)]
	r.stage(session.Event{Kind: session.Failed, ID: t.ID, Failure: &session.Failure{Kind: kind, Reason: reason, Detail: cutText(detail, 2000), Ref: ref}})
	r.unsaid = true
	r.log.Warn("a turn failed", "turn", t.ID, "ref", ref, "kind", kind, "error", detail)
}

func (r *run) fail(kind, reason, detail string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stageFailure(kind, reason, detail)
}

// frameFailed ends a frame that cannot go on: that of the session's own agent ends the turn, a child's is an error for its caller, which may
// know another way.
func (r *run) frameFailed(f *session.Frame, kind, reason, detail string) {
	if f == nil || f.Parent == "" {
		r.stageFailure(kind, reason, detail)
		return
	}
	r.log.Warn("a delegated agent failed", "agent", f.Agent, "kind", kind, "error", detail)
	r.stage(session.Event{Kind: session.FramePopped, ID: "pop/" + f.ID, Frame: f.ID, Pop: &session.Pop{
		Status: session.Errored, Text: "Error: the agent " + f.Agent + " could not work: " + reason,
	}})
	r.unsaid = true
}

func (r *run) modelFailed(f *session.Frame, err error) {
	k := model.Unavailable
	if e, ok := errors.AsType[*model.Error](err); ok {
		k = e.Kind
	}
	why := reason(k)
	if f != nil && k == model.NotConfigured {
		if a := r.agents[f.ID+"/"+f.Agent]; a.Model != "" {
			why = "I cannot answer: the agent " + quoted(f.Agent) + " is to work with the model " + quoted(a.Model) + ", which is not configured. An admin must look at it."
		}
	}
	r.frameFailed(f, "model: "+string(k), why, err.Error())
}

// finish ends the turn in one commit: events, record, delivery, release. done is false with ErrStopped, when a stop came first.
func (r *run) finish(ctx context.Context, text string) (done bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.state.Turn
	how := "answered"
	head := guardHead
	switch {
	case t.Cancel != nil:
		how, head, text = "stopped", false, textStopped
		if r.reopen != nil {
			text = textStoppedNew
		}
		if r.live != nil && strings.TrimSpace(r.partial) != "" {
			text = r.partial + "\n\n" + text // what was shown already stays
		}
	case t.Failure != nil:
		how, text = "failed", failed(t.Failure, r.caps.CommandMark)
		if t.Failure.Kind == session.SetAside {
			how = "set aside"
		}
	case strings.TrimSpace(text) == "":
		text = textEmpty
	}
	if r.task != nil && t.Failure != nil {
		text = t.Failure.Reason // the reference is in the log; nobody reads this but an agent
	}
	d := r.settleAnswer(text)
	if t.Cancel == nil && t.Failure != nil && r.caps.Cards {
		d.Card = retryCard(t.ID)
	}
	rec := r.record()
	events := []session.Event{{Kind: session.TurnAnswered, ID: "answered/" + t.ID, Answered: &session.Answered{Turn: t.ID, Delivery: d.ID, Covers: t.Covers}}}
	if r.reopen != nil {
		events = append(events, session.Event{Kind: session.Closed, ID: "close/" + r.state.Session})
	}
	cur := r.cur
	began := r.cur.BeganAt
	r.cur.LastTurn, r.cur.Told, r.cur.Held, r.cur.Handed = t.ID, nil, nil, false
	ends := r.endWaits()
	for _, w := range r.state.Waits {
		card, err := r.closeWait(ctx, w, textEndedCard)
		if err != nil {
			return false, err
		}
		ends = append(ends, card...)
	}
	ops := append(ends, store.Put{Key: rec.Key(), Value: conversation.Encode(rec)})
	ops = r.cleared(append(ops, r.release(len(r.inbox) > 0 || len(r.controls) > 0, time.Time{}))...)
	res, err := r.tell(ctx, d, head, events, ops)
	if err != nil {
		r.cur.LastTurn, r.cur.Told, r.cur.Held, r.cur.Handed = cur.LastTurn, cur.Told, cur.Held, cur.Handed
		return false, err
	}
	if r.Observer.TurnEnded != nil {
		r.Observer.TurnEnded(how, res.Now.Sub(began))
	}
	r.log.Info("turn ended", "turn", t.ID, "how", how, "delivery", d.ID, "messages", len(t.Covers), "rounds", t.Rounds, "claim_attempt", r.claim.Attempt)
	return true, nil
}

// tell commits the end of a turn with what it came to: its delivery, or what is owed to the conversation that began the task.
func (r *run) tell(ctx context.Context, d *conversation.Delivery, head bool, events []session.Event, ops []store.Op) (store.Result, error) {
	if r.task != nil {
		return r.finishTask(ctx, d.Text, events, ops)
	}
	return r.say(ctx, d, head, events, ops)
}

// say commits the end of a turn with its delivery, and hands the delivery to the outbox at once when nothing else waits there.
func (r *run) say(ctx context.Context, d *conversation.Delivery, head bool, events []session.Event, ops []store.Op) (store.Result, error) {
	if speaks(r.ops) || speaks(ops) {
		// What is said in the same commit stands before the answer and is not seen by the guard.
		return r.step(ctx, "turn.answer", head, events, append(ops, conversation.Say(r.p, d)...)...)
	}
	express := *d
	express.Pieces = slices.Clone(d.Pieces)
	guards, said, done := r.Outbox.Express(r.conv, &express, r.live != nil)
	r.last = guards
	res, err := r.step(ctx, "turn.answer", head, slices.Clone(events), append(slices.Clone(ops), said...)...)
	r.last = nil
	if err == nil {
		var c *store.Claim
		if n := len(res.Taken); n > 0 {
			c = res.Taken[n-1]
		}
		done(c, versionOf(res, said, d.Key()), res.Now)
		return res, nil
	}
	done(nil, 0, time.Time{})
	if !errors.Is(err, errBusyOutbox) {
		return res, err
	}
	return r.step(ctx, "turn.answer", head, events, append(ops, conversation.Say(r.p, d)...)...)
}

// speaks reports whether one of ops puts a delivery into the outbox.
func speaks(ops []store.Op) bool {
	return slices.ContainsFunc(ops, func(op store.Op) bool {
		p, ok := op.(store.Put)
		return ok && p.Key.Collection == conversation.Outgoing
	})
}

// settleAnswer is the delivery with its final text. A live message is its first piece.
func (r *run) settleAnswer(text string) *conversation.Delivery {
	d := r.newAnswer()
	if r.live != nil {
		d.After = r.live.After
	}
	d.Text, d.MadeAt = text, r.now()
	for _, p := range r.ad.Cut(r.conv, text) {
		d.Pieces = append(d.Pieces, conversation.Piece{Text: p})
	}
	if r.live != nil && len(r.live.Pieces) > 0 {
		l, first := r.live.Pieces[0], &d.Pieces[0]
		first.Attempts, first.TriedAt, first.Clean, first.Receipt = l.Attempts, l.TriedAt, l.Clean, l.Receipt
		if r.cur.Handed {
			// The holder before may be frozen in an edit: its lease's end is the last instant at which that can land.
			d.Resend = d.MadeAt.Add(r.claim.Until.Sub(r.claim.Since))
		}
	}
	return d
}

// endWaits moves the documents of waits that end with the turn.
func (r *run) endWaits() []store.Op {
	var ops []store.Op
	for _, w := range r.state.Waits {
		if doc, ok := r.waits[w.ID]; ok {
			ops = append(ops, store.Delete{Key: doc.Key()}, store.Put{Key: doc.EndedKey(), Value: conversation.Encode(doc.WaitDoc)})
		}
	}
	return ops
}

// record is what is kept of the turn.
func (r *run) record() *conversation.TurnRecord {
	t := r.state.Turn
	rec := &conversation.TurnRecord{
		V: conversation.Version, ID: t.ID, Session: r.state.Session, Agent: r.state.Agent, Person: t.Person(), Models: t.Models, Tools: t.Tools, Gates: t.Gates,
		Rounds: t.Rounds, Usage: t.Usage, Covers: t.Covers, BeganAt: r.cur.BeganAt, EndedAt: r.now(), Failure: t.Failure, Stopped: t.Cancel != nil,
	}
	if u, ok := r.broken[t.ID]; ok {
		rec.Broken = &u
	}
	if !t.Unpriced && t.Rounds > 0 {
		cost := t.Cost
		rec.Cost = &cost
	}
	return rec
}

// countAlone notes that a turn which was under way in a crash now runs alone, before anything of it runs, and counts the run before
// when it crashed too. With too many the turn is set aside.
func (r *run) countAlone(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state.Turn == nil && len(r.inbox) == 0 {
		return nil // nothing that could be to blame
	}
	if r.suspect.Alone > 0 && r.claim.Attempt > r.suspect.Alone {
		r.suspect.Count++
	}
	r.suspect.V, r.suspect.Alone, r.suspected = conversation.Version, r.claim.Attempt, true
	if r.suspect.Count < r.MaxAttempts {
		r.commits++
		_, err := r.commit(ctx, store.Commit{
			ID:        fmt.Sprintf("turn.alone/%s.%d.%d", r.claim.Holder, r.claim.Token, r.commits),
			Partition: r.p, Claim: &r.claim, Ops: []store.Op{store.Put{Key: conversation.SuspectKey, Value: conversation.Encode(r.suspect)}},
		})
		return err
	}
	if r.state.Turn == nil {
		r.takeMessages()
	}
	t := r.state.Turn
	if t == nil {
		return nil // what waits for a person has nothing under way
	}
	r.stageFailure(session.SetAside, "I could not handle this message: it stopped the service "+itoa(r.MaxAttempts)+" times. It was set aside; an admin can see it.", r.suspect.Last)
	note := conversation.Encode(conversation.Letter{Kind: "turn", Reason: "it crashed " + itoa(r.MaxAttempts) + " times while it ran alone", Ref: r.state.Turn.Failure.Ref, Person: t.Person(), Covers: t.Covers})
	r.ops = append(r.ops, store.Bury{ID: t.ID, Note: note})
	return nil
}

// panicked counts a panic like a crash and leaves the turn for another attempt.
func (r *run) panicked(ctx context.Context, p any, stack []byte) error {
	r.log.Error("a turn panicked", "panic", fmt.Sprint(p), "stack", string(stack))
	s := r.suspect
	s.V = conversation.Version
	s.Count++
	s.Alone = 0
	s.Last = cutText(fmt.Sprint(p), 500)
	r.commits++
	_, err := r.Store.Commit(context.WithoutCancel(ctx), store.Commit{
		ID:        fmt.Sprintf("turn.panic/%s.%d.%d", r.claim.Holder, r.claim.Token, r.commits),
		Partition: r.p, Claim: &r.claim,
		Ops: []store.Op{
			store.Put{Key: conversation.SuspectKey, Value: conversation.Encode(s)},
			store.Release{Claim: r.claim, Again: true, In: time.Second},
		},
	})
	return err
}
