package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"herald/core/tool/sandbox"
	"herald/core/tool/sandbox/sandboxtest"
)

// runner is one whose sandbox works.
func runner(t *testing.T) *sandbox.Runner {
	t.Helper()
	return sandboxtest.Runner(t, sandbox.Options{Temp: temp(t)})
}

// temp is a folder that every account may enter, as the system's own is.
func temp(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sandbox-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	return dir
}

func tree(t *testing.T, dir string) fs.FS {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root.FS()
}

// limits are generous in time: a loaded machine is no failure.
var limits = sandbox.Limits{Time: 2 * time.Minute}

func sh(t *testing.T, r *sandbox.Runner, script string, l sandbox.Limits) sandbox.Result {
	t.Helper()
	return run(t, r, sandbox.Command{Program: []string{"sh", "-c", script}, Limits: l})
}

func run(t *testing.T, r *sandbox.Runner, c sandbox.Command) sandbox.Result {
	t.Helper()
	res, err := r.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func need(t *testing.T, r *sandbox.Runner, program string) {
	t.Helper()
	if _, err := r.Find(program); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	r := runner(t)
	files := t.TempDir()
	if err := os.MkdirAll(filepath.Join(files, "scripts"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(files, "scripts", "say.sh"), []byte("cat; echo \"[$1] [$2] $NAME\"; pwd; echo oops >&2; exit 3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	res := run(t, r, sandbox.Command{
		Program: []string{"sh"}, Script: "scripts/say.sh", Args: []string{"a b", "$(id); `id`"}, Files: tree(t, files),
		Env: map[string]string{"NAME": "Ada"}, Stdin: []byte("in "), Limits: limits,
	})
	if res.Stdout != "in [a b] [$(id); `id`] Ada\n/work\n" || res.Stderr != "oops\n" || res.Code != 3 || res.OK() {
		t.Errorf("%+v", res)
	}
	if got := res.Failure(limits); got != "it ended with exit code 3; stderr: oops" {
		t.Errorf("failure %q", got)
	}
}

func TestNothingOfTheEnvironmentIsSeen(t *testing.T) {
	t.Setenv("HERALD_TEST_SECRET", "canary-4711")
	res := sh(t, runner(t), "env; tr '\\0' '\\n' </proc/1/environ", limits)
	if strings.Contains(res.Stdout, "canary-4711") {
		t.Errorf("the environment leaked:\n%s", res.Stdout)
	}
	for _, l := range strings.Split(strings.TrimSpace(res.Stdout), "\n") {
		switch name, _, _ := strings.Cut(l, "="); name {
		case "PATH", "HOME", "TMPDIR", "LANG", "PWD", "OLDPWD", "SHLVL", "_":
		default:
			t.Errorf("the program sees %q", l)
		}
	}
}

// Each escape prints OUT when it got out.
func TestEscapes(t *testing.T) {
	t.Parallel()
	r := runner(t)
	outside := temp(t)
	secret := filepath.Join(outside, "secret")
	if err := os.WriteFile(secret, []byte("canary-4711"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(outside, 0o777); err != nil {
		t.Fatal(err)
	}
	files := t.TempDir()
	if err := errors.Join(os.Symlink(secret, filepath.Join(files, "link")), os.WriteFile(filepath.Join(files, "own"), []byte("own"), 0o644)); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, script string }{
		{"read outside", "cat " + secret + " && echo OUT; cat /etc/passwd && echo OUT; cat /etc/shadow && echo OUT; ls /home /root /var /tmp/sandbox-test-* && echo OUT"},
		{"read through a link", "cat /files/link && echo OUT; ln -s " + secret + " l; cat l && echo OUT"},
		{"read another process", "ls /proc/" + strconv.Itoa(os.Getpid()) + "/root/ 2>/dev/null | grep -q etc && grep -q sandbox /proc/" + strconv.Itoa(os.Getpid()) + "/cmdline && echo OUT"},
		{"write outside", "echo x > " + outside + "/new && echo OUT; echo x > /usr/new && echo OUT; echo x > /etc/new && echo OUT; echo x > /new && echo OUT; echo x > /dev/new && echo OUT"},
		{"write to its files", "echo x > /files/own && echo OUT; echo x > /files/new && echo OUT; chmod 777 /files && echo OUT"},
		{"kill", "kill -9 " + strconv.Itoa(os.Getpid()) + " && echo OUT"},
		{"mount", "mount -t tmpfs none /usr && echo OUT; mount -o remount,rw /usr && echo OUT; unshare -Ur true && echo OUT"},
		{"rights", "grep -E '^Cap(Eff|Prm|Bnd)' /proc/self/status | grep -v 0000000000000000 && echo OUT; sudo -n true && echo OUT"},
		{"devices", "ls /dev/vda /dev/sda /dev/mem /dev/kmsg && echo OUT; mknod x b 8 0 && echo OUT"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			res := run(t, r, sandbox.Command{Program: []string{"sh", "-c", tt.script}, Files: tree(t, files), Limits: limits})
			if strings.Contains(res.Stdout, "OUT") || strings.Contains(res.Stdout, "canary") {
				t.Errorf("got out:\n%s%s", res.Stdout, res.Stderr)
			}
		})
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("outside there is now %v, %v", entries, err)
	}
	if b, err := os.ReadFile(filepath.Join(files, "own")); err != nil || string(b) != "own" {
		t.Errorf("its file is now %q, %v", b, err)
	}
}

func TestNoNetwork(t *testing.T) {
	t.Parallel()
	r := runner(t)
	need(t, r, "python3")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	reached := make(chan struct{}, 8)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			reached <- struct{}{}
			_ = c.Close()
		}
	}()
	script := fmt.Sprintf(`
import socket
for to in [("127.0.0.1", %d), ("1.1.1.1", 53)]:
    try:
        socket.create_connection(to, timeout=5)
        print("OUT", to)
    except OSError as e:
        print("no:", e)
`, l.Addr().(*net.TCPAddr).Port)
	res := run(t, r, sandbox.Command{Program: []string{"python3", "-c", script}, Limits: limits})
	if strings.Contains(res.Stdout, "OUT") || strings.Count(res.Stdout, "no:") != 2 || len(reached) > 0 {
		t.Errorf("%+v", res)
	}
}

