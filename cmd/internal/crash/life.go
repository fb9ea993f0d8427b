package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
)

// life is one child process from its start to its end.
type life struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	done chan struct{}
	err  error // of the end; read it after done

	asking sync.Mutex
	out    *bufio.Reader
}

// begin starts a child. It ends with the parent at the latest.
func begin(b birth) (*life, error) {
	spec, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	log, err := os.OpenFile(filepath.Join(b.Dir, logFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	l := &life{cmd: exec.Command(exe), done: make(chan struct{})}
	l.cmd.Env = append(os.Environ(), childEnv+"="+string(spec))
	l.cmd.Stderr = log
	if l.in, err = l.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	// A pipe of our own: StdoutPipe is closed by Wait, perhaps while somebody reads.
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	l.cmd.Stdout, l.out = w, bufio.NewReader(r)
	err = l.cmd.Start()
	_ = w.Close()
	if err != nil {
		_ = r.Close()
		return nil, fmt.Errorf("start a service: %w", err)
	}
	go func() {
		l.err = l.cmd.Wait()
		close(l.done)
		l.asking.Lock()
		defer l.asking.Unlock()
		_ = r.Close()
	}()
	return l, nil
}

// look asks the child what its store still holds.
func (l *life) look() ([]string, error) {
	l.asking.Lock()
	defer l.asking.Unlock()
	if _, err := io.WriteString(l.in, "look\n"); err != nil {
		return nil, err
	}
	line, err := l.out.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	var left []string
	return left, json.Unmarshal(line, &left)
}

// signal sends a signal; a child that has ended needs none.
func (l *life) signal(s syscall.Signal) { _ = l.cmd.Process.Signal(s) }

// wait waits for the end of the child.
func (l *life) wait(ctx context.Context) error {
	select {
	case <-l.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the service does not end: %w", context.Cause(ctx))
	}
}

// killed reports whether the child, which has ended, ended by SIGKILL.
func (l *life) killed() bool { return l.signalled() == syscall.SIGKILL }

// signalled is the signal that ended the child, 0 when none did.
func (l *life) signalled() syscall.Signal {
	exit, ok := errors.AsType[*exec.ExitError](l.err)
	if !ok {
		return 0
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal()
	}
	return 0
}

// obeyed reports whether the child, which has ended, did so as it was asked to: in good order, at once, or by the signal itself when that
// came before the child had begun to listen. A panic is none of these.
func (l *life) obeyed() bool {
	exit, failed := errors.AsType[*exec.ExitError](l.err)
	switch l.signalled() {
	case syscall.SIGKILL, syscall.SIGTERM:
		return true
	}
	return l.err == nil || failed && exit.ExitCode() == exitHard
}

// kill ends the child at once and waits for it.
func (l *life) kill() {
	l.signal(syscall.SIGKILL)
	<-l.done
}
