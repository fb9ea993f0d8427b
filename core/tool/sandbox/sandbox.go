package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Limits of one run; a zero field means the default.
type Limits struct {
	// Time is how long it may take. Default a minute.
	Time time.Duration
	// CPU is how long its processes may compute, all together. Default as long as Time.
	CPU time.Duration
	// Memory is how many bytes its processes may hold, all together, not counting what they wrote to their folders. Default 512 MiB.
	Memory int64
	// Processes is how many processes and threads it may have at a time. Default 64.
	Processes int
	// Output is how many bytes each of stdout and stderr may have. Default 1 MiB.
	Output int
	// Disk is how many bytes it may keep in its own folder, and as many in /tmp. They count as memory of the machine. In a folder that stays it is
	// by how much that may grow; a file takes 4 KiB at least. Default 64 MiB.
	Disk int64
}

// The defaults of [Limits].
const (
	DefaultTime      = time.Minute
	DefaultMemory    = 512 << 20
	DefaultProcesses = 64
	DefaultOutput    = 1 << 20
	DefaultDisk      = 64 << 20
)

func (l Limits) withDefaults() Limits {
	set := func(n *int64, d int64) {
		if *n <= 0 {
			*n = d
		}
	}
	if l.Time <= 0 {
		l.Time = DefaultTime
	}
	if l.CPU <= 0 {
		l.CPU = l.Time
	}
	if l.Processes <= 0 {
		l.Processes = DefaultProcesses
	}
	if l.Output <= 0 {
		l.Output = DefaultOutput
	}
	set(&l.Memory, DefaultMemory)
	set(&l.Disk, DefaultDisk)
	return l
}

// Command is what to run: Program, then the path of Script, then Args.
type Command struct {
	// Program begins with the name of a program, such as "python3", or with an absolute path; more words are its first arguments.
	Program []string
	// Script is a file below Files, with slashes; "" for none.
	Script string
	Args   []string
	// Files is what the program may read: a copy of it as it is now. nil for nothing. Symbolic links are left out. Of a folder of this
	// machine it should be the file system of an [os.Root], so that nothing leads out of it.
	Files fs.FS
	// Work is a folder of this machine in which the program works and whose changes stay. "" gives it an empty one that ends with it.
	Work string
	// Env is the program's environment beside PATH, HOME, TMPDIR and LANG.
	Env    map[string]string
	Stdin  []byte
	Limits Limits
}

// Why says why a run was ended before its time.
type Why string

// The reasons.
const (
	TooLong      Why = "time"
	TooMuchCPU   Why = "cpu"
	TooMuch      Why = "memory"
	TooMany      Why = "processes"
	TooTalkative Why = "output"
	TooFull      Why = "disk"
)

// Result is how a run ended.
type Result struct {
	Stdout, Stderr string
	// Code is the exit code; 128 and more are signals.
	Code int
	// Ended is set when a limit ended the run; Stdout and Stderr hold what had come until then.
	Ended Why
}

// OK reports whether the program did what it was run for.
func (r Result) OK() bool { return r.Code == 0 && r.Ended == "" }

// Failure says in a sentence why a run is no success, with the program's own last words; "" when it was one.
func (r Result) Failure(l Limits) string {
	l = l.withDefaults()
	var s string
	switch r.Ended {
	case "":
		if r.Code == 0 {
			return ""
		}
		s = fmt.Sprintf("it ended with exit code %d", r.Code)
	case TooLong:
		s = fmt.Sprintf("it was ended because it ran longer than %s", l.Time)
	case TooMuchCPU:
		s = fmt.Sprintf("it was ended because it computed longer than %s", l.CPU)
	case TooMuch:
		s = fmt.Sprintf("it was ended because it held more than %d MiB of memory", l.Memory>>20)
	case TooMany:
		s = fmt.Sprintf("it was ended because it had more than %d processes", l.Processes)
	case TooFull:
		s = fmt.Sprintf("it was ended because it added more than %d MiB to its folder", l.Disk>>20)
	case TooTalkative:
		s = fmt.Sprintf("it was ended because it wrote more than %d KiB", l.Output>>10)
	}
	if said := strings.TrimSpace(r.Stderr); said != "" {
		const tail = 4 << 10
		if len(said) > tail {
			said = "[…] " + strings.ToValidUTF8(said[len(said)-tail:], "")
		}
		s += "; stderr: " + said
	}
	return s
}

