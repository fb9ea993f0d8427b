package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"herald/bots/bottest/testbot"
	"herald/cmd/internal/service"
	"herald/core/chat"
)

// Platform is the small platform at url, as a service connects to it.
func Platform(url string, log *slog.Logger) (service.Platform, error) {
	named, err := testbot.New(testbot.Options{URL: url})
	if err != nil {
		return service.Platform{}, err
	}
	return service.Platform{
		Name: named.Workspace().Platform(),
		Open: func(r chat.Receiver) (service.Connection, error) {
			return testbot.New(testbot.Options{URL: url, Receiver: r, Log: log})
		},
	}, nil
}

// child is the service in a process of its own.
type child struct {
	cmd *exec.Cmd
	// out is the tail of its log, shown when something went wrong.
	out *tail
}

// startChild starts program with args in dir; env is all that it sees of settings.
func startChild(ctx context.Context, program, dir string, args, env []string) (*child, error) {
	c := &child{cmd: exec.CommandContext(ctx, program, args...), out: new(tail)}
	c.cmd.Dir, c.cmd.Env, c.cmd.Stderr = dir, env, c.out
	c.cmd.SysProcAttr = &syscall.SysProcAttr{}
	c.cmd.Cancel = func() error { return c.cmd.Process.Signal(syscall.SIGTERM) }
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the service: %w", err)
	}
	return c, nil
}

// kill ends it as a crash does, and waits until it is gone.
func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}

// stop ends it in good order.
func (c *child) stop() error {
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return c.cmd.Wait()
}

// environment is the parent's without any setting of Herald's, and with ours.
func environment(parent []string, ours ...string) []string {
	var env []string
	for _, kv := range parent {
		if !strings.HasPrefix(kv, "HERALD_") && !strings.HasPrefix(kv, "XDG_") {
			env = append(env, kv)
		}
	}
	return append(env, ours...)
}
