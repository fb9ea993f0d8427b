package session

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// decodePlain reads the data of the entries of which almost every log consists: messages, answers, calls and their ends, ends of turns,
// exactly as [Encode] writes them. A turn reads some fifty of them, and encoding/json was a quarter of what a turn costs. It answers false, and
// leaves e in any state, for everything that it does not understand to the last byte; that is left to encoding/json.
func decodePlain(data []byte, e *Event) bool {
	s := scanner{b: data}
	ok := s.object(func(key []byte) bool {
		switch string(key) {
		case "v":
			return s.int(&e.V)
		case "kind":
			return s.text((*string)(&e.Kind))
		case "id":
			return s.text(&e.ID)
		case "frame":
			return s.text(&e.Frame)
		case "user":
			if e.User != nil {
				return false
			}
			e.User = new(Said)
			return s.said(e.User)
		case "model":
			if e.Model != nil {
				return false
			}
			e.Model = new(Answer)
			return s.answer(e.Model)
		case "answered":
			if e.Answered != nil {
				return false
			}
			e.Answered = new(Answered)
			return s.answered(e.Answered)
		case "open":
			if e.Open != nil {
				return false
			}
			e.Open = new(Open)
			return s.open(e.Open)
		case "call":
			if e.Call != nil {
				return false
			}
			e.Call = new(CallRef)
			return s.callRef(e.Call)
		case "result":
			if e.Result != nil {
				return false
			}
			e.Result = new(Result)
			return s.result(e.Result)
		case "gate":
			if e.Gate != nil {
				return false
			}
			e.Gate = new(Gate)
			return s.gate(e.Gate)
		case "push":
			if e.Push != nil {
				return false
			}
			e.Push = new(Push)
			return s.push(e.Push)
		case "pop":
			if e.Pop != nil {
				return false
			}
			e.Pop = new(Pop)
			return s.pop(e.Pop)
		case "outcome":
			if e.Outcome != nil {
				return false
			}
			e.Outcome = new(Outcome)
			return s.outcome(e.Outcome)
		}
		return false
	})
	return ok && s.i == len(data)
}

func (s *scanner) said(m *Said) bool {
	return s.object(func(key []byte) bool {
		switch string(key) {
		case "turn":
			return s.text(&m.Turn)
		case "message_id":
			return s.text(&m.MessageID)
		case "order":
			return s.text(&m.Order)
		case "person":
			return s.text(&m.Person)
		case "name":
			return s.text(&m.Name)
		case "text":
			return s.text(&m.Text)
		}
		return false
	})
}

func (s *scanner) answer(a *Answer) bool {
	return s.object(func(key []byte) bool {
		switch string(key) {
		case "text":
			return s.text(&a.Text)
		case "finish":
			return s.text((*string)(&a.Finish))
		case "model":
			return s.text(&a.Model)
		case "calls":
			return a.Calls == nil && s.asked(&a.Calls)
		case "usage":
			return s.object(func(key []byte) bool {
				switch string(key) {
				case "input":
					return s.int(&a.Usage.Input)
				case "cached":
					return s.int(&a.Usage.Cached)
				case "output":
					return s.int(&a.Usage.Output)
				}
				return false
			})
		}
		return false
	})
}

func (s *scanner) answered(a *Answered) bool {
	return s.object(func(key []byte) bool {
		switch string(key) {
		case "turn":
			return s.text(&a.Turn)
		case "delivery":
			return s.text(&a.Delivery)
		case "text":
			return s.text(&a.Text)
		case "covers":
			return a.Covers == nil && s.covers(&a.Covers)
		}
		return false
	})
}

func (s *scanner) covers(into *[]Cover) bool {
	if !s.eat('[') {
		return false
	}
	for {
		var c Cover
		ok := s.object(func(key []byte) bool {
			switch string(key) {
			case "message_id":
				return s.text(&c.MessageID)
			case "order":
				return s.text(&c.Order)
			case "person":
				return s.text(&c.Person)
			}
			return false
		})
		if !ok {
			return false
		}
		*into = append(*into, c)
		if !s.eat(',') {
			return s.eat(']')
		}
	}
}

func (s *scanner) open(v *Open) bool {
	return s.object(func(key []byte) bool {
		switch string(key) {
		case "session":
			return s.text(&v.Session)
		case "agent":
			return s.text(&v.Agent)
		case "person":
			return s.text(&v.Person)
		}
		return false
	})
}

func (s *scanner) callRef(v *CallRef) bool {
	return s.object(func(key []byte) bool {
		switch string(key) {
		case "ids":
			return v.IDs == nil && s.texts(&v.IDs)
		case "again":
			return s.bool(&v.Again)
		}
		return false
	})
}

func (s *scanner) result(v *Result) bool {
	return s.object(func(key []byte) bool {
		switch string(key) {
		case "call":
			return s.text(&v.Call)
		case "status":
			return s.text((*string)(&v.Status))
		case "text":
			return s.text(&v.Text)
		}
		return false
	})
}

func (s *scanner) gate(v *Gate) bool {
	return s.object(func(key []byte) bool {
		switch string(key) {
		case "call":
			return s.text(&v.Call)
		case "tool":
			return s.text(&v.Tool)
		case "answer":
			return s.text(&v.Answer)
		case "rule":
			return s.text(&v.Rule)
		}
		return false
	})
}

