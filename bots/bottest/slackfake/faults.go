package slackfake

import (
	"net"
	"net/http"
	"strconv"
	"time"
)

// FaultKind is how a call goes wrong.
type FaultKind string

// The faults of a call.
const (
	RateLimit   FaultKind = "rate_limit"   // 429 with Retry-After; nothing done
	LimitBody   FaultKind = "limit_body"   // "ratelimited" in a body with status 200; nothing done
	Refusal     FaultKind = "refusal"      // "ok": false with an error; nothing done
	Mute        FaultKind = "mute"         // "ok": false without an error; nothing done
	ServerError FaultKind = "server_error" // 5xx; nothing done
	HTML        FaultKind = "html"         // a page in place of JSON, status 200; nothing done
	Hang        FaultKind = "hang"         // nothing done, no answer until the app goes away
	HangApplied FaultKind = "hang_applied" // done, no answer until the app goes away
	Reset       FaultKind = "reset"        // the connection breaks; nothing done
	LoseReply   FaultKind = "lose_reply"   // done, then the connection breaks without an answer
	CutReply    FaultKind = "cut_reply"    // done, then the connection breaks within the answer
	ApplyError  FaultKind = "apply_error"  // done, then 5xx
	DropAck     FaultKind = "drop_ack"     // of the method "ack": the acknowledgement is lost
)

// AckMethod is the name by which a [Fault] means the acknowledgements on a socket, UploadMethod and DownloadMethod the way of a
// file's bytes, ResponseMethod a post to a response_url.
const (
	AckMethod      = "ack"
	UploadMethod   = "upload"
	DownloadMethod = "download"
	ResponseMethod = "response_url"
)

// applies reports whether the call is carried out before it goes wrong.
func (k FaultKind) applies() bool {
	return k == HangApplied || k == LoseReply || k == CutReply || k == ApplyError
}

// Fault makes the next calls that it matches go wrong. Faults are used in the order in which they were injected.
type Fault struct {
	// Method of the Web API, such as chat.postMessage; empty means all of it.
	Method string
	Kind   FaultKind
	// Channel limits the fault to one channel; empty means all.
	Channel string
	// Times is how many calls go wrong; 0 means one, a negative number all until [Server.Heal].
	Times int
	// Skip lets that many matching calls through first.
	Skip int
	// Error is the word of a Refusal; fatal_error by default. Messages go with it as response_metadata.
	Error    string
	Messages []string
	// Status of a ServerError or ApplyError; 503 by default.
	Status int
	// RetryAfter of a RateLimit, rounded up to whole seconds as on the wire; 0 leaves the header out.
	RetryAfter time.Duration
}

// Inject makes coming calls go wrong.
func (s *Server) Inject(f Fault) {
	if f.Times == 0 {
		f.Times = 1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &f)
}

// Heal ends all injected faults. Calls that hang stay so.
func (s *Server) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// takeFault finds the fault of a call and uses it up; nil means that the call goes well. s.mu is held.
func (s *Server) takeFault(method, channel string) *Fault {
	for i, f := range s.faults {
		own := method == AckMethod || method == UploadMethod || method == DownloadMethod || method == ResponseMethod
		if f.Method != method && (f.Method != "" || own) || f.Channel != "" && f.Channel != channel {
			continue
		}
		if f.Skip > 0 {
			f.Skip--
			continue
		}
		if f.Times > 0 {
			if f.Times--; f.Times == 0 {
				s.faults = append(s.faults[:i:i], s.faults[i+1:]...)
			}
		}
		return f
	}
	return nil
}

// fail carries out a fault's visible part.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, f *Fault) {
	switch f.Kind {
	case RateLimit:
		limited(w, f.RetryAfter)
	case LimitBody:
		writeJSON(w, http.StatusOK, finish(nil, refuse("ratelimited")))
	case Refusal:
		code := f.Error
		if code == "" {
			code = "fatal_error"
		}
		writeJSON(w, http.StatusOK, finish(nil, refuse(code, f.Messages...)))
	case Mute:
		writeJSON(w, http.StatusOK, reply{"ok": false})
	case ServerError, ApplyError:
		status := f.Status
		if status == 0 {
			status = http.StatusServiceUnavailable
		}
		http.Error(w, "the fake Slack was told to fail", status)
	case HTML:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte("<!DOCTYPE html><html><body>There's been a glitch…</body></html>"))
	case Hang, HangApplied:
		select {
		case <-r.Context().Done():
		case <-s.ctx.Done():
		}
		panic(http.ErrAbortHandler) // no answer, not even an empty one
	case Reset, LoseReply:
		breakConnection(w, "")
	case CutReply:
		breakConnection(w, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 400\r\n\r\n{\"ok\":true,\"chan")
	}
}

func limited(w http.ResponseWriter, wait time.Duration) {
	if wait > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10))
	}
	writeJSON(w, http.StatusTooManyRequests, finish(nil, refuse("ratelimited")))
}

// breakConnection writes raw bytes and breaks the connection.
func breakConnection(w http.ResponseWriter, raw string) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if raw != "" {
		_, _ = conn.Write([]byte(raw))
	} else if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // a reset, not an orderly end
	}
	_ = conn.Close()
}
