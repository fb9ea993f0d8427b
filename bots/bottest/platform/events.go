package platform

import (
	"encoding/json"
	"hash/fnv"
	"slices"
	"time"

	"herald/bots/bottest/wire"
)

// event is an event and how far it has come.
type event struct {
	wire.Event
	once  bool // an interaction: sent at most once
	held  bool
	acked bool
	on    *stream // where it was last written
}

// due is a redelivery; it is void when another attempt was made since.
type due struct {
	e       *event
	attempt int
	at      time.Time
}

// happen makes an event and, unless held, delivers it. s.mu is held.
func (s *Server) happen(w wire.Event, held bool) *event {
	w.ID = "e" + s.nextID()
	e := &event{Event: w, held: held, once: w.Kind == wire.KindCommand || w.Kind == wire.KindClick}
	s.events[w.ID] = e
	s.counts.Posted++
	s.note(Record{Kind: Posted, Event: w.ID, Channel: w.Channel, Thread: w.Thread, Message: w.Message, Text: w.Text})
	if !e.once {
		if len(s.order) > 2*len(s.unacked)+1024 {
			s.prune()
		}
		s.order = append(s.order, e)
		s.unacked[w.ID] = e
	}
	if !held {
		s.deliver(e)
	}
	return e
}

// deliver writes an event to a stream, when there is one, and plans its redelivery. s.mu is held.
func (s *Server) deliver(e *event) {
	e.held = false
	st := s.pick(e)
	if st == nil {
		if e.once {
			s.note(Record{Kind: Missed, Event: e.ID, Channel: e.Channel, Thread: e.Thread, Message: e.Message})
		}
		e.on = nil
		return
	}
	e.Attempt++
	e.on = st
	line, err := json.Marshal(e.Event)
	if err != nil {
		s.opt.Log.Error("write an event as JSON", "event", e.ID, "err", err)
		return
	}
	s.counts.Delivered++
	if e.Attempt > 1 {
		s.counts.Redelivered++
	}
	s.note(Record{Kind: Delivered, Event: e.ID, Channel: e.Channel, Thread: e.Thread, Message: e.Message, Attempt: e.Attempt, Stream: st.number})
	st.push(append(line, '\n'))
	if e.once || e.acked {
		return
	}
	s.due = append(s.due, due{e, e.Attempt, s.last.Add(s.opt.RedeliverAfter)})
	if len(s.due) == 1 {
		select {
		case s.rouse <- struct{}{}:
		default:
		}
	}
}

// pick chooses the stream of an event. A redelivery avoids the stream that did not answer. s.mu is held.
func (s *Server) pick(e *event) *stream {
	n := len(s.streams)
	if n == 0 {
		return nil
	}
	i := s.turn % n
	if s.opt.Sticky {
		h := fnv.New32a()
		_, _ = h.Write([]byte(e.Channel + "|" + e.Thread))
		i = int(h.Sum32() % uint32(n)) //nolint:gosec // n is small
	}
	s.turn++
	if s.streams[i] == e.on && n > 1 {
		i = (i + 1) % n
	}
	return s.streams[i]
}

func (s *Server) ack(st *stream, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.takeFault(OpAck, ""); f != nil {
		s.counts.Faulted++
		s.note(Record{Kind: Faulted, Op: OpAck, Code: string(f.Kind), Event: id, Stream: st.number})
		if !f.Kind.applies() {
			return
		}
	}
	e := s.events[id]
	switch {
	case e == nil:
		s.counts.Refused++
		s.note(Record{Kind: Refused, Op: OpAck, Code: "unknown_event", Event: id, Stream: st.number})
	case e.acked:
		s.note(Record{Kind: AckedAgain, Event: id, Channel: e.Channel, Thread: e.Thread, Message: e.Message, Stream: st.number})
	default:
		e.acked = true
		delete(s.unacked, id)
		s.counts.Acked++
		s.note(Record{Kind: Acked, Event: id, Channel: e.Channel, Thread: e.Thread, Message: e.Message, Stream: st.number})
	}
}

// redeliver sends again what was not acknowledged in time, until the server ends.
func (s *Server) redeliver() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		s.mu.Lock()
		wait := time.Hour
		for now := s.now(); len(s.due) > 0; s.due = s.due[1:] {
			d := s.due[0]
			if d.e.acked || d.e.on == nil || d.e.Attempt != d.attempt { // nil: its stream is gone, the next one gets it when it opens
				continue
			}
			if wait = d.at.Sub(now); wait > 0 {
				break
			}
			s.deliver(d.e)
		}
		s.mu.Unlock()
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-s.rouse:
		case <-s.done:
			return
		}
	}
}

// prune forgets the order of what was acknowledged. s.mu is held.
func (s *Server) prune() {
	s.order = slices.DeleteFunc(s.order, func(e *event) bool { return e.acked })
}
