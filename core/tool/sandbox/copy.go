package sandbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Bounds of what is copied for a run.
const (
	maxCopyFiles = 2000
	maxCopyBytes = 64 << 20
	maxCopyDepth = 16
)

// copyTree copies a tree of files. Symbolic links, devices and pipes are left out: a link may lead anywhere, a pipe never ends.
func copyTree(src fs.FS, to string) error {
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	dst, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer dst.Close()
	files, left := 0, int64(maxCopyBytes)
	return fs.WalkDir(src, ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == ".":
			return nil
		}
		if files++; files > maxCopyFiles {
			return fmt.Errorf("there are more than %d, which is more than is copied for a run", maxCopyFiles)
		}
		if depth(path) > maxCopyDepth {
			return fmt.Errorf("they are more than %d folders deep, which is more than is copied for a run", maxCopyDepth)
		}
		switch {
		case d.IsDir():
			return dst.Mkdir(path, 0o700)
		case !d.Type().IsRegular():
			return nil
		}
		n, err := copyFile(src, dst, path, left)
		if left -= n; err == nil && left < 0 {
			return fmt.Errorf("they have more than %d MiB, which is more than is copied for a run", maxCopyBytes>>20)
		}
		return err
	})
}

func depth(path string) int {
	n := 1
	for _, c := range path {
		if c == '/' {
			n++
		}
	}
	return n
}

func copyFile(src fs.FS, dst *os.Root, path string, left int64) (n int64, err error) {
	in, err := src.Open(path)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return 0, err
	}
	out, err := dst.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600|info.Mode().Perm()&0o100)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	return io.Copy(out, io.LimitReader(in, left+1))
}

// give makes everything below dir the property of an account.
func give(dir string, uid, gid int) error {
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, uid, gid)
	})
}
