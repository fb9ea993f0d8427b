package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"herald/core/store"
	"herald/core/store/sqlite"
)

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		mustWrite(t, path, []byte(content))
		return path
	}
	for _, tc := range []struct {
		name string
		o    sqlite.Options
		want error
		// says is what the text must help with.
		says string
	}{
		{"no path", sqlite.Options{}, store.ErrInvalid, "path"},
		{"sync level", sqlite.Options{Path: filepath.Join(dir, "x"), Sync: "off"}, store.ErrInvalid, `"full"`},
		{"no file", sqlite.Options{Path: filepath.Join(dir, "none.db")}, store.ErrMissing, "herald store create"},
		{"an empty file", sqlite.Options{Path: write("empty.db", "")}, store.ErrMissing, "herald store create"},
		{"no database", sqlite.Options{Path: write("notes.txt", strings.Repeat("dear diary ", 1000)), Create: true}, store.ErrCorrupt, "backup"},
		{"a folder that is a file", sqlite.Options{Path: filepath.Join(write("file", "x"), "herald.db"), Create: true}, store.ErrUnavailable, "file"},
		{"a folder in its place", sqlite.Options{Path: dir}, store.ErrUnavailable, dir},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s, err := sqlite.Open(t.Context(), tc.o)
			if err == nil {
				_ = s.Close()
			}
			if !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("got %v, want %v with %q", err, tc.want, tc.says)
			}
		})
	}
	if got := mustRead(t, filepath.Join(dir, "notes.txt")); !strings.HasPrefix(string(got), "dear diary") {
		t.Error("a file that is not ours was changed")
	}
}

func TestOpenMakesFolderAndFileForItsUserAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a folder", "with ? and #", "herald%20.db")
	s := openAt(t, sqlite.Options{Path: path, Create: true})
	if _, err := s.Commit(t.Context(), counted(writerPart(0), 1)); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", "-wal", "-shm", ".lock"} {
		st, err := os.Stat(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if st.Mode().Perm() != 0o600 {
			t.Errorf("%q has the rights %v", suffix, st.Mode().Perm())
		}
	}
	// What exists is opened by Create too, and not made anew.
	before, err := s.Health(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	after, err := openAt(t, sqlite.Options{Path: path, Create: true}).Health(t.Context())
	if err != nil || after.ID != before.ID {
		t.Errorf("health %+v, %v; before %+v", after, err, before)
	}
}

func TestNormalLevelSaysWhatItRisks(t *testing.T) {
	t.Parallel()
	for level, warnings := range map[string]int{sqlite.SyncFull: 0, sqlite.SyncNormal: 1} {
		s := openAt(t, sqlite.Options{Path: filepath.Join(t.TempDir(), "herald.db"), Create: true, Sync: level})
		h, err := s.Health(t.Context())
		if err != nil || len(h.Warnings) != warnings {
			t.Errorf("%s: %+v, %v", level, h, err)
		}
		if _, err := s.Commit(t.Context(), counted(writerPart(0), 1)); err != nil {
			t.Fatal(err)
		}
		if n := s.Stats().Fsyncs; n != int64(1-warnings) {
			t.Errorf("%s: %d syncs for a commit", level, n)
		}
	}
}
