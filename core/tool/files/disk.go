package files

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"syscall"
)

// disk is a working folder.
type disk struct{ root *os.Root }

// writing lets one call at a time of this process change a file, so that an edit changes what it has read. Replicas are kept apart by the
// session, which runs on one of them.
var writing sync.Mutex

// openDisk opens a working folder and makes it where it does not exist yet.
func openDisk(folder string) (*disk, error) {
	if folder == "" {
		return nil, errors.New("there is no working folder here")
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("the working folder cannot be made: %w; an admin must look at files.dir", bare(err))
	}
	r, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("the working folder cannot be opened: %w; an admin must look at files.dir", bare(err))
	}
	return &disk{r}, nil
}

func (d *disk) close() { _ = d.root.Close() }

// bare is an error without the path of the machine in it.
func bare(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return l.Err
	}
	return err
}

// look is what stands at name: nil where nothing does. It refuses a path that leads through a symbolic link.
func (d *disk) look(name string) (fs.FileInfo, error) {
	parts := strings.Split(name, "/")
	for i := range parts {
		at := path.Join(parts[:i+1]...)
		info, err := d.root.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil
		case errors.Is(err, syscall.ENOTDIR):
			return nil, fmt.Errorf("%s is no folder", shown(path.Dir(at)))
		case err != nil:
			return nil, fmt.Errorf("%s: %w", shown(name), bare(err))
		case info.Mode()&fs.ModeSymlink != 0:
			return nil, fmt.Errorf("%s is a symbolic link, which is not followed; name the file itself", shown(at))
		}
		if i == len(parts)-1 {
			return info, nil
		}
	}
	return nil, nil
}

func (d *disk) read(_ context.Context, name string) (file, error) {
	info, err := d.look(name)
	switch {
	case err != nil:
		return file{}, err
	case info == nil:
		return file{}, missing(name)
	case info.IsDir():
		return file{}, fmt.Errorf("%s is a folder; list_files shows what is in it", shown(name))
	case !info.Mode().IsRegular():
		return file{}, fmt.Errorf("%s is no plain file", shown(name))
	case info.Size() > MaxFile:
		return file{}, fmt.Errorf("%s has %d bytes, at most %d are read", shown(name), info.Size(), MaxFile)
	}
	// Whatever was put there since is neither followed nor waited for.
	f, err := d.root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return file{}, fmt.Errorf("%s: %w", shown(name), bare(err))
	}
	defer func() { _ = f.Close() }()
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		return file{}, fmt.Errorf("%s is no plain file", shown(name))
	}
	b, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return file{}, fmt.Errorf("%s: %w", shown(name), bare(err))
	}
	if len(b) > MaxFile {
		return file{}, fmt.Errorf("%s has more than %d bytes", shown(name), MaxFile)
	}
	return file{text: string(b), exists: true}, nil
}

func (d *disk) change(ctx context.Context, name, _ string, edit func(file) (string, error)) (file, error) {
	writing.Lock()
	defer writing.Unlock()
	old, err := d.read(ctx, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return file{}, err
	}
	text, err := edit(old)
	if err != nil {
		return file{}, err
	}
	if len(text) > MaxFile {
		return file{}, fmt.Errorf("%s would have %d bytes, at most %d", shown(name), len(text), MaxFile)
	}
	if err := d.write(name, text); err != nil {
		return file{}, fmt.Errorf("%s: %w", shown(name), bare(err))
	}
	return file{text: text, exists: true}, nil
}

// write puts a whole file in the place of another one, so that nobody reads half of it.
func (d *disk) write(name, text string) error {
	dir := path.Dir(name)
	if dir != "." {
		if err := d.root.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	temp := path.Join(dir, ".herald-"+rand.Text()[:12]+".tmp")
	f, err := d.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = d.root.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(bare(err), d.root.Remove(temp))
	}
	return nil
}

func (d *disk) append(ctx context.Context, name, text string) (string, error) {
	_, err := d.change(ctx, name, "", func(old file) (string, error) {
		if old.text != "" && !strings.HasSuffix(old.text, "\n") {
			return old.text + "\n" + text, nil
		}
		return old.text + text, nil
	})
	return "", err
}

func (d *disk) walk(ctx context.Context, name string, deep bool, f func(entry) bool) (string, error) {
	if name != "." {
		info, err := d.look(name)
		switch {
		case err != nil:
			return "", err
		case info == nil:
			return "", missing(name)
		case !info.IsDir():
			f(entryOf(name, info))
			return "", nil
		}
	}
	looked, cut := 0, ""
	var step func(dir string, depth int) (bool, error)
	step = func(dir string, depth int) (bool, error) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		entries, err := fs.ReadDir(d.root.FS(), dir)
		if err != nil {
			return false, fmt.Errorf("%s: %w", shown(dir), bare(err))
		}
		for _, e := range entries {
			if looked++; looked > maxLooked {
				cut = fmt.Sprintf("there are more than %d entries", maxLooked)
				return false, nil
			}
			info, err := e.Info()
			if err != nil {
				continue // it is gone
			}
			at := beneath(dir, e.Name())
			if !f(entryOf(at, info)) {
				return false, nil
			}
			switch {
			case !deep || !info.IsDir():
			case depth == maxDepth:
				cut = fmt.Sprintf("there is something more than %d folders deep", maxDepth)
			default:
				if on, err := step(at, depth+1); !on {
					return false, err
				}
			}
		}
		return true, nil
	}
	_, err := step(name, 1)
	return cut, err
}

func entryOf(name string, info fs.FileInfo) entry {
	e := entry{name: name, dir: info.IsDir(), size: info.Size(), at: info.ModTime()}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		e.other = "symbolic link"
	case !info.IsDir() && !info.Mode().IsRegular():
		e.other = "no plain file"
	}
	return e
}
