package outbox

import (
	"encoding/json"
	"fmt"
	"time"

	"herald/core/conversation"
	"herald/core/store"
)

// Reason is why a delivery was buried, as one word for lists and metrics.
type Reason string

// The reasons.
const (
	ReasonRefused    Reason = "refused"    // the platform refused it too often
	ReasonExpired    Reason = "expired"    // the platform could not be used until it was too old
	ReasonPoison     Reason = "poison"     // the process died each time that it was handled
	ReasonUnreadable Reason = "unreadable" // the document cannot be read
	ReasonTooLarge   Reason = "too_large"  // its document cannot hold its text and its pieces
	ReasonHomeless   Reason = "homeless"   // its partition is no conversation
)

// Buried is the collection in which a partition keeps its buried deliveries, so that one can be sent again after the cause is gone.
const Buried = "buried"

// Letter is the note of a buried delivery's dead letter. It holds no text that a person or a model wrote.
type Letter struct {
	What     string                    `json:"what"` // "delivery"
	Delivery string                    `json:"delivery"`
	Kind     conversation.DeliveryKind `json:"kind,omitempty"`
	Reason   Reason                    `json:"reason"`
	// Code and Detail are the platform's last word.
	Code   string `json:"code,omitempty"`
	Detail string `json:"detail,omitempty"`
	Turn   string `json:"turn,omitempty"`
	// Covers are the ids of the messages that stay without this answer.
	Covers []string `json:"covers,omitempty"`
	// Pieces is how many there are, Standing how many of them stand on the platform.
	Pieces   int       `json:"pieces"`
	Standing int       `json:"standing"`
	Refusals int       `json:"refusals,omitempty"`
	MadeAt   time.Time `json:"made_at,omitzero"`
}

// letter is the note for d.
func letter(d *conversation.Delivery, reason Reason, f failure) Letter {
	l := Letter{
		What: "delivery", Delivery: d.ID, Kind: d.Kind, Reason: reason, Code: f.code, Detail: f.text,
		Turn: d.Turn, Pieces: len(d.Pieces), Refusals: d.Refusals, MadeAt: d.MadeAt,
	}
	for _, c := range d.Covers {
		l.Covers = append(l.Covers, c.MessageID)
	}
	for i := range d.Pieces {
		if d.Pieces[i].Receipt != nil {
			l.Standing++
		}
	}
	return l
}

// buryOps moves a document out of the outbox, whatever it holds, and leaves a dead letter.
func buryOps(id string, value []byte, l Letter) []store.Op {
	note, err := json.Marshal(l)
	if err != nil {
		panic(fmt.Sprintf("outbox: encode a dead letter: %v", err)) // a struct of strings and numbers
	}
	return []store.Op{
		store.Delete{Key: store.Key{Collection: conversation.Outgoing, Name: id}},
		store.Put{Key: store.Key{Collection: Buried, Name: id}, Value: value},
		store.Bury{ID: letterID(id), Note: note},
	}
}

func letterID(delivery string) string { return "delivery." + delivery }

// Revive is the commit, but for its ID, that puts a buried delivery of p back into the outbox, with its refusals forgotten and its age
// counted from now (the store's time). buried is its document in [Buried]. Pieces that stand are not sent again.
func Revive(p store.Partition, buried store.Doc, now time.Time) (store.Commit, error) {
	var d conversation.Delivery
	if err := conversation.Decode(buried, &d); err != nil {
		return store.Commit{}, fmt.Errorf("revive a delivery of %s: %w", p, err)
	}
	d.Refusals, d.NotBefore, d.MadeAt = 0, time.Time{}, now
	return store.Commit{
		Partition: p,
		Guards:    []store.Guard{store.At{Key: buried.Key, Version: buried.Version}},
		Ops:       append(conversation.Say(p, &d), store.Delete{Key: buried.Key}, store.Unbury{ID: letterID(d.ID)}),
	}, nil
}
