package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// watchEvery is how often a run's processes are looked at.
const watchEvery = 50 * time.Millisecond

// weighEvery is how often the folder is looked at in which a run works.
const weighEvery = 500 * time.Millisecond

// pipeWait is how long a run's outputs may stay open after its end: a process that escaped a run without a sandbox may hold them.
const pipeWait = time.Second

// start runs a command in the profile, or, when p is nil, without a sandbox.
func (r *Runner) start(ctx context.Context, p *profile, c Command) (res Result, err error) {
	base, err := os.MkdirTemp(r.opts.Temp, "herald-run-")
	if err != nil {
		return Result{}, fmt.Errorf("a folder for the run could not be made: %w", err)
	}
	defer func() {
		if e := os.RemoveAll(base); e != nil && err == nil {
			err = fmt.Errorf("the folder of the run could not be removed: %w", e)
		}
	}()
	files := ""
	if c.Files != nil {
		files = filepath.Join(base, "files")
		if err := copyTree(c.Files, files); err != nil {
			return Result{}, fmt.Errorf("the files of the run could not be copied: %w", err)
		}
	}
	cmd, args, err := r.command(p, c, base, files)
	if err != nil {
		return Result{}, err
	}
	if err := lower(cmd, c.Work, base); err != nil {
		return Result{}, err
	}
	return perform(ctx, cmd, args, c)
}

// command is the process to start. What bwrap reads from the pipe on its descriptor 3 is returned too.
func (r *Runner) command(p *profile, c Command, base, files string) (*exec.Cmd, []byte, error) {
	if p == nil {
		work := c.Work
		if work == "" {
			work = filepath.Join(base, "work")
			if err := os.Mkdir(work, 0o700); err != nil {
				return nil, nil, err
			}
		}
		program, err := r.Find(c.Program[0])
		if err != nil {
			return nil, nil, err
		}
		env := environment(c.Env, work, work)
		cmd := &exec.Cmd{Path: program, Args: c.words(files), Dir: work, Env: []string{}}
		for _, k := range slices.Sorted(maps.Keys(env)) {
			cmd.Env = append(cmd.Env, k+"="+env[k])
		}
		return cmd, nil, nil
	}
	var args bytes.Buffer
	for _, a := range p.options(lookAtHost(), c, files) {
		if strings.ContainsRune(a, 0) {
			return nil, nil, errors.New("a name or a value holds a zero byte")
		}
		args.WriteString(a)
		args.WriteByte(0)
	}
	words := append([]string{p.bwrap, "--args", "3", "--"}, c.words(filesAt)...)
	return &exec.Cmd{Path: p.bwrap, Args: words, Dir: "/", Env: []string{}}, args.Bytes(), nil
}

// perform starts the process, bounds and watches it, and ends its whole group.
func perform(ctx context.Context, cmd *exec.Cmd, args []byte, c Command) (Result, error) {
	over := make(chan Why, 1)
	end := func(w Why) {
		select {
		case over <- w:
		default:
		}
	}
	stdout, stderr := &capped{limit: c.Limits.Output, full: end}, &capped{limit: c.Limits.Output, full: end}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(c.Stdin), stdout, stderr
	cmd.WaitDelay = pipeWait
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true

	var give *os.File
	if args != nil {
		take, g, err := os.Pipe()
		if err != nil {
			return Result{}, fmt.Errorf("a pipe could not be made: %w", err)
		}
		defer take.Close()
		defer g.Close()
		give, cmd.ExtraFiles = g, []*os.File{take}
	}
	limits := boundsOf(c.Limits, cmd)
	before := weigh(c.Work)
	if err := cmd.Start(); err != nil {
		return Result{}, fmt.Errorf("%s could not be started: %w", filepath.Base(cmd.Path), err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }() // ends below: the group is killed and waited for on every way out
	kill := func() error {
		killGroup(cmd.Process.Pid)
		return <-done
	}
	// bwrap waits for its options, so that the limits hold before anything of the command runs. Without it the program may be a
	// moment ahead of them.
	if err := setBounds(cmd, limits); err != nil && !errors.Is(err, syscall.ESRCH) {
		_ = kill()
		return Result{}, fmt.Errorf("the limits of a run could not be set: %w", err)
	}
	if give != nil {
		var feeding sync.WaitGroup
		defer feeding.Wait()
		for _, f := range cmd.ExtraFiles {
			_ = f.Close() // the child has its own
		}
		feeding.Go(func() {
			_, _ = give.Write(args) // bwrap that ended early says itself why
			_ = give.Close()
		})
	}

	timer := time.NewTimer(c.Limits.Time)
	defer timer.Stop()
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	full := time.NewTicker(weighEvery)
	defer full.Stop()
	var why Why
	for {
		var err error
		select {
		case err = <-done:
			killGroup(cmd.Process.Pid)
			select {
			case why = <-over:
			default:
			}
		case <-ctx.Done():
			_ = kill()
			return Result{}, ctx.Err()
		case why = <-over:
			err = kill()
		case <-timer.C:
			why = TooLong
			err = kill()
		case <-tick.C:
			if why = excess(usageOf(cmd.Process.Pid), c.Limits); why == "" {
				continue
			}
			err = kill()
		case <-full.C:
			if weigh(c.Work)-before <= c.Limits.Disk {
				continue
			}
			why = TooFull
			err = kill()
		}
		return resultOf(cmd, stdout, stderr, why, err)
	}
}

func resultOf(cmd *exec.Cmd, stdout, stderr *capped, why Why, err error) (Result, error) {
	res := Result{Stdout: stdout.String(), Stderr: stderr.String(), Ended: why}
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
	case errors.As(err, &exit):
	default:
		return res, fmt.Errorf("%s: %w", filepath.Base(cmd.Path), err)
	}
	if st, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && st.Signaled() {
		res.Code = 128 + int(st.Signal())
	} else {
		res.Code = cmd.ProcessState.ExitCode()
	}
	return res, nil
}

// excess says which limit the processes of a run exceed, "" for none.
func excess(u usage, l Limits) Why {
	switch {
	case u.processes > l.Processes+2: // bwrap itself, outside and inside
		return TooMany
	case u.memory > l.Memory:
		return TooMuch
	case u.cpu > l.CPU:
		return TooMuchCPU
	}
	return ""
}

// What a folder is looked through for: so many entries at most, each of which takes a block at least.
const (
	maxWeighed = 100_000
	block      = 4 << 10
)

// weigh is how much a folder of this machine takes, 0 for none. What goes away meanwhile is left out.
func weigh(dir string) int64 {
	if dir == "" {
		return 0
	}
	var sum, n int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if n++; n > maxWeighed {
			return fs.SkipAll
		}
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			sum += max(info.Size(), block)
		} else {
			sum += block
		}
		return nil
	})
	return sum
}

// usage is what the processes of a run take at the moment, all together.
type usage struct {
	processes int
	memory    int64 // bytes
	cpu       time.Duration
}

// capped keeps the first bytes and says when there are more.
type capped struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	limit int
	full  func(Why)
}

// Write implements [io.Writer]. It takes everything, so that nobody waits for it.
func (w *capped) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if free := w.limit - w.buf.Len(); free >= len(p) {
		w.buf.Write(p)
	} else {
		w.buf.Write(p[:free])
		w.full(TooTalkative)
	}
	return len(p), nil
}

func (w *capped) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.ToValidUTF8(w.buf.String(), "\uFFFD")
}

func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
