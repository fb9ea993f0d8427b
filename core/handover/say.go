package handover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"herald/core/conversation"
	"herald/core/store"
)

// Sayings takes entries of [conversation.SayKind]: it puts the delivery into the target's outbox.
type Sayings struct{ Store store.Store }

// Take implements [Taker].
func (t Sayings) Take(ctx context.Context, from store.Partition, owed *conversation.Owed) (bool, error) {
	var d conversation.Delivery
	if err := json.Unmarshal(owed.Data, &d); err != nil || d.ID == "" || d.Text == "" {
		return false, fmt.Errorf("take delivery %s of %s: it has no id, no text or is no JSON: %w", owed.ID, from, errors.Join(ErrMalformed, err))
	}
	if d.V > conversation.Version {
		return false, fmt.Errorf("take delivery %s of %s: version %d: %w", owed.ID, from, d.V, conversation.ErrNewer)
	}
	if _, ok := conversation.Of(owed.To); !ok {
		return false, fmt.Errorf("take delivery %s of %s: %s is no conversation: %w", owed.ID, from, owed.To, ErrGone)
	}
	name := conversation.ID("", string(from), owed.ID)
	mark := store.Key{Collection: Taken, Name: name}
	res, err := t.Store.Commit(ctx, store.Commit{
		ID: "handover.say/" + name, Partition: owed.To,
		Guards: []store.Guard{store.At{Key: mark}},
		Ops: append([]store.Op{store.Put{Key: mark, Value: conversation.Encode(struct {
			V    int             `json:"v"`
			From store.Partition `json:"from"`
		}{conversation.Version, from})}}, conversation.Say(owed.To, &d)...),
	})
	if _, ok := errors.AsType[*store.ConflictError](err); ok {
		return false, nil
	}
	if errors.Is(err, store.ErrTooLarge) {
		return false, errors.Join(ErrMalformed, err)
	}
	return err == nil && !res.Repeated, err
}
