package sandbox

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// nobody is the account that programs run as when Herald is root: the kernel does not count root's processes.
const nobody = 65534

// openFiles is how many files a process of a run may have open.
const openFiles = 256

// bound is one limit of the kernel.
type bound struct {
	what int
	max  uint64
}

// lower takes root's identity from the process. A folder of somebody else stays usable: then the run has the identity of its owner.
func lower(cmd *exec.Cmd, work, base string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	uid, gid := nobody, nobody
	if work != "" {
		info, err := os.Stat(work)
		if err != nil {
			return fmt.Errorf("the working folder: %w", err)
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			uid, gid = int(st.Uid), int(st.Gid)
		}
	}
	if err := give(base, uid, gid); err != nil {
		return fmt.Errorf("the files of the run: %w", err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid), NoSetGroups: false}}
	return nil
}

// boundsOf are the kernel's limits for each process of a run. The number of processes counts those that the account has anyway.
func boundsOf(l Limits, cmd *exec.Cmd) []bound {
	uid := os.Geteuid()
	if a := cmd.SysProcAttr; a != nil && a.Credential != nil {
		uid = int(a.Credential.Uid)
	}
	return []bound{
		{unix.RLIMIT_CORE, 0},
		{unix.RLIMIT_CPU, uint64(math.Ceil(l.CPU.Seconds()))},
		{unix.RLIMIT_DATA, uint64(l.Memory)},
		{unix.RLIMIT_FSIZE, uint64(l.Disk)},
		{unix.RLIMIT_NOFILE, openFiles},
		{unix.RLIMIT_NPROC, uint64(l.Processes + 2 + threadsOf(uid))},
	}
}

// setBounds bounds a process that has begun. Where it has another identity than Herald, a thread of Herald takes that one for the moment:
// the kernel asks for the same real identity, and in a container root is not above that.
func setBounds(cmd *exec.Cmd, bounds []bound) error {
	pid, c := cmd.Process.Pid, cmd.SysProcAttr.Credential
	if c == nil {
		return prlimit(pid, bounds)
	}
	myUID, myGID := uint32(os.Getuid()), uint32(os.Getgid()) // a thread's own, before it changes
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		// Of the three identities of this thread only the real one changes; a thread that cannot change back ends with its goroutine.
		err := real(unix.SYS_SETRESGID, c.Gid)
		if err == nil {
			err = real(unix.SYS_SETRESUID, c.Uid)
		}
		if err == nil {
			err = prlimit(pid, bounds)
		}
		if real(unix.SYS_SETRESUID, myUID) == nil && real(unix.SYS_SETRESGID, myGID) == nil {
			runtime.UnlockOSThread()
		}
		done <- err
	}()
	return <-done
}

// real changes the real identity of the calling thread alone.
func real(call uintptr, id uint32) error {
	const keep = ^uintptr(0)
	if _, _, errno := unix.RawSyscall(call, uintptr(id), keep, keep); errno != 0 {
		return errno
	}
	return nil
}

func prlimit(pid int, bounds []bound) error {
	for _, b := range bounds {
		var now unix.Rlimit
		if err := unix.Prlimit(pid, b.what, nil, &now); err != nil {
			return err
		}
		n := min(b.max, now.Max) // what is lower already stays lower
		if err := unix.Prlimit(pid, b.what, &unix.Rlimit{Cur: n, Max: n}, nil); err != nil {
			return err
		}
	}
	return nil
}

// threadsOf counts the threads of an account.
func threadsOf(uid int) int {
	dirs, err := filepath.Glob("/proc/[0-9]*/task")
	if err != nil {
		return 0
	}
	n := 0
	for _, d := range dirs {
		info, err := os.Stat(d)
		if err != nil {
			continue // it has ended
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) == uid {
			n += max(int(st.Nlink)-2, 1)
		}
	}
	return n
}

// ticks of the kernel's clock per second, as /proc counts.
const ticks = 100

// usageOf adds up what a process and all below it take. Who ended meanwhile is left out, but for the time that a parent waited for.
func usageOf(pid int) usage {
	var u usage
	page := int64(os.Getpagesize())
	todo := []int{pid}
	for len(todo) > 0 && u.processes < 100_000 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		dir := "/proc/" + strconv.Itoa(p)
		stat, err := os.ReadFile(dir + "/stat")
		if err != nil {
			continue
		}
		// The name in parentheses may hold anything; what follows the last one begins with field 3.
		f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(f) < 22 {
			continue
		}
		n := func(field int) int64 { v, _ := strconv.ParseInt(string(f[field-3]), 10, 64); return v }
		u.processes += max(int(n(20)), 1)
		u.cpu += time.Duration(n(14)+n(15)+n(16)+n(17)) * time.Second / ticks
		u.memory += n(24) * page
		tasks, _ := filepath.Glob(dir + "/task/[0-9]*/children")
		for _, t := range tasks {
			children, _ := os.ReadFile(t)
			for _, c := range bytes.Fields(children) {
				if id, err := strconv.Atoi(string(c)); err == nil {
					todo = append(todo, id)
				}
			}
		}
	}
	return u
}
