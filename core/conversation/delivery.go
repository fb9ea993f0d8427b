package conversation

import (
	"time"

	"herald/core/chat"
	"herald/core/session"
	"herald/core/store"
)

// DeliveryKind orders deliveries when a platform's pace is short: lower kinds wait.
type DeliveryKind string

// The kinds of deliveries, most urgent first.
const (
	Answer   DeliveryKind = "answer"
	Ask      DeliveryKind = "ask" // an approval or a question
	Notice   DeliveryKind = "notice"
	Progress DeliveryKind = "progress"
)

// Delivery is one thing to be said in a conversation: written before it is sent, settled by the platform's message ids.
type Delivery struct {
	V    int          `json:"v"`
	ID   string       `json:"id"`
	Kind DeliveryKind `json:"kind"`
	// Text is the whole text as Markdown; Card a question that stands below it.
	Text string     `json:"text"`
	Card *chat.Card `json:"card,omitempty"`
	// Covers are the messages that the delivery answers.
	Covers []session.Cover `json:"covers,omitempty"`
	// ReplyTo, Only and Interaction are those of [chat.Post].
	ReplyTo     string          `json:"reply_to,omitempty"`
	Only        chat.IdentityID `json:"only,omitempty"`
	Interaction string          `json:"interaction,omitempty"`
	// Live: the turn's holder is still writing it; the outbox leaves it alone.
	Live bool `json:"live,omitempty"`
	// Changes: its first text was what agents work on, which the answer replaces.
	Changes bool `json:"changes,omitempty"`
	// Pieces are cut once, when the text is final; a live delivery has one.
	Pieces []Piece `json:"pieces,omitempty"`
	// Turn is the turn that made it, "" for none.
	Turn string `json:"turn,omitempty"`
	// After is an instant of the store before which the delivery cannot stand on the platform; MadeAt the one when its text became final.
	After  time.Time `json:"after,omitzero"`
	MadeAt time.Time `json:"made_at,omitzero"`
	// Refusals counts what the platform refused; NotBefore is the instant of the next attempt after one.
	Refusals  int       `json:"refusals,omitempty"`
	NotBefore time.Time `json:"not_before,omitzero"`
	// Resend asks for the final state once more after this instant: a worker whose claim was taken over may have edited late.
	Resend time.Time `json:"resend,omitzero"`
	// Replaced holds the original text where age made one line of it.
	Replaced string `json:"replaced,omitempty"`
	// Uncut: Text is not the one that Pieces were cut from any more; the outbox cuts it anew and keeps the message that stands.
	Uncut bool `json:"uncut,omitempty"`
	// Revealed: a person asked for the text that had been replaced.
	Revealed bool `json:"revealed,omitempty"`
}

// Piece is a part of a delivery that is one message on the platform.
type Piece struct {
	Text string `json:"text"`
	// Attempts counts the sends that were begun; TriedAt is the store's time of the last one. Clean: it is certain that none of them stands.
	Attempts int       `json:"attempts,omitempty"`
	TriedAt  time.Time `json:"tried_at,omitzero"`
	Clean    bool      `json:"clean,omitempty"`
	// Receipt is the platform's message; Settled: the message shows Text.
	Receipt *chat.Receipt `json:"receipt,omitempty"`
	Settled bool          `json:"settled,omitempty"`
}

// Key is the document's key while the delivery is not settled.
func (d *Delivery) Key() store.Key { return store.Key{Collection: Outgoing, Name: d.ID} }

// SentKey is the document's key after it was settled.
func (d *Delivery) SentKey() store.Key { return store.Key{Collection: Sent, Name: d.ID} }

// Post is piece i of d, ready for the adapter of c.
func (d *Delivery) Post(c chat.Conversation, i int) *chat.Post {
	p := &chat.Post{
		Conversation: c, DeliveryID: d.ID, Piece: i, Text: d.Pieces[i].Text,
		ReplyTo: d.ReplyTo, After: d.After, Only: d.Only, Live: d.Live, Changes: d.Changes,
	}
	for _, cv := range d.Covers {
		p.Covers = append(p.Covers, cv.MessageID)
	}
	if i == 0 {
		p.Interaction = d.Interaction
	}
	if i == len(d.Pieces)-1 {
		p.Card = d.Card
	}
	return p
}

// Say is the operations that put d into the outbox and wake it.
func Say(p store.Partition, d *Delivery) []store.Op {
	d.V = Version
	return []store.Op{
		store.Put{Key: d.Key(), Value: Encode(d)},
		store.Wake{Agenda: store.Outbox, Member: store.MemberOf(p, "")},
	}
}
