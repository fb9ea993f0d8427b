package session_test

import (
	"encoding/json"
	"fmt"

	"herald/core/model"
)

// strict is the strictest provider: it says what it would refuse in a history.
func strict(ms []model.Message) error {
	if len(ms) == 0 {
		return nil
	}
	if ms[0].Role != model.User {
		return fmt.Errorf("the first message is %s", ms[0].Role)
	}
	open := map[string]bool{}
	ids := map[string]bool{}
	prev := model.Role("")
	for i, m := range ms {
		switch m.Role {
		case model.User:
			if len(open) > 0 {
				return fmt.Errorf("message %d: user speaks while calls %v have no result", i, open)
			}
			if prev == model.User {
				return fmt.Errorf("message %d: two user messages in a row", i)
			}
			if m.Text == "" {
				return fmt.Errorf("message %d is empty", i)
			}
		case model.Assistant:
			if len(open) > 0 || prev == model.Assistant {
				return fmt.Errorf("message %d: assistant out of turn (open %v)", i, open)
			}
			if m.Text == "" && len(m.Calls) == 0 {
				return fmt.Errorf("message %d is empty", i)
			}
			for _, c := range m.Calls {
				if c.ID == "" || c.Name == "" || ids[c.ID] {
					return fmt.Errorf("message %d: call id %q name %q is empty or taken", i, c.ID, c.Name)
				}
				var o map[string]any
				if json.Unmarshal(c.Arguments, &o) != nil || o == nil {
					return fmt.Errorf("message %d: arguments %q are no object", i, c.Arguments)
				}
				ids[c.ID], open[c.ID] = true, true
			}
		case model.Tool:
			if !open[m.CallID] {
				return fmt.Errorf("message %d: result for %q, which is not open", i, m.CallID)
			}
			if m.Text == "" {
				return fmt.Errorf("message %d is empty", i)
			}
			delete(open, m.CallID)
		default:
			return fmt.Errorf("message %d has role %q", i, m.Role)
		}
		prev = m.Role
	}
	if len(open) > 0 {
		return fmt.Errorf("calls %v have no result", open)
	}
	if last := ms[len(ms)-1].Role; last == model.Assistant {
		return fmt.Errorf("the last message is the assistant's")
	}
	return nil
}
