package openai

import (
	"encoding/json"
	"strings"

	"herald/core/model"
)

// read turns a call that stood in the text into calls. Only a name that was offered with arguments that are an object becomes a
// call that can run; all else becomes one that the model is told about, so that it calls again in the proper way.
func (w written) read(r *model.Request, cut bool, redact func(string) string) []model.Call {
	parts := w.parts()
	calls := make([]model.Call, 0, len(parts))
	for _, p := range parts {
		c := model.Call{ID: r.NewCallID(), Name: unnamed, Arguments: json.RawMessage("{}")}
		args := redact(strings.TrimSpace(string(p.args())))
		offered := offers(r.Tools, p.Name)
		if offered {
			c.Name = p.Name
		}
		switch {
		case cut:
			c.Malformed = "the answer was cut off at the output limit before the call was complete; it was not run"
		case !offered:
			c.Malformed = "the call was written as text and could not be read; call a tool through the tool interface"
		case args == "":
		case isObject(args):
			c.Arguments = json.RawMessage(args)
		default:
			c.Malformed = "the arguments are no JSON object: " + shortArgs(args)
		}
		calls = append(calls, c)
	}
	return calls
}

// textCall is the object in which models write a call.
type textCall struct {
	Name       string   `json:"name"`
	Arguments  flexArgs `json:"arguments"`
	Parameters flexArgs `json:"parameters"`
}

func (c textCall) args() flexArgs {
	if c.Arguments != "" {
		return c.Arguments
	}
	return c.Parameters
}

// parts reads the body: one object, a list, several objects, or a name followed by its arguments. It holds at least one part,
// the zero one when nothing can be read.
func (w written) parts() []textCall {
	body := w.body
	if w.open == "<function=" {
		name, args, _ := strings.Cut(body, ">")
		return []textCall{{Name: strings.TrimSpace(name), Arguments: flexArgs(args)}}
	}
	if name, args, ok := strings.Cut(body, "[ARGS]"); ok {
		return []textCall{{Name: strings.TrimSpace(name), Arguments: flexArgs(args)}}
	}
	var list []textCall
	if strings.HasPrefix(body, "[") && json.Unmarshal([]byte(body), &list) == nil && len(list) > 0 && len(list) <= maxCalls {
		return list
	}
	dec := json.NewDecoder(strings.NewReader(body))
	for len(list) < maxCalls {
		var c textCall
		if dec.Decode(&c) != nil {
			break
		}
		list = append(list, c)
	}
	if len(list) == 0 || dec.More() {
		return []textCall{{}}
	}
	return list
}

func offers(tools []model.ToolSpec, name string) bool {
	for i := range tools {
		if tools[i].Name == name {
			return true
		}
	}
	return false
}
