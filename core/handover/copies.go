package handover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/store"
)

// Copies takes entries of [conversation.CopyKind] and [conversation.CopyEndKind]: copies of a card in the direct messages of who may decide, and what becomes of
// them when it was decided.
type Copies struct {
	Store store.Store
	// Open is the conversation that only the person of an account reads; see [chat.Opener].
	Open func(ctx context.Context, id chat.IdentityID) (chat.Conversation, error)
	// Note notes in a person's footprint that words of theirs are about to stand in p.
	Note func(ctx context.Context, person string, p store.Partition) error
	// Edits reports whether what stands in a conversation can be changed; nil means everywhere.
	Edits func(c chat.Conversation) bool
}

// Take implements [Taker].
func (t Copies) Take(ctx context.Context, from store.Partition, owed *conversation.Owed) (bool, error) {
	var c conversation.Copy
	if err := json.Unmarshal(owed.Data, &c); err != nil || c.Wait == "" || c.To == "" && c.At == "" || c.Person == "" || owed.Kind == conversation.CopyKind && (c.Delivery == nil || c.Delivery.ID == "") {
		return false, fmt.Errorf("take the card %s of %s: it names no wait or nobody, or is no JSON: %w", owed.ID, from, errors.Join(ErrMalformed, err))
	}
	if c.V > conversation.Version {
		return false, fmt.Errorf("take the card %s of %s: version %d: %w", owed.ID, from, c.V, conversation.ErrNewer)
	}
	p := c.At
	if p == "" {
		at, err := t.Open(ctx, c.To)
		if err != nil {
			kind := ErrBusy
			if _, no := errors.AsType[*chat.Refused](err); no {
				kind = ErrGone
			}
			return false, fmt.Errorf("take the card %s of %s to %s: %w", owed.ID, from, c.To, errors.Join(kind, err))
		}
		p = conversation.Partition(at)
	}
	if owed.Kind == conversation.CopyEndKind {
		return t.end(ctx, from, p, &c)
	}
	if c.At == "" { // in the conversation that they asked in their words stand already
		if err := t.Note(ctx, c.Person, p); err != nil {
			return false, err
		}
	}
	key := conversation.CopiedKey(c.Wait)
	return taken(t.Store.Commit(ctx, store.Commit{
		ID: conversation.ID("handover.card/", string(from), owed.ID), Partition: p,
		Guards: []store.Guard{store.At{Key: key}},
		Ops: append([]store.Op{store.Put{Key: key, Value: conversation.Encode(conversation.Copied{
			V: conversation.Version, Origin: from, Delivery: c.Delivery.ID,
		})}}, conversation.Say(p, c.Delivery)...),
	}))
}

// taken reads what came of a commit that can happen only once.
func taken(res store.Result, err error) (bool, error) {
	switch {
	case errors.Is(err, store.ErrConflict):
		return false, nil
	case errors.Is(err, store.ErrTooLarge):
		return false, errors.Join(ErrMalformed, err)
	}
	return err == nil && !res.Repeated, err
}

// endTries bounds how often the end of a copy is decided anew because the outbox was writing its delivery.
const endTries = 5

// end makes a copy say how its wait ended, and takes its buttons away. A copy that comes after its end is not posted.
func (t Copies) end(ctx context.Context, from, p store.Partition, c *conversation.Copy) (bool, error) {
	key := conversation.CopiedKey(c.Wait)
	for try := range endTries {
		as, err := t.Store.Read(ctx, store.Get{Partition: p, Key: key})
		if err != nil {
			return false, err
		}
		copied := conversation.Copied{V: conversation.Version, Origin: from}
		doc, stands := as[0].Doc()
		if stands {
			if err := conversation.Decode(doc, &copied); err != nil {
				return false, err
			}
		}
		if copied.Ended {
			return false, nil
		}
		copied.Ended = true
		commit := store.Commit{
			ID: conversation.ID("handover.cardend/", string(from), c.Wait, string(c.To), fmt.Sprint(try)), Partition: p,
			Guards: []store.Guard{store.At{Key: key, Version: doc.Version}},
			Ops:    []store.Op{store.Put{Key: key, Value: conversation.Encode(copied)}},
		}
		if stands {
			if err := t.close(ctx, p, &commit, copied.Delivery, c.How, as[0]); err != nil {
				return false, err
			}
		}
		res, err := t.Store.Commit(ctx, commit)
		if !errors.Is(err, store.ErrConflict) {
			return taken(res, err)
		}
	}
	return false, fmt.Errorf("end the card of %s in %s: others were faster %d times: %w", c.Wait, p, endTries, ErrBusy)
}

// close adds to a commit what makes the delivery of a copy say how it ended, wherever it stands.
func (t Copies) close(ctx context.Context, p store.Partition, commit *store.Commit, delivery, how string, read store.Answer) error {
	d := &conversation.Delivery{ID: delivery}
	sent, out := d.SentKey(), d.Key()
	as, err := t.Store.Read(ctx, store.Get{Partition: p, Key: sent}, store.Get{Partition: p, Key: out})
	if err != nil {
		return err
	}
	doc, settled := as[0].Doc()
	if !settled {
		var waits bool
		if doc, waits = as[1].Doc(); !waits {
			return nil // it was given up
		}
	}
	if err := conversation.Decode(doc, d); err != nil {
		return err
	}
	at, _ := conversation.Of(p)
	if t.Edits != nil && !t.Edits(at) && slices.ContainsFunc(d.Pieces, func(p conversation.Piece) bool { return p.Attempts > 0 }) {
		return nil // it would be posted a second time; a click on what stands is told how it ended
	}
	d.Text, d.Card, d.Uncut, d.MadeAt = d.Text+"\n\n**"+how+"**", nil, true, read.Now
	for i := range d.Pieces {
		d.Pieces[i].Settled = false
	}
	commit.Guards = append(commit.Guards, store.At{Key: doc.Key, Version: doc.Version})
	if settled {
		commit.Ops = append(commit.Ops, store.Delete{Key: sent})
	}
	commit.Ops = append(commit.Ops, conversation.Say(p, d)...)
	return nil
}
