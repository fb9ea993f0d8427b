//go:build !unix

package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"herald/core/store"
)

// lockFile keeps other processes out. Without flock the file itself is the lock, and one that a crash left behind has to be removed by hand.
func lockFile(path string) (release func() error, err error) {
	name := path + ".lock"
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		who, _ := os.ReadFile(name)
		return nil, fmt.Errorf("open the SQLite store %s: process %s has it open; stop that one first, or remove %s when it is gone: %w", path, who, name, store.ErrInUse)
	}
	if err != nil {
		return nil, troubleAt(path, "making the lock file", err)
	}
	if _, err := fmt.Fprintln(f, os.Getpid()); err != nil {
		return nil, errors.Join(troubleAt(path, "writing the lock file", err), f.Close())
	}
	return func() error { return errors.Join(f.Close(), os.Remove(name)) }, nil
}

func noRoom(string) bool { return false }
