package platform

import (
	"bufio"
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"sync"

	"herald/bots/bottest/wire"
)

// stream is one open connection of the app.
type stream struct {
	number int
	conn   net.Conn

	mu     sync.Mutex
	lines  [][]byte
	closed bool
	wake   chan struct{} // 1
}

func (st *stream) push(line []byte) {
	st.mu.Lock()
	st.lines = append(st.lines, line)
	st.mu.Unlock()
	select {
	case st.wake <- struct{}{}:
	default:
	}
}

func (s *Server) serveStream(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	fault := s.takeFault(OpStream, "")
	if fault != nil {
		s.counts.Faulted++
		s.note(Record{Kind: Faulted, Op: OpStream, Code: string(fault.Kind)})
	}
	s.mu.Unlock()
	if fault != nil {
		s.fail(w, r, fault)
		return
	}
	if r.Header.Get("Upgrade") != wire.StreamProtocol {
		writeTrouble(w, http.StatusUpgradeRequired, wire.Trouble{Code: "upgrade", Reason: "the stream speaks " + wire.StreamProtocol})
		return
	}
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		s.opt.Log.Error("take over the connection of a stream", "err", err)
		return
	}
	defer conn.Close()
	_, _ = rw.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: " + wire.StreamProtocol + "\r\n\r\n")
	if rw.Flush() != nil {
		return
	}
	st := &stream{conn: conn, wake: make(chan struct{}, 1)}
	s.attach(st)
	var both sync.WaitGroup
	both.Go(func() { s.writeStream(st, rw.Writer) })
	s.readAcks(st, rw.Reader)
	_ = conn.Close()
	st.mu.Lock()
	st.closed = true
	st.mu.Unlock()
	select {
	case st.wake <- struct{}{}:
	default:
	}
	both.Wait()
	s.detach(st)
}

// writeStream writes what is pushed until the connection ends, as much at once as there is.
func (s *Server) writeStream(st *stream, w *bufio.Writer) {
	for range st.wake {
		st.mu.Lock()
		lines, closed := st.lines, st.closed
		st.lines = nil
		st.mu.Unlock()
		if closed {
			return
		}
		for _, l := range lines {
			if _, err := w.Write(l); err != nil {
				_ = st.conn.Close() // the reader sees the end and closes the stream
			}
		}
		if w.Flush() != nil {
			_ = st.conn.Close()
		}
	}
}

func (s *Server) readAcks(st *stream, r *bufio.Reader) {
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 4096), wire.MaxLine)
	for sc.Scan() {
		var a wire.Ack
		if err := json.Unmarshal(sc.Bytes(), &a); err != nil || a.Ack == "" {
			s.mu.Lock()
			s.counts.Refused++
			s.note(Record{Kind: Refused, Op: OpAck, Code: "malformed", Stream: st.number})
			s.mu.Unlock()
			continue
		}
		c := Call{Op: OpAck, Event: a.Ack}
		s.observe(Arrived, c)
		s.ack(st, a.Ack)
		s.observe(Applied, c)
	}
}

// attach makes a stream one of those that get events and gives it what no other holds.
func (s *Server) attach(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened++
	st.number = s.opened
	if s.closed { // the end came between taking over the connection and now
		_ = st.conn.Close()
		return
	}
	s.streams = append(s.streams, st)
	s.counts.Connected++
	s.note(Record{Kind: Connected, Stream: st.number})
	s.prune()
	for _, e := range s.order {
		if !e.held && e.on == nil {
			s.deliver(e)
		}
	}
}

func (s *Server) detach(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams = slices.DeleteFunc(s.streams, func(o *stream) bool { return o == st })
	for _, e := range s.order {
		if e.on == st {
			e.on = nil
		}
	}
	if len(s.streams) > 0 { // another one stands: it gets the rest at once
		for _, e := range s.order {
			if e.on == nil && !e.held && !e.acked {
				s.deliver(e)
			}
		}
	}
	s.note(Record{Kind: Disconnected, Stream: st.number})
}
