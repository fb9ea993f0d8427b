package slackfake

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"time"
)

// trigger lets the app open a view in answer to what a person did.
type trigger struct {
	app     string
	user    string
	expires time.Time
	used    bool
}

// Invoked names an interaction; [View.Event] knows how far it has come.
type Invoked struct {
	ID string
	// Trigger is the trigger_id that went out with it, ResponseURL the URL to answer it by; empty when there is none.
	Trigger, ResponseURL string
}

// Command is a person's slash command.
type Command struct {
	Channel, User string
	// Command with its slash, such as "/herald".
	Command, Text string
	// Bot is the bot user of the install that has the command; the first one by default.
	Bot string
}

func (s *Server) trigger(app, user string) string {
	id := s.nextID("trig.")
	s.triggers[id] = &trigger{app: app, user: user, expires: s.now().Add(s.opt.TriggerTTL)}
	return id
}

// interaction sends an interactive payload. s.mu is held.
func (s *Server) interaction(i *install, payload object, at place, onAck func(json.RawMessage)) *delivery {
	raw := mustEncode(payload)
	d := &delivery{
		id: s.nextID("In"), kind: kindInteract, app: i.app, team: i.Team, payload: raw, form: url.Values{"payload": {string(raw)}},
		thread: at.thread, ts: at.ts, onAck: onAck,
	}
	if at.ch != nil {
		d.channel = at.ch.ID
	}
	s.happen(d, false)
	return d
}

// Command runs a slash command. Its acknowledgement's body, and what is posted to its response_url, stand among [View.Whispers] (or, in_channel, in the channel)
// with Interaction set to the id.
func (s *Server) Command(c Command) Invoked {
	c.Channel, c.User, c.Command = cmp.Or(c.Channel, General), cmp.Or(c.User, Alice), cmp.Or(c.Command, "/herald")
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ch, u := s.installOf(c.Bot), s.channels[c.Channel], s.users[c.User]
	name := ch.Name
	if ch.IM {
		name = "directmessage"
	}
	out := Invoked{Trigger: s.trigger(i.App, u.ID)}
	d := &delivery{id: s.nextID("Cm"), kind: kindCommand, app: i.app, team: i.Team, channel: ch.ID}
	out.ID = d.id
	out.ResponseURL = s.respond(&response{in: i, channel: ch, user: u.ID, interaction: d.id})
	fields := map[string]string{
		"token": "legacy", "team_id": u.Team, "team_domain": s.teams[u.Team].Domain, "channel_id": ch.ID, "channel_name": name, "user_id": u.ID,
		"user_name": u.Name, "command": c.Command, "text": typed(c.Text, false), "api_app_id": i.App, "is_enterprise_install": "false",
		"response_url": out.ResponseURL, "trigger_id": out.Trigger,
	}
	d.payload, d.form = mustEncode(fields), url.Values{}
	for k, v := range fields {
		d.form.Set(k, v)
	}
	d.onAck = func(answer json.RawMessage) { s.answerCommand(i, ch, u.ID, d.id, answer) }
	s.happen(d, false)
	return out
}

func (s *Server) answerCommand(i *install, ch *channel, user, id string, answer json.RawMessage) {
	var in answerBody
	if len(answer) == 0 || json.Unmarshal(answer, &in) != nil || in.Text == "" && len(in.Blocks) == 0 && len(in.Attachments) == 0 {
		return
	}
	s.say(&response{in: i, channel: ch, user: user, interaction: id}, &in)
}

// Click is a person's use of an element of a message or view.
type Click struct {
	User string
	// Channel and TS name the message, View the view.
	Channel, TS string
	View        string
	// ActionID names the element; BlockID is needed when several have it.
	ActionID, BlockID string
	// Value chooses: of a select, radio button, overflow or checkbox the option with this value, of a feedback button "positive" or "negative" or the value; a
	// typed value for an input. A plain button needs none.
	Value string
	// State are the values of the other inputs of the message or view: block id → action id → state object.
	State map[string]map[string]any
}

// Click uses an element. It fails when the element is not there, or when the person cannot see it.
func (s *Server) Click(c Click) (Invoked, error) {
	c.User = cmp.Or(c.User, Alice)
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.View != "" {
		return s.clickView(c)
	}
	ch := s.channels[c.Channel]
	if ch == nil || ch.byTS[c.TS] == nil || ch.byTS[c.TS].Deleted || ch.byTS[c.TS].BotID == "" {
		return Invoked{}, fmt.Errorf("click on %s in message %s of %s on the fake Slack: no message of an app stands there", c.ActionID, c.TS, c.Channel)
	}
	m := ch.byTS[c.TS]
	if m.To != "" && m.To != c.User || !ch.members[c.User] {
		return Invoked{}, fmt.Errorf("click on %s in message %s of %s on the fake Slack: %s does not see it", c.ActionID, c.TS, c.Channel, c.User)
	}
	action, err := s.action(m.Blocks, c)
	if err != nil {
		return Invoked{}, fmt.Errorf("click in message %s of %s on the fake Slack: %w", c.TS, c.Channel, err)
	}
	i := s.installFor(m)
	id := s.nextID("r")
	out := Invoked{Trigger: s.trigger(i.App, c.User), ResponseURL: s.respond(&response{in: i, channel: ch, user: c.User, message: m, interaction: id})}
	p := s.interactive("block_actions", i, c.User)
	container := object{"type": "message", "message_ts": m.TS, "channel_id": ch.ID, "is_ephemeral": m.To != ""}
	if m.Thread != "" {
		container["thread_ts"] = m.Thread
	}
	p["container"], p["channel"], p["trigger_id"], p["response_url"] = container, object{"id": ch.ID, "name": ch.Name}, out.Trigger, out.ResponseURL
	p["message"], p["state"], p["actions"] = s.wire(ch, m, true), object{"values": states(c.State)}, []any{action}
	d := s.interaction(i, p, place{ch, m.Thread, m.TS, ""}, nil)
	out.ID = d.id
	return out, nil
}

