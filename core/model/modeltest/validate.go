package modeltest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"herald/core/model"
)

// Validate reports why a strict provider would refuse the request after a driver has written it, or nil: roles out of
// order, a call without its result, a result without its call, an id used twice, empty content, arguments that are no
// object, a tool whose parameters are no object schema. Tool results may be empty and arguments missing: drivers fill these.
func Validate(r *model.Request) error {
	if r.NewCallID == nil {
		return errors.New("NewCallID is missing")
	}
	if err := validTools(r.Tools); err != nil {
		return err
	}
	if len(r.Messages) == 0 {
		return errors.New("there is no message")
	}
	h := history{}
	for i := range r.Messages {
		if err := h.take(&r.Messages[i]); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
	}
	return h.settled()
}

// history walks messages in order and keeps what an assistant message still waits for.
type history struct {
	begun bool
	// open are the calls of the last assistant message without a result, in order; few, so a slice.
	open []string
	seen map[string]bool
}

func (h *history) take(m *model.Message) error {
	defer func() { h.begun = true }()
	if m.Role == model.Tool {
		return h.result(m)
	}
	if err := h.settled(); err != nil {
		return err
	}
	if len(m.Calls) > 0 && m.Role != model.Assistant {
		return fmt.Errorf("a %s message has tool calls", m.Role)
	}
	switch m.Role {
	case model.User:
		if m.Text == "" && len(m.Images) == 0 {
			return errors.New("a user message is empty")
		}
	case model.Assistant:
		if !h.begun {
			return errors.New("the first message is the assistant's")
		}
		return h.calls(m)
	default:
		return fmt.Errorf("unknown role %q", m.Role)
	}
	return nil
}

func (h *history) calls(m *model.Message) error {
	if m.Text == "" && len(m.Calls) == 0 {
		return errors.New("an assistant message has neither text nor calls")
	}
	for i := range m.Calls {
		c := &m.Calls[i]
		switch {
		case c.ID == "":
			return errors.New("a call has no id")
		case c.Name == "":
			return fmt.Errorf("call %s has no name", c.ID)
		case h.seen[c.ID]:
			return fmt.Errorf("call id %s is used twice", c.ID)
		case len(c.Arguments) > 0 && !isObject(c.Arguments):
			return fmt.Errorf("the arguments of call %s are no JSON object", c.ID)
		}
		if h.seen == nil {
			h.seen = map[string]bool{}
		}
		h.seen[c.ID] = true
		h.open = append(h.open, c.ID)
	}
	return nil
}

func (h *history) result(m *model.Message) error {
	for i, id := range h.open {
		if id == m.CallID {
			h.open = append(h.open[:i], h.open[i+1:]...)
			return nil
		}
	}
	if h.seen[m.CallID] {
		return fmt.Errorf("the result of call %s stands twice or away from its call", m.CallID)
	}
	return fmt.Errorf("a result names call %q, which no assistant message made", m.CallID)
}

func (h *history) settled() error {
	if len(h.open) > 0 {
		return fmt.Errorf("call %s has no result", h.open[0])
	}
	return nil
}

func validTools(tools []model.ToolSpec) error {
	if len(tools) == 0 {
		return nil
	}
	names := make(map[string]bool, len(tools))
	for i := range tools {
		t := &tools[i]
		switch {
		case t.Name == "":
			return errors.New("a tool has no name")
		case names[t.Name]:
			return fmt.Errorf("tool %s stands twice", t.Name)
		case len(t.Parameters) > 0 && !isObject(t.Parameters):
			return fmt.Errorf("the parameters of tool %s are no object schema", t.Name)
		}
		names[t.Name] = true
	}
	return nil
}

func isObject(b []byte) bool {
	b = bytes.TrimSpace(b)
	return len(b) > 1 && b[0] == '{' && json.Valid(b)
}
