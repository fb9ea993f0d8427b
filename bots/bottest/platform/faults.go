package platform

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"strconv"
	"time"

	"herald/bots/bottest/wire"
)

// FaultKind is how a call goes wrong.
type FaultKind string

// The faults of a call.
const (
	RateLimit   FaultKind = "rate_limit"   // 429 with Retry-After; nothing done
	ServerError FaultKind = "server_error" // 5xx; nothing done
	Refusal     FaultKind = "refusal"      // 4xx with a code; nothing done
	DeadToken   FaultKind = "dead_token"   // 401; nothing done
	Hang        FaultKind = "hang"         // nothing done, no answer until the app goes away
	HangApplied FaultKind = "hang_applied" // done, no answer until the app goes away
	Reset       FaultKind = "reset"        // the connection breaks; nothing done
	LoseReply   FaultKind = "lose_reply"   // done, then the connection breaks without an answer
	CutReply    FaultKind = "cut_reply"    // done, then the connection breaks within the answer
	ApplyError  FaultKind = "apply_error"  // done, then 5xx
)

// applies reports whether the call is carried out before it goes wrong.
func (k FaultKind) applies() bool {
	return k == HangApplied || k == LoseReply || k == CutReply || k == ApplyError
}

// Fault makes the next calls that it matches go wrong. Faults are used in the order in which they were injected.
type Fault struct {
	Op   Op
	Kind FaultKind
	// Channel limits the fault to one channel; empty means all.
	Channel string
	// Times is how many calls go wrong; 0 means one, a negative number all until [Server.Heal].
	Times int
	// Skip lets that many matching calls through first.
	Skip int
	// Status of a ServerError or Refusal; 503 and 400 by default. Code is the refusal's word; "refused" by default.
	Status int
	Code   string
	// RetryAfter of a RateLimit, rounded up to whole seconds as on the wire; Whole makes it hold for all channels.
	RetryAfter time.Duration
	Whole      bool
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
func (s *Server) takeFault(op Op, channel string) *Fault {
	for i, f := range s.faults {
		if f.Op != op && (f.Op != AnyCall || op == OpStream || op == OpAck) {
			continue
		}
		if f.Channel != "" && f.Channel != channel {
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
		seconds := int64((f.RetryAfter + time.Second - 1) / time.Second)
		w.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
		writeTrouble(w, http.StatusTooManyRequests, wire.Trouble{Code: "rate_limited", Reason: "too many calls", Whole: f.Whole})
	case ServerError, ApplyError:
		writeTrouble(w, orStatus(f.Status, http.StatusServiceUnavailable), wire.Trouble{Code: "unavailable", Reason: "the test platform is told to fail"})
	case Refusal:
		code := f.Code
		if code == "" {
			code = "refused"
		}
		writeTrouble(w, orStatus(f.Status, http.StatusBadRequest), wire.Trouble{Code: code, Reason: "the test platform is told to refuse"})
	case DeadToken:
		writeTrouble(w, http.StatusUnauthorized, wire.Trouble{Code: "token_revoked", Reason: "the token is not valid any more"})
	case Hang, HangApplied:
		select {
		case <-r.Context().Done():
		case <-s.done:
		}
	case Reset, LoseReply:
		breakConnection(w, nil)
	case CutReply:
		breakConnection(w, []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 400\r\n\r\n{\"found\":true,\"mess"))
	}
}

// breakConnection writes raw bytes and resets the connection.
func breakConnection(w http.ResponseWriter, raw []byte) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if len(raw) > 0 {
		_, _ = conn.Write(raw)
	} else if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // a reset, not an orderly end
	}
	_ = conn.Close()
}

func orStatus(status, otherwise int) int {
	if status != 0 {
		return status
	}
	return otherwise
}

func writeTrouble(w http.ResponseWriter, status int, t wire.Trouble) { writeJSON(w, status, t) }

func writeJSON(w http.ResponseWriter, status int, v any) {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(v); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}
