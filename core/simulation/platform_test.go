package simulation_test

import (
	"context"
	"fmt"

	"herald/core/chat"
)

const workspace = chat.Workspace("test:1")

// post is what stands on the platform.
type post struct {
	id       string
	delivery string
	piece    int
	text     string
	covers   []string
	card     *chat.Card
	order    int
	only     chat.IdentityID
	conv     chat.Conversation
}

// event is an inbound event that the platform sends until it is acknowledged.
type event struct {
	in    chat.Inbound
	acked bool
	// ackedAt and sentAt count the platform's own steps: what came before what.
	ackedAt, sentAt int
	copies          int
}

// platform is the witness: it knows what it sent and what it was told.
type platform struct {
	w      *world
	caps   chat.Capabilities
	events []*event
	posts  []*post
	step   int
	nextID int
	// doubles counts posts of a piece that stood already.
	doubles int
}

func conv(n int) chat.Conversation {
	return chat.Conversation{Workspace: workspace, Channel: fmt.Sprintf("c%d", n%2), Thread: fmt.Sprintf("t%d", n)}
}

// say makes a person say something in conversation c.
func (p *platform) say(kind chat.Kind, c chat.Conversation, who, text string) *event {
	p.nextID++
	id := fmt.Sprintf("m%04d", p.nextID)
	e := &event{in: chat.Inbound{
		Kind: kind, App: "app", Conversation: c, MessageID: id, Order: id, SentAt: p.w.clock,
		Sender: chat.Sender{Identity: chat.IdentityID("test:1/" + who), Name: who}, Text: text, Addressed: true, Direct: true,
	}}
	p.events = append(p.events, e)
	p.w.note("%s says %q in %s (%s %s)", who, text, c.Thread, kind, id)
	return e
}

// change makes an edit or a deletion of a message.
func (p *platform) change(kind chat.Kind, of *event, text string) {
	p.nextID++
	in := of.in
	in.Kind, in.Text, in.Order = kind, text, fmt.Sprintf("m%04d", p.nextID)
	p.events = append(p.events, &event{in: in})
	p.w.note("%s of %s: %q", kind, in.MessageID, text)
}

// pending picks an event that is not acknowledged, now and then one that is (a redelivery).
func (p *platform) pending() *event {
	var open []*event
	for _, e := range p.events {
		if !e.acked {
			open = append(open, e)
		}
	}
	if p.w.chance(5) && len(p.events) > 0 {
		return p.events[p.w.rng.IntN(len(p.events))]
	}
	if len(open) == 0 {
		return nil
	}
	return open[p.w.rng.IntN(len(open))]
}

// adapter is the platform as an actor sees it.
type adapter struct {
	p *platform
	a *actor
}

func (ad adapter) Capabilities(chat.Conversation) chat.Capabilities { return ad.p.caps }

func (ad adapter) Cut(_ chat.Conversation, markdown string) []string {
	const limit = 40
	var out []string
	for len(markdown) > limit {
		out, markdown = append(out, markdown[:limit]), markdown[limit:]
	}
	return append(out, markdown)
}

func (ad adapter) Send(ctx context.Context, m *chat.Post) (chat.Receipt, error) {
	ad.a.give()
	if err := ctx.Err(); err != nil {
		return chat.Receipt{}, &chat.Outage{Reason: "the call was broken off", NotSent: true, Err: err}
	}
	if ad.p.w.chance(2) {
		return chat.Receipt{}, &chat.Outage{Reason: "429", NotSent: true}
	}
	r := ad.p.post(m)
	ad.a.p.w.note("%s sends %s/%d as %s: %q (covers %v)", ad.a.name, m.DeliveryID, m.Piece, r.MessageID, m.Text, m.Covers)
	ad.a.give()
	if ad.p.w.chance(2) {
		return chat.Receipt{}, &chat.Outage{Reason: "the reply was lost"}
	}
	return r, nil
}

func (p *platform) post(m *chat.Post) chat.Receipt {
	for _, o := range p.posts {
		if o.delivery != m.DeliveryID || o.piece != m.Piece {
			continue
		}
		if p.caps.Nonce {
			return chat.Receipt{MessageID: o.id, At: p.w.clock}
		}
		p.doubles++
		p.w.note("DOUBLE of %s/%d", m.DeliveryID, m.Piece)
	}
	p.step++
	o := &post{
		id: fmt.Sprintf("p%d", len(p.posts)+1), delivery: m.DeliveryID, piece: m.Piece, text: m.Text, covers: m.Covers, card: m.Card, order: p.step, only: m.Only, conv: m.Conversation,
	}
	p.posts = append(p.posts, o)
	return chat.Receipt{MessageID: o.id, At: p.w.clock}
}

func (ad adapter) Edit(ctx context.Context, m *chat.Post, r chat.Receipt, _ bool) error {
	ad.a.give()
	if err := ctx.Err(); err != nil {
		return &chat.Outage{Reason: "the call was broken off", NotSent: true, Err: err}
	}
	if ad.p.w.chance(2) {
		return &chat.Outage{Reason: "503"}
	}
	for _, o := range ad.p.posts {
		if o.id == r.MessageID {
			o.text, o.covers = m.Text, m.Covers
			ad.a.p.w.note("%s edits %s: %q (covers %v)", ad.a.name, o.id, m.Text, m.Covers)
			ad.a.give()
			return nil
		}
	}
	return &chat.Refused{Code: "message_not_found", Reason: "there is no such message", Gone: true}
}

func (ad adapter) Find(ctx context.Context, m *chat.Post) (chat.Receipt, bool, error) {
	ad.a.give()
	if err := ctx.Err(); err != nil {
		return chat.Receipt{}, false, &chat.Outage{Reason: "the call was broken off", Err: err}
	}
	for _, o := range ad.p.posts {
		if o.delivery == m.DeliveryID && o.piece == m.Piece {
			return chat.Receipt{MessageID: o.id, At: ad.p.w.clock}, true, nil
		}
	}
	return chat.Receipt{}, false, nil
}
