package hostile_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"

	"herald/bots/bottest/wire"
)

// wild is a platform that sends any bytes at all as events, and takes all posts.
type wild struct {
	server *httptest.Server
	mu     sync.Mutex
	conn   net.Conn
	opened int
	acked  map[string]int
	said   []wire.Send
	change chan struct{}
}

func startWild(t *testing.T) *wild {
	t.Helper()
	w := &wild{acked: map[string]int{}, change: make(chan struct{}, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+wire.StreamPath, w.stream)
	mux.HandleFunc("POST "+wire.SendPath, w.send)
	mux.HandleFunc("POST "+wire.EditPath, w.send)
	mux.HandleFunc("POST "+wire.FindPath, func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte("{}")) })
	w.server = httptest.NewServer(mux)
	t.Cleanup(func() {
		w.cut()
		w.server.Close()
	})
	return w
}

func (w *wild) url() string {
	f := features()
	f.Workspace, f.Edits = "wild", false
	return wire.Address(w.server.URL, f)
}

func (w *wild) note(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
	select {
	case w.change <- struct{}{}:
	default:
	}
}

func (w *wild) stream(rw http.ResponseWriter, _ *http.Request) {
	conn, buf, err := http.NewResponseController(rw).Hijack()
	if err != nil {
		return
	}
	_, _ = buf.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: " + wire.StreamProtocol + "\r\n\r\n")
	_ = buf.Flush()
	w.note(func() { w.conn, w.opened = conn, w.opened+1 })
	for sc := bufio.NewScanner(buf); sc.Scan(); {
		var a wire.Ack
		if json.Unmarshal(sc.Bytes(), &a) == nil {
			w.note(func() { w.acked[a.Ack]++ })
		}
	}
	_ = conn.Close()
}

// cut ends the stream that stands.
func (w *wild) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conn != nil {
		_ = w.conn.Close()
	}
}

func (w *wild) send(rw http.ResponseWriter, r *http.Request) {
	var in wire.Send
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(rw, "no", http.StatusBadRequest)
		return
	}
	n := 0
	w.note(func() { w.said = append(w.said, in); n = len(w.said) })
	_ = json.NewEncoder(rw).Encode(wire.Reply{Found: true, Message: strconv.Itoa(1_000_000 + n)})
}

// line writes bytes to the stream, as they are.
func (w *wild) line(b string) {
	w.mu.Lock()
	conn := w.conn
	w.mu.Unlock()
	_, _ = conn.Write([]byte(b)) // a service that has hung up opens another one
}

// wait waits until cond, which is asked with the lock held.
func (w *wild) wait(t *testing.T, r *rig, what string, cond func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		w.mu.Lock()
		ok := cond()
		w.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-w.change:
		case <-ctx.Done():
			t.Fatalf("no %s\n%s", what, r.tail())
		}
	}
}
