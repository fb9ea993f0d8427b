package slack

import (
	"context"
	"encoding/json"

	"herald/core/chat"
)

// maxClicks is how many interactions are handed on at once: each waits at most a second.
const maxClicks = 256

// acker answers Slack for one event; payload is what an interaction may answer with, nil for nothing.
type acker func(payload any) error

// takeFrame handles an envelope. It never blocks.
func (a *Adapter) takeFrame(s *socket, f *frame) {
	s.open.Add(1)
	ack := func(payload any) error { return s.ack(f.Envelope, payload) }
	drop := func() { s.open.Add(-1) }
	if f.Attempt > 0 {
		a.opt.Count("redelivered")
	}
	switch f.Type {
	case "events_api":
		var o outer
		if json.Unmarshal(f.Payload, &o) != nil && o.Type == "" {
			a.ignore("malformed", ack)
			return
		}
		a.takeEvent(&o, ack, drop)
	case "slash_commands":
		var c slash
		_ = json.Unmarshal(f.Payload, &c) // what is missing is found when it is read
		a.takeInteraction(a.readSlash(a.who.Load(), &c), c.ResponseURL, ack, drop)
	case "interactive":
		var c interactive
		_ = json.Unmarshal(f.Payload, &c)
		a.takeInteraction(a.readInteractive(a.who.Load(), &c), c.ResponseURL, ack, drop)
	case "hello":
		drop()
	default:
		if f.Envelope == "" {
			a.opt.Count("unknown_frame")
			drop()
			return
		}
		a.ignore("unknown_envelope", ack)
	}
}

// ignore acknowledges and counts what makes no event.
func (a *Adapter) ignore(what string, ack acker) {
	a.opt.Count(what)
	if err := ack(nil); err != nil {
		a.log.Debug("an acknowledgement was lost; Slack will send the event again", "error", err)
	}
}

// takeEvent queues an event of a conversation, and settles all others at once.
func (a *Adapter) takeEvent(o *outer, ack acker, drop func()) {
	r := a.read(a.who.Load(), o)
	if r.in == nil {
		a.ignore(r.what, ack)
		if r.opened != nil {
			a.opened(r.opened)
		}
		return
	}
	a.lanes.add(job{where: r.in.Conversation, drop: drop, do: func(ctx context.Context) {
		if a.twins.has(&r, a.opt.Now()) {
			a.ignore("twin", ack)
			return
		}
		if err := a.hand(ctx, &r); err != nil {
			a.log.Warn("an event was not taken; Slack will send it again", "event", o.EventID, "error", err)
			drop()
			return
		}
		if err := ack(nil); err != nil {
			a.log.Debug("an acknowledgement was lost; Slack will send the event again", "event", o.EventID, "error", err)
		}
	}})
}

// hand gives an event to the receiver. After an error it must not be acknowledged.
func (a *Adapter) hand(ctx context.Context, r *reading) error {
	if r.asks {
		part, err := a.opt.Joined(ctx, r.in.Conversation)
		if err != nil {
			return err
		}
		r.in.Addressed = a.hears(part, r.in.Conversation.Channel)
	}
	if r.in.Addressed && r.in.Kind == chat.Message {
		a.streams.wrote(r.in)
	}
	if r.in.Addressed && r.msg != nil && !r.in.Sender.Bot && r.in.Kind != chat.Delete {
		a.meet(ctx, r.msg)
		r.in.Text = a.markdown(a.who.Load(), r.msg)
		r.in.Sender.Name, _ = a.names.get(r.msg.User)
	}
	fresh := false
	if r.surface {
		part, err := a.opt.Joined(ctx, r.in.Conversation)
		if err != nil {
			return err
		}
		fresh = !part.In
	}
	out, err := a.opt.Receiver.Receive(ctx, r.in)
	if err == nil && out == chat.Kept {
		a.twins.keep(r, a.opt.Now())
	}
	if err == nil && out == chat.Kept && r.surface && !r.in.Sender.Self {
		a.greet(r.in, fresh)
	}
	return err
}

// takeInteraction hands an interaction on beside the lanes: Slack waits three seconds for its acknowledgement and never sends it again.
func (a *Adapter) takeInteraction(r reading, url string, ack acker, drop func()) {
	if r.in == nil {
		a.ignore(r.what, ack)
		return
	}
	select {
	case a.clicks <- struct{}{}:
	default:
		a.opt.Count("too_many_interactions")
		a.apologise(&r, url, textBusy, ack)
		return
	}
	begun := a.lanes.spawn(func(ctx context.Context) {
		defer func() { <-a.clicks }()
		if url != "" {
			a.responses.put(r.in.MessageID, url)
		}
		out, err := a.opt.Receiver.Receive(ctx, r.in)
		if err != nil {
			a.log.Warn("an interaction was not taken", "kind", r.in.Kind, "error", err)
			a.apologise(&r, url, a.opt.Sentence(err), ack)
			return
		}
		if err := ack(nil); err != nil {
			a.log.Warn("an interaction was not acknowledged in time", "kind", r.in.Kind, "error", err)
		}
		if r.form != nil && out == chat.Ready {
			a.openForm(ctx, &r, url)
		}
	})
	if !begun {
		<-a.clicks
		drop()
	}
}

// apologise answers an interaction that was not taken. A command takes a text in its acknowledgement, a form stays open with it; a click takes one only by
// its response_url.
func (a *Adapter) apologise(r *reading, url, text string, ack acker) {
	in := r.in
	if in.Kind == chat.Command || r.submitted {
		var payload any = map[string]string{"response_type": "ephemeral", "text": text}
		if r.submitted {
			payload = formErrors(text)
		}
		if err := ack(payload); err != nil {
			a.log.Warn("a person was not told that an interaction failed", "kind", in.Kind, "error", err)
		}
		return
	}
	if err := ack(nil); err != nil || url == "" {
		return
	}
	a.lanes.spawn(func(ctx context.Context) {
		if err := a.respond(ctx, url, text, in.Conversation.Thread); err != nil {
			a.log.Warn("a person was not told that a click failed", "error", err)
		}
	})
}
