package platform

import (
	"fmt"

	"herald/bots/bottest/wire"
)

// Say is what a person does on the platform. The zero values make an ordinary message that speaks to the app.
type Say struct {
	Channel string
	Thread  string
	// User is "alice" by default; Bot makes it another app.
	User string
	Bot  bool
	Text string
	// Direct, Mention, Mass and Aside are as in [wire.Event].
	Direct  bool
	Mention bool
	Mass    bool
	Aside   bool
	Unfurl  bool
	// Held keeps the event back until [Server.Deliver].
	Held bool
	// Copies is how often the event is delivered at once; 0 means once.
	Copies int
}

// Told names what came of a deed: the message (or invocation) and its event.
type Told struct {
	Message string
	Event   string
}

func (s *Server) event(say Say, kind, message, revision string) wire.Event {
	if say.User == "" {
		say.User = "alice"
	}
	return wire.Event{
		Kind: kind, Channel: say.Channel, Thread: say.Thread, Message: message, Revision: revision, At: s.now(), User: say.User, Name: say.User,
		Bot: say.Bot, Text: say.Text, Direct: say.Direct, Mention: say.Mention, Mass: say.Mass, Aside: say.Aside, Unfurl: say.Unfurl,
	}
}

func (s *Server) occur(say Say, w wire.Event) Told {
	e := s.happen(w, say.Held)
	for range say.Copies - 1 {
		if !say.Held {
			s.deliver(e)
		}
	}
	return Told{Message: w.Message, Event: e.ID}
}

// Post is a person's new message. Its id is greater than all before.
func (s *Server) Post(say Say) Told {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.event(say, wire.KindMessage, "", "")
	m := s.add(&Message{Channel: say.Channel, Thread: say.Thread, User: w.User, Text: say.Text})
	w.Message = m.ID
	return s.occur(say, w)
}

// Change is a person's edit of their message; say gives the new text and flags, its place and user are the message's own.
func (s *Server) Change(message string, say Say) (Told, error) {
	return s.alter(message, say, wire.KindEdit)
}

// Remove is a person's deletion of a message, their own or the app's.
func (s *Server) Remove(message string) (Told, error) {
	return s.alter(message, Say{}, wire.KindDelete)
}

func (s *Server) alter(message string, say Say, kind string) (Told, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.byID[message]
	if m == nil || m.Deleted {
		return Told{}, fmt.Errorf("%s message %q on the test platform: no such message", kind, message)
	}
	say.Channel, say.Thread, say.User = m.Channel, m.Thread, m.User
	if kind == wire.KindDelete {
		m.Deleted = true
	} else {
		m.Text = say.Text
	}
	return s.occur(say, s.event(say, kind, m.ID, s.nextID())), nil
}

// Command is a slash command: an interaction, which is delivered at most once.
func (s *Server) Command(say Say) Told {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.occur(say, s.event(say, wire.KindCommand, s.nextID(), ""))
}

// Click is a button's press with the id that the button carried and a chosen value.
func (s *Server) Click(say Say, action, value string) Told {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.event(say, wire.KindClick, s.nextID(), "")
	w.Action, w.Value = action, value
	return s.occur(say, w)
}

// Deliver delivers events now, in the order given, whether they were held, acknowledged or neither. With names repeated and shuffled it is a
// platform that sends again and out of order.
func (s *Server) Deliver(eventIDs ...string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range eventIDs {
		e := s.events[id]
		if e == nil {
			return fmt.Errorf("deliver event %q again: the test platform knows no such event", id)
		}
		s.deliver(e)
	}
	return nil
}