func states(m map[string]map[string]any) any {
	if m == nil {
		return object{}
	}
	return m
}

// installFor is the install that wrote a message. s.mu is held.
func (s *Server) installFor(m *Message) *install {
	for _, i := range s.installs {
		if i.BotID == m.BotID {
			return i
		}
	}
	return s.installs[0]
}

// interactive is what all interactive payloads share.
func (s *Server) interactive(kind string, i *install, person string) object {
	u := s.users[person]
	p := object{
		"type": kind, "token": "legacy", "api_app_id": i.App, "enterprise": nil, "is_enterprise_install": false,
		"user": object{"id": u.ID, "username": u.Name, "name": u.Name, "team_id": u.Team}, "action_ts": s.nextTS(),
	}
	if t := s.teams[u.Team]; t != nil {
		p["team"] = object{"id": t.ID, "domain": t.Domain}
	}
	return p
}

// action finds an element in blocks and makes an action of it.
func (s *Server) action(raw json.RawMessage, c Click) (object, error) {
	var blocks []object
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &blocks); err != nil {
			return nil, err
		}
	}
	for n, b := range blocks {
		block := cmp.Or(text(b, "block_id"), fmt.Sprintf("b%d", n))
		if c.BlockID != "" && c.BlockID != block {
			continue
		}
		elements := list(b, "elements")
		for _, key := range []string{"accessory", "element"} {
			if x, ok := b[key]; ok {
				elements = append(elements, x)
			}
		}
		for _, x := range elements {
			if x, ok := x.(object); ok && text(x, "action_id") == c.ActionID {
				a := object{"type": x["type"], "action_id": c.ActionID, "block_id": block, "action_ts": s.nextTS()}
				return a, choose(a, x, c.Value)
			}
		}
	}
	return nil, fmt.Errorf("no element has the action_id %q", c.ActionID)
}

func choose(a, x object, value string) error {
	switch kind := text(x, "type"); kind {
	case "button", "icon_button", "workflow_button":
		a["text"], a["value"] = x["text"], x["value"]
		if x["value"] == nil {
			delete(a, "value")
		}
		if x["style"] != nil {
			a["style"] = x["style"]
		}
		return nil
	case "feedback_buttons":
		for _, key := range []string{"positive_button", "negative_button"} {
			if b, ok := x[key].(object); ok && (value == text(b, "value") || value+"_button" == key) {
				a["text"], a["value"] = b["text"], b["value"]
				return nil
			}
		}
	case "static_select", "radio_buttons", "overflow", "checkboxes", "multi_static_select":
		for _, o := range list(x, "options") {
			if o, ok := o.(object); ok && text(o, "value") == value {
				if kind == "checkboxes" || kind == "multi_static_select" {
					a["selected_options"] = []any{o}
				} else {
					a["selected_option"] = o
				}
				return nil
			}
		}
	case "users_select":
		a["selected_user"] = value
		return nil
	case "channels_select":
		a["selected_channel"] = value
		return nil
	case "conversations_select":
		a["selected_conversation"] = value
		return nil
	default:
		a["value"] = value
		return nil
	}
	return fmt.Errorf("the element %s has no choice %q", text(x, "action_id"), value)
}

// Shortcut is a person's use of a shortcut: a global one, or with a message one of the message's menu.
type Shortcut struct {
	User, CallbackID string
	Channel, TS      string
	Bot              string
}

// Shortcut uses a shortcut.
func (s *Server) Shortcut(c Shortcut) (Invoked, error) {
	c.User = cmp.Or(c.User, Alice)
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.installOf(c.Bot)
	out := Invoked{Trigger: s.trigger(i.App, c.User)}
	kind, at := "shortcut", place{}
	if c.TS != "" {
		kind = "message_action"
	}
	p := s.interactive(kind, i, c.User)
	p["callback_id"], p["trigger_id"] = c.CallbackID, out.Trigger
	if c.TS != "" {
		ch, m, err := s.mine(c.Channel, c.TS)
		if err != nil {
			return Invoked{}, err
		}
		at = place{ch, m.Thread, m.TS, ""}
		out.ResponseURL = s.respond(&response{in: i, channel: ch, user: c.User, message: m, interaction: c.CallbackID})
		p["channel"], p["message"], p["message_ts"], p["response_url"] = object{"id": ch.ID, "name": ch.Name}, s.wire(ch, m, true), m.TS, out.ResponseURL
	}
	out.ID = s.interaction(i, p, at, nil).id
	return out, nil
}
