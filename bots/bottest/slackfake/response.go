package slackfake

import (
	"encoding/json"
	"net/http"
	"time"
)

// maxResponses is how often a response_url may be used.
const maxResponses = 5

// response is a response_url.
type response struct {
	in          *install
	channel     *channel
	user        string
	message     *Message // that was clicked, nil for commands
	interaction string
	used        int
	expires     time.Time
}

// answerBody is what is posted to a response_url or given with the acknowledgement of a command. There is no markdown_text here.
type answerBody struct {
	Text        string          `json:"text"`
	Type        string          `json:"response_type"`
	Replace     bool            `json:"replace_original"`
	Delete      bool            `json:"delete_original"`
	Thread      string          `json:"thread_ts"`
	Blocks      json.RawMessage `json:"blocks"`
	Attachments json.RawMessage `json:"attachments"`
	Metadata    json.RawMessage `json:"metadata"`
}

// respond makes a response_url. s.mu is held.
func (s *Server) respond(r *response) string {
	id := s.nextID("resp")
	r.expires = s.now().Add(s.opt.ResponseTTL)
	s.responses[id] = r
	return s.url + "/response/" + id
}

func (s *Server) serveResponse(w http.ResponseWriter, r *http.Request) {
	a, err := readArgs(w, r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if p := a["payload"]; p != "" {
		a = args{}
		var fields map[string]json.RawMessage
		if json.Unmarshal([]byte(p), &fields) == nil {
			for k, v := range fields {
				a.put(k, v)
			}
		}
	}
	in := &answerBody{
		Text: a["text"], Type: a["response_type"], Replace: a.flag("replace_original"), Delete: a.flag("delete_original"), Thread: a["thread_ts"],
		Blocks: a.raw("blocks"), Attachments: a.raw("attachments"), Metadata: a.raw("metadata"),
	}
	s.mu.Lock()
	c := Record{Kind: Called, Method: ResponseMethod, Text: in.Text}
	if !s.opt.Lean {
		c.Args = a
	}
	s.note(c)
	s.counts.Called++
	fault := s.takeFault(ResponseMethod, "")
	if fault != nil {
		s.counts.Faulted++
		s.note(Record{Kind: Faulted, Method: ResponseMethod, Code: string(fault.Kind)})
	}
	code := ""
	if fault == nil || fault.Kind.applies() {
		if code = s.answer(r.PathValue("id"), in); code != "" {
			s.counts.Refused++
			s.note(Record{Kind: Refused, Method: ResponseMethod, Code: code})
		}
	}
	s.mu.Unlock()
	switch {
	case fault != nil:
		s.fail(w, r, fault)
	case code != "":
		writeJSON(w, http.StatusNotFound, reply{"ok": false, "error": code})
	default:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("ok"))
	}
}

// answer carries out a post to a response_url; the result is the error, if any. s.mu is held.
func (s *Server) answer(id string, in *answerBody) string {
	r := s.responses[id]
	switch {
	case r == nil:
		return "invalid_url"
	case !s.now().Before(r.expires):
		return "expired_url"
	case r.used >= maxResponses:
		return "used_url"
	case !in.Delete && in.Text == "" && len(in.Blocks) == 0 && len(in.Attachments) == 0:
		return "no_text"
	}
	if no := checkBlocks(string(in.Blocks), inMessage); no != nil {
		return no.code
	}
	r.used++
	s.say(r, in)
	return ""
}

// say carries out an answer by response_url or acknowledgement. s.mu is held.
func (s *Server) say(r *response, in *answerBody) {
	m := r.message
	if m != nil && (in.Delete || in.Replace) {
		switch {
		case in.Delete && m.To != "":
			m.Deleted = true
			s.note(Record{Kind: Removed, Method: ResponseMethod, App: m.App, Team: m.Team, Channel: m.Channel, TS: m.TS})
		case in.Delete:
			s.note(Record{Kind: Removed, Method: ResponseMethod, App: m.App, Team: m.Team, Channel: m.Channel, TS: m.TS})
			s.remove(r.channel, m)
		default:
			before := s.wire(r.channel, m, false)
			m.Text, m.Markdown, m.Blocks, m.Attachments = in.Text, "", in.Blocks, in.Attachments
			m.Edits++
			s.counts.Edited++
			s.note(Record{Kind: Edited, Method: ResponseMethod, App: m.App, Team: m.Team, Channel: m.Channel, Thread: m.Thread, TS: m.TS, Text: m.Text})
			if m.To == "" {
				m.editedBy, m.editedTS = m.User, s.nextTS()
				s.tellChange(r.channel, m, before)
			}
		}
		return
	}
	out := &Message{
		User: r.in.BotUser, BotID: r.in.BotID, App: r.in.App, Team: r.in.Team, Thread: in.Thread, Text: in.Text, Blocks: in.Blocks,
		Attachments: in.Attachments, Metadata: in.Metadata, Interaction: r.interaction,
	}
	if in.Type != "in_channel" {
		s.whisper(r.channel, out, r.user)
		return
	}
	if out.Thread != "" && r.channel.byTS[out.Thread] == nil {
		out.Thread = ""
	}
	s.add(r.channel, out)
	s.counts.Sent++
	s.note(Record{Kind: Sent, Method: ResponseMethod, App: out.App, Team: out.Team, Channel: out.Channel, Thread: out.Thread, TS: out.TS, Text: out.Text})
	s.tellPost(r.channel, out, false)
}
