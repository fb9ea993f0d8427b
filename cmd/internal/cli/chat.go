package cli

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/term"

	"herald/bots/console/terminal"
	"herald/cmd/internal/control"
	"herald/cmd/internal/redact"
	"herald/cmd/internal/service"
	"herald/config"
)

type chatCmd struct {
	Once *string `placeholder:"TEXT" help:"Say this, print the answer alone, and end. It continues the terminal's conversation."`
	JSON bool    `name:"json" help:"With --once: print answer, session, tokens and cost as JSON."`
}

// Run talks in the terminal: to the running service, or to one that lives as long as the conversation. Where a person sits at a screen, a signal that
// ends the process, as a window that is closed sends one, ends it after the terminal is as it was before.
func (c chatCmd) Run(e *env) error {
	if c.JSON && c.Once == nil {
		return usagef("--json needs --once: it is the form of one answer")
	}
	if c.Once != nil && strings.TrimSpace(*c.Once) == "" {
		return usagef("--once: the message is empty: type something")
	}
	if c.Once == nil && e.isTerminal() {
		var stop context.CancelFunc
		e.ctx, stop = signal.NotifyContext(e.ctx, syscall.SIGTERM, syscall.SIGHUP)
		defer stop()
	}
	cfg, err := e.load()
	if err != nil {
		return err
	}
	client := control.NewClient(cfg.Socket)
	defer client.Close()
	conn, err := client.Dial(e.ctx)
	if err == nil {
		_ = conn.Close()
		return c.talk(e.ctx, e, cfg, client)
	}
	if !errors.Is(err, control.ErrNotRunning) {
		return err
	}
	return c.embedded(e, cfg, client)
}

// embedded runs the service for as long as the conversation lasts.
func (c chatCmd) embedded(e *env, cfg *config.Config, client *control.Client) error {
	if c.Once != nil && len(cfg.Models) == 0 {
		// The service would answer that an admin must name a model. A script's operator is told how.
		return codeError{NoModel, errors.New(cfg.NoModelHint())}
	}
	level := new(slog.LevelVar)
	level.Set(max(service.Level(cfg), slog.LevelWarn))
	secrets := new(redact.Secrets)
	var logTo io.Writer = e.Err
	if c.Once == nil && e.isTerminal() {
		// Lines of a log between the lines of a conversation would be read as part of it.
		logTo = io.Discard
	}
	var s *service.Service
	running, err := e.whileInUse(cfg, func() (err error) {
		s, err = service.New(e.ctx, service.Options{
			Config: cfg, Log: service.NewLogger(logTo, cfg.Log.Format, level, secrets), Level: level, Secrets: secrets, Version: version(), NoHTTP: true,
		})
		return err
	})
	if running {
		return c.talk(e.ctx, e, cfg, client)
	}
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(e.ctx)
	ended := make(chan error, 1)
	go func() {
		err := s.Run(ctx)
		stop() // a service that fails ends the conversation
		ended <- err
	}()
	err = c.talk(ctx, e, cfg, client)
	stop()
	if e.ctx.Err() != nil {
		// A signal: nobody waits for what is under way, and the next start goes on with it.
		return err
	}
	if failed := <-ended; failed != nil {
		return failed
	}
	return err
}

// talk is the conversation, or the one question.
func (c chatCmd) talk(ctx context.Context, e *env, cfg *config.Config, client *control.Client) error {
	o := terminal.Options{
		Dial: client.Dial, In: e.In, Out: e.Out, Err: e.Err, TTY: e.isTerminal(), HistoryFile: cfg.Console.HistoryFile, Environ: e.Env,
	}
	if c.Once == nil {
		return terminal.Chat(ctx, o)
	}
	r, err := terminal.Once(ctx, o, *c.Once)
	if err != nil {
		return err
	}
	if err := r.Print(e.Out, c.JSON); err != nil {
		return err
	}
	switch {
	case r.Failure == "":
		return nil
	case strings.HasPrefix(r.Failure, "model: "):
		return quietError{NoModel}
	default:
		return quietError{Failed}
	}
}

// isTerminal reports whether a person sits at both ends.
func (e *env) isTerminal() bool {
	for _, f := range []any{e.In, e.Out} {
		f, ok := f.(*os.File)
		if !ok || !term.IsTerminal(int(f.Fd())) {
			return false
		}
	}
	return true
}
