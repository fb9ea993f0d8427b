package slackfake

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
)

// The types of envelopes.
const (
	kindEvent    = "events_api"
	kindCommand  = "slash_commands"
	kindInteract = "interactive"
)

// delivery is an event or interaction on its way to an app.
type delivery struct {
	id, kind string
	app      *app
	payload  json.RawMessage
	form     url.Values // what HTTP carries in place of the payload
	held     bool
	attempt  int // how often it was sent
	spent    int // how many attempts of its schedule are used up
	reason   string
	on       *conn
	acked    bool
	gaveUp   bool
	answer   json.RawMessage
	// onAck is called with the first acknowledgement's payload, onMiss when an interaction was not acknowledged. s.mu is held.
	onAck  func(answer json.RawMessage)
	onMiss func()

	team, channel, thread, ts string
}

// once reports whether it is sent at most once: interactions are never sent again.
func (d *delivery) once() bool { return d.kind != kindEvent }

func (d *delivery) record(kind RecordKind) Record {
	r := Record{Kind: kind, App: d.app.ID, Team: d.team, Event: d.id, Channel: d.channel, Thread: d.thread, TS: d.ts, Attempt: d.attempt}
	if d.on != nil {
		r.Conn = d.on.number
	}
	return r
}

// happen begins a delivery. s.mu is held.
func (s *Server) happen(d *delivery, held bool) {
	d.held = held
	s.deliveries[d.id] = d
	s.counts.Happened++
	s.note(d.record(Happened))
	if !held {
		s.deliver(d)
	}
}

// target is the URL that takes it; empty for Socket Mode.
func (d *delivery) target() string {
	switch d.kind {
	case kindCommand:
		return d.app.CommandURL
	case kindInteract:
		return d.app.InteractiveURL
	}
	return d.app.RequestURL
}

// deliver makes an attempt. s.mu is held.
func (s *Server) deliver(d *delivery) {
	d.held = false
	if d.target() != "" {
		s.attempt(d)
		s.post(d)
		return
	}
	c := s.pick(d)
	if c == nil {
		if s.opt.Patient && !d.once() {
			d.on = nil
			s.waiting = append(s.waiting, d)
			return
		}
		d.on = nil
		s.attempt(d)
		s.failed(d, "connection_failed")
		return
	}
	d.on = c
	c.carries[d] = true
	s.attempt(d)
	envelope := s.nextID("env-")
	s.envelopes[envelope] = d
	r := d.record(Delivered)
	r.Envelope = envelope
	s.note(r)
	c.push(frame{data: d.envelope(envelope)})
	attempt := d.attempt
	s.after(s.opt.AckTimeout, func() {
		if !d.acked && d.attempt == attempt && d.on == c {
			s.failed(d, "timeout")
		}
	})
}

func (s *Server) attempt(d *delivery) {
	d.attempt++
	d.spent++
	s.counts.Delivered++
	if d.attempt > 1 {
		s.counts.Redelivered++
	}
}

// envelope is the frame of an attempt. It is put together by hand: the payload is JSON already and need not be read again.
func (d *delivery) envelope(id string) []byte {
	b := make([]byte, 0, len(d.payload)+200)
	b = append(b, `{"envelope_id":"`...)
	b = append(b, id...)
	b = append(b, `","type":"`...)
	b = append(b, d.kind...)
	b = append(b, `","accepts_response_payload":`...)
	b = strconv.AppendBool(b, d.once())
	if !d.once() {
		b = fmt.Appendf(b, `,"retry_attempt":%d,"retry_reason":%q`, d.attempt-1, d.reason)
	}
	b = append(b, `,"payload":`...)
	b = append(b, d.payload...)
	return append(b, '}')
}

// pick chooses the socket of an attempt, each in turn; one that is about to end, or that carried the last attempt, comes last. s.mu is held.
func (s *Server) pick(d *delivery) *conn {
	var best *conn
	rank := func(c *conn) int {
		switch {
		case c.draining:
			return 2
		case c == d.on:
			return 1
		}
		return 0
	}
	a := d.app
	for i := range a.conns {
		c := a.conns[(a.turn+i)%len(a.conns)]
		if c.ready && (best == nil || rank(c) < rank(best)) {
			best = c
		}
	}
	a.turn++
	return best
}

// failed is the end of an attempt without an acknowledgement: the next one is planned, if there is one. s.mu is held.
func (s *Server) failed(d *delivery, reason string) {
	if d.on != nil {
		delete(d.on.carries, d)
	}
	d.reason = reason
	s.counts.Failed++
	r := d.record(Failed)
	r.Code = reason
	s.note(r)
	if d.acked {
		return
	}
	if d.once() {
		d.gaveUp = true
		s.note(d.record(Missed))
		if d.onMiss != nil {
			d.onMiss()
		}
		return
	}
	if d.spent > len(s.opt.RetryAfter) {
		s.giveUp(d)
		return
	}
	attempt := d.attempt
	s.after(s.opt.RetryAfter[d.spent-1], func() {
		if !d.acked && d.attempt == attempt {
			s.deliver(d)
		}
	})
}

func (s *Server) giveUp(d *delivery) {
	d.gaveUp = true
	s.counts.GaveUp++
	s.note(d.record(GaveUp))
}

// ack takes an acknowledgement; answer may be nil. s.mu is held.
func (s *Server) ack(d *delivery, envelope string, answer json.RawMessage) {
	r := d.record(Acked)
	r.Envelope, r.Payload = envelope, string(answer)
	if d.acked {
		r.Kind = AckedAgain
		s.note(r)
		return
	}
	d.acked, d.answer = true, answer
	if d.on != nil {
		delete(d.on.carries, d)
	}
	s.counts.Acked++
	if s.opt.Lean {
		d.payload = nil
	}
	s.note(r)
	if d.onAck != nil {
		d.onAck(answer)
	}
}

// Deliver sends held events now, in the order given; that is how a test reorders them.
func (s *Server) Deliver(events ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range events {
		if d := s.deliveries[id]; d != nil && d.held {
			s.deliver(d)
		}
	}
}

// Again sends events once more, acknowledged or not, as Slack does now and then.
func (s *Server) Again(events ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range events {
		if d := s.deliveries[id]; d != nil && !d.once() && len(d.payload) > 0 {
			s.deliver(d)
		}
	}
}
