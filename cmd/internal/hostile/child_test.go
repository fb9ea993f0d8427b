package hostile_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"herald/bots/bottest/platform"
)

// home is a place in which the program runs: its folder and all that it sees of an environment.
type home struct {
	t   *testing.T
	dir string
	env []string
}

func newHome(t *testing.T, env ...string) *home {
	t.Helper()
	dir := shortDir(t)
	return &home{t, dir, append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "XDG_CONFIG_HOME=" + dir + "/config", "HERALD_DATA_DIR=" + dir + "/data",
		"HERALD_HTTP__LISTEN=127.0.0.1:0", "HERALD_OUTBOX__CHANNEL_INTERVAL_MS=0", "HERALD_OUTBOX__WORKSPACE_INTERVAL_MS=0", "HERALD_TURN__LEASE_SECONDS=2",
	}, env...)}
}

func (h *home) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program(h.t), args...)
	cmd.Dir, cmd.Env = h.dir, h.env
	return cmd
}

// result is what a command came to.
type result struct {
	code     int
	out, err string
}

// do runs a command to its end.
func (h *home) do(stdin string, args ...string) result {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), patience)
	defer cancel()
	cmd := h.command(ctx, args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	err := cmd.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended || ctx.Err() != nil {
		h.t.Fatalf("herald %s: %v\n%s", strings.Join(args, " "), err, &errs)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// child is a running service.
type child struct {
	t        *testing.T
	cmd      *exec.Cmd
	out, log *buffer
	ended    chan struct{}
	err      error
}

// start starts a service and waits until it is ready.
func (h *home) start(args ...string) *child {
	h.t.Helper()
	c := &child{t: h.t, cmd: h.command(context.WithoutCancel(h.t.Context()), args...), out: new(buffer), log: new(buffer), ended: make(chan struct{})}
	c.cmd.Stdout, c.cmd.Stderr = c.out, c.log
	if err := c.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	go func() {
		c.err = c.cmd.Wait()
		close(c.ended)
	}()
	h.t.Cleanup(func() { _ = c.cmd.Process.Kill(); <-c.ended })
	c.until("ready", func() bool { return c.address() != "" })
	return c
}

var readyLine = regexp.MustCompile(`msg"?[=:]"?ready"?.*?http"?[=:]"?([0-9.:]+)`)

// address is where health and metrics are served, "" before the service is ready.
func (c *child) address() string {
	m := readyLine.FindStringSubmatch(c.log.String())
	if m == nil {
		return ""
	}
	return m[1]
}

// until waits for what only the log or a socket shows.
func (c *child) until(what string, cond func() bool) {
	c.t.Helper()
	end := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-c.ended:
			c.t.Fatalf("the service ended before it was %s: %v\n%s", what, c.err, c.log)
		case <-end:
			c.t.Fatalf("the service did not become %s\n%s", what, c.log)
		}
	}
}

// stop ends the service in good order.
func (c *child) stop() {
	c.t.Helper()
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-c.ended:
	case <-time.After(patience):
		c.t.Fatalf("the service does not stop\n%s", c.log)
	}
	if c.err != nil {
		c.t.Errorf("the service ended with %v\n%s", c.err, c.log)
	}
}

// fetch reads a page of the service.
func fetch(t *testing.T, c *child, path string) string {
	t.Helper()
	res, err := http.Get("http://" + c.address() + path)
	if err != nil {
		t.Fatalf("%v\n%s", err, c.log)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(res.Header, string(body))
}

// waitFor waits for what the platform sees while a service runs.
func waitFor(t *testing.T, p *platform.Server, c *child, what string, cond func(platform.View) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := p.Wait(ctx, what, cond); err != nil {
		t.Fatalf("%v\n%s", err, c.log)
	}
}
