package slackfake

import (
	"maps"
	"net/http"
	"strings"
	"time"
)

// reply is the answer of a method beyond "ok".
type reply map[string]any

// refusal is an "ok": false.
type refusal struct {
	code     string
	messages []string // response_metadata.messages
	fields   reply
}

func refuse(code string, messages ...string) *refusal {
	return &refusal{code: code, messages: messages}
}

// call is one call that is being carried out.
type call struct {
	args
	method string
	app    *app
	in     *install // nil for calls by the app's own token
	ts     string   // of the message it made or changed
}

// method is one of the Web API.
type method struct {
	do func(*Server, *call) (reply, *refusal)
	// scopes of which one is needed; appToken calls need the app's token instead of a bot's.
	scopes   []string
	appToken bool
	// tier is the calls a minute; 0 for methods with a rule of their own.
	tier int
}

// serveAPI is the way of every call: a fault that does nothing, the deed, a fault after it, the answer.
func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request) {
	c := &call{method: r.PathValue("method")}
	var err error
	if c.args, err = readArgs(w, r); err != nil {
		writeJSON(w, http.StatusOK, reply{"ok": false, "error": err.Error()})
		return
	}
	token := c.args["token"]
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		token = bearer
	}
	delete(c.args, "token")
	if s.opt.Latency > 0 {
		select {
		case <-time.After(s.opt.Latency):
		case <-r.Context().Done():
			return
		}
	}
	m, known := methods[c.method]
	s.mu.Lock()
	no := s.authorise(c, m, known, token)
	s.noteCall(c)
	s.mu.Unlock()
	s.observe(Arrived, c)

	s.mu.Lock()
	fault := s.takeFault(c.method, c.args["channel"])
	if fault != nil {
		s.counts.Faulted++
		s.note(c.record(Faulted, string(fault.Kind)))
		if !fault.Kind.applies() {
			s.mu.Unlock()
			s.fail(w, r, fault)
			return
		}
	}
	var wait time.Duration
	if no == nil {
		wait = s.throttle(c, m)
	}
	var out reply
	if no == nil && wait == 0 {
		out, no = m.do(s, c)
	}
	switch {
	case wait > 0:
		s.counts.Refused++
		s.note(c.record(Refused, "ratelimited"))
	case no != nil:
		s.counts.Refused++
		s.note(c.record(Refused, no.code))
	}
	s.touch() // what the call changed may be waited for, also where no record says it
	scopes := ""
	if c.in != nil {
		scopes = strings.Join(c.in.Scopes, ",")
	}
	s.mu.Unlock()
	if scopes != "" {
		w.Header().Set("X-OAuth-Scopes", scopes)
	}
	if wait > 0 {
		limited(w, wait)
		return
	}
	s.observe(Applied, c)
	if fault != nil {
		s.fail(w, r, fault)
		return
	}
	writeJSON(w, http.StatusOK, finish(out, no))
}

func finish(out reply, no *refusal) reply {
	if no == nil {
		if out == nil {
			out = reply{}
		}
		out["ok"] = true
		return out
	}
	out = reply{"ok": false, "error": no.code}
	maps.Copy(out, no.fields)
	if len(no.messages) > 0 {
		out["response_metadata"] = reply{"messages": no.messages}
	}
	return out
}

// authorise finds the caller. s.mu is held.
func (s *Server) authorise(c *call, m method, known bool, token string) *refusal {
	for _, a := range s.apps {
		if token != "" && a.AppToken == token {
			c.app = a
		}
	}
	if c.app == nil {
		if c.in = s.tokens[token]; c.in != nil {
			c.app = c.in.app
		}
	}
	switch {
	case !known:
		return &refusal{code: "unknown_method", fields: reply{"req_method": c.method}}
	case token == "":
		return refuse("not_authed")
	case c.app == nil:
		return refuse("invalid_auth")
	case c.in != nil && c.in.dead != "":
		return refuse(c.in.dead)
	case m.appToken == (c.in != nil):
		return refuse("not_allowed_token_type")
	case c.in == nil || len(m.scopes) == 0 || c.in.Scopes == nil:
		return nil
	}
	for _, scope := range m.scopes {
		if c.in.has(scope) {
			return nil
		}
	}
	return &refusal{code: "missing_scope", fields: reply{"needed": strings.Join(m.scopes, ","), "provided": strings.Join(c.in.Scopes, ",")}}
}

func (c *call) record(kind RecordKind, code string) Record {
	r := Record{Kind: kind, Method: c.method, Code: code, Channel: c.args["channel"], Thread: c.args["thread_ts"], TS: c.args["ts"]}
	if c.app != nil {
		r.App = c.app.ID
	}
	if c.in != nil {
		r.Team = c.in.Team
	}
	return r
}

// noteCall writes a call into the journal. s.mu is held.
func (s *Server) noteCall(c *call) {
	s.counts.Called++
	r := c.record(Called, "")
	if !s.opt.Lean {
		r.Args = c.args
	}
	s.note(r)
}

func (s *Server) observe(stage Stage, c *call) {
	if s.opt.Observe == nil {
		return
	}
	o := Call{Method: c.method, Channel: c.args["channel"], Thread: c.args["thread_ts"], TS: c.args["ts"], Args: c.args}
	if c.ts != "" {
		o.TS = c.ts
	}
	if c.app != nil {
		o.App = c.app.ID
	}
	if c.in != nil {
		o.Team = c.in.Team
	}
	s.opt.Observe(stage, o)
}
