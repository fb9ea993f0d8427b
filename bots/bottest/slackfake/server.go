package slackfake

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// Server is one Slack with all its workspaces. Its methods may be called from any goroutine.
type Server struct {
	opt    Options
	url    string
	ctx    context.Context // ends with Close
	end    context.CancelFunc
	http   *http.Server
	client *http.Client // delivers events to request URLs
	up     websocket.Upgrader
	rouse  chan struct{}
	wg     sync.WaitGroup

	mu      sync.Mutex
	skew    time.Duration
	micros  int64
	ids     uint64
	jobs    uint64
	agenda  agenda
	changed chan struct{}

	teams    map[string]*team
	apps     map[string]*app
	installs []*install
	tokens   map[string]*install
	channels map[string]*channel
	users    map[string]*user
	dms      map[[2]string]*channel // bot user, person

	deliveries map[string]*delivery // by event or interaction id
	envelopes  map[string]*delivery
	waiting    []*delivery // patient ones without a socket
	tickets    map[string]ticket
	conns      int
	triggers   map[string]*trigger
	responses  map[string]*response
	views      map[string]*view
	stacks     map[[2]string][]*view // app, user
	files      map[string]*file
	loseShares bool

	faults  []*Fault
	buckets map[string]*bucket
	journal []Record
	counts  Counts
}

// Start opens a server on a free port of the loopback interface. It ends with ctx or [Server.Close].
func Start(ctx context.Context, o Options) (*Server, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open a fake Slack on a free port of 127.0.0.1: %w; free some ports and try again", err)
	}
	s := &Server{
		opt: o.withDefaults(), url: "http://" + l.Addr().String(), rouse: make(chan struct{}, 1),
		teams: map[string]*team{}, apps: map[string]*app{}, tokens: map[string]*install{}, channels: map[string]*channel{},
		users: map[string]*user{}, dms: map[[2]string]*channel{}, deliveries: map[string]*delivery{}, envelopes: map[string]*delivery{},
		tickets: map[string]ticket{}, triggers: map[string]*trigger{}, responses: map[string]*response{}, views: map[string]*view{},
		stacks: map[[2]string][]*view{}, files: map[string]*file{}, buckets: map[string]*bucket{},
		up: websocket.Upgrader{ReadBufferSize: 4096, WriteBufferSize: 4096, CheckOrigin: func(*http.Request) bool { return true }},
	}
	s.ctx, s.end = context.WithCancel(ctx)
	s.client = &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if !s.opt.Bare {
		s.standing()
	}
	s.http = &http.Server{Handler: s.routes(), ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return s.ctx }}
	s.wg.Go(func() { _ = s.http.Serve(l) })
	s.wg.Go(s.tick)
	s.wg.Go(func() {
		<-s.ctx.Done()
		_ = s.http.Close()
		s.severAll()
		s.client.CloseIdleConnections()
	})
	return s, nil
}

// Close ends all connections and waits until the server is gone.
func (s *Server) Close() {
	s.end()
	s.wg.Wait()
}

// URL is the server's root; APIURL, for an SDK, is below it.
func (s *Server) URL() string { return s.url }

// APIURL is where the Web API's methods are, with a slash at its end.
func (s *Server) APIURL() string { return s.url + "/api/" }

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/api/{method}", s.serveAPI)
	mux.HandleFunc("GET /link/", s.serveSocket)
	mux.HandleFunc("POST /response/{id}", s.serveResponse)
	mux.HandleFunc("POST /upload/{id}", s.serveUpload)
	mux.HandleFunc("GET /files/{id}/{name}", s.serveFile)
	return mux
}

// writeJSON answers with JSON that leaves < > & as they are, like Slack.
func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := encode(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b)
}

// mustEncode is for values that this package makes of what was already JSON.
func mustEncode(v any) json.RawMessage {
	b, err := encode(v)
	if err != nil {
		panic(fmt.Sprintf("slackfake: a value that is no JSON: %v", err))
	}
	return b
}
