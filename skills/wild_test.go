package skills_test

import (
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herald/skills"
)

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s: %s", name, d)
	}
}

func open(dirs ...string) *skills.Registry {
	o := skills.Options{Clock: time.Now, Log: slog.New(slog.DiscardHandler)}
	for _, d := range dirs {
		o.Shared = append(o.Shared, skills.Folder{Path: d, Setting: "skills.dir"})
	}
	return skills.Open(o)
}

// What people write: each kind of malformation is a folder. The golden file says for each what it is to a model, and what a person is told.
func TestWild(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("testdata", "wild")
	r := open(dir)
	var b strings.Builder
	b.WriteString("In force:\n")
	loaded := map[string]bool{}
	for _, k := range r.List("", skills.Selector{}) {
		loaded[k.Source] = true
		fmt.Fprintf(&b, "%s: %q", k.ID, k.Description)
		if k.License != "" || k.Compatibility != "" || k.Allowed != nil || k.Metadata != nil {
			fmt.Fprintf(&b, " %q %q %q %v", k.License, k.Compatibility, k.Allowed, k.Metadata)
		}
		b.WriteByte('\n')
	}
	b.WriteString("\nProblems:\n")
	named := map[string]bool{}
	for _, p := range r.Problems() {
		fmt.Fprintf(&b, "%-7s %s\n", p.Level, p)
		named[p.Path] = true
		if p.Text == "" || p.Path == "" {
			t.Errorf("%+v says too little", p)
		}
	}
	golden(t, "wild.txt", b.String())

	// A file that was found and is not in force is named.
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if strings.EqualFold(d.Name(), "skill.md") && !loaded[path] && !named[path] {
			t.Errorf("%s is neither in force nor named", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	// A restriction holds, however it is written.
	for _, k := range r.List("", skills.Selector{}) {
		if strings.HasPrefix(k.ID, "hidden") || k.ID == "double-restriction" {
			t.Errorf("%s is shown to a model", k.ID)
		}
	}
}

// What cannot stand in a repository.
func TestWilder(t *testing.T) {
	t.Parallel()
	const ok = "---\ndescription: d\n---\ntext\n"
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "SKILL.md"), []byte(ok), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, want string
		make       func(dir string) error // dir is the skill's folder, which exists
	}{
		{"a long header", "at most 65536", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte("---\ndescription: d\nlicense: "+strings.Repeat("x", 70_000)+"\n---\ntext\n"), 0o644)
		}},
		{"a long file", "more than 1024 KiB", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(ok+strings.Repeat("x", 1<<20)), 0o644)
		}},
		{"a file that is a link out", "escapes", func(dir string) error {
			return os.Symlink(filepath.Join(outside, "SKILL.md"), filepath.Join(dir, "SKILL.md"))
		}},
		{"a folder that is a link out", "cannot be followed", func(dir string) error {
			return errors.Join(os.Remove(dir), os.Symlink(outside, dir))
		}},
		{"a link to nothing", "no such file", func(dir string) error {
			return os.Symlink("nothing", filepath.Join(dir, "SKILL.md"))
		}},
		{"a pipe", "not an ordinary file", func(dir string) error {
			return syscall.Mkfifo(filepath.Join(dir, "SKILL.md"), 0o644)
		}},
		{"a folder for a file", "not an ordinary file", func(dir string) error {
			return os.Mkdir(filepath.Join(dir, "SKILL.md"), 0o755)
		}},
		{"too deep", "more than 5 folders deep", func(dir string) error {
			deep := filepath.Join(dir, "a/b/c/d/e/f")
			return errors.Join(os.MkdirAll(deep, 0o755), os.WriteFile(filepath.Join(deep, "SKILL.md"), []byte(ok), 0o644))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			base := t.TempDir()
			dir := filepath.Join(base, "thing")
			if err := errors.Join(os.Mkdir(dir, 0o755), tt.make(dir)); err != nil {
				t.Fatal(err)
			}
			r := open(base)
			if list := r.List("", skills.Selector{}); len(list) != 0 {
				t.Errorf("in force: %+v", list)
			}
			var all []string
			for _, p := range r.Problems() {
				all = append(all, p.String())
			}
			if len(all) != 1 || !strings.Contains(all[0], tt.want) || !strings.Contains(all[0], dir) {
				t.Errorf("problems %q, want %q", all, tt.want)
			}
		})
	}
}
