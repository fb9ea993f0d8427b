//go:build unix

package sqlite

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"herald/core/store"
)

// lockFile keeps other processes out for as long as it is open. The kernel lets go of it with the process, however that ends.
func lockFile(path string) (release func() error, err error) {
	name := path + ".lock"
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, troubleAt(path, "making the lock file", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer f.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, troubleAt(path, "locking "+name, err)
		}
		who, _ := io.ReadAll(io.LimitReader(f, 64))
		return nil, fmt.Errorf("open the SQLite store %s: process %s has it open; stop that one first, or give this one a store of its own: %w",
			path, strings.TrimSpace(string(who)), store.ErrInUse)
	}
	// The number is for the message above and for people; the lock is what counts.
	if err := errors.Join(f.Truncate(0), writePID(f)); err != nil {
		return nil, errors.Join(troubleAt(path, "writing the lock file", err), f.Close())
	}
	return f.Close, nil
}

func writePID(f *os.File) error {
	_, err := f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
	return err
}

// noRoom reports whether the file system of path is full: SQLite calls some of those failures input/output errors.
func noRoom(path string) bool {
	var st syscall.Statfs_t
	return syscall.Statfs(path, &st) == nil && st.Bavail == 0
}
