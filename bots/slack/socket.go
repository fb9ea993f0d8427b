package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"herald/core/chat"
)

const (
	openMethod = "apps.connections.open"
	// helloWait is how long a new connection may take to greet.
	helloWait = 10 * time.Second
	// maxFrame is above every envelope that Slack sends.
	maxFrame = 8 << 20
	// maxAck is the size from which Slack drops an acknowledgement in silence.
	maxAck = 20 << 10
	// writeWait is how long a frame may take to leave.
	writeWait = 5 * time.Second
)

// errSilent: nothing came for too long, not even an answer to a ping, although the connection looks open.
var errSilent = errors.New("the connection to Slack is silent: nothing came over it, not even an answer to a ping")

// warned is a disconnect frame.
type warned struct{ reason string }

func (w *warned) Error() string {
	return fmt.Sprintf("Slack ends the connection (%s)", w.reason)
}

// socket is one connection. Its reader ends with the connection; only the supervisor closes it.
type socket struct {
	ws   *websocket.Conn
	born time.Time
	// app is the app's id, under which its events come.
	app string
	// heard is the instant of the last frame, in nanoseconds.
	heard atomic.Int64
	done  chan struct{} // closed when the reader has ended
	why   atomic.Pointer[error]
	write sync.Mutex
	// open counts envelopes that were not acknowledged yet.
	open atomic.Int64
}

// openSocket asks for an address, dials it and waits for the greeting.
func (a *Adapter) openSocket(ctx context.Context) (*socket, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, sendTimeout+helloWait, fmt.Errorf("no greeting within %s: %w", sendTimeout+helloWait, context.DeadlineExceeded))
	defer cancel()
	var answer struct {
		URL string `json:"url"`
	}
	if err := a.call(ctx, a.opt.AppToken, openMethod, nil, &answer); err != nil {
		return nil, err
	}
	if answer.URL == "" {
		return nil, &chat.Outage{Reason: "call " + openMethod + " of Slack: its answer has no address", NotSent: true}
	}
	d := websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: helloWait, ReadBufferSize: 16 << 10, WriteBufferSize: 4 << 10}
	ws, res, err := d.DialContext(ctx, answer.URL, nil)
	if res != nil && res.Body != nil {
		_ = res.Body.Close()
	}
	if err != nil {
		return nil, &chat.Outage{Reason: "open a WebSocket to Slack failed", NotSent: true, Err: hide(err)}
	}
	s := &socket{ws: ws, born: time.Now(), done: make(chan struct{})}
	ws.SetReadLimit(maxFrame)
	stop := context.AfterFunc(ctx, func() { _ = ws.Close() })
	err = s.greeted()
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		_ = ws.Close()
		return nil, err
	}
	return s, nil
}

// greeted reads until the hello.
func (s *socket) greeted() error {
	_ = s.ws.SetReadDeadline(time.Now().Add(helloWait))
	for {
		_, raw, err := s.ws.ReadMessage()
		if err != nil {
			return &chat.Outage{Reason: "Slack did not greet on a new WebSocket", NotSent: true, Err: err}
		}
		var f frame
		if json.Unmarshal(raw, &f) != nil {
			continue
		}
		switch f.Type {
		case "hello":
			_ = s.ws.SetReadDeadline(time.Time{})
			s.hear()
			s.app = f.Info.App
			return nil
		case "disconnect":
			return &warned{f.Reason}
		}
	}
}

func (s *socket) hear() { s.heard.Store(time.Now().UnixNano()) }

// read takes frames until the connection ends, and hands them to take; disconnect frames go to warn.
func (s *socket) read(take func(*frame), warn func(reason string)) {
	defer close(s.done)
	s.ws.SetPingHandler(func(data string) error {
		s.hear()
		_ = s.ws.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(writeWait)) // a connection that takes no pong ends by itself
		return nil
	})
	s.ws.SetPongHandler(func(string) error { s.hear(); return nil })
	for {
		_, raw, err := s.ws.ReadMessage()
		if err != nil {
			s.why.CompareAndSwap(nil, &err)
			return
		}
		s.hear()
		f := decodeFrame(raw)
		if f.Type == "disconnect" {
			warn(f.Reason)
			continue
		}
		take(f)
	}
}

// ping asks for a sign of life each interval, until the connection ends or nothing was heard in two of them; then it breaks it. It counts intervals
// and not time, so that a process that stood still does not take its own silence for Slack's.
func (s *socket) ping(every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	silent, before := 0, s.heard.Load()
	for {
		select {
		case <-s.done:
			return
		case <-t.C:
		}
		silent++
		if heard := s.heard.Load(); heard != before {
			silent, before = 0, heard
		}
		if silent > 2 {
			s.breakWith(errSilent)
			return
		}
		_ = s.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeWait))
	}
}

// breakWith ends the connection at once; its reader ends with cause.
func (s *socket) breakWith(cause error) {
	s.why.CompareAndSwap(nil, &cause)
	_ = s.ws.Close()
}

// bye ends the connection in order: the close frame says that no more is read.
func (s *socket) bye() {
	_ = s.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(time.Second))
	s.breakWith(errStopped)
}

// ack acknowledges an envelope on the connection that brought it; payload may be nil. After an error Slack sends it again.
func (s *socket) ack(envelope string, payload any) error {
	s.open.Add(-1)
	out := struct {
		Envelope string `json:"envelope_id"`
		Payload  any    `json:"payload,omitempty"`
	}{envelope, payload}
	raw, err := json.Marshal(out)
	if err != nil {
		return fmt.Errorf("acknowledge an envelope of Slack: %w", err)
	}
	if len(raw) >= maxAck {
		return fmt.Errorf("acknowledge an envelope of Slack: its payload of %d bytes is above Slack's limit of %d", len(raw), maxAck)
	}
	s.write.Lock()
	defer s.write.Unlock()
	_ = s.ws.SetWriteDeadline(time.Now().Add(writeWait))
	if err := s.ws.WriteMessage(websocket.TextMessage, raw); err != nil {
		return fmt.Errorf("acknowledge an envelope of Slack: %w", err)
	}
	return nil
}
