package openai

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"herald/core/model"
)

// maxCalls bounds the calls of one answer: no sane model makes more, a broken stream can.
const maxCalls = 128

// slot is a tool call in the making.
type slot struct {
	index  flexInt
	id     string
	name   string
	args   strings.Builder
	scan   scanner
	extra  json.RawMessage
	parent *slot // the call behind whose complete arguments this one began without a new id
}

// calls assembles tool calls from deltas whose indices and ids cannot be trusted.
type calls struct {
	slots []*slot
	open  *slot // the last one written to
	bytes int
}

// add takes one delta of a call.
func (c *calls) add(d *callDelta) error {
	name, id, args := string(d.Function.Name), string(d.ID), string(d.Function.Arguments)
	s := c.find(d.Index, id, name)
	if s == nil {
		if id == "" && name == "" && strings.TrimSpace(args) == "" {
			return nil
		}
		s = &slot{index: d.Index, id: id}
		c.slots = append(c.slots, s)
	}
	c.open = s
	if s.id == "" {
		s.id = id
	}
	if s.name == "" {
		s.name = name
	}
	if len(d.Extra) > 0 && present(d.Extra) {
		s.extra = append(json.RawMessage(nil), d.Extra...)
	}
	c.bytes += len(args) + len(name)
	return c.write(s, args)
}

// find is the call that a delta goes on with, or nil for a new one. An index counts only where id and name do not speak
// against it; without an index the id decides, without both the call last written to.
func (c *calls) find(index flexInt, id, name string) *slot {
	for i := len(c.slots) - 1; i >= 0 && (index.set || id != ""); i-- {
		s := c.slots[i]
		if index.set && s.index.set {
			if s.index.n != index.n {
				continue
			}
			if id != "" && s.id != "" && s.id != id {
				// The same index for another id: an older call with this id may be meant, else it is a new one.
				continue
			}
			if id == "" && renamed(s, name) {
				return nil
			}
			return s
		}
		if id != "" && s.id == id {
			return s
		}
	}
	switch {
	case c.open == nil:
		return nil
	case index.set && c.open.index.set: // another index, or a new id for it
		return nil
	case id != "" && c.open.id != "":
		return nil
	case renamed(c.open, name):
		return nil
	}
	return c.open
}

func renamed(s *slot, name string) bool { return name != "" && s.name != "" && s.name != name }

// write appends arguments to a call. Behind a complete object another one begins a new call of the same tool: servers glue
// parallel calls together that share an index.
func (c *calls) write(s *slot, args string) error {
	for args != "" {
		if s.scan.complete {
			rest := strings.TrimLeft(args, " \t\r\n")
			if rest == "" {
				return nil
			}
			if rest[0] == '{' {
				for s.parent != nil {
					s = s.parent
				}
				next := &slot{index: s.index, name: s.name, parent: s}
				c.slots = append(c.slots, next)
				s, c.open, args = next, next, rest
			}
		}
		if len(c.slots) > maxCalls {
			return tooLong("the answer holds too many tool calls")
		}
		n := s.scan.feed(args)
		s.args.WriteString(args[:n])
		args = args[n:]
		if s.scan.complete && s.parent != nil && c.repeated(s) {
			c.slots = slices.DeleteFunc(c.slots, func(o *slot) bool { return o == s })
			s = s.parent
			c.open = s
		}
	}
	return nil
}

// repeated reports whether s says only what its call has said before: some servers send all of it with each event.
func (c *calls) repeated(s *slot) bool {
	for _, o := range c.slots {
		if o != s && (o == s.parent || o.parent == s.parent) && o.args.String() == s.args.String() {
			return true
		}
	}
	return false
}

// finish gives the calls their final form. cut says that the answer was cut off at its length.
func (c *calls) finish(newID func() string, names *names, cut bool, redact func(string) string, extra func(json.RawMessage) json.RawMessage) []model.Call {
	var out []model.Call
	for _, s := range c.slots {
		root := s
		if s.parent != nil {
			root = s.parent
		}
		args := strings.TrimSpace(s.args.String())
		call := model.Call{ID: newID(), Name: names.back(root.name), Arguments: json.RawMessage("{}"), Extra: extra(s.extra)}
		switch {
		case root.name == "":
			// Without a name there is nothing to run or to answer; the history would be refused with it.
			call.Name, call.Malformed = unnamed, "the call has no tool name"
		case cut:
			call.Malformed = "the answer was cut off at the output limit before the call was complete; it was not run"
		case args == "":
		case isObject(args):
			call.Arguments = json.RawMessage(redact(args))
		default:
			call.Malformed = "the arguments are no JSON object: " + shortArgs(redact(args))
		}
		out = append(out, call)
	}
	return out
}

// unnamed stands for the name of a call that has none.
const unnamed = "unnamed_tool"

func shortArgs(s string) string {
	const most = 200
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

func isObject(s string) bool {
	b := []byte(s)
	return len(b) > 1 && b[0] == '{' && b[len(b)-1] == '}' && json.Valid(b)
}

// scanner follows the structure of a JSON object byte by byte, so that its end is known without parsing it again and again.
type scanner struct {
	depth    int
	inString bool
	escaped  bool
	begun    bool
	other    bool // it does not begin as an object
	complete bool
}

// feed reads up to the end of the object and says how many bytes belong to it.
func (s *scanner) feed(text string) int {
	if s.other || s.complete {
		s.other, s.complete = true, false // what follows an object and is none spoils it
		return len(text)
	}
	for i := range len(text) {
		b := text[i]
		switch {
		case s.escaped:
			s.escaped = false
		case s.inString:
			s.escaped = b == '\\'
			s.inString = b != '"'
		case !s.begun && bytes.IndexByte([]byte(" \t\r\n"), b) >= 0:
		case !s.begun && b != '{':
			s.begun, s.other = true, true
			return len(text)
		case b == '"':
			s.inString = true
		case b == '{' || b == '[':
			s.begun = true
			s.depth++
		case b == '}' || b == ']':
			if s.depth--; s.depth == 0 {
				s.complete = true
				return i + 1
			}
		}
	}
	return len(text)
}
