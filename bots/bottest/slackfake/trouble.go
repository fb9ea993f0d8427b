package slackfake

import "bytes"

// Disconnect sends a disconnect frame with a reason (warning, refresh_requested, link_disabled, too_many_websockets) to the sockets that an app has
// now, and ends them: the first two after [Options.Notice], the others at once. An empty app means all.
func (s *Server) Disconnect(app, reason string) {
	s.eachConn(app, func(c *conn) { s.disconnect(c, reason) })
}

// Sever breaks the sockets that an app has now, without a word.
func (s *Server) Sever(app string) { s.eachConn(app, (*conn).reset) }

// Hush makes the sockets that an app has now fall silent: they stand, but nothing is written or heard any more, not even pings.
func (s *Server) Hush(app string) { s.eachConn(app, func(c *conn) { c.silent = true }) }

// CutFrame ends the sockets that an app has now in the middle of a frame.
func (s *Server) CutFrame(app string) {
	half := append([]byte(`{"envelope_id":"cut","type":"events_api","payload":"`), bytes.Repeat([]byte("x"), 2000)...)
	s.eachConn(app, func(c *conn) { c.push(frame{data: half, cut: true}) })
}

// Frame writes raw text to the sockets that an app has now: unknown or malformed envelopes.
func (s *Server) Frame(app, text string) {
	s.eachConn(app, func(c *conn) { c.push(frame{data: []byte(text)}) })
}

func (s *Server) eachConn(app string, do func(*conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, a := range s.apps {
		if app == "" || app == id {
			for _, c := range a.conns {
				do(c)
			}
		}
	}
}
