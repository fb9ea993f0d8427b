package console

import (
	"context"
	"errors"

	"herald/bots/console/proto"
	"herald/core/chat"
)

// Send posts p once: a delivery's piece that stands already gives its receipt again.
func (a *Adapter) Send(ctx context.Context, p *chat.Post) (chat.Receipt, error) {
	pl, err := a.forPost(ctx, p)
	if err != nil {
		return chat.Receipt{}, err
	}
	pl.mu.Lock()
	defer pl.mu.Unlock()
	if was, ok := pl.script.posts[postKey(p.DeliveryID, p.Piece)]; ok {
		return chat.Receipt{MessageID: was.id, At: was.at}, nil
	}
	now := a.opt.Now().UTC()
	e := &entry{
		Record:   proto.Record{Kind: proto.Post, ID: pl.script.nextID(now), At: now, Text: p.Text, ReplyTo: p.ReplyTo, Covers: p.Covers, Live: p.Live, Card: card(p.Card)},
		Delivery: p.DeliveryID, Piece: p.Piece,
	}
	if err := pl.add(e); err != nil {
		return chat.Receipt{}, outage("post to the console", err)
	}
	return chat.Receipt{MessageID: e.ID, At: now}, nil
}

// Edit replaces a post's text. A final text is kept, one on the way is only shown.
func (a *Adapter) Edit(ctx context.Context, p *chat.Post, r chat.Receipt, final bool) error {
	pl, err := a.forPost(ctx, p)
	if err != nil {
		return err
	}
	pl.mu.Lock()
	defer pl.mu.Unlock()
	if _, ok := pl.script.byID[r.MessageID]; !ok {
		return &chat.Refused{Code: "message_gone", Reason: "the post " + r.MessageID + " does not stand in the console's transcript any more", Gone: true}
	}
	rec := proto.Record{Kind: proto.Edit, ID: r.MessageID, At: a.opt.Now().UTC(), Text: p.Text, ReplyTo: p.ReplyTo, Covers: p.Covers, Live: !final, Card: card(p.Card)}
	if !final {
		pl.state(&rec)
		return nil
	}
	if err := pl.add(&entry{Record: rec}); err != nil {
		return outage("edit a post of the console", err)
	}
	return nil
}

// Find looks in the transcript.
func (a *Adapter) Find(ctx context.Context, p *chat.Post) (chat.Receipt, bool, error) {
	pl, err := a.forPost(ctx, p)
	if err != nil {
		return chat.Receipt{}, false, err
	}
	pl.mu.Lock()
	defer pl.mu.Unlock()
	was, ok := pl.script.posts[postKey(p.DeliveryID, p.Piece)]
	return chat.Receipt{MessageID: was.id, At: was.at}, ok, nil
}

// forPost checks what no later attempt could mend.
func (a *Adapter) forPost(ctx context.Context, p *chat.Post) (*place, error) {
	if err := ctx.Err(); err != nil {
		return nil, &chat.Outage{Reason: "the call ended before it began", NotSent: true, Err: context.Cause(ctx)}
	}
	switch {
	case p.Conversation.Workspace != Workspace || p.Conversation.Thread != "":
		return nil, &chat.Refused{Code: "not_here", Reason: "the console has the workspace " + string(Workspace) + " and no threads"}
	case p.Only != "" && p.Only != a.Identity():
		return nil, &chat.Refused{Code: "not_here", Reason: "nobody but " + string(a.Identity()) + " reads the console"}
	case p.DeliveryID == "":
		return nil, &chat.Refused{Code: "malformed", Reason: "the post has no delivery's id"}
	}
	return a.place(p.Conversation.Channel)
}

func outage(what string, err error) error {
	return &chat.Outage{Reason: what + ": " + err.Error(), NotSent: errors.Is(err, errNotWritten), Err: err}
}

func card(c *chat.Card) *proto.Card {
	if c == nil {
		return nil
	}
	out := &proto.Card{Title: c.Title}
	for _, f := range c.Fields {
		out.Fields = append(out.Fields, proto.Field(f))
	}
	for _, b := range c.Buttons {
		if b.Form == nil || b.Form.Optional { // what wants a text is typed as a message here
			out.Choices = append(out.Choices, proto.Button{Action: b.Action, Label: b.Label, Danger: b.Danger})
		}
	}
	return out
}
