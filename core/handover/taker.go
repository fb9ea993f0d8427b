package handover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"herald/core/conversation"
	"herald/core/store"
)

// The errors of takers that say what is to be done; they wrap them with the cause. An outage of the store is known by itself. Any other
// error, as well as a panic, speaks against the entry and counts as an attempt.
var (
	// ErrGone: the target does not exist any more; the entry is buried.
	ErrGone = errors.New("the target of the handover is gone")
	// ErrMalformed: the entry can never be taken; it is buried.
	ErrMalformed = errors.New("the handover is malformed")
	// ErrBusy: the target cannot take it now (its inbox is full); it is offered again, uncounted.
	ErrBusy = errors.New("the target of the handover cannot take it now")
)

// Taker commits entries of one kind to their targets. Take answers true when this call made the change, and false when it had been made
// before: both end the debt. It is called again after a crash or a lost reply, perhaps by two workers at once, so the change must be
// guarded by something of the target's that it alters for good. It must be safe for concurrent use.
type Taker interface {
	Take(ctx context.Context, from store.Partition, owed *conversation.Owed) (taken bool, err error)
}

// TakerFunc is a function that is a [Taker].
type TakerFunc func(ctx context.Context, from store.Partition, owed *conversation.Owed) (bool, error)

// Take calls f.
func (f TakerFunc) Take(ctx context.Context, from store.Partition, owed *conversation.Owed) (bool, error) {
	return f(ctx, from, owed)
}

// MessageKind is the kind of an entry whose data is a [conversation.Message] for the conversation that it is owed to.
const MessageKind = "message"

// Taken is the collection of a target's documents that say what it has taken: an index of recent keys would forget.
const Taken = "taken"

// defaultInbox is how many messages may wait in the target.
const defaultInbox = 100

// Messages takes entries of [MessageKind]: it puts the message into the target's inbox and wakes its turn.
type Messages struct {
	Store store.Store
	// Inbox is how many messages may wait in the target before it is busy; 100 by default.
	Inbox int
}

// OweMessage is the entry with which a partition owes conversation "to" a message. id must be the same for the same message.
func OweMessage(id string, to store.Partition, m *conversation.Message) *conversation.Owed {
	m.V = conversation.Version
	return &conversation.Owed{ID: id, Kind: MessageKind, To: to, Data: conversation.Encode(m)}
}

// Take implements [Taker].
func (t Messages) Take(ctx context.Context, from store.Partition, owed *conversation.Owed) (bool, error) {
	var m conversation.Message
	if err := json.Unmarshal(owed.Data, &m); err != nil || m.MessageID == "" || m.Order == "" {
		return false, fmt.Errorf("take message %s of %s: it has no id, no order or is no JSON: %w", owed.ID, from, errors.Join(ErrMalformed, err))
	}
	if m.V > conversation.Version {
		return false, fmt.Errorf("take message %s of %s: version %d: %w", owed.ID, from, m.V, conversation.ErrNewer)
	}
	if _, ok := conversation.Of(owed.To); !ok {
		return false, fmt.Errorf("take message %s of %s: %s is no conversation: %w", owed.ID, from, owed.To, ErrGone)
	}
	limit := t.Inbox
	if limit <= 0 {
		limit = defaultInbox
	}
	name := conversation.ID("", string(from), owed.ID)
	mark := store.Key{Collection: Taken, Name: name}
	_, err := t.Store.Commit(ctx, store.Commit{
		ID: "handover.message/" + name, Partition: owed.To,
		Guards: []store.Guard{store.At{Key: mark}, store.Fewer{Collection: conversation.Inbox, N: limit}},
		Ops: []store.Op{
			store.Put{Key: mark, Value: conversation.Encode(struct {
				V    int             `json:"v"`
				From store.Partition `json:"from"`
			}{conversation.Version, from})},
			store.Put{Key: m.Key(), Value: owed.Data},
			store.Wake{Agenda: store.Turns, Member: store.MemberOf(owed.To, "")},
		},
	})
	if c, ok := errors.AsType[*store.ConflictError](err); ok {
		if c.Guard == 0 {
			return false, nil
		}
		return false, fmt.Errorf("take message %s of %s: %d messages wait in %s: %w", owed.ID, from, limit, owed.To, ErrBusy)
	}
	if errors.Is(err, store.ErrTooLarge) {
		return false, errors.Join(ErrMalformed, err)
	}
	return err == nil, err
}
