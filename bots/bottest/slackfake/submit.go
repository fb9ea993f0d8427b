package slackfake

import (
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"
)

// Submit sends a modal's form with the values of its inputs: block id → action id → state object, such as
// {"type": "plain_text_input", "value": "…"}; see [Text]. What the app answers is carried out: the modal closes, changes or shows errors.
func (s *Server) Submit(viewID, user string, values map[string]map[string]any) (Invoked, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.views[viewID]
	if v == nil || v.closed || v.home || v.user != user {
		return Invoked{}, fmt.Errorf("submit view %s on the fake Slack: %s has no such modal open", viewID, user)
	}
	if err := v.fits(values); err != nil {
		return Invoked{}, fmt.Errorf("submit view %s on the fake Slack: %w", viewID, err)
	}
	v.state = values
	out := Invoked{Trigger: s.trigger(v.in.App, user)}
	p := s.interactive("view_submission", v.in, user)
	p["trigger_id"], p["view"], p["response_urls"] = out.Trigger, s.wireView(v), []any{}
	out.ID = s.interaction(v.in, p, place{}, func(answer json.RawMessage) { s.submitted(v, answer) }).id
	return out, nil
}

// fits holds what was typed to what Slack's client lets a person send: no input that is needed is empty, none is longer than its limit.
func (v *view) fits(values map[string]map[string]any) error {
	for _, b := range list(v.raw, "blocks") {
		b, ok := b.(object)
		if !ok || text(b, "type") != "input" {
			continue
		}
		element, _ := b["element"].(object)
		state, _ := values[text(b, "block_id")][text(element, "action_id")].(map[string]any)
		typed, _ := state["value"].(string)
		limit, _ := element["max_length"].(float64)
		optional, _ := b["optional"].(bool)
		switch {
		case text(element, "type") != "plain_text_input":
		case typed == "" && !optional:
			return fmt.Errorf("the input %s is empty", text(b, "block_id"))
		case limit > 0 && utf8.RuneCountInString(typed) > int(limit):
			return fmt.Errorf("the input %s holds more than %d characters", text(b, "block_id"), int(limit))
		}
	}
	return nil
}

// Text is the state of a text input, for [Server.Submit].
func Text(value string) map[string]any {
	return map[string]any{"type": "plain_text_input", "value": value}
}

// submitted does what the acknowledgement of a form asks for. s.mu is held.
func (s *Server) submitted(v *view, answer json.RawMessage) {
	var in struct {
		Action string            `json:"response_action"`
		View   json.RawMessage   `json:"view"`
		Errors map[string]string `json:"errors"`
	}
	if len(answer) > 0 && json.Unmarshal(answer, &in) != nil {
		in.Action = "malformed"
	}
	bad := func(code string) {
		s.note(Record{Kind: Refused, Method: "view_submission", Code: code, App: v.in.App, User: v.user, Event: v.id})
	}
	switch in.Action {
	case "":
		s.pop(v)
	case "clear":
		for _, each := range s.stacks[[2]string{v.in.App, v.user}] {
			each.closed = true
		}
		s.stacks[[2]string{v.in.App, v.user}] = nil
		s.note(Record{Kind: Opened, App: v.in.App, User: v.user, Code: "clear", Event: v.id})
	case "errors":
		for block := range in.Errors {
			if !v.hasInput(block) {
				bad("unknown_block")
				return
			}
		}
		v.errors = in.Errors
		s.note(Record{Kind: Opened, App: v.in.App, User: v.user, Code: "errors", Event: v.id})
	case "update", "push":
		raw, no := readView(string(in.View), "modal")
		switch {
		case no != nil:
			bad(no.code)
		case in.Action == "update":
			s.change(v, raw)
		case len(s.stacks[[2]string{v.in.App, v.user}]) >= maxStack:
			bad("push_limit_reached")
		default:
			s.show(v.in, v.user, raw, "push")
		}
	default:
		bad("invalid_response_action")
	}
}

func (v *view) hasInput(block string) bool {
	return slices.ContainsFunc(list(v.raw, "blocks"), func(b any) bool {
		o, ok := b.(object)
		return ok && text(o, "block_id") == block && text(o, "type") == "input"
	})
}

// pop takes a modal off its stack. s.mu is held.
func (s *Server) pop(v *view) {
	key := [2]string{v.in.App, v.user}
	v.closed = true
	s.stacks[key] = slices.DeleteFunc(s.stacks[key], func(o *view) bool { return o == v })
	s.note(Record{Kind: Opened, App: v.in.App, User: v.user, Code: "close", Event: v.id})
}

// CloseView is a person's press on a modal's cancel button. The app is told when it asked for that (notify_on_close).
func (s *Server) CloseView(viewID, user string) (Invoked, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.views[viewID]
	if v == nil || v.closed || v.home || v.user != user {
		return Invoked{}, fmt.Errorf("close view %s on the fake Slack: %s has no such modal open", viewID, user)
	}
	s.pop(v)
	if on, _ := v.raw["notify_on_close"].(bool); !on {
		return Invoked{}, nil
	}
	p := s.interactive("view_closed", v.in, user)
	p["view"], p["is_cleared"] = s.wireView(v), false
	return Invoked{ID: s.interaction(v.in, p, place{}, nil).id}, nil
}