// Errors of [Runner.Run], beside that of its context.
var (
	// ErrNoSandbox: bwrap is missing or does not work, and nothing may run without it.
	ErrNoSandbox = errors.New("programs cannot be run safely on this machine")
	// ErrNoProgram: the program is not installed.
	ErrNoProgram = errors.New("is not installed")
)

// Options of a [Runner].
type Options struct {
	// Unsandboxed lets programs run without bwrap where bwrap does not work: with this process's rights on files and network.
	Unsandboxed bool
	// Temp is the folder for copies and working folders while a program runs; "" means that of the system.
	Temp string
	// Parallel is how many programs may run at once; further ones wait. 0 means 4.
	Parallel int
	// Bwrap is the path of bwrap; "" looks for it on the PATH.
	Bwrap string
}

// Runner runs programs. It is safe for concurrent use.
type Runner struct {
	opts  Options
	slots chan struct{}

	mu      sync.Mutex
	profile *profile // found to work
}

// New makes a runner. It looks for bwrap when that is first needed.
func New(o Options) *Runner {
	if o.Parallel <= 0 {
		o.Parallel = 4
	}
	return &Runner{opts: o, slots: make(chan struct{}, o.Parallel)}
}

// searched is where programs are looked for, inside of the sandbox as outside.
const searched = "/usr/local/bin:/usr/bin:/bin"

// Find is the path of a program as a run would find it. Errors: [ErrNoProgram].
func (r *Runner) Find(name string) (string, error) {
	if filepath.IsAbs(name) {
		if executable(name) {
			return name, nil
		}
		return "", fmt.Errorf("%s %w", name, ErrNoProgram)
	}
	if name != "" && !strings.Contains(name, "/") {
		for _, dir := range filepath.SplitList(searched) {
			if p := filepath.Join(dir, name); executable(p) {
				return p, nil
			}
		}
	}
	return "", fmt.Errorf("%q %w in any of %s", name, ErrNoProgram, searched)
}

// executable reports whether path is a program that the sandbox shows: what stands outside of the system's folders is not there.
func executable(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	info, err := os.Stat(real)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
		return false
	}
	for _, dir := range append([]string{"/usr"}, systemDirs...) {
		if within(dir, real) {
			return true
		}
	}
	return false
}

func within(dir, path string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// Check reports how programs are run. The error is [ErrNoSandbox] with the reason and the remedy when they are not run at all, or run
// without a sandbox; sandboxed tells the two apart.
func (r *Runner) Check(ctx context.Context) (runs, sandboxed bool, err error) {
	if _, err := r.ready(ctx); err != nil {
		return r.opts.Unsandboxed, false, err
	}
	return true, true, nil
}

// ready is the profile that works here. What works once works on; what does not is tried again each time.
func (r *Runner) ready(ctx context.Context) (*profile, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.profile != nil {
		return r.profile, nil
	}
	path := r.opts.Bwrap
	if path == "" {
		p, err := exec.LookPath("bwrap")
		if err != nil {
			return nil, fmt.Errorf("%w: bwrap is not on the PATH; install the package bubblewrap", ErrNoSandbox)
		}
		path = p
	}
	var said error
	// A container may forbid a fresh /proc while all the rest works.
	for _, p := range []*profile{{bwrap: path, proc: true}, {bwrap: path}} {
		res, err := r.start(ctx, p, Command{Program: []string{"true"}, Limits: Limits{Time: 20 * time.Second}}.prepared())
		if err == nil && !res.OK() {
			err = errors.New(res.Failure(Limits{}))
		}
		if err == nil {
			r.profile = p
			return p, nil
		}
		if said == nil {
			said = err
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return nil, fmt.Errorf("%w: %s does not work here: %w; allow this account to make user namespaces (in a container: a seccomp profile that lets it)", ErrNoSandbox, path, said)
}

func (c Command) prepared() Command {
	c.Limits = c.Limits.withDefaults()
	return c
}

// Run runs a command and waits for its end. A program that fails or meets a limit is a [Result], no error. When ctx ends the program is
// killed and the error is that of ctx.
func (r *Runner) Run(ctx context.Context, c Command) (Result, error) {
	c = c.prepared()
	if len(c.Program) == 0 {
		return Result{}, errors.New("there is no program to run")
	}
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
	p, err := r.ready(ctx)
	if err != nil {
		if ctx.Err() != nil || !r.opts.Unsandboxed {
			return Result{}, err
		}
		p = nil
	}
	if _, err := r.Find(c.Program[0]); err != nil {
		return Result{}, err
	}
	return r.start(ctx, p, c)
}
