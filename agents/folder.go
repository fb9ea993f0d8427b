package agents

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// signature is how the folder looked: enough to see that a file in it was written, replaced, added or removed.
type signature []mark

// mark is one path with what stat says of it.
type mark struct {
	path string
	at   time.Time
	size int64
	mode fs.FileMode
	err  string
}

func (s signature) same(o signature) bool { return slices.EqualFunc(s, o, mark.equal) }

func (m mark) equal(o mark) bool {
	return m.path == o.path && m.size == o.size && m.mode == o.mode && m.err == o.err && m.at.Equal(o.at)
}

func markOf(path string) mark {
	info, err := os.Stat(path)
	if err != nil {
		return mark{path: path, err: cause(err)}
	}
	return mark{path: path, at: info.ModTime(), size: info.Size(), mode: info.Mode()}
}

// stands reports whether the files of the signature look the same now.
func (s signature) stands() bool {
	return !slices.ContainsFunc(s, func(m mark) bool { return !markOf(m.path).equal(m) })
}

// look takes the folder's signature: its entries and the state of the files of each.
func look(dir string) signature {
	s := signature{markOf(dir)}
	list, err := os.ReadDir(dir)
	if err != nil {
		s[0].err = cause(err)
		return s
	}
	s = slices.Grow(s, 2*len(list))
	for _, d := range list[:min(len(list), maxEntries)] {
		// A link may lead to either.
		folder := d.IsDir() || d.Type()&fs.ModeSymlink != 0 && filepath.Ext(d.Name()) != ".md"
		e, ok := entryOf(d.Name(), folder)
		if !ok {
			continue
		}
		s = append(s, markOf(filepath.Join(dir, e.path())))
		if !e.flat {
			s = append(s, markOf(filepath.Join(dir, e.name, metaName)))
		}
	}
	return s
}

// readFolder reads the operator's folder. What cannot be read keeps its version in old that came from this folder.
func readFolder(opts Options, old map[string]Agent) reading {
	kept := func(id string) (Agent, bool) {
		a, ok := old[id]
		return a, ok && a.Source != BuiltIn
	}
	root, list, err := openFolder(opts.Dir)
	if err != nil {
		if opts.MayBeMissing && errors.Is(err, fs.ErrNotExist) {
			return reading{}
		}
		all := map[string]Agent{}
		for id := range old {
			if a, ok := kept(id); ok {
				all[id] = a
			}
		}
		return reading{agents: all, problems: []Problem{{Path: opts.Dir, Text: folderText(err)}}}
	}
	defer root.Close()
	return source{fsys: root.FS(), shown: inFolder(opts.Dir), mark: func(path string) mark { return markOf(filepath.Join(opts.Dir, path)) }, behind: embedded}.read(list, kept)
}

// openFolder opens the folder so that nothing outside of it can be read through it, and lists it.
func openFolder(dir string) (*os.Root, []fs.DirEntry, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	list, err := fs.ReadDir(root.FS(), ".")
	if err == nil && len(list) > maxEntries {
		err = fmt.Errorf("it has %d entries, at most %d", len(list), maxEntries)
	}
	if err != nil {
		_ = root.Close()
		return nil, nil, err
	}
	return root, list, nil
}

func folderText(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "the agents' folder does not exist; make it, or correct agents.dir"
	case errors.Is(err, fs.ErrPermission):
		return "the agents' folder cannot be read: this account has no rights on it; give it the right to read and to enter, or correct agents.dir"
	default:
		return "the agents' folder cannot be read: " + cause(err) + "; mend it, or correct agents.dir"
	}
}
