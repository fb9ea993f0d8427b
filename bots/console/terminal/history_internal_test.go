package terminal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHistoryFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new", "history")
	h, err := openHistory(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"one", "two\nlines", "two\nlines", strings.Repeat("x", 100_000), "\u05d0\u200f"} {
		if err := h.add(s); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; what a person typed is theirs alone", info, err)
	}
	again, err := openHistory(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"one", "two\nlines", strings.Repeat("x", 100_000), "\u05d0\u200f"}, again.entries); diff != "" {
		t.Errorf("after a restart (-want +got):\n%s", diff)
	}
}

func TestHistoryOfGarbage(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history")
	if err := os.WriteFile(path, []byte("no JSON\n\"good\"\n7\n\"\"\n\"\\u001b]0;t\\u0007evil\"\n\"torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := openHistory(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"good", "evil"}, h.entries); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history")
	var b strings.Builder
	for i := range 2*maxHistory + 10 {
		fmt.Fprintf(&b, "%q\n", fmt.Sprint("entry ", i))
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := openHistory(path)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(raw), "\n"); n != maxHistory || len(h.entries) != maxHistory || h.entries[maxHistory-1] != fmt.Sprint("entry ", 2*maxHistory+9) {
		t.Errorf("%d lines and %d entries are kept, want %d of the newest", n, len(h.entries), maxHistory)
	}
}
