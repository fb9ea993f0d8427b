package session

import (
	"encoding/json"
	"unicode/utf8"
)

// decodePlain reads the data of the entries of which almost every log consists: messages, answers without calls, ends of turns, exactly
// as [Encode] writes them. A turn reads some fifty of them, and encoding/json was a quarter of what a turn costs. It answers false, and
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
