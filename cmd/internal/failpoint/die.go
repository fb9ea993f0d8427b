package failpoint

import (
	"os"
	"syscall"
)

// Kill ends the process as kill -9 does: nothing deferred runs, nothing is flushed.
func Kill() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Signal(syscall.SIGKILL)
	}
	select {} // the signal is under way; this goroutine must do nothing more
}
