package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"herald/bots/console/proto"
	"herald/core/chat"
)

// Handler serves the terminal under [proto.Prefix]. Whoever reaches it speaks as the person of the console: it belongs on a socket that only
// this person can open.
func (a *Adapter) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+proto.Prefix+"{place}/lines", a.serveLine)
	mux.HandleFunc("POST "+proto.Prefix+"{place}/clicks", a.serveClick)
	mux.HandleFunc("GET "+proto.Prefix+"{place}/stream", a.serveStream)
	mux.HandleFunc("GET "+proto.Prefix+"{place}/history", a.serveHistory)
	mux.HandleFunc("GET "+proto.Prefix+"{place}/facts", a.serveFacts)
	return mux
}

func (a *Adapter) serveLine(w http.ResponseWriter, r *http.Request) {
	var in proto.Say
	p, ok := a.open(w, r, &in)
	if !ok {
		return
	}
	switch {
	case in.Key == "" || len(in.Key) > 128:
		trouble(w, http.StatusBadRequest, "the line has no key of at most 128 bytes", false)
	case strings.TrimSpace(in.Text) == "":
		trouble(w, http.StatusBadRequest, "the message is empty: type something", false)
	case len(in.Text) > proto.MaxText:
		trouble(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the message has %d bytes, the limit is %d: put it into a file and name the file", len(in.Text), proto.MaxText), false)
	case !utf8.ValidString(in.Text):
		trouble(w, http.StatusBadRequest, "the message is not UTF-8 text", false)
	default:
		a.hand(w, r, p, in.Key, proto.Line, &chat.Inbound{Kind: chat.Message, Text: in.Text})
	}
}

func (a *Adapter) serveClick(w http.ResponseWriter, r *http.Request) {
	var in proto.Click
	p, ok := a.open(w, r, &in)
	if !ok {
		return
	}
	if in.Key == "" || len(in.Key) > 128 || in.Action == "" {
		trouble(w, http.StatusBadRequest, "the click needs a key of at most 128 bytes and an action", false)
		return
	}
	a.hand(w, r, p, in.Key, proto.Choice, &chat.Inbound{Kind: chat.Click, Action: in.Action, Value: in.Value})
}

// hand gives an event its id and hands it on; it is answered when the receiver has it. A key that is known keeps its id, so that the receiver
// knows the event again.
func (a *Adapter) hand(w http.ResponseWriter, r *http.Request, p *place, key string, kind proto.Kind, in *chat.Inbound) {
	if err := p.enter(r.Context()); err != nil {
		return // the client has left
	}
	defer p.leave()
	id, err := a.name(p, key, kind, in.Text+in.Action)
	if err != nil {
		a.opt.Log.Error("a line of the console was not written down", "place", p.name, "err", err)
		trouble(w, http.StatusServiceUnavailable, "the message was not taken: "+err.Error(), true)
		return
	}
	in.App, in.Conversation, in.MessageID, in.Order, in.SentAt = App, Conversation(p.name), id, id, a.opt.Now().UTC()
	in.Sender = chat.Sender{Identity: a.Identity(), Name: a.opt.User}
	in.Direct, in.Addressed = true, true
	out, err := a.opt.Receiver.Receive(r.Context(), in)
	if invalid, ok := errors.AsType[*chat.Invalid](err); ok {
		trouble(w, http.StatusBadRequest, "the message was not taken: "+invalid.Text, false)
		return
	}
	if errors.Is(err, chat.ErrMalformed) {
		trouble(w, http.StatusBadRequest, "the message was not taken: "+err.Error(), false)
		return
	}
	if err != nil {
		a.opt.Log.Warn("a line of the console was not taken", "place", p.name, "message", id, "err", err)
		trouble(w, http.StatusServiceUnavailable, "the message was not taken: "+err.Error()+"; send it again", true)
		return
	}
	p.mu.Lock()
	if !p.script.taken[id] {
		if err := p.add(&entry{Taken: id}); err != nil { // the service has the line; only the history will not show it
			a.opt.Log.Warn("the history of the console will lack a line", "place", p.name, "message", id, "err", err)
		}
	}
	p.mu.Unlock()
	answer(w, http.StatusOK, proto.Taken{ID: id, Outcome: string(out)})
}

// name gives the id of a key; it is durable before the receiver hears it, so that no other event ever gets it.
func (a *Adapter) name(p *place, key string, kind proto.Kind, text string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if id, ok := p.script.lines[key]; ok {
		return id, nil
	}
	now := a.opt.Now().UTC()
	id := p.script.nextID(now)
	return id, p.add(&entry{Record: proto.Record{Kind: kind, ID: id, At: now, Key: key, User: a.opt.User, Text: a.opt.Clean(text)}})
}

func (a *Adapter) serveStream(w http.ResponseWriter, r *http.Request) {
	p, ok := a.open(w, r, nil)
	if !ok {
		return
	}
	after, now := uint64(0), r.FormValue("after") == "now"
	if !now {
		var err error
		if after, err = strconv.ParseUint(r.FormValue("after"), 10, 64); err != nil {
			trouble(w, http.StatusBadRequest, "after is the number of a record, or now", false)
			return
		}
	}
	s, last := p.listen()
	defer p.unlisten(s)
	rc := http.NewResponseController(w)
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.WriteHeader(http.StatusOK)
	write := func(rec *proto.Record) error {
		line, err := rec.Encode()
		if err == nil {
			_, err = w.Write(line)
		}
		return err
	}
	if !now {
		if err := readTranscript(p.script.path, after, last, write); err != nil {
			a.opt.Log.Warn("a stream of the console ended", "place", p.name, "err", err)
			return
		}
	}
	if write(&proto.Record{Kind: proto.Ready, Seq: last}) != nil || rc.Flush() != nil {
		return
	}
	for {
		select {
		case <-s.wake:
		case <-r.Context().Done():
			return
		case <-a.done:
			return
		}
		all, ok := p.take(s)
		for _, rec := range all {
			if write(rec) != nil {
				return
			}
		}
		if !ok || rc.Flush() != nil {
			return
		}
	}
}

// serveHistory gives the last records that were taken, with the newest text of each post.
func (a *Adapter) serveHistory(w http.ResponseWriter, r *http.Request) {
	p, ok := a.open(w, r, nil)
	if !ok {
		return
	}
	limit, err := strconv.Atoi(r.FormValue("limit"))
	if err != nil || limit < 1 || limit > 1000 {
		trouble(w, http.StatusBadRequest, "limit is a number from 1 to 1000", false)
		return
	}
	all, err := a.history(p, limit)
	if err != nil {
		trouble(w, http.StatusInternalServerError, err.Error(), true)
		return
	}
	answer(w, http.StatusOK, all)
}

func (a *Adapter) history(p *place, limit int) ([]proto.Record, error) {
	p.mu.Lock()
	last := p.script.seq
	p.mu.Unlock()
	var all []proto.Record
	at := map[string]int{}
	err := readTranscript(p.script.path, 0, last, func(rec *proto.Record) error {
		if rec.Kind == proto.Edit {
			if i, ok := at[rec.ID]; ok {
				all[i].Text, all[i].Card, all[i].Live = rec.Text, rec.Card, false
			}
			return nil
		}
		at[rec.ID] = len(all)
		all = append(all, *rec)
		return nil
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := all[:0]
	for _, rec := range all {
		if now := p.live[rec.ID]; now != nil && rec.Live {
			rec.Text, rec.Card = now.Text, now.Card
		}
		if rec.Kind == proto.Post || p.script.taken[rec.ID] {
			kept = append(kept, rec)
		}
	}
	return kept[max(0, len(kept)-limit):], nil
}

func (a *Adapter) serveFacts(w http.ResponseWriter, r *http.Request) {
	if _, ok := a.open(w, r, nil); !ok {
		return
	}
	if a.opt.Facts == nil {
		trouble(w, http.StatusNotFound, "nothing is known about answers here", false)
		return
	}
	f, err := a.opt.Facts(r.Context(), Conversation(r.PathValue("place")), r.FormValue("message"))
	if err != nil {
		trouble(w, http.StatusNotFound, "look up the facts of message "+strconv.Quote(r.FormValue("message"))+": "+err.Error(), true)
		return
	}
	answer(w, http.StatusOK, f)
}

// open finds the place and, unless into is nil, reads the body.
func (a *Adapter) open(w http.ResponseWriter, r *http.Request, into any) (*place, bool) {
	p, err := a.place(r.PathValue("place"))
	if err != nil {
		status := http.StatusServiceUnavailable
		_, refused := errors.AsType[*chat.Refused](err)
		if refused {
			status = http.StatusBadRequest
		}
		trouble(w, status, err.Error(), !refused)
		return nil, false
	}
	if into == nil {
		return p, true
	}
	body := http.MaxBytesReader(w, r.Body, 6*proto.MaxText+4096) // a byte of text is at most six of JSON
	if err := json.NewDecoder(body).Decode(into); err != nil {
		status := http.StatusBadRequest
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			status = http.StatusRequestEntityTooLarge
		}
		trouble(w, status, "the request is not the JSON that is wanted: "+err.Error(), false)
		return nil, false
	}
	return p, true
}

func trouble(w http.ResponseWriter, status int, text string, retry bool) {
	answer(w, status, proto.Trouble{Error: text, Retry: retry})
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may have left; nothing is to be done about it
}
