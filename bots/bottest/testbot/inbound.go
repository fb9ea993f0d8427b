package testbot

import (
	"fmt"
	"strings"

	"herald/bots/bottest/wire"
	"herald/core/chat"
)

// orderWidth holds every id of the platform (a 64-bit number).
const orderWidth = 20

// pad makes a decimal number sort bytewise.
func pad(id string) (string, error) {
	if id == "" || len(id) > orderWidth || strings.Trim(id, "0123456789") != "" {
		return "", fmt.Errorf("the id %q is no number of at most %d digits", id, orderWidth)
	}
	return strings.Repeat("0", orderWidth-len(id)) + id, nil
}

// inbound turns an event of the platform into core's vocabulary.
func (b *Bot) inbound(ev *wire.Event) (*chat.Inbound, error) {
	kind := map[string]chat.Kind{
		wire.KindMessage: chat.Message, wire.KindEdit: chat.Edit, wire.KindDelete: chat.Delete, wire.KindCommand: chat.Command, wire.KindClick: chat.Click,
	}[ev.Kind]
	if kind == "" || ev.ID == "" || ev.Channel == "" || ev.User == "" {
		return nil, fmt.Errorf("read event %q of kind %q: id, kind, channel and user are needed", ev.ID, ev.Kind)
	}
	place := ev.Message
	if ev.Revision != "" {
		place = ev.Revision
	}
	order, err := pad(place)
	if err != nil {
		return nil, fmt.Errorf("read event %q: %w", ev.ID, err)
	}
	self := ev.App != "" && ev.App == b.opt.App
	return &chat.Inbound{
		Kind: kind, App: b.opt.App, Conversation: b.Conversation(ev.Channel, ev.Thread), MessageID: ev.Message, Order: order, SentAt: ev.At,
		Sender: chat.Sender{Identity: chat.IdentityID(string(b.Workspace()) + "/" + ev.User), Name: ev.Name, Bot: ev.Bot, Self: self},
		Text:   ev.Text, Direct: ev.Direct, Addressed: !ev.Aside, Mentioned: ev.Mention, MassMention: ev.Mass, Unfurl: ev.Unfurl,
		Action: ev.Action, Value: ev.Value,
	}, nil
}
