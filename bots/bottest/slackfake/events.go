package slackfake

import (
	"encoding/json"
	"slices"
	"strings"
)

// outer is the body of an event.
type outer struct {
	Token             string          `json:"token"`
	TeamID            string          `json:"team_id"`
	ContextTeamID     string          `json:"context_team_id"`
	ContextEnterprise *string         `json:"context_enterprise_id"`
	APIAppID          string          `json:"api_app_id"`
	Event             json.RawMessage `json:"event"`
	Type              string          `json:"type"`
	EventID           string          `json:"event_id"`
	EventTime         int64           `json:"event_time"`
	Authorizations    []authorization `json:"authorizations"`
	ExtShared         bool            `json:"is_ext_shared_channel"`
	EventContext      string          `json:"event_context"`
}

type authorization struct {
	EnterpriseID *string `json:"enterprise_id"`
	TeamID       *string `json:"team_id"`
	UserID       string  `json:"user_id"`
	IsBot        bool    `json:"is_bot"`
	Enterprise   bool    `json:"is_enterprise_install"`
}

// place is where an event happened, as far as there is such a place.
type place struct {
	ch         *channel
	thread, ts string
	team       string // whose event it is; the channel's when empty
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// subscribed reports whether an app asked for an event, by the name of the subscription.
func (a *app) subscribed(name string) bool { return a.Events == nil || slices.Contains(a.Events, name) }

// emit delivers an event to one install. s.mu is held.
func (s *Server) emit(i *install, event json.RawMessage, at place, held bool) string {
	d := &delivery{id: s.nextID("Ev"), kind: kindEvent, app: i.app, team: i.Team, thread: at.thread, ts: at.ts}
	o := outer{
		Token: "legacy", TeamID: i.Team, ContextTeamID: i.Team, ContextEnterprise: optional(i.Enterprise), APIAppID: i.app.ID, Event: event, Type: "event_callback",
		EventID: d.id, EventTime: s.now().Unix(), EventContext: "4-" + d.id,
		Authorizations: []authorization{{
			EnterpriseID: optional(i.Enterprise), TeamID: optional(i.Team), UserID: i.BotUser, IsBot: true, Enterprise: i.Team == "" && i.Enterprise != "",
		}},
	}
	if at.ch != nil {
		d.channel = at.ch.ID
		o.ExtShared = len(at.ch.SharedWith) > 0
		if o.TeamID == "" || o.ExtShared && at.team != "" {
			o.TeamID = at.team
		}
		if o.TeamID == "" {
			o.TeamID = at.ch.Team
		}
		if o.ContextTeamID == "" {
			o.ContextTeamID = at.ch.Team
		}
	}
	d.payload = mustEncode(o)
	s.happen(d, held)
	return d.id
}

var subscriptions = map[string]string{"channel": "message.channels", "group": "message.groups", "im": "message.im", "mpim": "message.mpim"}

// hears reports whether an install is told of a message in a channel. s.mu is held.
func (s *Server) hears(i *install, ch *channel, m *Message) bool {
	return i.dead == "" && i.sees(ch) && i.app.subscribed(subscriptions[ch.kind()]) && (!s.opt.Silent || m == nil || m.App != i.App)
}

// tell sends an event of the message family to all who hear of it; the result is the events' ids. s.mu is held.
func (s *Server) tell(ch *channel, m *Message, w *wire, held bool) (ids []string) {
	w.Channel, w.ChannelType = ch.ID, ch.kind()
	if w.EventTS == "" {
		w.EventTS = w.TS
	}
	var event json.RawMessage
	for _, i := range s.installs {
		if s.hears(i, ch, m) {
			if agent := ch.IM && m != nil && m.BotID == "" && w.Subtype != "message_changed" && w.Subtype != "message_deleted"; agent {
				w.AppContext, w.AssistantThread = ch.surface(i, m)
				event = nil
			}
			if event == nil {
				event = mustEncode(w)
			}
			ids = append(ids, s.emit(i, event, place{ch, m.Thread, m.TS, m.Team}, held))
		}
	}
	return ids
}

// tellPost tells of a new message: the message event, and a mention's own for each app that it mentions. s.mu is held.
func (s *Server) tellPost(ch *channel, m *Message, held bool) (ids []string) {
	w := s.wire(ch, m, true)
	ids = s.tell(ch, m, w, held)
	if ch.IM {
		return ids
	}
	var event json.RawMessage
	for _, i := range s.installs {
		if i.dead != "" || !i.sees(ch) || m.App == i.App || !i.app.subscribed("app_mention") || !strings.Contains(m.Text, "<@"+i.BotUser+">") {
			continue
		}
		if event == nil {
			mention := *w
			mention.Type, mention.Subtype, mention.ChannelType = "app_mention", "", ""
			event = mustEncode(&mention)
		}
		ids = append(ids, s.emit(i, event, place{ch, m.Thread, m.TS, m.Team}, held))
	}
	return ids
}

// tellChange tells of an edit. s.mu is held.
func (s *Server) tellChange(ch *channel, m *Message, before *wire) []string {
	ts := s.nextTS()
	return s.tell(ch, m, &wire{
		Type: "message", Subtype: "message_changed", TS: ts, EventTS: ts, Hidden: true, Message: s.wire(ch, m, false), Previous: before,
	}, false)
}

// remove makes a message go and tells of it. s.mu is held.
func (s *Server) remove(ch *channel, m *Message) []string {
	before := s.wire(ch, m, false)
	m.Deleted = true
	if root := ch.byTS[m.Thread]; root != nil && root != m {
		root.replies--
	}
	ts := s.nextTS()
	return s.tell(ch, m, &wire{
		Type: "message", Subtype: "message_deleted", TS: ts, EventTS: ts, DeletedTS: m.TS, Hidden: true, Previous: before,
	}, false)
}

// tellAll sends another event to the installs that a filter lets through. s.mu is held.
func (s *Server) tellAll(name string, event map[string]any, at place, to func(*install) bool) (ids []string) {
	event["type"] = name
	if event["event_ts"] == nil {
		event["event_ts"] = s.nextTS()
	}
	raw := mustEncode(event)
	for _, i := range s.installs {
		if i.dead == "" && i.app.subscribed(name) && to(i) {
			ids = append(ids, s.emit(i, raw, at, false))
		}
	}
	return ids
}

// Emit sends an event as it is given, such as one of an unknown type or with a malformed block, to an install named by its token.
func (s *Server) Emit(token string, event json.RawMessage) (id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.tokens[token]; i != nil {
		id = s.emit(i, event, place{}, false)
	}
	return id
}

// EmitBody sends the whole body of an event as it is given, such as app_rate_limited, which has no inner event, or an
// event_id that another app's event has too.
func (s *Server) EmitBody(app string, body json.RawMessage) (id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.apps[app]; a != nil {
		d := &delivery{id: s.nextID("Ev"), kind: kindEvent, app: a, payload: body}
		s.happen(d, false)
		id = d.id
	}
	return id
}
