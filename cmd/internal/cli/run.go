package cli

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"herald/cmd/internal/redact"
	"herald/cmd/internal/service"
	"herald/config"
)

type runCmd struct{}

// Run is the service. It ends at SIGTERM or SIGINT in good order, at a second one at once; SIGHUP reads the configuration again.
func (runCmd) Run(e *env) error {
	cfg, err := e.load()
	if err != nil {
		return err
	}
	return e.serve(cfg, service.Options{Config: cfg, Version: version()}, e.Err)
}

// errHard: a person did not want to wait. Nothing is lost: the next start goes on from the last commits.
var errHard = errors.New("stopped at once by a second signal; what was under way goes on at the next start")

// serve runs a service until a signal ends it, and keeps its configuration up to date.
func (e *env) serve(cfg *config.Config, o service.Options, logTo io.Writer) error {
	level := new(slog.LevelVar)
	level.Set(service.Level(cfg))
	secrets := new(redact.Secrets)
	secrets.Set(service.SecretsOf(cfg)...)
	o.Config, o.Level, o.Secrets = cfg, level, secrets
	o.Log = service.NewLogger(logTo, cfg.Log.Format, level, secrets)

	stops := make(chan os.Signal, 2)
	signal.Notify(stops, syscall.SIGTERM, os.Interrupt)
	defer signal.Stop(stops)
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGHUP)
	defer signal.Stop(reload)

	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- e.work(ctx, o, reload) }()
	for asked := false; ; asked = true {
		select {
		case err := <-done:
			return err
		case sig := <-stops:
			if asked {
				// The work is left to the end of the process: waiting for it is what the person did not want.
				return codeError{Failed, errHard}
			}
			o.Log.Info("signal", "signal", sig.String())
			cancel()
		}
	}
}

// work opens the service, runs it, and watches its configuration meanwhile.
func (e *env) work(ctx context.Context, o service.Options, reload <-chan os.Signal) error {
	var s *service.Service
	_, err := e.whileInUse(o.Config, func() (err error) {
		s, err = service.New(ctx, o)
		return err
	})
	if err != nil {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return nil // a signal ended the start
		}
		return err
	}
	wctx, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		err := config.Watch(wctx, config.WatchOptions{
			Load: e.options(), Current: o.Config, Signal: reload,
			Apply: func(c *config.Config) {
				if err := s.Apply(wctx, c); err != nil {
					o.Log.Error("the changed configuration is not in force", "error", err)
					return
				}
				o.Log.Info("the changed configuration is in force")
			},
			Report: func(err error) { o.Log.Error("configuration", "error", err) },
		})
		if err != nil {
			o.Log.Error("the configuration is not watched; changes need a restart", "error", err)
		}
	})
	err = s.Run(ctx)
	stop()
	wg.Wait()
	return err
}
