package files

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"herald/core/memory"
)

// notes are the notes behind one root, as files.
type notes struct {
	store *memory.Notes
	root  memory.Root
	place memory.Place
	who   memory.Writer
}

func (n *notes) close() {}

func (n *notes) read(ctx context.Context, name string) (file, error) {
	if name == "." {
		return file{}, fmt.Errorf("%s is a folder; list_files shows what is in it", n.root)
	}
	got, err := n.store.Read(ctx, n.place, name)
	if errors.Is(err, memory.ErrNoNote) {
		return file{}, missing(string(n.root) + "/" + name)
	}
	if err != nil {
		return file{}, err
	}
	return file{text: got.Text, version: got.Version, exists: got.Version != 0 || got.Text != ""}, nil
}

func (n *notes) change(ctx context.Context, name, why string, edit func(file) (string, error)) (file, error) {
	got, err := n.store.Change(ctx, n.root, n.place, n.who, name, why, func(old memory.Note) (string, error) {
		return edit(file{text: old.Text, version: old.Version, exists: old.Version != 0})
	})
	return file{text: got.Text, version: got.Version, exists: got.Version != 0}, err
}

func (n *notes) append(ctx context.Context, name, text string) (string, error) {
	if name != memory.Log {
		_, err := n.change(ctx, name, "", func(old file) (string, error) {
			if old.text != "" && !strings.HasSuffix(old.text, "\n") {
				return old.text + "\n" + text, nil
			}
			return old.text + text, nil
		})
		return "", err
	}
	line := strings.TrimSpace(text)
	if strings.Contains(line, "\n") {
		return "", fmt.Errorf("append one line at a time to %s", memory.Log)
	}
	written, err := n.store.Append(ctx, n.place, n.who, line)
	if err == nil && !written {
		return "The log has the line of this change already: each change of a note writes its own.", nil
	}
	return "", err
}

func (n *notes) walk(ctx context.Context, name string, deep bool, f func(entry) bool) (string, error) {
	all, err := n.store.List(ctx, n.place)
	if err != nil {
		return "", err
	}
	if name == "." {
		for _, special := range []string{memory.Index, memory.Log} {
			got, err := n.store.Read(ctx, n.place, special)
			if err != nil {
				return "", err
			}
			if got.Text != "" && !f(entry{name: special, size: int64(len(got.Text)), at: got.At}) {
				return "", nil
			}
		}
	}
	folder := ""
	for _, note := range all {
		rest := note.Name
		if name != "." {
			if note.Name == name {
				f(entry{name: note.Name, size: int64(len(note.Text)), at: note.At})
				return "", nil
			}
			var ok bool
			if rest, ok = strings.CutPrefix(note.Name, name+"/"); !ok {
				continue
			}
		}
		if dir, _, ok := strings.Cut(rest, "/"); ok && !deep {
			if dir != folder && !f(entry{name: beneath(name, dir), dir: true}) {
				return "", nil
			}
			folder = dir
			continue
		}
		if !f(entry{name: note.Name, size: int64(len(note.Text)), at: note.At}) {
			return "", nil
		}
	}
	return "", nil
}
