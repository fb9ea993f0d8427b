package service

import (
	"context"
	"fmt"
	"time"

	"herald/config"
	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/model"
	"herald/core/outbox"
	"herald/core/prompt"
	"herald/core/store"
)

// The types of this file fit what one package offers to what another one asks for.

// modelSource chooses models by the router.
type modelSource struct{ router *model.Router }

// Model is the model that a names, or a choice by its strength.
func (s modelSource) Model(a prompt.Agent) (model.Model, error) {
	strength, err := model.ParseStrength(a.Strength)
	if err != nil {
		return nil, fmt.Errorf("agent %q: %w", a.ID, err)
	}
	return s.router.For(a.Model, strength, a.Scope), nil
}

// Cost is what a usage of the configured model costs.
func (s modelSource) Cost(name string, u model.Usage) (float64, bool) { return s.router.Cost(name, u) }

// outgoing lets the engine hand its deliveries to the outbox in the commit that writes them.
type outgoing struct {
	worker  *outbox.Worker
	pacer   *outbox.Pacer
	adapter func(chat.Workspace) (chat.Adapter, bool)
	holder  string
	lease   time.Duration
	fail    func(error)
}

// Express counts the first attempt at d and takes the conversation's outbox, so that it can be sent as soon as the commit stands.
func (o *outgoing) Express(c chat.Conversation, d *conversation.Delivery, standing bool) ([]store.Guard, []store.Op, func(*store.Claim, int64, time.Time)) {
	p := conversation.Partition(c)
	armed := false
	if _, ok := o.adapter(c.Workspace); ok && !d.Live {
		// The instant of the attempt is set by the store's time of the message: no clock of this machine comes into the store.
		armed = outbox.Arm(d, d.MadeAt)
	}
	guards, ops := outbox.Express(p, d, standing, o.holder, o.lease)
	deliver := o.worker.Express(p)
	return guards, ops, func(claim *store.Claim, version int64, now time.Time) {
		// The engine's context ends with its turn, the delivery goes on under its own claim.
		if err := deliver(context.Background(), claim, outbox.Taken{Delivery: d, Version: version, Now: now, Armed: armed}); err != nil {
			o.fail(err)
		}
	}
}

// Room takes a place for the first post of a live message where the pace has one now.
func (o *outgoing) Room(ctx context.Context, c chat.Conversation) (bool, error) {
	_, ok, err := o.pacer.Reserve(ctx, c, outbox.Sends, 0)
	return ok, err
}

// Edit shows the present text of a live message where the pace has room.
func (o *outgoing) Edit(ctx context.Context, p *chat.Post, r chat.Receipt) error {
	a, ok := o.adapter(p.Conversation.Workspace)
	if !ok {
		return &chat.Outage{Reason: "the platform is not connected", NotSent: true}
	}
	_, err := o.pacer.TryEdit(ctx, a, p, r)
	return err
}

// rules and paces are the outbox's settings as the configuration names them.
func rules(c config.Outbox) outbox.Rules {
	return outbox.Rules{StaleAfter: c.AnswerMaxAge, MaxAttempts: c.MaxAttempts}
}

func paces(c config.Outbox) outbox.Paces {
	return outbox.Paces{Channel: c.ChannelInterval, Send: c.WorkspaceInterval, Edit: c.WorkspaceInterval, Find: c.WorkspaceInterval}
}

// paced is an adapter whose live messages are not edited more often than the operator wants.
type paced struct {
	chat.Adapter
	every time.Duration
}

// Capabilities are those of the adapter, with the longer of both pauses between edits.
func (p paced) Capabilities(c chat.Conversation) chat.Capabilities {
	caps := p.Adapter.Capabilities(c)
	caps.EditEvery = max(caps.EditEvery, p.every)
	return caps
}
