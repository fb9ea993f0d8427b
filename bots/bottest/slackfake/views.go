package slackfake

import (
	"cmp"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// maxStack is how many modals stand above one another.
const maxStack = 3

// view is a modal, or an app's home for one person.
type view struct {
	id, hash string
	in       *install
	user     string
	raw      object
	state    map[string]map[string]any
	root     string
	previous string
	closed   bool
	errors   map[string]string
	home     bool
}

// Modal is a view as a person sees it.
type Modal struct {
	ID, Hash, User string
	Title, Submit  string
	CallbackID     string
	Private        string
	Blocks         json.RawMessage
	// Errors are what the app said of the inputs at the last submission: block id → text.
	Errors map[string]string
}

func (v *view) modal() Modal {
	return Modal{
		ID: v.id, Hash: v.hash, User: v.user, Title: text(v.raw, "title", "text"), Submit: text(v.raw, "submit", "text"), CallbackID: text(v.raw, "callback_id"),
		Private: text(v.raw, "private_metadata"), Blocks: mustEncode(list(v.raw, "blocks")), Errors: v.errors,
	}
}

// Modals are the views that stand before a person, the topmost last.
func (v View) Modals(app, user string) (out []Modal) {
	for _, m := range v.s.stacks[[2]string{app, user}] {
		out = append(out, m.modal())
	}
	return out
}

// Home is the home tab that an app has published for a person; its ID is empty when there is none.
func (v View) Home(app, user string) Modal {
	if h := v.s.views["home|"+app+"|"+user]; h != nil {
		return h.modal()
	}
	return Modal{}
}

// useTrigger takes the trigger of a call. s.mu is held.
func (s *Server) useTrigger(c *call) (*trigger, *refusal) {
	t := s.triggers[c.args["trigger_id"]]
	switch {
	case t == nil || t.app != c.app.ID:
		return nil, refuse("invalid_trigger_id")
	case t.used:
		return nil, refuse("exchanged_trigger_id")
	case !s.now().Before(t.expires):
		return nil, refuse("expired_trigger_id")
	}
	return t, nil
}

// readView checks a view of a call.
func readView(raw string, kind string) (object, *refusal) {
	var v object
	if raw == "" || json.Unmarshal([]byte(raw), &v) != nil {
		return nil, refuse("invalid_arguments", "[ERROR] failed to parse view")
	}
	if len(raw) > maxView {
		return nil, refuse("view_too_large")
	}
	var e blockErrors
	if text(v, "type") != kind {
		e.add("/view/type", "must be %s", kind)
	}
	if kind == "modal" {
		if title := text(v, "title", "text"); title == "" || utf8.RuneCountInString(title) > maxViewTitle {
			e.add("/view/title/text", "must be 1 to %d characters", maxViewTitle)
		}
		for _, b := range list(v, "blocks") {
			if b, ok := b.(object); ok && text(b, "type") == "input" && text(v, "submit", "text") == "" {
				e.add("/view", "missing required field: submit")
				break
			}
		}
		e.long("/view/submit/text", text(v, "submit", "text"), 24)
		e.long("/view/close/text", text(v, "close", "text"), 24)
	}
	e.long("/view/private_metadata", text(v, "private_metadata"), maxPrivate)
	e.long("/view/callback_id", text(v, "callback_id"), 255)
	if len(e.list) > 0 {
		return nil, refuse("invalid_arguments", e.list...)
	}
	if no := checkBlocks(string(mustEncode(list(v, "blocks"))), inView); no != nil {
		return nil, refuse("invalid_arguments", no.messages...)
	}
	return v, nil
}

func (s *Server) wireView(v *view) object {
	out := object{}
	for k, x := range v.raw {
		out[k] = x
	}
	out["id"], out["team_id"], out["hash"], out["app_id"], out["bot_id"] = v.id, v.in.Team, v.hash, v.in.App, v.in.BotID
	out["root_view_id"], out["previous_view_id"] = cmp.Or(v.root, v.id), optional(v.previous)
	out["state"] = object{"values": states(v.state)}
	for _, k := range []string{"private_metadata", "callback_id", "external_id"} {
		if out[k] == nil {
			out[k] = ""
		}
	}
	return out
}

// show makes a view stand. s.mu is held.
func (s *Server) show(in *install, user string, raw object, how string) *view {
	key := [2]string{in.App, user}
	v := &view{id: s.nextID("V"), hash: s.nextTS(), in: in, user: user, raw: raw}
	if stack := s.stacks[key]; len(stack) > 0 && how == "push" {
		v.root, v.previous = stack[0].id, stack[len(stack)-1].id
	} else {
		s.stacks[key] = nil
	}
	s.stacks[key] = append(s.stacks[key], v)
	s.views[v.id] = v
	s.note(Record{Kind: Opened, App: in.App, Team: in.Team, User: user, Code: how, Event: v.id})
	return v
}

func (s *Server) openView(c *call) (reply, *refusal) { return s.openOrPush(c, "open") }

func (s *Server) pushView(c *call) (reply, *refusal) { return s.openOrPush(c, "push") }

func (s *Server) openOrPush(c *call, how string) (reply, *refusal) {
	t, no := s.useTrigger(c)
	if no != nil {
		return nil, no
	}
	raw, no := readView(c.args["view"], "modal")
	if no != nil {
		return nil, no
	}
	if id := text(raw, "external_id"); id != "" && s.byExternal(c.app.ID, id) != nil {
		return nil, refuse("duplicate_external_id")
	}
	stack := s.stacks[[2]string{c.app.ID, t.user}]
	if how == "push" && len(stack) == 0 {
		return nil, refuse("not_found")
	}
	if how == "push" && len(stack) >= maxStack {
		return nil, refuse("push_limit_reached")
	}
	t.used = true
	return reply{"view": s.wireView(s.show(c.in, t.user, raw, how))}, nil
}

func (s *Server) byExternal(app, id string) *view {
	for _, v := range s.views {
		if v.in.App == app && !v.closed && text(v.raw, "external_id") == id {
			return v
		}
	}
	return nil
}

func (s *Server) updateView(c *call) (reply, *refusal) {
	v := s.views[c.args["view_id"]]
	if id := c.args["external_id"]; v == nil && id != "" {
		v = s.byExternal(c.app.ID, id)
	}
	if v == nil || v.in.App != c.app.ID || v.closed {
		return nil, refuse("not_found")
	}
	if h := c.args["hash"]; h != "" && h != v.hash {
		return nil, refuse("hash_conflict")
	}
	raw, no := readView(c.args["view"], text(v.raw, "type"))
	if no != nil {
		return nil, no
	}
	s.change(v, raw)
	return reply{"view": s.wireView(v)}, nil
}

// change replaces a view's content. s.mu is held.
func (s *Server) change(v *view, raw object) {
	v.raw, v.hash, v.errors = raw, s.nextTS(), nil
	s.note(Record{Kind: Opened, App: v.in.App, Team: v.in.Team, User: v.user, Code: "update", Event: v.id})
}

func (s *Server) publishView(c *call) (reply, *refusal) {
	user := c.args["user_id"]
	if s.users[user] == nil {
		return nil, refuse("user_not_found")
	}
	raw, no := readView(c.args["view"], "home")
	if no != nil {
		return nil, no
	}
	key := "home|" + c.app.ID + "|" + user
	v := s.views[key]
	if v == nil {
		v = &view{id: s.nextID("V"), in: c.in, user: user, home: true}
	} else if h := c.args["hash"]; h != "" && h != v.hash {
		return nil, refuse("hash_conflict")
	}
	v.raw, v.hash = raw, s.nextTS()
	s.views[key], s.views[v.id] = v, v
	s.note(Record{Kind: Opened, App: c.app.ID, Team: c.in.Team, User: user, Code: "publish", Event: v.id})
	return reply{"view": s.wireView(v)}, nil
}

func (s *Server) clickView(c Click) (Invoked, error) {
	v := s.views[c.View]
	if v == nil || v.closed || v.user != c.User {
		return Invoked{}, fmt.Errorf("click on %s in view %s on the fake Slack: %s has no such view open", c.ActionID, c.View, c.User)
	}
	action, err := s.action(mustEncode(list(v.raw, "blocks")), c)
	if err != nil {
		return Invoked{}, fmt.Errorf("click in view %s on the fake Slack: %w", c.View, err)
	}
	v.state = c.State
	out := Invoked{Trigger: s.trigger(v.in.App, c.User)}
	p := s.interactive("block_actions", v.in, c.User)
	p["container"], p["trigger_id"], p["view"], p["actions"] = object{"type": "view", "view_id": v.id}, out.Trigger, s.wireView(v), []any{action}
	out.ID = s.interaction(v.in, p, place{}, nil).id
	return out, nil
}
