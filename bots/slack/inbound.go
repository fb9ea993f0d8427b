package slack

import (
	"cmp"
	"encoding/json"
	"strings"

	"herald/bots/markup"
	"herald/core/chat"
)

// reading is an event as it was understood: one for core, or a word under which it is counted.
type reading struct {
	in *chat.Inbound
	// asks: whether it is addressed depends on whether Herald takes part in its thread.
	asks bool
	what string
	// opened is an event that says that somebody looks at an empty conversation; surface: it was written on the surface for AI apps.
	opened  *event
	surface bool
	// form is the one that a click asks for, trigger what lets it be shown; submitted: in is a form that was sent.
	form      *chat.Form
	trigger   string
	submitted bool
	// event is the type of the event that told of a message.
	event string
	// msg is what in was made of.
	msg *message
}

func counted(what string) reading { return reading{what: what} }

// read understands an event. It does no I/O.
func (a *Adapter) read(who *self, o *outer) reading {
	if o.Type != "event_callback" {
		return counted("outer_" + label(o.Type))
	}
	e, ok := decodeEvent(o.Event)
	if !ok {
		return counted("malformed")
	}
	switch e.Type {
	case "message", "app_mention":
	case "app_home_opened", "assistant_thread_started":
		return reading{what: e.Type, opened: e}
	case "app_context_changed", "assistant_thread_context_changed":
		return counted(e.Type) // where a person looks meanwhile is not the agent's business
	case "agent_session_stopped":
		return a.readStop(o, e)
	case "tokens_revoked", "app_uninstalled":
		if o.team() != who.team || e.Type == "tokens_revoked" && len(e.Tokens.Bot) == 0 {
			return counted(e.Type) // another workspace's, or a person's
		}
		why := "Slack says that the app was removed from the workspace (" + e.Type + "); " + token
		a.dead.CompareAndSwap(nil, &why)
		a.log.Error("the app was removed from the workspace", "event", e.Type)
		return counted(e.Type)
	default:
		return counted("unknown_event")
	}
	switch e.Subtype {
	case "", "file_share", "thread_broadcast", "me_message", "bot_message":
		return a.readMessage(who, o, e)
	case "message_changed", "message_replied":
		return a.readChange(who, o, e)
	case "message_deleted":
		return a.readDeletion(who, o, e)
	}
	return counted("subtype_" + label(e.Subtype))
}

// label makes a word of Slack's fit for a label: short and plain.
func label(word string) string {
	if word == "" || len(word) > 40 || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz_") != "" {
		return "unknown"
	}
	return word
}

func (a *Adapter) readMessage(who *self, o *outer, e *event) reading {
	m := &e.message
	key := order(m.TS)
	if e.Channel == "" || key == "" {
		return counted("malformed")
	}
	in := a.inbound(who, o, e, m, chat.Message)
	if in == nil {
		return counted("no_sender")
	}
	in.Order, in.SentAt = key, at(m.TS)
	r := a.address(in, who, m)
	r.event = e.Type
	r.surface = in.Direct && in.Conversation.Thread != "" && (e.surface() || a.surfaces.has(e.Channel, in.Conversation.Thread))
	if r.surface {
		a.surfaces.add(e.Channel, in.Conversation.Thread) // an edit of it does not always say so
	}
	return r
}

// readStop understands a press on the stop button of an agent's answer: it is the command of that name in its thread.
func (a *Adapter) readStop(o *outer, e *event) reading {
	key := order(e.EventTS)
	if e.Channel == "" || e.User == "" || o.EventID == "" || key == "" {
		return counted("malformed")
	}
	return reading{in: &chat.Inbound{
		Kind: chat.Command, App: o.App, Conversation: chat.Conversation{Workspace: workspace(o.team()), Channel: e.Channel, Thread: e.Thread},
		MessageID: o.EventID, Order: key, SentAt: at(e.EventTS), Text: "stop", Direct: strings.HasPrefix(e.Channel, "D"), Addressed: true,
		Sender: chat.Sender{Identity: identity(firstOf(e.UserTeam, e.Team, o.team()), e.User)},
	}}
}

// readChange understands an edit: only one that changes the text counts. Previews and Herald's own edits fire the same event.
func (a *Adapter) readChange(who *self, o *outer, e *event) reading {
	m := e.Message
	if m == nil || e.Channel == "" || order(m.TS) == "" {
		return counted("malformed")
	}
	in := a.inbound(who, o, e, m, chat.Edit)
	if in == nil {
		return counted("no_sender")
	}
	revision := e.EventTS
	if m.Edited != nil && m.Edited.TS != "" {
		revision = m.Edited.TS
	}
	in.Unfurl = m.Edited == nil || e.Previous != nil && e.Previous.Text == m.Text
	if in.Order = order(revision); in.Order == "" {
		return counted("malformed")
	}
	in.SentAt = at(revision)
	return a.address(in, who, m)
}

func (a *Adapter) readDeletion(who *self, o *outer, e *event) reading {
	m := &message{TS: e.DeletedTS}
	if p := e.Previous; p != nil {
		m = p
		m.TS = e.DeletedTS
	}
	key := order(e.EventTS)
	if e.Channel == "" || order(m.TS) == "" || key == "" {
		return counted("malformed")
	}
	in := a.inbound(who, o, e, m, chat.Delete)
	if in == nil {
		return counted("no_sender")
	}
	in.Text, in.Files = "", nil
	in.Order, in.SentAt = key, at(e.EventTS)
	return a.address(in, who, m)
}

