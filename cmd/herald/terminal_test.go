package main

import (
	"os"
	"os/exec"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/term"
)

// A process that a signal ends while it has the terminal to itself must give it back: a shell that reads on from it would show nothing of what is typed.
func TestAChatThatASignalEndsLeavesTheTerminalAsItWas(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, sig := range map[string]syscall.Signal{"killed": syscall.SIGTERM, "window closed": syscall.SIGHUP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, err := os.MkdirTemp("", "hd") // short enough for a socket
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(dir)
			p, tty, err := pty.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			before, err := term.GetState(int(tty.Fd()))
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), program, "chat")
			cmd.Args[0] = "herald" // the test's program is Herald under this name
			cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, tty, tty, tty
			cmd.Env = []string{"HOME=" + dir, "TERM=xterm", "HERALD_DATA_DIR=" + dir + "/d", "HERALD_HTTP__LISTEN=off"}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var reader sync.WaitGroup
			shown, once := make(chan struct{}), sync.Once{}
			reader.Go(func() {
				defer once.Do(func() { close(shown) })
				var all strings.Builder
				buf := make([]byte, 4096)
				for {
					n, err := p.Read(buf)
					all.Write(buf[:n])
					if strings.Contains(all.String(), "/help") {
						once.Do(func() { close(shown) })
					}
					if err != nil {
						return
					}
				}
			})
			<-shown
			during, err := term.GetState(int(tty.Fd()))
			if err != nil || reflect.DeepEqual(before, during) {
				t.Errorf("the screen did not take the terminal (error %v): this test would see nothing", err)
			}
			if err := cmd.Process.Signal(sig); err != nil {
				t.Error(err)
			}
			_ = cmd.Wait() // the code is judged below
			if code := cmd.ProcessState.ExitCode(); code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			after, err := term.GetState(int(tty.Fd()))
			if err != nil || !reflect.DeepEqual(before, after) {
				t.Errorf("the terminal was %+v and is %+v (error %v)", before, after, err)
			}
			_ = tty.Close() // the reader sees the end
			reader.Wait()
		})
	}
}