func (s *scanner) push(v *Push) bool {
	return s.object(func(key []byte) bool {
		switch string(key) {
		case "frame":
			return s.text(&v.Frame)
		case "agent":
			return s.text(&v.Agent)
		case "call":
			return s.text(&v.Call)
		case "prompt":
			return s.text(&v.Prompt)
		}
		return false
	})
}

func (s *scanner) pop(v *Pop) bool {
	return s.object(func(key []byte) bool {
		switch string(key) {
		case "status":
			return s.text((*string)(&v.Status))
		case "text":
			return s.text(&v.Text)
		}
		return false
	})
}

func (s *scanner) outcome(v *Outcome) bool {
	return s.object(func(key []byte) bool {
		switch string(key) {
		case "wait":
			return s.text(&v.Wait)
		case "result":
			return s.text((*string)(&v.Result))
		case "by":
			return s.text(&v.By)
		case "text":
			return s.text(&v.Text)
		case "message_id":
			return s.text(&v.MessageID)
		case "order":
			return s.text(&v.Order)
		}
		return false
	})
}

// asked reads calls that a model asked for, with what their tools had declared.
func (s *scanner) asked(into *[]Asked) bool {
	if !s.eat('[') {
		return false
	}
	for {
		var c Asked
		ok := s.object(func(key []byte) bool {
			switch string(key) {
			case "id":
				return s.text(&c.ID)
			case "name":
				return s.text(&c.Name)
			case "arguments":
				return s.raw(&c.Arguments)
			case "read_only":
				return s.bool(&c.ReadOnly)
			case "repeatable":
				return s.bool(&c.Repeatable)
			case "delegates":
				return s.bool(&c.Delegates)
			}
			return false
		})
		if !ok {
			return false
		}
		*into = append(*into, c)
		if !s.eat(',') {
			return s.eat(']')
		}
	}
}

// scanner reads JSON without any space in it.
type scanner struct {
	b []byte
	i int
}

func (s *scanner) eat(c byte) bool {
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

// object calls field for each key; it must read the value.
func (s *scanner) object(field func(key []byte) bool) bool {
	if !s.eat('{') {
		return false
	}
	for {
		raw, plain := s.literal()
		if !plain || !s.eat(':') || !field(raw[1:len(raw)-1]) {
			return false
		}
		if !s.eat(',') {
			return s.eat('}')
		}
	}
}

// literal is a string with its quotes; plain says that it stands for itself. It is empty for what is no string.
func (s *scanner) literal() (raw []byte, plain bool) {
	if !s.eat('"') {
		return nil, false
	}
	from := s.i - 1
	plain, ascii := true, true
	for ; s.i < len(s.b); s.i++ {
		switch c := s.b[s.i]; {
		case c == '"':
			s.i++
			raw = s.b[from:s.i]
			if !ascii && !utf8.Valid(raw) {
				return nil, false // encoding/json replaces what is no UTF-8
			}
			return raw, plain
		case c == '\\':
			plain = false
			s.i++
		case c < ' ':
			return nil, false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return nil, false
}

func (s *scanner) text(into *string) bool {
	switch raw, plain := s.literal(); {
	case len(raw) == 0:
		return false
	case plain:
		*into = string(raw[1 : len(raw)-1])
		return true
	default:
		return json.Unmarshal(raw, into) == nil
	}
}

// texts reads a list of at least one string.
func (s *scanner) texts(into *[]string) bool {
	if !s.eat('[') {
		return false
	}
	for {
		var t string
		if !s.text(&t) {
			return false
		}
		*into = append(*into, t)
		if !s.eat(',') {
			return s.eat(']')
		}
	}
}

// raw takes an object as it stands. A deep one is left to encoding/json, which has a limit.
func (s *scanner) raw(into *json.RawMessage) bool {
	const deepest = 64
	from, depth := s.i, 0
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case '"':
			if raw, _ := s.literal(); len(raw) == 0 {
				return false
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		s.i++
		if depth <= 0 || depth > deepest {
			break
		}
	}
	raw := s.b[from:s.i]
	if len(raw) == 0 || depth != 0 || raw[0] != '{' || !json.Valid(raw) {
		return false
	}
	*into = bytes.Clone(raw)
	return true
}

func (s *scanner) bool(into *bool) bool {
	for _, v := range []string{"true", "false"} {
		if rest := s.b[s.i:]; len(rest) >= len(v) && string(rest[:len(v)]) == v {
			s.i += len(v)
			*into = v == "true"
			return true
		}
	}
	return false
}

// int reads a whole number that is not negative and has at most 15 digits.
func (s *scanner) int(into *int) bool {
	from, n := s.i, 0
	for s.i < len(s.b) && '0' <= s.b[s.i] && s.b[s.i] <= '9' {
		n = 10*n + int(s.b[s.i]-'0')
		if s.i++; s.i-from > 15 {
			return false
		}
	}
	if s.i == from || s.b[from] == '0' && s.i-from > 1 {
		return false
	}
	*into = n
	return true
}
