package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"herald/agents"
	"herald/bots/console/proto"
	"herald/config"
	"herald/core/chat"
	"herald/core/people"
	"herald/core/worker"
)

// serverGrace is how long an answer of a server may take at the end before its connection is cut.
const serverGrace = time.Second

// drainLook is how often the stop looks whether everything was said; it is nothing to a person and little to the machine.
const drainLook = 5 * time.Millisecond

// task is something that runs until it is told to stop.
type task struct {
	name   string
	cancel context.CancelFunc
	done   chan struct{}
	err    error
}

// Run works until ctx ends, then stops in order: no further event is taken, turns come to a commit from which they can go on
// within the configured grace, what is to be said goes out, and the store is closed last. It returns nil after an orderly stop,
// or the error of the part that failed.
func (s *Service) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, s.Close()) }()
	defer ballast()()
	failed := make(chan *task, 16)
	start := func(name string, f func(ctx context.Context) error) *task {
		// A task ends when its turn comes in the order of the stop, not with ctx.
		tctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
		t := &task{name: name, cancel: cancel, done: make(chan struct{})}
		go func() {
			defer close(t.done)
			if t.err = f(tctx); t.err != nil && tctx.Err() == nil {
				failed <- t
			}
		}()
		return t
	}
	var order [][]*task // each group is stopped and waited for before the next
	hints := start("hints", func(ctx context.Context) error { return worker.Listen(ctx, s.store, s.engines.all()...) })
	out := start("outbox", s.engines.outbox.Run)
	turns := start("turns", s.engines.turns.Run)
	owed := start("handover", s.engines.handover.Run)
	replicas := start("replicas", s.engines.replicas.Run)
	beside := []*task{hints, replicas}
	if s.opens() {
		beside = append(beside, start("alarms", s.alarms().Run))
	}
	var servers, platforms []*task
	if s.web != nil {
		servers = append(servers, start("http", serve(s.web, httpHandler(s.ready, s.metrics, s.mount))))
	}
	if s.control != nil {
		servers = append(servers, start("control socket", serve(s.control, s.controlHandler())))
	}
	for _, c := range s.runs {
		platforms = append(platforms, start("platform", c.Run))
	}
	// The answers of the last turns are said before the outbox stops.
	last := start("last deliveries", s.drain)
	order = append(order, platforms, []*task{turns}, []*task{last}, []*task{out, owed}, beside, servers)

	s.ready.started.Store(true)
	s.log.Info("ready", "version", s.opts.Version, "http", s.Address(), "socket", s.socketPath(), "store", s.cfg.Store.Target.Driver, "holder", s.holder)
	var cause error
	select {
	case <-ctx.Done():
		s.log.Info("stopping", "grace", s.cfg.ShutdownGrace)
	case t := <-failed:
		cause = fmt.Errorf("%s: %w", t.name, t.err)
		s.log.Error("stopping: a part failed", "part", t.name, "error", t.err)
	}
	s.ready.stopping.Store(true)
	for _, group := range order {
		for _, t := range group {
			t.cancel()
		}
		for _, t := range group {
			<-t.done
			if t.err != nil && cause == nil {
				cause = fmt.Errorf("%s: %w", t.name, t.err)
			}
		}
	}
	s.engines.beside.Wait()
	s.log.Info("stopped")
	return cause
}

// drain waits, when it is told to stop, until the outbox has nothing under way, for as long as the grace allows. A delivery that
// waits for its platform is not under way: it goes on at the next start.
func (s *Service) drain(ctx context.Context) error {
	<-ctx.Done()
	end := time.After(min(s.cfg.ShutdownGrace, lastSends))
	look := time.NewTicker(drainLook)
	defer look.Stop()
	for {
		if st := s.engines.outbox.Stats(); st.Running == 0 && st.Wanted == 0 {
			return nil
		}
		select {
		case <-look.C:
		case <-end:
			return nil
		}
	}
}

func (s *Service) socketPath() string {
	if s.control == nil {
		return ""
	}
	return s.cfg.Socket
}

// serve serves h on l until ctx ends. Open requests see that end through their own context.
func serve(l net.Listener, h http.Handler) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			<-ctx.Done()
			c, cancel := context.WithTimeout(context.WithoutCancel(ctx), serverGrace)
			defer cancel()
			if srv.Shutdown(c) != nil {
				_ = srv.Close() // a client that reads slowly for ever
			}
		}()
		err := srv.Serve(l)
		cancel()
		<-closed
		if !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	}
}

// Apply puts a changed configuration in force as far as that needs no restart: models and providers, log level, admins, secrets.
func (s *Service) Apply(ctx context.Context, cfg *config.Config) error {
	s.setSecrets(cfg)
	s.opts.Level.Set(Level(cfg))
	if err := s.setModels(cfg); err != nil {
		return err
	}
	s.now.Store(cfg)
	s.permits.Store(permissionsOf(cfg, s.opts.Allow))
	return s.syncAdmins(ctx, people.New(s.store), cfg)
}

// receiver takes events from the platforms while the service is not stopping.
func (s *Service) receiver() chat.Receiver { return receiver{s} }

type receiver struct{ s *Service }

// Receive hands in on. At the stop an event is left unacknowledged: the platform sends it again, to this service or another one.
func (r receiver) Receive(ctx context.Context, in *chat.Inbound) (chat.Outcome, error) {
	if r.s.ready.stopping.Load() {
		return "", errStopping
	}
	return r.s.intake.Receive(ctx, withoutSecrets(in, r.s.opts.Secrets.Clean))
}

// facts tells a script what an answer in the terminal took.
func (s *Service) facts(ctx context.Context, c chat.Conversation, message string) (proto.Facts, error) {
	rec, err := recordOf(ctx, s.store, c, message)
	if err != nil {
		return proto.Facts{}, err
	}
	f := proto.Facts{Session: rec.Session, InputTokens: rec.Usage.Input, OutputTokens: rec.Usage.Output, Cost: rec.Cost}
	switch {
	case rec.Failure != nil:
		f.Failure = rec.Failure.Kind
	case rec.Stopped:
		f.Failure = "stopped"
	}
	return f, nil
}

// AgentOptions are how a configuration's agents are found.
func AgentOptions(cfg *config.Config, log *slog.Logger) agents.Options {
	return agents.Options{Dir: cfg.Agents.Dir, MayBeMissing: cfg.Source("agents.dir").Kind == config.FromDefault, Log: log}
}
