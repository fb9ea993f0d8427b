package look_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"herald/skills/internal/look"
)

// Every kind of change is seen, among few files and among many.
func TestChanged(t *testing.T) {
	t.Parallel()
	changes := map[string]func(path string) error{
		"written":  func(p string) error { return os.WriteFile(p, []byte("longer"), 0o644) },
		"touched":  func(p string) error { at := time.Now().Add(time.Hour); return os.Chtimes(p, at, at) },
		"removed":  os.Remove,
		"replaced": func(p string) error { return errors.Join(os.Remove(p), os.Mkdir(p, 0o755)) },
		"closed":   func(p string) error { return os.Chmod(p, 0o600) },
	}
	for _, n := range []int{1, 700} {
		dir := t.TempDir()
		paths := []string{filepath.Join(dir, "missing")}
		for i := range n {
			p := filepath.Join(dir, fmt.Sprint(i))
			if err := os.WriteFile(p, []byte("x"), 0o644); err != nil {
				t.Fatal(err)
			}
			paths = append(paths, p)
		}
		marks := func() (out []look.Mark) {
			for _, p := range paths {
				out = append(out, look.Of(p))
			}
			return out
		}
		now := time.Now()
		leap := func() time.Time { now = now.Add(time.Hour); return now }
		var p look.Pace
		for name, change := range changes {
			before := marks()
			if p.Changed(before, leap) {
				t.Errorf("%d files: a change before %q", n, name)
			}
			last := paths[len(paths)-1]
			if err := change(last); err != nil {
				t.Fatal(err)
			}
			if !p.Changed(before, leap) {
				t.Errorf("%d files: %q is not seen", n, name)
			}
			if err := errors.Join(os.RemoveAll(last), os.WriteFile(last, []byte("x"), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		before := marks()
		if err := os.WriteFile(paths[0], nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if !p.Changed(before, leap) {
			t.Errorf("%d files: a new one is not seen", n)
		}
	}
}

// A look that took long is not repeated at once.
func TestPace(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x")
	marks := []look.Mark{look.Of(path)}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	times := []time.Duration{0, 10 * time.Millisecond, 500 * time.Millisecond, 1001 * time.Millisecond, 1002 * time.Millisecond}
	clock := func() time.Time { at := start.Add(times[0]); times = times[1:]; return at }
	var p look.Pace
	for i, want := range []bool{true, false, true} {
		if got := p.Changed(marks, clock); got != want {
			t.Errorf("look %d: %t", i+1, got)
		}
	}
}
