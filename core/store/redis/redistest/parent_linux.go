package redistest

import (
	"os/exec"
	"syscall"
)

// dieWithParent ends the server with the test, also when the test is killed.
func dieWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
