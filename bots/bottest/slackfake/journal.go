package slackfake

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// RecordKind is what the server saw.
type RecordKind string

// What the journal holds.
const (
	Happened     RecordKind = "happened"     // somebody did something: an event or interaction came to be
	Delivered    RecordKind = "delivered"    // it was written to a socket or sent to a request URL
	Acked        RecordKind = "acked"        // it was acknowledged for the first time
	AckedAgain   RecordKind = "acked_again"  // … and once more
	AckUnknown   RecordKind = "ack_unknown"  // an acknowledgement of an envelope that never was
	AckDropped   RecordKind = "ack_dropped"  // an acknowledgement that was too large, or dropped by a fault
	Failed       RecordKind = "failed"       // an attempt was not acknowledged; Code says why
	GaveUp       RecordKind = "gave_up"      // … and was the last
	Missed       RecordKind = "missed"       // an interaction that was not acknowledged: the person saw an error
	Called       RecordKind = "called"       // a method was called
	Refused      RecordKind = "refused"      // … and refused by the server's own rules; Code is the error
	Faulted      RecordKind = "faulted"      // … or made to go wrong; Code is the kind of fault
	Sent         RecordKind = "sent"         // the app posted a message
	Edited       RecordKind = "edited"       // the app edited a message, also by a stream
	Removed      RecordKind = "removed"      // the app deleted a message
	Whispered    RecordKind = "whispered"    // the app said something that one person alone sees
	Opened       RecordKind = "opened"       // a view was opened, pushed, updated or published; Code says which
	StatusSet    RecordKind = "status_set"   // the status of an assistant's thread; Text is it
	Shared       RecordKind = "shared"       // a file of the app's was shared
	Connected    RecordKind = "connected"    // a socket opened
	Disconnected RecordKind = "disconnected" // a socket ended
	Warned       RecordKind = "warned"       // a disconnect frame was written; Code is its reason
)

// Record is one line of the journal. Fields that do not fit the kind are empty.
type Record struct {
	// Seq counts from 0 without gaps; At never goes back unless the machine's clock does.
	Seq     int
	At      time.Time
	Kind    RecordKind
	App     string
	Team    string
	Method  string
	Code    string
	Channel string
	Thread  string
	TS      string
	Text    string
	User    string
	// Event is the id of an event, or of an interaction. Envelope is the one that carried it; Attempt counts from 1.
	Event    string
	Envelope string
	Attempt  int
	// Conn is the number of the socket; 0 for HTTP.
	Conn int
	// Args of a Called record; not kept by a lean server.
	Args map[string]string
	// Payload that came with an acknowledgement.
	Payload string
}

// Counts are totals since the start.
type Counts struct {
	// Happened counts events and interactions, Delivered attempts, Redelivered those beyond the first.
	Happened, Delivered, Redelivered int
	// Acked counts events and interactions that were acknowledged, Failed attempts that were not, GaveUp events after the last attempt.
	Acked, Failed, GaveUp int
	// Called counts calls by any method, Sent posts, Edited edits, Refused and Faulted failed calls.
	Called, Sent, Edited, Refused, Faulted int
	// Sockets is how many stand now, Connected how many ever opened.
	Sockets, Connected int
}

// EventState is how far an event or interaction has come.
type EventState struct {
	Attempts int
	Acked    bool
	// GaveUp means that the last attempt was not acknowledged (for an interaction: the only one).
	GaveUp bool
	// Answer is the payload that came with the acknowledgement.
	Answer string
}

// View is the state within a [Server.Wait] or [Server.Look]. It, and all that it returns, is valid and to be read only until the function returns.
type View struct{ s *Server }

// Counts are the totals.
func (v View) Counts() Counts { return v.s.counts }

// Journal is all that was seen, in order.
func (v View) Journal() []Record { return v.s.journal }

// Event is the state of an event or interaction.
func (v View) Event(id string) EventState {
	d := v.s.deliveries[id]
	if d == nil {
		return EventState{}
	}
	return EventState{Attempts: d.attempt, Acked: d.acked, GaveUp: d.gaveUp, Answer: string(d.answer)}
}

// Acked reports whether all of these events were acknowledged.
func (v View) Acked(events ...string) bool {
	for _, id := range events {
		if d := v.s.deliveries[id]; d == nil || !d.acked {
			return false
		}
	}
	return true
}

// Messages of a thread in order, its root first; with an empty thread all of the channel's that are not replies. Deleted ones are included,
// ephemeral ones are not: see [View.Whispers].
func (v View) Messages(channel, thread string) []*Message {
	ch := v.s.channels[channel]
	switch {
	case ch == nil:
		return nil
	case thread == "":
		return ch.top
	}
	return ch.threads[thread]
}

// Message is one message, nil when there is none.
func (v View) Message(channel, ts string) *Message {
	if ch := v.s.channels[channel]; ch != nil {
		return ch.byTS[ts]
	}
	return nil
}

// Said are the app's messages of a thread that stand, in order; with an empty thread those of the channel that are not replies.
func (v View) Said(channel, thread string) (out []*Message) {
	for _, m := range v.Messages(channel, thread) {
		if m.BotID != "" && !m.Deleted {
			out = append(out, m)
		}
	}
	return out
}

// Whispers are the ephemeral messages that one person sees in a channel, those of slash commands included.
func (v View) Whispers(channel, user string) (out []*Message) {
	if ch := v.s.channels[channel]; ch != nil {
		for _, m := range ch.whispers {
			if m.To == user {
				out = append(out, m)
			}
		}
	}
	return out
}

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
		changed, counts := s.changed, s.counts
		s.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait on the fake Slack until %s: %w (now %+v)", what, context.Cause(ctx), counts)
		case <-s.ctx.Done():
			return fmt.Errorf("wait on the fake Slack until %s: the server was closed", what)
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

// Messages copies what [View.Messages] gives.
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
	r.Seq, r.At = len(s.journal), s.now()
	s.journal = append(s.journal, r)
	s.touch()
}

// touch wakes who waits for a change. s.mu is held.
func (s *Server) touch() {
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}
