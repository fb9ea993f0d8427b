package modeltest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"herald/core/model"
)

// maxRequest bounds a request's body.
const maxRequest = 64 << 20

// Server is an OpenAI-compatible endpoint that answers by rules, the first that matches; without a match it echoes. It refuses
// what a strict provider refuses. The zero Server works; set its fields before the first request.
type Server struct {
	// Key, when set, must be the bearer token; any other is answered with 401.
	Key   string
	Rules []Rule
	// Lenient answers also what a strict provider would refuse; it is counted all the same.
	Lenient bool
	// Unchecked answers without a look at the history: rules see the last user message alone, and nothing counts as a violation.
	// It is for benches, where the endpoint shares the machine with what is measured.
	Unchecked bool
	// Record keeps what was asked; see [Server.Records]. Without it only counters are kept, and a request costs little.
	Record bool
	// Conversation tells conversations apart for [Record.Shared]; by the first user message when nil.
	Conversation func(r *model.Request) string

	calls, violations, ids atomic.Int64

	mu      sync.Mutex
	late    []Rule
	records []Record
	bodies  map[string][]byte // the last one of each conversation
}

// Record is one request that a [Server] was asked.
type Record struct {
	Model string
	// Request is what was asked, as a driver was given it: ids and names are those of the wire.
	Request *model.Request
	Body    []byte
	Header  http.Header
	// Shared is how many bytes at the beginning of the body are the same as in the request before it in its conversation.
	Shared int
	// Violation is why a strict provider refuses it; empty when it does not.
	Violation string
}

// Calls is the number of requests for an answer so far.
func (s *Server) Calls() int { return int(s.calls.Load()) }

// Violations is the number of requests that a strict provider refuses.
func (s *Server) Violations() int { return int(s.violations.Load()) }

// Records are the requests so far, in the order of their arrival. The Server must have Record set.
func (s *Server) Records() []Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Record(nil), s.records...)
}

// On adds rules that come before all others. It may be called while the server works.
func (s *Server) On(rules ...Rule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late = append(append([]Rule(nil), rules...), s.late...)
}

// Start serves on a free port of the loopback interface. baseURL is what a driver wants; stop ends the server and waits for it.
func (s *Server) Start(ctx context.Context) (baseURL string, stop func(), err error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("modeltest: listen on loopback: %w", err)
	}
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l) // ends with Close
	}()
	return "http://" + l.Addr().String() + "/v1", func() {
		_ = server.Close() // cuts what still hangs; there is nothing else to do about it
		<-done
	}, nil
}

// Handler serves …/chat/completions and …/models.
func (s *Server) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case s.Key != "" && r.Header.Get("Authorization") != "Bearer "+s.Key:
			refuse(w, http.StatusUnauthorized, "invalid_request_error", "invalid_api_key", "Incorrect API key provided")
		case strings.HasSuffix(r.URL.Path, "/models") && r.Method == http.MethodGet:
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"test","object":"model"}]}`)
		case strings.HasSuffix(r.URL.Path, "/chat/completions") && r.Method == http.MethodPost:
			s.complete(w, r)
		default:
			refuse(w, http.StatusNotFound, "invalid_request_error", "", "Unknown request URL: "+r.Method+" "+r.URL.Path)
		}
	})
}

func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	s.calls.Add(1)
	body, err := read(r)
	if err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request_error", "", "reading the body: "+err.Error())
		return
	}
	q, err := s.parse(body)
	s.record(q, body, r.Header, err)
	if err != nil {
		s.violations.Add(1)
		if !s.Lenient || q == nil {
			refuse(w, http.StatusBadRequest, "invalid_request_error", "", err.Error())
			return
		}
	}
	s.mu.Lock()
	rules := append(append(make([]Rule, 0, len(s.late)+len(s.Rules)), s.late...), s.Rules...)
	s.mu.Unlock()
	p := &player{w: w, r: r, q: q, reply: decide(rules, &q.request), key: strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")}
	p.play()
}

func read(r *http.Request) ([]byte, error) {
	if r.ContentLength < 0 || r.ContentLength > maxRequest {
		return io.ReadAll(io.LimitReader(r.Body, maxRequest))
	}
	body := make([]byte, r.ContentLength)
	_, err := io.ReadFull(r.Body, body)
	return body, err
}

// parse reads a body and says why a strict provider refuses it.
func (s *Server) parse(body []byte) (*wireQuery, error) {
	var q *wireQuery
	if s.Unchecked {
		q = glance(body)
	}
	var err error
	if q == nil {
		if q, err = parseWire(body); err != nil {
			return nil, err
		}
		if !s.Unchecked {
			err = q.validate()
		}
	}
	q.request.NewCallID = func() string { return fmt.Sprintf("call_%d", s.ids.Add(1)) }
	return q, err
}

func (s *Server) record(q *wireQuery, body []byte, h http.Header, violation error) {
	if !s.Record {
		return
	}
	rec := Record{Body: body, Header: h.Clone()}
	if violation != nil {
		rec.Violation = violation.Error()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if q != nil {
		rec.Model, rec.Request = q.model, &q.request
		key := s.conversation(&q.request)
		rec.Shared = shared(s.bodies[key], body)
		if s.bodies == nil {
			s.bodies = map[string][]byte{}
		}
		s.bodies[key] = body
	}
	s.records = append(s.records, rec)
}

func (s *Server) conversation(r *model.Request) string {
	if s.Conversation != nil {
		return s.Conversation(r)
	}
	for i := range r.Messages {
		if r.Messages[i].Role == model.User {
			return r.Messages[i].Text
		}
	}
	return ""
}

func shared(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// refuse answers with an error in OpenAI's form.
func refuse(w http.ResponseWriter, status int, kind, code, message string) {
	b, err := json.Marshal(map[string]any{"error": map[string]any{"message": message, "type": kind, "param": nil, "code": code}})
	if err != nil {
		b = []byte(`{"error":{"message":"unprintable"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b)
}
