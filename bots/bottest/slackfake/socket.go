package slackfake

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// maxAck is the size from which Slack drops an acknowledgement in silence.
const maxAck = 20 << 10

// ticket lets one socket in.
type ticket struct{ app *app }

// frame is something to be written to a socket.
type frame struct {
	data []byte
	// ping sends a ping, cut the first half of data and then the end of the connection, end closes the socket in order.
	ping, cut, end bool
}

// conn is one socket of an app. All but ws, rouse and once is guarded by the server's lock.
type conn struct {
	number   int
	app      *app
	ws       *websocket.Conn
	rouse    chan struct{}
	once     sync.Once
	gone     chan struct{}
	queue    []frame
	carries  map[*delivery]bool
	ready    bool // the hello is in the queue
	draining bool
	silent   bool
}

func (s *Server) connectionsOpen(c *call) (reply, *refusal) {
	id := s.nextID("ticket")
	s.tickets[id] = ticket{c.app}
	q := url.Values{"ticket": {id}, "app_id": {c.app.ID}}
	return reply{"url": "ws" + s.url[len("http"):] + "/link/?" + q.Encode()}, nil
}

func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("ticket")
	s.mu.Lock()
	t, ok := s.tickets[id]
	delete(s.tickets, id)
	s.mu.Unlock()
	if !ok {
		http.Error(w, "invalid or used ticket", http.StatusUnauthorized)
		return
	}
	ws, err := s.up.Upgrade(w, r, nil)
	if err != nil {
		return // Upgrade has answered
	}
	c := &conn{app: t.app, ws: ws, rouse: make(chan struct{}, 1), gone: make(chan struct{}), carries: map[*delivery]bool{}}
	if !s.open(c, r.URL.Query().Get("debug_reconnects") == "true") {
		_ = ws.WriteMessage(websocket.TextMessage, disconnectFrame("too_many_websockets"))
		_ = ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(time.Second))
		_ = ws.Close()
		return
	}
	var writer sync.WaitGroup
	writer.Go(func() { s.write(c) })
	s.read(c)
	c.close()
	writer.Wait()
	s.closed(c)
}

func disconnectFrame(reason string) []byte {
	return fmt.Appendf(nil, `{"type":"disconnect","reason":%q,"debug_info":{"host":"fake"}}`, reason)
}

// open takes a socket in and greets it; false when the app has too many.
func (s *Server) open(c *conn, short bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return false
	}
	if len(c.app.conns) >= s.opt.MaxSockets {
		s.note(Record{Kind: Warned, App: c.app.ID, Code: "too_many_websockets"})
		return false
	}
	s.conns++
	c.number = s.conns
	c.app.conns = append(c.app.conns, c)
	s.counts.Connected++
	s.counts.Sockets++
	life := s.opt.ConnectionTime
	if short {
		life = time.Duration(float64(360*time.Second) / s.opt.Speed)
	}
	c.push(frame{data: fmt.Appendf(nil,
		`{"type":"hello","num_connections":%d,"debug_info":{"host":"fake","build_number":1,"approximate_connection_time":%d},"connection_info":{"app_id":%q}}`,
		len(c.app.conns), int(life/time.Second), c.app.ID)})
	c.ready = true
	s.note(Record{Kind: Connected, App: c.app.ID, Conn: c.number})
	s.ping(c)
	s.after(life, func() { s.disconnect(c, "warning") })
	waiting := s.waiting
	s.waiting = nil
	for _, d := range waiting {
		if !d.acked {
			s.deliver(d)
		}
	}
	return true
}

func (s *Server) ping(c *conn) {
	s.after(s.opt.PingEvery, func() {
		select {
		case <-c.gone:
		default:
			c.push(frame{ping: true})
			s.ping(c)
		}
	})
}

// closed forgets a socket; what it carried is sent elsewhere.
func (s *Server) closed(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.app.conns = slices.DeleteFunc(c.app.conns, func(o *conn) bool { return o == c })
	s.counts.Sockets--
	s.note(Record{Kind: Disconnected, App: c.app.ID, Conn: c.number})
	lost := make([]*delivery, 0, len(c.carries))
	for d := range c.carries {
		lost = append(lost, d)
	}
	slices.SortFunc(lost, func(a, b *delivery) int { return compareIDs(a.id, b.id) })
	for _, d := range lost {
		switch {
		case d.acked || d.on != c:
		case s.opt.Patient && !d.once():
			d.spent--
			d.reason = "connection_closed"
			s.deliver(d)
		default:
			s.failed(d, "connection_closed")
		}
	}
}