// inbound fills what all kinds have; nil when nobody can be named as the sender.
func (a *Adapter) inbound(who *self, o *outer, e *event, m *message, kind chat.Kind) *chat.Inbound {
	team := o.team()
	direct := e.ChannelType == "im" || e.ChannelType == "" && strings.HasPrefix(e.Channel, "D")
	sender := m.User
	bot := m.BotID != ""
	if sender == "" {
		sender = m.BotID
	}
	if sender == "" || sender == "USLACK" || sender == "USLACKBOT" {
		return nil
	}
	home := firstOf(m.UserTeam, m.SourceTeam, m.Team, team)
	in := &chat.Inbound{
		Kind: kind, App: o.App, Conversation: place(team, e.Channel, direct, e.surface() || m.surface() || a.surfaces.has(e.Channel, m.TS), m.TS, m.Thread), MessageID: m.TS, Direct: direct,
		Sender: chat.Sender{
			Identity: identity(home, sender), Name: m.Username, Bot: bot, // a person's name is asked for later
			Self: who.wrote(m),
		},
	}
	in.Text = a.markdown(who, m)
	for _, f := range list[file](m.Files) {
		in.Files = append(in.Files, chat.File{ID: f.ID, Name: f.Name, MIME: f.MIME, Size: f.Size})
	}
	return in
}

// address settles for whom a message is, as far as it says itself.
func (a *Adapter) address(in *chat.Inbound, who *self, m *message) reading {
	t := tokens(m.Text)
	in.Mentioned = t.mentions(who.user)
	in.MassMention = t.everybody
	in.Addressed = in.Direct || in.Mentioned
	asks := !in.Addressed && m.Thread != "" && !in.Sender.Self && !t.somebody
	return reading{in: in, asks: asks, msg: m}
}

// hears reports whether a message of a thread is for Herald that mentions nobody: what people chose goes before what is configured for the
// channel, and that before what is configured for all.
func (a *Adapter) hears(part Part, channel string) bool {
	return part.In && cmp.Or(part.Threads, a.opt.ChannelThreads[channel], a.opt.Threads) == ThreadsAlways
}

// surface reports whether a message was written on the surface for AI apps, where each one is the root of a thread of its own.
func (m *message) surface() bool {
	present := func(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }
	return present(m.AssistantThread) || present(m.AppContext)
}

func firstOf(all ...string) string {
	for _, s := range all {
		if s != "" {
			return s
		}
	}
	return ""
}

// readSlash understands a slash command.
func (a *Adapter) readSlash(who *self, c *slash) reading {
	if c.Channel == "" || c.User == "" || c.Trigger == "" {
		return counted("malformed")
	}
	direct := strings.HasPrefix(c.Channel, "D")
	now := a.opt.Now()
	return reading{in: &chat.Inbound{
		Kind: chat.Command, App: c.App, Conversation: chat.Conversation{Workspace: who.workspace, Channel: c.Channel}, MessageID: invocation(c.Trigger, c.User),
		Order: order(stamp(now)), SentAt: now.UTC(), Text: markup.FromSlackText(c.Text, markup.Names{}), Direct: direct, Addressed: true,
		Sender: chat.Sender{Identity: identity(firstOf(c.TeamID, who.team), c.User), Name: c.UserName},
	}}
}

// readInteractive understands a click or a form.
func (a *Adapter) readInteractive(who *self, c *interactive) reading {
	switch c.Type {
	case "block_actions":
		return a.readClick(who, c)
	case "view_submission":
		return a.readSubmission(who, c)
	}
	return counted("interactive_" + label(c.Type))
}

// readClick understands a click on a button of a message.
func (a *Adapter) readClick(who *self, c *interactive) reading {
	channel := firstOf(c.Container.Channel, c.Channel.ID)
	actions := list[action](c.Actions)
	if channel == "" || c.User.ID == "" || c.Trigger == "" || len(actions) == 0 {
		return counted("malformed")
	}
	var m message
	_ = json.Unmarshal(c.Message, &m) // an ephemeral message is not shown again; its place is in the container
	act := actions[0]
	if act.Type == "button" && act.Value == "" || act.ID == "" {
		return counted("link_button") // a button that opens an address
	}
	now := a.opt.Now()
	in := &chat.Inbound{
		Kind: chat.Click, App: c.App, Conversation: chat.Conversation{Workspace: who.workspace, Channel: channel, Thread: firstOf(m.Thread, c.Container.Thread)},
		MessageID: invocation(c.Trigger, c.User.ID), Order: order(stamp(now)), SentAt: now.UTC(), Direct: strings.HasPrefix(channel, "D"), Addressed: true,
		Sender: chat.Sender{Identity: identity(firstOf(c.User.Team, c.Team.ID, who.team), c.User.ID), Name: firstOf(c.User.UserName, c.User.Name)},
		Value:  act.Selected.Value,
	}
	action, form := parseButton(act.Value)
	in.Action, in.Opens = action, form != nil
	return reading{in: in, form: form, trigger: c.Trigger}
}
