package platform

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"herald/bots/bottest/wire"
)

// refusal is a call that the platform's own rules forbid.
type refusal struct {
	status int
	t      wire.Trouble
}

func refuse(status int, code, reason string) *refusal {
	return &refusal{status, wire.Trouble{Code: code, Reason: reason}}
}

func (s *Server) serveSend(w http.ResponseWriter, r *http.Request) {
	var in wire.Send
	if !s.read(w, r, OpSend, &in) {
		return
	}
	c := Call{Op: OpSend, Channel: in.Channel, Thread: in.Thread, Text: in.Text, Delivery: in.Delivery, Piece: in.Piece}
	s.call(w, r, c, func() (wire.Reply, *refusal) { return s.send(&in) })
}

func (s *Server) serveEdit(w http.ResponseWriter, r *http.Request) {
	var in wire.Edit
	if !s.read(w, r, OpEdit, &in) {
		return
	}
	c := Call{Op: OpEdit, Channel: in.Channel, Thread: in.Thread, Text: in.Text, Message: in.Message}
	s.call(w, r, c, func() (wire.Reply, *refusal) { return s.edit(&in) })
}

func (s *Server) serveFind(w http.ResponseWriter, r *http.Request) {
	var in wire.Find
	if !s.read(w, r, OpFind, &in) {
		return
	}
	c := Call{Op: OpFind, Channel: in.Channel, Thread: in.Thread, Delivery: in.Delivery, Piece: in.Piece}
	s.call(w, r, c, func() (wire.Reply, *refusal) { return s.find(&in) })
}

func (s *Server) read(w http.ResponseWriter, r *http.Request, op Op, into any) bool {
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, wire.MaxLine)).Decode(into)
	if err == nil {
		return true
	}
	s.mu.Lock()
	s.counts.Refused++
	s.note(Record{Kind: Refused, Op: op, Code: "malformed"})
	s.mu.Unlock()
	writeTrouble(w, http.StatusBadRequest, wire.Trouble{Code: "malformed", Reason: "the body is not the JSON of this call: " + err.Error()})
	return false
}

// call is the way of every call: a fault that does nothing, the deed, a fault after it, the answer. The deed runs with s.mu held.
func (s *Server) call(w http.ResponseWriter, r *http.Request, c Call, deed func() (wire.Reply, *refusal)) {
	if s.opt.Latency > 0 {
		select {
		case <-time.After(s.opt.Latency):
		case <-r.Context().Done():
			return
		}
	}
	s.observe(Arrived, c)
	s.mu.Lock()
	fault := s.takeFault(c.Op, c.Channel)
	if fault != nil {
		s.counts.Faulted++
		s.note(Record{Kind: Faulted, Op: c.Op, Code: string(fault.Kind), Channel: c.Channel, Thread: c.Thread, Message: c.Message, Delivery: c.Delivery, Piece: c.Piece})
		if !fault.Kind.applies() {
			s.mu.Unlock()
			s.fail(w, r, fault)
			return
		}
	}
	reply, no := deed()
	if no != nil {
		s.counts.Refused++
		s.note(Record{Kind: Refused, Op: c.Op, Code: no.t.Code, Channel: c.Channel, Thread: c.Thread, Message: c.Message, Delivery: c.Delivery, Piece: c.Piece})
	}
	s.mu.Unlock()
	if no != nil {
		writeTrouble(w, no.status, no.t)
		return
	}
	c.Message = reply.Message
	s.observe(Applied, c)
	if fault != nil {
		s.fail(w, r, fault)
		return
	}
	writeJSON(w, http.StatusOK, reply)
}

func (s *Server) checkText(text string) *refusal {
	switch limit := s.opt.Features.TextLimit; {
	case text == "":
		return refuse(http.StatusBadRequest, "empty", "the message has no text")
	case !utf8.ValidString(text):
		return refuse(http.StatusBadRequest, "malformed", "the text is not UTF-8")
	case limit > 0 && utf8.RuneCountInString(text) > limit:
		return refuse(http.StatusBadRequest, "too_long", "the message is longer than "+strconv.Itoa(limit)+" characters")
	}
	return nil
}