// compareIDs orders generated ids by age.
func compareIDs(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	if a < b {
		return -1
	}
	return 1
}

// push queues a frame. s.mu is held.
func (c *conn) push(f frame) {
	c.queue = append(c.queue, f)
	select {
	case c.rouse <- struct{}{}:
	default:
	}
}

// close breaks the connection; again is harmless.
func (c *conn) close() {
	c.once.Do(func() {
		close(c.gone)
		_ = c.ws.Close()
	})
}

// write sends what is queued, until the socket ends.
func (s *Server) write(c *conn) {
	for {
		select {
		case <-c.gone:
			return
		case <-c.rouse:
		}
		s.mu.Lock()
		queue := c.queue
		c.queue = nil
		silent := c.silent
		s.mu.Unlock()
		if silent {
			continue // what was meant for it is lost
		}
		for _, f := range queue {
			if err := c.send(f); err != nil || f.cut || f.end {
				c.close()
				return
			}
		}
	}
}

func (c *conn) send(f frame) error {
	limit := time.Now().Add(10 * time.Second)
	switch {
	case f.ping:
		return c.ws.WriteControl(websocket.PingMessage, []byte("ping from the fake"), limit)
	case f.end:
		return c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), limit)
	case f.cut:
		head := []byte{0x81, 126, byte(len(f.data) >> 8), byte(len(f.data))}
		_, err := c.ws.NetConn().Write(append(head, f.data[:len(f.data)/2]...))
		return err
	}
	_ = c.ws.SetWriteDeadline(limit)
	return c.ws.WriteMessage(websocket.TextMessage, f.data)
}

// read takes acknowledgements until the socket ends.
func (s *Server) read(c *conn) {
	muted := func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return c.silent
	}
	c.ws.SetPingHandler(func(data string) error {
		if muted() {
			return nil
		}
		return c.ws.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(time.Second))
	})
	c.ws.SetReadLimit(1 << 20)
	for {
		_, raw, err := c.ws.ReadMessage()
		if err != nil {
			return
		}
		s.takeAck(c, raw)
	}
}

func (s *Server) takeAck(c *conn, raw []byte) {
	var in struct {
		Envelope string          `json:"envelope_id"`
		Payload  json.RawMessage `json:"payload"`
	}
	err := json.Unmarshal(raw, &in)
	if string(in.Payload) == "{}" || string(in.Payload) == "null" {
		in.Payload = nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.silent {
		return
	}
	d := s.envelopes[in.Envelope]
	drop := func(code string) {
		r := Record{Kind: AckDropped, Code: code, App: c.app.ID, Conn: c.number, Envelope: in.Envelope}
		if d != nil {
			r.Event = d.id
		}
		s.note(r)
	}
	switch f := s.takeFault(AckMethod, ""); {
	case f != nil:
		s.counts.Faulted++
		drop(string(f.Kind))
	case err != nil || d == nil || d.app != c.app:
		s.note(Record{Kind: AckUnknown, App: c.app.ID, Conn: c.number, Envelope: in.Envelope, Text: string(raw)})
	case len(raw) >= maxAck:
		drop("too_large")
	case d.on != c && !d.acked:
		// Whether Slack takes an acknowledgement from another socket is not documented; an app must not count on it.
		drop("other_socket")
	default:
		s.ack(d, in.Envelope, in.Payload)
	}
}

// disconnect warns a socket and ends it after a while. s.mu is held.
func (s *Server) disconnect(c *conn, reason string) {
	select {
	case <-c.gone:
		return
	default:
	}
	c.draining = true
	s.note(Record{Kind: Warned, App: c.app.ID, Conn: c.number, Code: reason})
	c.push(frame{data: disconnectFrame(reason)})
	if reason == "link_disabled" || reason == "too_many_websockets" {
		c.push(frame{end: true})
		return
	}
	s.after(s.opt.Notice, func() { c.push(frame{end: true}) })
}

// severAll ends all sockets of all apps when the server ends.
func (s *Server) severAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.apps {
		for _, c := range a.conns {
			c.close()
		}
	}
}

// reset makes the end of a connection a reset.
func (c *conn) reset() {
	if tcp, ok := c.ws.NetConn().(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	c.close()
}
