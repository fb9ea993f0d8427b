package platform

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// RecordKind is what the platform saw.
type RecordKind string

// What the journal holds.
const (
	Posted       RecordKind = "posted"       // somebody did something on the platform: an event came to be
	Delivered    RecordKind = "delivered"    // an event was written to a stream
	Acked        RecordKind = "acked"        // an event was acknowledged for the first time
	AckedAgain   RecordKind = "acked_again"  // … and once more
	Sent         RecordKind = "sent"         // the app posted a message
	Repeated     RecordKind = "repeated"     // a send whose nonce stood already: the first message was given again
	Edited       RecordKind = "edited"       // the app edited a message
	Found        RecordKind = "found"        // a look-back that found a message
	NotFound     RecordKind = "not_found"    // a look-back that found none
	Refused      RecordKind = "refused"      // a call that the platform refused by its own rules
	Faulted      RecordKind = "faulted"      // a call that was made to go wrong; Code is the kind of fault
	Connected    RecordKind = "connected"    // a stream opened
	Disconnected RecordKind = "disconnected" // a stream ended
	Missed       RecordKind = "missed"       // an interaction that found no stream
)

// Record is one line of the journal. Fields that do not fit the kind are empty.
type Record struct {
	// Seq counts from 0 without gaps; At never goes back.
	Seq  int
	At   time.Time
	Kind RecordKind
	// Op is the call of a Faulted or Refused record.
	Op      Op
	Code    string
	Channel string
	Thread  string
	Event   string
	// Attempt of a delivery, from 1. Stream is the number of the stream of Delivered, Acked, Connected and Disconnected.
	Attempt int
	Stream  int
	// Message is the id of the message spoken of.
	Message  string
	Text     string
	Nonce    string
	Delivery string
	Piece    int
	ReplyTo  string
	Live     bool
	Final    bool
}

// Message is one message as it stands on the platform.
type Message struct {
	ID      string
	Channel string
	Thread  string
	At      time.Time
	// User wrote it; for the app's own messages User is the app's id and ByApp is true.
	User     string
	ByApp    bool
	Text     string
	Nonce    string
	Delivery string
	Piece    int
	ReplyTo  string
	Only     string
	Card     json.RawMessage
	// Interaction is the invocation that it answers.
	Interaction string
	// Live is true until the final edit; Edits counts all of them.
	Live    bool
	Edits   int
	Deleted bool
}

// Counts are totals since the start.
type Counts struct {
	// Posted counts events, Delivered writes of them to a stream, Redelivered those beyond an event's first.
	Posted, Delivered, Redelivered int
	// Acked counts events, Unacked those that wait.
	Acked, Unacked int
	// Sent counts messages that came to be, Repeated sends that gave an earlier one, Edited edits, FinalEdits the last ones.
	Sent, Repeated, Edited, FinalEdits int
	// Looked counts look-backs, Refused and Faulted failed calls.
	Looked, Refused, Faulted int
	// Streams is how many stand now, Connected how many ever opened.
	Streams, Connected int
}

// View is the platform's state within a [Server.Wait] or [Server.Look]. It, and all that it returns, is valid and to be read only until the function returns.
type View struct{ s *Server }

// Counts are the totals.
func (v View) Counts() Counts {
	c := v.s.counts
	c.Unacked = len(v.s.unacked)
	c.Streams = len(v.s.streams)
	return c
}

// Messages of a conversation in the platform's order, deleted ones included.
func (v View) Messages(channel, thread string) []*Message { return v.s.places[place{channel, thread}] }

// Answers are the app's messages that reply to a message, in order.
func (v View) Answers(messageID string) []*Message { return v.s.answers[messageID] }

// Acked reports whether an event was acknowledged.
func (v View) Acked(eventID string) bool {
	e := v.s.events[eventID]
	return e != nil && e.acked
}

// Journal is all that was seen, in order.
func (v View) Journal() []Record { return v.s.journal }

// Look calls f with the state as it is now.
func (s *Server) Look(f func(View)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(View{s})
}

// Wait returns when cond holds. It is asked at once and after every change; what names the condition in the error when ctx ends first.
func (s *Server) Wait(ctx context.Context, what string, cond func(View) bool) error {
	for {
		s.mu.Lock()
		if cond(View{s}) {
			s.mu.Unlock()
			return nil
		}
		if s.changed == nil {
			s.changed = make(chan struct{})
		}
		changed := s.changed
		s.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait on the test platform until %s: %w (now %+v)", what, context.Cause(ctx), s.Counts())
		case <-s.done:
			return fmt.Errorf("wait on the test platform until %s: the server was closed", what)
		}
	}
}

// Counts are the totals as they are now.
func (s *Server) Counts() (c Counts) {
	s.Look(func(v View) { c = v.Counts() })
	return c
}

// Journal copies all that was seen, in order.
func (s *Server) Journal() (all []Record) {
	s.Look(func(v View) { all = slices.Clone(v.Journal()) })
	return all
}

// Messages copies a conversation in the platform's order.
func (s *Server) Messages(channel, thread string) (all []Message) {
	s.Look(func(v View) {
		for _, m := range v.Messages(channel, thread) {
			all = append(all, *m)
		}
	})
	return all
}

// note writes the journal and wakes who waits. s.mu is held.
func (s *Server) note(r Record) {
	r.Seq = len(s.journal)
	r.At = s.now()
	s.journal = append(s.journal, r)
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}