func (s *Server) send(in *wire.Send) (wire.Reply, *refusal) {
	f := s.opt.Features
	if in.Channel == "" {
		return wire.Reply{}, refuse(http.StatusNotFound, "channel_not_found", "the message names no channel")
	}
	if no := s.checkText(in.Text); no != nil {
		return wire.Reply{}, no
	}
	if len(in.Card) > 0 && !f.Cards || in.Only != "" && !f.Ephemeral {
		return wire.Reply{}, refuse(http.StatusBadRequest, "not_supported", "this platform has no such form of message")
	}
	rec := Record{
		Kind: Sent, Channel: in.Channel, Thread: in.Thread, Text: in.Text, Nonce: in.Nonce, Delivery: in.Delivery, Piece: in.Piece,
		ReplyTo: in.ReplyTo, Live: in.Live,
	}
	nonce := in.App + "|" + in.Channel + "|" + in.Nonce
	if first := s.nonces[nonce]; f.Nonce && in.Nonce != "" && first != nil && s.now().Sub(first.At) < f.NonceFor {
		rec.Kind, rec.Message = Repeated, first.ID
		s.counts.Repeated++
		s.note(rec)
		return wire.Reply{Found: true, Message: first.ID, At: first.At}, nil
	}
	m := s.add(&Message{
		Channel: in.Channel, Thread: in.Thread, User: in.App, ByApp: true, Text: in.Text, Nonce: in.Nonce, Delivery: in.Delivery,
		Piece: in.Piece, ReplyTo: in.ReplyTo, Only: in.Only, Card: in.Card, Interaction: in.Interaction, Live: in.Live,
	})
	if f.Nonce && in.Nonce != "" {
		s.nonces[nonce] = m
	}
	if m.ReplyTo != "" {
		s.answers[m.ReplyTo] = append(s.answers[m.ReplyTo], m)
	}
	rec.Message = m.ID
	s.counts.Sent++
	s.note(rec)
	if s.opt.Echo {
		s.happen(wire.Event{Kind: wire.KindMessage, Channel: m.Channel, Thread: m.Thread, Message: m.ID, At: m.At, User: in.App, Bot: true, App: in.App, Text: m.Text}, false)
	}
	return wire.Reply{Found: true, Message: m.ID, At: m.At}, nil
}

func (s *Server) edit(in *wire.Edit) (wire.Reply, *refusal) {
	m := s.byID[in.Message]
	switch {
	case !s.opt.Features.Edits:
		return wire.Reply{}, refuse(http.StatusBadRequest, "not_supported", "messages cannot be edited on this platform")
	case m == nil || m.Deleted:
		return wire.Reply{}, refuse(http.StatusGone, "message_gone", "the message does not stand any more")
	case !m.ByApp || m.User != in.App:
		return wire.Reply{}, refuse(http.StatusForbidden, "not_yours", "the message is somebody else's")
	}
	if no := s.checkText(in.Text); no != nil {
		return wire.Reply{}, no
	}
	m.Text, m.Card = in.Text, in.Card
	m.Edits++
	s.counts.Edited++
	if in.Final {
		m.Live = false
		s.counts.FinalEdits++
	}
	s.note(Record{Kind: Edited, Channel: m.Channel, Thread: m.Thread, Message: m.ID, Text: in.Text, Delivery: m.Delivery, Piece: m.Piece, ReplyTo: m.ReplyTo, Live: m.Live, Final: in.Final})
	return wire.Reply{Found: true, Message: m.ID, At: m.At}, nil
}

func (s *Server) find(in *wire.Find) (wire.Reply, *refusal) {
	if !s.opt.Features.LookBack {
		return wire.Reply{}, refuse(http.StatusNotImplemented, "not_supported", "this platform cannot look back")
	}
	s.counts.Looked++
	rec := Record{Kind: NotFound, Channel: in.Channel, Thread: in.Thread, Delivery: in.Delivery, Piece: in.Piece}
	all := s.places[place{in.Channel, in.Thread}]
	for i := len(all) - 1; i >= 0; i-- {
		m := all[i]
		if m.At.Before(in.After) {
			break
		}
		if m.ByApp && m.User == in.App && !m.Deleted && m.Delivery == in.Delivery && m.Piece == in.Piece {
			rec.Kind, rec.Message = Found, m.ID
			s.note(rec)
			return wire.Reply{Found: true, Message: m.ID, At: m.At}, nil
		}
	}
	s.note(rec)
	return wire.Reply{}, nil
}

// add gives a message its id and place. s.mu is held.
func (s *Server) add(m *Message) *Message {
	m.ID, m.At = s.nextID(), s.now()
	s.byID[m.ID] = m
	p := place{m.Channel, m.Thread}
	s.places[p] = append(s.places[p], m)
	return m
}

func (s *Server) nextID() string {
	s.ids++
	return strconv.FormatUint(s.ids, 10)
}
