package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"herald/core/store"
	"herald/core/store/sqlite"
)

// disk mounts a small file system of its own; ok is false for who may not.
func disk(t *testing.T) (dir string, ok bool) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Logf("no file system of its own for this test: %v", err)
		return "", false
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir, true
}

// TestFullDisk fills a real file system. Who may not mount one has TestFullByLimit.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir, ok := disk(t)
	if !ok {
		return
	}
	ballast := filepath.Join(dir, "ballast")
	mustWrite(t, ballast, make([]byte, 600<<10))
	s := openAt(t, sqlite.Options{Path: filepath.Join(dir, "herald.db"), Create: true})
	checkFull(t, s, func() {
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
	})
	for n := 1000; ; n++ {
		if _, err := s.Commit(t.Context(), big(n)); err != nil {
			break
		}
	}
	if second, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(dir, "second.db"), Create: true}); err == nil {
		t.Error("a store was made on a full disk")
		_ = second.Close()
	} else if !errors.Is(err, store.ErrFull) {
		t.Errorf("making a store on a full disk: %v", err)
	}
	// Closed before the file system goes.
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestNoRights opens a store where nothing may be written: root meets a read-only file system, everybody else a folder's rights.
func TestNoRights(t *testing.T) {
	t.Parallel()
	var dir string
	if os.Geteuid() == 0 {
		var ok bool
		if dir, ok = disk(t); !ok {
			return
		}
	} else {
		dir = t.TempDir()
	}
	path := filepath.Join(dir, "herald.db")
	s := openAt(t, sqlite.Options{Path: path, Create: true})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
			t.Fatal(err)
		}
	} else {
		for name, mode := range map[string]os.FileMode{path: 0o400, path + ".lock": 0o400, dir: 0o500} {
			if err := os.Chmod(name, mode); err != nil {
				t.Fatal(err)
			}
		}
		t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	}
	for _, name := range []string{path, filepath.Join(dir, "new.db"), filepath.Join(dir, "sub", "new.db")} {
		_, err := sqlite.Open(t.Context(), sqlite.Options{Path: name, Create: true})
		if !errors.Is(err, store.ErrReadOnly) || !strings.Contains(err.Error(), "right") || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
