package service

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"herald/agents"
	"herald/bots/console"
	"herald/bots/console/proto"
	"herald/cmd/internal/control"
	"herald/cmd/internal/redact"
	"herald/config"
	"herald/core/chat"
	"herald/core/command"
	"herald/core/file"
	"herald/core/file/pdf"
	"herald/core/intake"
	"herald/core/model"
	"herald/core/model/openai"
	"herald/core/outbox"
	"herald/core/people"
	"herald/core/store"
	"herald/core/tool"
)

// Connection is a platform that the service is connected to.
type Connection interface {
	chat.Adapter
	// Run hands events on until ctx ends, and reconnects by itself.
	Run(ctx context.Context) error
}

// Platform is a platform to connect to.
type Platform struct {
	Name chat.Platform
	// Open makes the connection; events go to r. It does no network I/O.
	Open func(r chat.Receiver) (Connection, error)
}

// Options are what a service is made of. Only Config, Log and Secrets are required; what stands in the place of something that the
// configuration would give is for tests and measurements.
type Options struct {
	Config  *config.Config
	Log     *slog.Logger
	Level   *slog.LevelVar
	Secrets *redact.Secrets
	Version string
	// Store is used instead of the configured one, and not closed.
	Store store.Store
	// Models are used instead of the configured ones.
	Models []model.Configured
	// Platforms are connected beside the console.
	Platforms []Platform
	// NoConsole leaves the local socket and the console out.
	NoConsole bool
	// NoHTTP leaves health and metrics out.
	NoHTTP bool
	// NewID makes ids, Random numbers in [0, 1); those of the machine when nil. Both must be safe for concurrent use.
	NewID  func() string
	Random func() float64
	// Tools are further tools, and Allow the names of those that the gate lets through.
	Tools []tool.Tool
	Allow []string
	// AlarmEvery is the pause between two looks for trouble that the admins are told of, a minute when it is 0; then trouble must last two minutes.
	AlarmEvery time.Duration
	// Lease overrides the configured lease of turns and deliveries when it is not 0.
	Lease time.Duration
}

// Service is one running Herald. Make it with [New], run it once with [Service.Run], or [Service.Close] it.
type Service struct {
	opts Options
	// cfg is the configuration of the start, now the one in force: what needs a restart is read from the first.
	cfg     *config.Config
	now     atomic.Pointer[config.Config]
	permits atomic.Pointer[permissions]
	log     *slog.Logger
	store   *observed
	agents  *agents.Registry
	authors *authors
	vault   vault
	router  *model.Router
	metrics *metrics
	ready   *readiness
	intake  *intake.Intake
	holder  string

	transport *http.Transport
	console   *console.Adapter
	adapters  map[chat.Platform]chat.Adapter
	// fetchers are those of the adapters that give the bytes of files.
	fetchers map[chat.Platform]chat.Fetcher
	runs     []Connection
	engines  *engines
	paces    *outbox.Pacer
	shared   *sharedFolder

	control net.Listener
	web     net.Listener
	closers []func() error
}

