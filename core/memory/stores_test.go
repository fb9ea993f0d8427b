package memory_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herald/core/memory"
	"herald/core/store"
	fake "herald/core/store/memory"
	"herald/core/store/redis"
	"herald/core/store/redis/redistest"
	"herald/core/store/sqlite"
)

// The same notes give the same list, the same index and the same log on every store, whoever searches for them.
func TestTheSameOnEveryStore(t *testing.T) {
	t.Parallel()
	server := redistest.Run(t, redistest.Options{})
	var first []string
	for _, kind := range []string{"memory", "sqlite", "redis"} {
		var (
			st  store.Store
			err error
		)
		switch kind {
		case "memory":
			st = fake.New(fake.Options{})
		case "sqlite":
			st, err = sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(t.TempDir(), "h.db"), Create: true})
		case "redis":
			st, err = redis.Open(context.Background(), redis.Options{URL: server.URL(), Create: true})
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = st.Close() })
		n, pl := memory.New(st, nil), memory.Of("ann")
		for i, text := range []string{"tea one", "tea tea two", "tea three", "coffee", "Téa four", "tea one"} {
			w := memory.Writer{Person: "ann", Name: "Ann", Call: fmt.Sprint("c", i)}
			if _, err := n.Change(t.Context(), memory.User, pl, w, fmt.Sprintf("n%d.md", i), "", func(memory.Note) (string, error) { return text, nil }); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		for _, words := range []string{"tea", "", "TEA one", "two tea"} {
			found, err := n.Find(t.Context(), pl, words, 10)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range found {
				got = append(got, words+": "+f.Name)
			}
		}
		for _, name := range []string{memory.Index, memory.Log} {
			f, err := n.Read(t.Context(), pl, name)
			if err != nil {
				t.Fatal(err)
			}
			for l := range strings.Lines(f.Text) {
				_, rest, _ := strings.Cut(l, "|") // the day is the store's
				got = append(got, name+" "+rest)
			}
		}
		if first == nil {
			first = got
		}
		if d := cmp.Diff(first, got); d != "" {
			t.Errorf("%s (-memory +%s)\n%s", kind, kind, d)
		}
	}
}

// Whatever somebody writes into a shared note, no line of another is lost, and none is said in another's name.
func FuzzSharedNotes(f *testing.F) {
	f.Add("- the code is 12\n", "- the code is 34\n")
	f.Add("a\nb\n", "~~a~~\nb — Ada, 2026-01-01\n")
	f.Add("# h\n\na — x, 2026-01-01", "a\n\n")
	f.Fuzz(func(t *testing.T, first, second string) {
		r, pl := newRig(t, nil), memory.OfWorkspace("test:1")
		if r.write(memory.Shared, pl, ada, "a.md", first) != nil {
			return
		}
		before, err := r.Read(t.Context(), pl, "a.md")
		if err != nil {
			return // it was empty
		}
		if r.write(memory.Shared, pl, bob, "a.md", second) != nil {
			return
		}
		after := r.text(pl, "a.md")
		for l := range strings.Lines(before.Text) {
			if l = strings.TrimSuffix(l, "\n"); strings.HasSuffix(l, " — Ada, 2026-03-04") && strings.Count("\n"+after, "\n"+l+"\n") < strings.Count("\n"+before.Text, "\n"+l+"\n") {
				t.Errorf("the line %q of Ada's is gone from %q", l, after)
			}
		}
		if strings.Count(after, " — Ada, 2026-03-04\n") > strings.Count(before.Text, " — Ada, 2026-03-04\n") {
			t.Errorf("Bob said something in Ada's name: %q became %q", before.Text, after)
		}
	})
}

func FuzzLines(f *testing.F) {
	f.Add("2026-03-04 | CLAIM | Bob | tea.md | says coffee")
	f.Add("- [x](a.md): b")
	f.Fuzz(func(t *testing.T, line string) {
		if c, err := memory.ParseChange(line); err == nil {
			again, err := memory.ParseChange(c.String())
			if err != nil || again.Verb != c.Verb || strings.Contains(c.String(), "\n") {
				t.Errorf("%q became %q, %v", line, c, err)
			}
		}
		if name, ok := memory.Indexed(line); ok && memory.CheckName(name) == nil {
			if got, _ := memory.Indexed("- " + name + " — x"); got != name {
				t.Errorf("%q names %q, its own line %q", line, name, got)
			}
		}
	})
}
