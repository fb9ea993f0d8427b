package cli

import (
	"fmt"
	"log/slog"
	"os"

	"herald/cmd/internal/demo"
	"herald/cmd/internal/service"
)

type demoCmd struct{}

// Run tells the story with this very program as the service.
func (demoCmd) Run(e *env) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the program to run as the service: %w", err)
	}
	return demo.Run(e.ctx, demo.Options{Out: e.Out, Program: program, Args: []string{"demo-service"}, Env: e.Env})
}

type demoServiceCmd struct {
	URL string `arg:"" help:"Address of the platform."`
}

// Run is the service of the demo: the one of "run", connected to the demo's platform in place of a terminal.
func (d demoServiceCmd) Run(e *env) error {
	cfg, err := e.load()
	if err != nil {
		return err
	}
	p, err := demo.Platform(d.URL, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return e.serve(cfg, service.Options{Version: version(), Platforms: []service.Platform{p}, NoConsole: true}, e.Err)
}