// New opens everything that the service needs and begins nothing. Errors are those of the store, of the sockets and of the
// configuration; what was opened before is closed again.
func New(ctx context.Context, o Options) (*Service, error) {
	if o.NewID == nil {
		o.NewID = crand.Text
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
	if o.Level == nil {
		o.Level = new(slog.LevelVar)
	}
	s := &Service{opts: o, cfg: o.Config, log: o.Log, holder: o.NewID(), adapters: map[chat.Platform]chat.Adapter{}, fetchers: map[chat.Platform]chat.Fetcher{}}
	s.now.Store(o.Config)
	s.permits.Store(permissionsOf(o.Config, o.Allow))
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Service) open(ctx context.Context) error {
	s.setSecrets(s.cfg)
	s.metrics = newMetrics(s.opts.Version)
	for _, step := range []func(context.Context) error{
		s.openStore, s.openModels, s.openAuthors, s.openFiles, s.openIntake, s.openPlatforms, s.openEngines, s.openSockets,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) openStore(ctx context.Context) error {
	st := s.opts.Store
	if st == nil {
		opened, err := OpenStore(ctx, s.cfg, MayCreate(s.cfg), s.log)
		if err != nil {
			return err
		}
		s.closers = append(s.closers, opened.Close)
		st = opened
	}
	s.store = observe(st, func(kind string) { s.metrics.storeFailures.WithLabelValues(kind).Inc() })
	s.metrics.watchStore(st.Stats)
	return checkDurable(ctx, s.cfg, st, s.log)
}

func (s *Service) openModels(context.Context) error {
	s.transport = openai.NewTransport()
	s.closers = append(s.closers, func() error { s.transport.CloseIdleConnections(); return nil })
	s.router = model.NewRouter(model.RouterOptions{Log: s.log, Observe: s.metrics.attempt})
	if err := s.setModels(s.cfg); err != nil {
		return err
	}
	if hint := s.cfg.NoModelHint(); hint != "" && len(s.router.Models()) == 0 {
		s.log.Warn("no model is configured: questions are answered with a note that an admin must name one; see herald doctor")
	}
	s.agents = agents.Open(AgentOptions(s.cfg, s.log))
	s.ready = &readiness{store: s.store.Trouble, models: s.router.Ready, clean: s.opts.Secrets.Clean}
	s.metrics.watchReady(func() bool { _, ok := s.ready.parts(); return ok }, s.router.Health)
	return nil
}

func (s *Service) setModels(cfg *config.Config) error {
	models := s.opts.Models
	if models == nil {
		made, err := Models(cfg, s.transport)
		if err != nil {
			return err
		}
		models = made
	}
	models = slices.Clone(models)
	for i := range models {
		models[i].Model = model.Redacted(models[i].Model, s.opts.Secrets.Scan)
	}
	return s.router.Replace(models)
}

func (s *Service) openIntake(ctx context.Context) error {
	ppl := people.New(s.store)
	if err := s.syncAdmins(ctx, ppl, s.cfg); err != nil {
		return err
	}
	in := s.cfg.Intake
	policy := intake.Policy{Exchanges: in.BotExchanges, Window: in.BotWindow, Silence: in.BotSilence, Inbox: in.InboxLimit}
	var err error
	s.intake, err = intake.New(intake.Options{
		Store: s.store, People: ppl, Commands: command.Default(s.ruleCommands()...), Chats: s.chats, Policy: s.policy(policy), NewID: s.opts.NewID, Log: s.log, Count: s.metrics.event,
	})
	return err
}

func (s *Service) syncAdmins(ctx context.Context, ppl *people.People, cfg *config.Config) error {
	ids := make([]chat.IdentityID, 0, len(cfg.Admins)+1)
	for _, a := range cfg.Admins {
		ids = append(ids, chat.IdentityID(a))
	}
	roles := map[chat.IdentityID]people.Role{}
	for _, r := range cfg.Roles {
		for _, id := range r.People {
			roles[chat.IdentityID(id)] = people.Role(r.Name)
		}
	}
	if err := ppl.SyncRoles(ctx, s.opts.NewID(), ids, roles); err != nil {
		return fmt.Errorf("the admins and roles could not be written to the store: %w", err)
	}
	return nil
}

func (s *Service) openPlatforms(context.Context) error {
	if !s.opts.NoConsole {
		a, err := console.New(console.Options{
			Dir: filepath.Join(s.cfg.DataDir, "console"), Receiver: s.receiver(), User: userName(), Facts: s.facts, Clean: s.opts.Secrets.Clean, Log: s.log,
		})
		if err != nil {
			return err
		}
		s.console = a
		s.closers = append(s.closers, a.Close)
		s.adapters[console.Workspace.Platform()] = a // as often as it likes: nobody limits the terminal
	}
	platforms := slices.Clone(s.opts.Platforms)
	if p, ok := s.slack(); ok {
		platforms = append(platforms, p)
	}
	for _, p := range platforms {
		c, err := p.Open(s.receiver())
		if err != nil {
			return fmt.Errorf("platform %s: %w", p.Name, err)
		}
		s.adapters[p.Name] = paced{c, s.cfg.Turn.StreamEdit}
		if f, ok := c.(chat.Fetcher); ok {
			s.fetchers[p.Name] = f
		}
		s.runs = append(s.runs, c)
		if r, ok := c.(readier); ok {
			s.ready.platforms = append(s.ready.platforms, namedState{string(p.Name), r.Ready})
		}
	}
	return nil
}

// adapter is the adapter of a workspace's platform; false when that platform is not connected.
func (s *Service) adapter(w chat.Workspace) (chat.Adapter, bool) {
	a, ok := s.adapters[w.Platform()]
	return a, ok
}

// reader reads the files that people attach.
func (s *Service) reader() *file.Reader {
	return &file.Reader{PDF: pdf.Text, Fetcher: func(w chat.Workspace) (chat.Fetcher, bool) {
		f, ok := s.fetchers[w.Platform()]
		return f, ok
	}}
}

// userName names the person at the terminal; the account's number where it has no name.
func userName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return fmt.Sprintf("uid-%d", os.Getuid())
}

func (s *Service) openSockets(ctx context.Context) error {
	if !s.opts.NoConsole {
		l, err := control.Listen(ctx, s.cfg.Socket)
		if err != nil {
			return err
		}
		s.control = l
		s.closers = append(s.closers, quiet(l))
	}
	if s.cfg.HTTP.Listen != "off" && !s.opts.NoHTTP {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", s.cfg.HTTP.Listen)
		if err != nil {
			return fmt.Errorf("health and metrics on %s: %w; free the address, or set http.listen to another one or to \"off\"", s.cfg.HTTP.Listen, err)
		}
		s.web = l
		s.closers = append(s.closers, quiet(l))
	}
	return nil
}

// quiet closes c, which its server may have closed already.
func quiet(c io.Closer) func() error {
	return func() error {
		if err := c.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			return err
		}
		return nil
	}
}

