package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// startWait and stopWait bound a start and an orderly stop; both are far above what a sound service takes.
const (
	startWait = 30 * time.Second
	stopWait  = 40 * time.Second
)

// proc is a service in a process of its own.
type proc struct {
	cmd *exec.Cmd
	// began is the instant before the process was made.
	began time.Time
	// http and gauges are addresses that it logged.
	http, gauges string

	ended chan struct{} // closed when the log has ended
	mu    sync.Mutex
	tail  []string
}

// startProc starts cmd and waits until it says that it is ready and its /readyz agrees; that took the returned time since exec.
func startProc(ctx context.Context, cmd *exec.Cmd) (*proc, time.Duration, error) {
	p := &proc{cmd: cmd, ended: make(chan struct{})}
	out, err := cmd.StderrPipe()
	if err != nil {
		return nil, 0, err
	}
	p.began = time.Now()
	if err := cmd.Start(); err != nil {
		return nil, 0, err
	}
	ready := make(chan struct{})
	go p.read(out, ready)
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	select {
	case <-ready:
	case <-p.ended:
		return nil, 0, errors.Join(errors.New("the service ended at its start: "+p.said()), cmd.Wait())
	case <-ctx.Done():
		p.kill()
		return nil, 0, fmt.Errorf("the service was not ready: %w: %s", ctx.Err(), p.said())
	}
	for {
		code, text, err := get(ctx, "http://"+p.http+"/readyz")
		if err == nil && code == http.StatusOK {
			return p, time.Since(p.began), nil
		}
		if ctx.Err() != nil {
			p.kill()
			return nil, 0, fmt.Errorf("the service did not become ready: status %d, %s, %w", code, text, errors.Join(err, ctx.Err()))
		}
		pause(ctx, time.Millisecond)
	}
}

// pause waits for d or the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// read keeps the tail of the log and finds the addresses in it.
func (p *proc) read(out io.Reader, ready chan<- struct{}) {
	defer close(p.ended)
	for sc := bufio.NewScanner(out); sc.Scan(); {
		line := sc.Text()
		if a := attribute(line, "address"); strings.Contains(line, "msg=gauges") {
			p.gauges = a
		}
		if a := attribute(line, "http"); ready != nil && strings.Contains(line, "msg=ready") {
			p.http = a
			close(ready)
			ready = nil
		}
		p.mu.Lock()
		if p.tail = append(p.tail, line); len(p.tail) > 20 {
			p.tail = p.tail[1:]
		}
		p.mu.Unlock()
	}
}

// attribute is the value of one attribute of a line of the log, "" without it.
func attribute(line, name string) string {
	_, v, ok := strings.Cut(line, " "+name+"=")
	if !ok {
		return ""
	}
	v, _, _ = strings.Cut(v, " ")
	return v
}

func (p *proc) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.tail, "\n")
}

func (p *proc) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
	_ = p.cmd.Wait()
}

// stop ends the service in good order.
func (p *proc) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	late := time.AfterFunc(stopWait, func() { _ = p.cmd.Process.Kill() })
	defer late.Stop()
	<-p.ended
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("the service did not stop in good order: %w: %s", err, p.said())
	}
	return nil
}

// reading is what the service's metrics and gauges say at one instant.
type reading struct {
	at  time.Time
	cpu time.Duration
	m   map[string]float64
}

// read asks the service for its counters.
func (p *proc) counters(ctx context.Context) (reading, error) {
	r := reading{at: time.Now(), m: map[string]float64{}}
	_, text, err := get(ctx, "http://"+p.http+"/metrics")
	if err != nil {
		return r, err
	}
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), " ")
		if f, err := strconv.ParseFloat(value, 64); ok && err == nil {
			r.m[name] = f
		}
	}
	if p.gauges == "" {
		return r, nil
	}
	_, text, err = get(ctx, "http://"+p.gauges+"/gauges")
	if err != nil {
		return r, err
	}
	var g gauges
	if err := json.Unmarshal([]byte(text), &g); err != nil {
		return r, err
	}
	r.cpu = time.Duration(g.CPUMicros) * time.Microsecond
	return r, nil
}

// of is a metric's value; one that is missing is an error of the bench, not a nought.
func (r reading) of(name string) (float64, error) {
	v, ok := r.m[name]
	if !ok {
		return 0, fmt.Errorf("the service has no metric %s", name)
	}
	return v, nil
}

// get is one request on a connection of its own, so that no idle one counts among the service's goroutines.
func get(ctx context.Context, url string) (status int, body string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(raw), err
}
