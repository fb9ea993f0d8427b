package intake

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/people"
	"herald/core/session"
	"herald/core/store"
)

// Row is the note of a dead letter about an event that was not run: its kind is "event". It holds no text of a person.
type Row struct {
	V int `json:"v"`
	conversation.Letter
	// Code is the reason in one word.
	Code         Reason          `json:"code"`
	Event        chat.Kind       `json:"event"`
	Conversation string          `json:"conversation"`
	Sender       chat.IdentityID `json:"sender"`
	SentAt       time.Time       `json:"sent_at,omitzero"`
}

// bury ends a well-formed event as a row, with its dedupe key.
func (i *Intake) bury(ctx context.Context, e *event, why Reason, detail string) (chat.Outcome, Reason, error) {
	id, note := row(e.in, why, detail)
	out, _, err := i.commit(ctx, e, "intake.row", nil, store.Bury{ID: id, Note: note})
	return outcome(out, why, err)
}

// malformed ends an event that cannot be understood as a row: in its conversation, or in the system's partition when it has none.
func (i *Intake) malformed(ctx context.Context, in *chat.Inbound, what string, place bool) (chat.Outcome, Reason, error) {
	part := people.System
	if place {
		part = conversation.Partition(in.Conversation)
	}
	if err := i.letter(ctx, part, in, Malformed, what); err != nil {
		return "", Malformed, err
	}
	if in.Kind.Interaction() {
		return "", Malformed, fmt.Errorf("%s: %w", what, ErrMalformed)
	}
	return chat.Kept, Malformed, nil
}

// letter writes a row beside all entries. Its ids come from the whole event, for its own may be what is wrong with it.
func (i *Intake) letter(ctx context.Context, part store.Partition, in *chat.Inbound, why Reason, detail string) error {
	id, note := row(in, why, detail)
	_, err := i.store.Commit(ctx, store.Commit{ID: "intake.letter/" + id, Partition: part, Ops: []store.Op{store.Bury{ID: id, Note: note}}})
	if err != nil {
		return fmt.Errorf("write a row about it (%s): %w", detail, err)
	}
	return nil
}

func row(in *chat.Inbound, why Reason, detail string) (id string, note []byte) {
	r := Row{
		V: conversation.Version,
		Letter: conversation.Letter{
			Kind: "event", Reason: short(detail), Covers: []session.Cover{{MessageID: short(in.MessageID), Order: short(in.Order)}},
		},
		Code: why, Event: chat.Kind(short(string(in.Kind))), Conversation: short(in.Conversation.Key()),
		Sender: chat.IdentityID(short(string(in.Sender.Identity))),
	}
	// JSON knows years of four digits only.
	if y := in.SentAt.UTC().Year(); y > 0 && y < 10_000 {
		r.SentAt = in.SentAt.UTC()
	}
	note, err := json.Marshal(r)
	if err != nil {
		panic(fmt.Sprintf("intake: encode a row: %v", err)) // strings and a time within bounds, which all encode
	}
	id = conversation.ID("row", string(why), in.DedupeKey(), in.Order, in.Conversation.Thread, string(in.Sender.Identity), in.SentAt.UTC().String(), in.Text)
	return id, note
}