// controlHandler serves commands of this machine.
func (s *Service) controlHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+StateRoute, func(w http.ResponseWriter, _ *http.Request) {
		parts, ready := s.ready.parts()
		writeJSON(w, http.StatusOK, State{Version: s.opts.Version, PID: os.Getpid(), Ready: ready, Parts: parts})
	})
	mux.HandleFunc("GET "+DoctorRoute, func(w http.ResponseWriter, r *http.Request) {
		checks := CheckStore(r.Context(), s.store, time.Now)
		checks = append(checks, CheckModels(r.Context(), s.now.Load(), s.router.Models(), r.URL.Query().Get("ask") != "")...)
		checks = append(checks, CheckAgents(s.now.Load(), s.agents)...)
		checks = append(checks, CheckAuthors(r.Context(), s.agents, s.authors.skills, s.authors.tools, s.authors.runner)...)
		checks = append(checks, CheckFiles(s.shared.off))
		for i := range checks {
			checks[i].Text = s.opts.Secrets.Clean(checks[i].Text)
		}
		writeJSON(w, http.StatusOK, checks)
	})
	if s.console != nil {
		mux.Handle(proto.Prefix, s.console.Handler())
	}
	return mux
}

// Address is where health and metrics are served, "" when nowhere.
func (s *Service) Address() string {
	if s.web == nil {
		return ""
	}
	return s.web.Addr().String()
}

// Close frees everything in the reverse order; the store goes last. It is for a service that was not run: [Service.Run] closes
// by itself.
func (s *Service) Close() error {
	var errs []error
	for len(s.closers) > 0 {
		last := len(s.closers) - 1
		errs = append(errs, s.closers[last]())
		s.closers = s.closers[:last]
	}
	return errors.Join(errs...)
}