func TestForkBomb(t *testing.T) {
	t.Parallel()
	r := runner(t)
	need(t, r, "python3")
	// Each fork is counted before it is made: the count is what the bomb got at most.
	script := `
import os, sys, time
n = 0
while n < 1000:
    try:
        if os.fork() == 0:
            time.sleep(120)
            os._exit(0)
        n += 1
    except OSError:
        break
print(n, flush=True)
sys.exit(1)
`
	l := limits
	l.Processes = 20
	res := run(t, r, sandbox.Command{Program: []string{"python3", "-c", script}, Limits: l})
	if n, err := strconv.Atoi(strings.TrimSpace(res.Stdout)); (err != nil || n > 100) && res.Ended != sandbox.TooMany {
		t.Errorf("it made %q processes: %+v", res.Stdout, res)
	}
	// A bomb in the shell's own words ends too, and the machine can still make processes.
	l.Time = 2 * time.Second
	if res := sh(t, r, "b() { b | b & }; b; sleep 60", l); res.OK() {
		t.Errorf("%+v", res)
	}
	if res := sh(t, r, "echo alive", limits); res.Stdout != "alive\n" {
		t.Errorf("%+v", res)
	}
}

func TestMemory(t *testing.T) {
	t.Parallel()
	r := runner(t)
	need(t, r, "python3")
	l := limits
	l.Memory = 128 << 20
	tests := []struct{ name, script string }{
		{"one process", `b = bytearray(1 << 30); print("OUT", len(b))`},
		{"many processes", `
import os, time
for _ in range(8):
    if os.fork() == 0:
        b = bytearray(b"x" * (60 << 20))
        time.sleep(60)
        os._exit(0)
time.sleep(60)
print("OUT")`},
		{"shared memory", `
import mmap
m = mmap.mmap(-1, 1 << 30)
for i in range(0, 1 << 30, 4096): m[i] = 1
print("OUT")`},
		{"a folder of memory", `
for d in ["/tmp", "/work", "/dev/shm"]:
    try:
        for i in range(16):
            with open(f"{d}/{i}", "wb") as f: f.write(b"x" * (16 << 20))
        print("OUT", d)
    except OSError as e: print(e)
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			res := run(t, r, sandbox.Command{Program: []string{"python3", "-c", tt.script}, Limits: l})
			if strings.Contains(res.Stdout, "OUT") {
				t.Errorf("got it: %+v", res)
			}
		})
	}
}

func TestEnds(t *testing.T) {
	t.Parallel()
	r := runner(t)
	tests := []struct {
		name, script string
		limits       sandbox.Limits
		want         sandbox.Why
		code         int
	}{
		{"time", "sleep 300", sandbox.Limits{Time: time.Second}, sandbox.TooLong, 137},
		{"output", "yes", sandbox.Limits{Output: 1000, Time: time.Minute}, sandbox.TooTalkative, 137},
		{"errors", "yes >&2", sandbox.Limits{Output: 1000, Time: time.Minute}, sandbox.TooTalkative, 137},
		{"a signal", "kill -9 $$", limits, "", 137},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			res := sh(t, r, tt.script, tt.limits)
			if res.Ended != tt.want || res.OK() || res.Code != tt.code {
				t.Errorf("%+v", res)
			}
			if o := tt.limits.Output; o > 0 && (len(res.Stdout) > o || len(res.Stderr) > o || len(res.Stdout)+len(res.Stderr) == 0) {
				t.Errorf("%d and %d bytes came", len(res.Stdout), len(res.Stderr))
			}
			if res.Failure(tt.limits) == "" {
				t.Error("no word about it")
			}
		})
	}
	t.Run("computing", func(t *testing.T) {
		t.Parallel()
		res := sh(t, r, "while :; do :; done", sandbox.Limits{CPU: time.Second, Time: 2 * time.Minute})
		if res.OK() || res.Ended == sandbox.TooLong {
			t.Errorf("%+v", res)
		}
	})
}

// A child that outlives its parent, also one with a session of its own, ends with the run: it would go on to write, into a folder that
// can be looked at from here.
func TestNothingOutlivesARun(t *testing.T) {
	t.Parallel()
	r := runner(t)
	work := temp(t)
	if err := os.Chmod(work, 0o777); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	res := run(t, r, sandbox.Command{
		Program: []string{"sh", "-c", "(setsid sh -c 'trap \"\" HUP TERM; echo $$ >begun; while :; do date >>alive; sleep 0.02; done' >/dev/null 2>&1 &) ; while [ ! -s begun ]; do sleep 0.01; done; echo done"},
		Work:    work, Limits: limits,
	})
	if res.Stdout != "done\n" || !res.OK() {
		t.Fatalf("%+v", res)
	}
	if d := time.Since(began); d > limits.Time {
		t.Errorf("the run took %s: it waited for what it had started", d)
	}
	// Everything dies with the sandbox's first process, but not in the same instant.
	size := func() int64 {
		info, err := os.Stat(filepath.Join(work, "alive"))
		if err != nil {
			return 0
		}
		return info.Size()
	}
	deadline := time.Now().Add(30 * time.Second)
	for {
		before := size()
		time.Sleep(200 * time.Millisecond) // ten times what the child would wait
		if size() == before {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the child is still writing")
		}
	}
}

func TestWorkStays(t *testing.T) {
	t.Parallel()
	r := runner(t)
	work := temp(t)
	if err := os.WriteFile(filepath.Join(work, "in"), []byte("one\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	res := run(t, r, sandbox.Command{Program: []string{"sh", "-c", "cat in; echo two >out"}, Work: work, Limits: limits})
	if b, err := os.ReadFile(filepath.Join(work, "out")); err != nil || string(b) != "two\n" || res.Stdout != "one\n" {
		t.Errorf("%+v, %q, %v", res, b, err)
	}
}

// A program cannot fill the disk through the folder in which it works, neither with large files nor with many.
func TestWorkIsBounded(t *testing.T) {
	t.Parallel()
	r := runner(t)
	l := limits
	l.Disk, l.Time = 8<<20, 2*time.Minute
	for name, script := range map[string]string{
		"large files": `for i in $(seq 32); do head -c 1000000 /dev/zero >f$i; done; sleep 60; echo OUT`,
		"many":        `mkdir d; for i in $(seq 4000); do : >d/$i; done; sleep 60; echo OUT`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			work := temp(t)
			if err := os.WriteFile(filepath.Join(work, "before"), make([]byte, 16<<20), 0o644); err != nil {
				t.Fatal(err)
			}
			res := run(t, r, sandbox.Command{Program: []string{"sh", "-c", script}, Work: work, Limits: l})
			if res.Ended != sandbox.TooFull || strings.Contains(res.Stdout, "OUT") || !strings.Contains(res.Failure(l), "more than 8 MiB") {
				t.Errorf("%+v: %s", res, res.Failure(l))
			}
		})
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	r := runner(t)
	work := temp(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := r.Run(ctx, sandbox.Command{Program: []string{"sh", "-c", "echo >begun; sleep 300"}, Work: work, Limits: sandbox.Limits{Time: 5 * time.Minute}})
		ended <- err
	}()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(work, "begun")); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("it never began")
		}
	}
	cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it goes on")
	}
}

func TestNothingIsLeftBehind(t *testing.T) {
	t.Parallel()
	runner(t)
	dir := temp(t)
	r := sandbox.New(sandbox.Options{Temp: dir})
	files := t.TempDir()
	if err := os.WriteFile(filepath.Join(files, "f"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, r, sandbox.Command{Program: []string{"cat", "/files/f"}, Files: tree(t, files), Limits: limits})
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
}

// Interpreters that people write scripts for work below the default limits.
func TestInterpreters(t *testing.T) {
	t.Parallel()
	r := runner(t)
	for _, tt := range []struct{ program, flag, script, want string }{
		{"python3", "-c", "import json, tempfile, os; tempfile.TemporaryFile(); print(json.dumps({'a': 1}))", "{\"a\": 1}\n"},
		{"node", "-e", "console.log([1,2].map(x => x * 2).join())", "2,4\n"},
		{"perl", "-e", "print 40 + 2", "42"},
		{"sh", "-c", "awk 'BEGIN { print 6 * 7 }'", "42\n"},
	} {
		t.Run(tt.program, func(t *testing.T) {
			t.Parallel()
			if _, err := r.Find(tt.program); err != nil {
				t.Skip(err)
			}
			res := run(t, r, sandbox.Command{Program: []string{tt.program, tt.flag, tt.script}, Limits: limits})
			if res.Stdout != tt.want || !res.OK() {
				t.Errorf("%+v", res)
			}
		})
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	r := sandbox.New(sandbox.Options{})
	own := filepath.Join(t.TempDir(), "tool")
	if err := os.WriteFile(own, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"no-such-program", "", "../bin/sh", "bin/sh", own, "/etc/passwd", "/usr/bin"} {
		if p, err := r.Find(name); !errors.Is(err, sandbox.ErrNoProgram) {
			t.Errorf("%q: %q, %v", name, p, err)
		}
	}
	if _, err := r.Find("sh"); err != nil {
		t.Error(err)
	}
}

func TestWithoutASandbox(t *testing.T) {
	t.Parallel()
	broken := filepath.Join(temp(t), "bwrap")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\necho no namespaces here >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	c := sandbox.Command{Program: []string{"sh", "-c", "env; pwd; yes >/dev/null & echo $! >&2"}, Env: map[string]string{"A": "b"}, Limits: limits}
	for _, bwrap := range []string{broken, filepath.Join(t.TempDir(), "missing")} {
		strict := sandbox.New(sandbox.Options{Bwrap: bwrap, Temp: temp(t)})
		if res, err := strict.Run(t.Context(), c); !errors.Is(err, sandbox.ErrNoSandbox) {
			t.Errorf("%+v, %v", res, err)
		}
		if runs, sandboxed, err := strict.Check(t.Context()); runs || sandboxed || !errors.Is(err, sandbox.ErrNoSandbox) {
			t.Errorf("%t %t %v", runs, sandboxed, err)
		}
	}
	loose := sandbox.New(sandbox.Options{Bwrap: broken, Temp: temp(t), Unsandboxed: true})
	if runs, sandboxed, err := loose.Check(t.Context()); !runs || sandboxed || err == nil || !strings.Contains(err.Error(), "no namespaces here") {
		t.Errorf("%t %t %v", runs, sandboxed, err)
	}
	res := run(t, loose, c)
	if !res.OK() || !strings.Contains(res.Stdout, "A=b\n") || strings.Contains(res.Stdout, "GOPATH") || strings.Contains(res.Stdout, "USER=") {
		t.Errorf("%+v", res)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(res.Stderr))
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); syscall.Kill(pid, 0) == nil && !zombie(pid); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("its child is still there")
		}
	}
	if res := run(t, loose, sandbox.Command{Program: []string{"sh", "-c", "ulimit -f; ulimit -c"}, Limits: limits}); res.Stdout == "" {
		t.Errorf("%+v", res)
	}
}

func zombie(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(b), ") Z ")
}
