package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"herald/core/memory"
	"herald/core/tool"
	"herald/core/tool/gate"
)

// Limits, in bytes unless they say otherwise. A result that is longer than a model should read is cut and says how to go on.
const (
	// MaxFile is the largest file that is read or changed.
	MaxFile = 10 << 20
	// MaxWrite is the largest text of one call.
	MaxWrite = 1 << 20
	// maxShown is how much of a file one call shows.
	maxShown = 64 << 10
	// maxEntries is how many entries a list shows, maxMatches how many lines a search.
	maxEntries = 500
	maxMatches = 200
	// maxScanned is how much a search over files reads, maxLooked how many entries a walk looks at.
	maxScanned = 64 << 20
	maxLooked  = 20_000
	// maxDepth is how deep a walk goes.
	maxDepth = 20
)

// file is a text with the version that names it; version is 0 where there are no versions.
type file struct {
	text    string
	version int64
	exists  bool
}

// entry is one line of a list.
type entry struct {
	name string // from the volume's root
	dir  bool
	size int64
	at   time.Time
	// other names what is neither file nor folder.
	other string
}

// volume is where files stand. Names are clean and relative; "." is the volume itself.
type volume interface {
	read(ctx context.Context, name string) (file, error)
	// change replaces the text by what edit makes of it, in one step. edit may be called again with what stands then.
	change(ctx context.Context, name, why string, edit func(file) (string, error)) (file, error)
	// append adds to the end.
	append(ctx context.Context, name, text string) (string, error)
	// walk calls f for what lies in the folder name, in the order of names, everything below it where deep is set. It ends when f says so. cut says
	// why it did not look everywhere, "" where it did or f ended it.
	walk(ctx context.Context, name string, deep bool, f func(entry) bool) (cut string, err error)
	close()
}

// open is the volume of a path and the name in it.
func (o *Options) open(ctx context.Context, c tool.Call, p string) (volume, string, error) {
	if p == "" {
		return nil, "", errors.New(`the path is missing; "." is the working folder`)
	}
	folder, ferr := o.Folder(ctx, c)
	rel, ok := gate.Lexical(folder, p)
	if !ok {
		return nil, "", fmt.Errorf("%s leaves the working folder; give a path inside of it", shown(p))
	}
	if root, name, ok := memory.Split(rel); ok {
		pl, err := o.Desk.Room(ctx, c).Open(root)
		if err != nil {
			return nil, "", err
		}
		w, err := o.Desk.Writer(ctx, c)
		if err != nil {
			return nil, "", err
		}
		if name == "" {
			name = "."
		}
		return &notes{o.Desk.Notes, root, pl, w}, name, nil
	}
	if ferr != nil {
		return nil, "", ferr
	}
	if o.Off != nil {
		if err := o.Off(); err != nil {
			return nil, "", fmt.Errorf("files are off: %w", err)
		}
	}
	d, err := openDisk(folder)
	if err != nil {
		return nil, "", err
	}
	return d, rel, nil
}

// missing says that there is no such file, with what is near.
func missing(name string) error {
	return fmt.Errorf("%s: %w; see list_files for what is there", shown(name), fs.ErrNotExist)
}

// plain refuses what is no text.
func plain(name, text string) error {
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return fmt.Errorf("%s is no text, so that it cannot be read or changed here", shown(name))
	}
	return nil
}

// shown is a path on one line.
func shown(p string) string {
	if r := []rune(p); len(r) > 120 {
		p = string(r[:119]) + "…"
	}
	return fmt.Sprintf("%q", p)
}

// beneath is a path below the folder name.
func beneath(name, child string) string { return path.Join(name, child) }
