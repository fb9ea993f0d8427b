package agents_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/agents"
)

// folder is an operator's folder whose files get a later time with each write, as on a disk with a coarse clock they might not.
type folder struct {
	t   *testing.T
	dir string
	at  time.Time
}

func newFolder(t *testing.T) *folder {
	return &folder{t, t.TempDir(), time.Now().Add(-time.Hour)}
}

func (f *folder) write(id, src string) {
	f.t.Helper()
	path := filepath.Join(f.dir, id, "AGENT.md")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(src), 0o644); err != nil {
		f.t.Fatal(err)
	}
	f.at = f.at.Add(time.Second)
	if err := os.Chtimes(path, f.at, f.at); err != nil {
		f.t.Fatal(err)
	}
}

func (f *folder) remove(path string) {
	f.t.Helper()
	if err := os.RemoveAll(filepath.Join(f.dir, path)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *folder) open() *agents.Registry {
	return agents.Open(agents.Options{Dir: f.dir, Log: slog.New(slog.DiscardHandler)})
}

const good = "---\ntype: chat\nname: Ada\n---\nOne.\n"

func prompt(t *testing.T, r *agents.Registry, id string) string {
	t.Helper()
	a, err := r.Agent(t.Context(), id)
	if errors.Is(err, agents.ErrNotFound) {
		return "missing"
	}
	if err != nil {
		t.Fatal(err)
	}
	return a.Prompt
}

func problems(r *agents.Registry) string {
	var out []string
	for _, p := range r.Problems() {
		out = append(out, p.String())
	}
	return strings.Join(out, "\n")
}

// builtIns are the agents that the program brings, with their types.
var builtIns = map[string]agents.Type{
	"main": agents.Chat, "project-coordinator": agents.Chat,
	"software-architect": agents.Task, "software-engineer": agents.Task, "code-explorer": agents.Task, "spec-writer": agents.Task, "tech-lead": agents.Task,
	"researcher": agents.Task, "generalist": agents.Task, "business-analyst": agents.Task,
	"event-triage": agents.System, "memory-lint-private": agents.System, "memory-lint-shared": agents.System, "conversation-review": agents.System,
}

// Every shipped file parses, with its includes; a file that does not would be a panic at the start of each program.
func TestBuiltIn(t *testing.T) {
	t.Parallel()
	r := agents.Open(agents.Options{Log: slog.New(slog.DiscardHandler)})
	delegating := map[string]bool{"main": true, "project-coordinator": true, "tech-lead": true, "software-architect": true, "spec-writer": true}
	list := r.List()
	if len(list) != len(builtIns) {
		t.Errorf("%d built-in agents, want %d", len(list), len(builtIns))
	}
	for _, a := range list {
		if a.Source != agents.BuiltIn || a.Description == "" || a.FriendlyDescription == "" && a.ID != "main" || a.Name == "" || a.Hash == "" || a.TypeTaken || a.Type != builtIns[a.ID] {
			t.Errorf("%s is incomplete: %+v", a.ID, a)
		}
		if len(a.Prompt) < 500 || strings.Contains(a.Prompt, "INCLUDE:") {
			t.Errorf("the prompt of %s has %d bytes, or an include is left:\n%s", a.ID, len(a.Prompt), a.Prompt)
		}
		if got := strings.Contains(a.Prompt, "<!-- AGENTS_LIST -->"); got != delegating[a.ID] || got == (a.Delegates != nil) {
			t.Errorf("%s: lists agents: %v, delegates: %#v", a.ID, got, a.Delegates)
		}
		if got := strings.Contains(a.Prompt, "<!-- MCP_LIST -->"); got != (a.Type != agents.System) {
			t.Errorf("%s: lists servers: %v", a.ID, got)
		}
	}
	if p := problems(r); p != "" {
		t.Error(p)
	}
}

func TestFolder(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	f.write("ada", good)
	f.write("main", "---\ntype: chat\n---\nOurs.\n")
	f.write(".git", "no agent")
	f.write("common", "included by others")
	if err := os.WriteFile(filepath.Join(f.dir, "README.md"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := f.open()
	if got := prompt(t, r, "ada"); got != "One." {
		t.Errorf("ada: %q", got)
	}
	if got := prompt(t, r, "main"); got != "Ours." {
		t.Errorf("main is not replaced whole: %q", got)
	}
	a, err := r.Agent(t.Context(), "main")
	if err != nil || a.Source != filepath.Join(f.dir, "main", "AGENT.md") || a.Strength != "" {
		t.Errorf("main: %+v, %v", a, err)
	}
	if p := problems(r); p != "" {
		t.Error(p)
	}
	built := agents.Open(agents.Options{Log: slog.New(slog.DiscardHandler)}).List()
	if got := len(r.List()); got != len(built)+1 {
		t.Errorf("%d agents", got)
	}
}

func TestReadAgain(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	f.write("ada", good)
	r := f.open()
	steps := []struct {
		name    string
		do      func()
		want    string
		problem string
	}{
		{"as it was", func() {}, "One.", ""},
		{"changed", func() { f.write("ada", "---\ntype: chat\n---\nTwo.") }, "Two.", ""},
		{"half written", func() { f.write("ada", "---\ntype: ch") }, "Two.", "ada/AGENT.md:1: the settings have no end"},
		{"still broken", func() { f.write("ada", "---\ntyp: chat\n---\nThree.") }, "Two.", `did you mean "type"? (the version before it stays in force)`},
		{"mended", func() { f.write("ada", "---\ntype: chat\n---\nThree.") }, "Three.", ""},
		{"file gone", func() { f.remove("ada/AGENT.md") }, "Three.", "no file AGENT.md"},
		{"folder gone", func() { f.remove("ada") }, "missing", ""},
		{"back", func() { f.write("ada", good) }, "One.", ""},
		{"whole folder gone", func() { f.remove("") }, "One.", "does not exist"},
		{"whole folder back", func() { f.write("ada", good) }, "One.", ""},
	}
	for _, s := range steps {
		s.do()
		if got := prompt(t, r, "ada"); got != s.want {
			t.Errorf("%s: %q, want %q", s.name, got, s.want)
		}
		if got := problems(r); (s.problem == "") != (got == "") || !strings.Contains(got, s.problem) {
			t.Errorf("%s: problems %q, want %q", s.name, got, s.problem)
		}
	}
}

func TestBrokenReplacementKeepsBuiltIn(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	f.write("main", "---\nkind: chat\n---\nOurs.")
	f.write("ada", "---\nkind: chat\n---\nOurs.")
	r := f.open()
	// What the operator's file would have taken from it is not known.
	if a, err := r.Agent(t.Context(), "main"); err != nil || a.Source != agents.BuiltIn || !a.NoTools || !a.Skills.None() || a.Delegates == nil {
		t.Errorf("%+v, %v", a, err)
	}
	for _, p := range r.Problems() {
		if p.Kept || p.Bare != (p.Agent == "main") || p.Line != 2 {
			t.Errorf("%+v", p)
		}
	}
	// An agent that never was there is missing, with the reason.
	_, err := r.Agent(t.Context(), "ada")
	if !errors.Is(err, agents.ErrNotFound) || !strings.Contains(err.Error(), `no setting "kind"`) {
		t.Errorf("got %v", err)
	}
}

func TestFolderFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		make func(t *testing.T, dir string)
		want string
	}{
		{"a file in its place", func(t *testing.T, dir string) {
			if err := os.WriteFile(dir, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}, "cannot be read: not a directory; mend it, or correct agents.dir"},
		{"missing", func(*testing.T, string) {}, "does not exist"},
		{"an id that is none", func(t *testing.T, dir string) { mkdir(t, filepath.Join(dir, "Big One")) }, "cannot be an agent's id"},
		{"a folder without a file", func(t *testing.T, dir string) { mkdir(t, filepath.Join(dir, "ada")) }, "no file AGENT.md"},
		{"a folder in the file's place", func(t *testing.T, dir string) { mkdir(t, filepath.Join(dir, "ada", "AGENT.md")) }, "not an ordinary file"},
		{"a link that leaves the folder", func(t *testing.T, dir string) {
			mkdir(t, filepath.Join(dir, "ada"))
			outside := filepath.Join(t.TempDir(), "x")
			if err := errors.Join(os.WriteFile(outside, []byte(good), 0o644), os.Symlink(outside, filepath.Join(dir, "ada", "AGENT.md"))); err != nil {
				t.Fatal(err)
			}
		}, "escapes"},
		{"a file that is too long", func(t *testing.T, dir string) {
			mkdir(t, filepath.Join(dir, "ada"))
			if err := os.WriteFile(filepath.Join(dir, "ada", "AGENT.md"), make([]byte, 1<<20), 0o644); err != nil {
				t.Fatal(err)
			}
		}, "more than"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "agents")
			tt.make(t, dir)
			var log bytes.Buffer
			r := agents.Open(agents.Options{Dir: dir, Log: slog.New(slog.NewTextHandler(&log, nil))})
			if got := problems(r); !strings.Contains(got, tt.want) || !strings.HasPrefix(got, dir) {
				t.Errorf("problems %q, want %q", got, tt.want)
			}
			if !strings.Contains(log.String(), "level=WARN") {
				t.Errorf("nothing logged: %s", &log)
			}
			if got := prompt(t, r, agents.Main); got == "missing" {
				t.Error("the built-in agent is gone")
			}
		})
	}
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

// A link within the folder, as mounted configuration volumes have it, is followed.
func TestLinkWithin(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	f.write("ada/..data", good)
	if err := os.Symlink("..data/AGENT.md", filepath.Join(f.dir, "ada", "AGENT.md")); err != nil {
		t.Fatal(err)
	}
	if got := prompt(t, f.open(), "ada"); got != "One." {
		t.Errorf("got %q", got)
	}
}

func TestMissingDefaultFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "agents")
	r := agents.Open(agents.Options{Dir: dir, MayBeMissing: true, Log: slog.New(slog.DiscardHandler)})
	if p := problems(r); p != "" {
		t.Errorf("problems: %s", p)
	}
	f := &folder{t, dir, time.Now()}
	f.write("ada", good)
	if got := prompt(t, r, "ada"); got != "One." {
		t.Errorf("a folder that was made later is not read: %q", got)
	}
}

// An ill state is said once, not at each request, and its end is said too.
func TestLogsChangesOnce(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	f.write("ada", "broken")
	var log bytes.Buffer
	r := agents.Open(agents.Options{Dir: f.dir, Log: slog.New(slog.NewTextHandler(&log, nil))})
	for range 5 {
		prompt(t, r, "ada")
	}
	f.write("eve", good) // another reading, with the same problem
	prompt(t, r, "eve")
	if n := strings.Count(log.String(), "level=WARN"); n != 1 {
		t.Errorf("%d warnings:\n%s", n, &log)
	}
	f.write("ada", good)
	prompt(t, r, "ada")
	if n := strings.Count(log.String(), "the problem is over"); n != 1 {
		t.Errorf("%d ends:\n%s", n, &log)
	}
}

func TestConcurrent(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	f.write("ada", good)
	r := f.open()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				if got := prompt(t, r, "ada"); got != "One." && got != "Two." {
					t.Errorf("got %q", got)
					return
				}
				r.List()
				r.Problems()
			}
		})
	}
	for range 20 {
		f.write("ada", "---\ntype: chat\n---\nTwo.")
		f.write("ada", good)
	}
	wg.Wait()
}

func TestEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newFolder(t).open().Agent(ctx, agents.Main); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func BenchmarkAgent(b *testing.B) {
	dir := b.TempDir()
	for _, id := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, id), 0o755), os.WriteFile(filepath.Join(dir, id, "AGENT.md"), []byte(good), 0o644)); err != nil {
			b.Fatal(err)
		}
	}
	r := agents.Open(agents.Options{Dir: dir, Log: slog.New(slog.DiscardHandler)})
	for b.Loop() {
		if _, err := r.Agent(b.Context(), "a"); err != nil {
			b.Fatal(err)
		}
	}
}

// More agents than a few hundred are all there, and a change of one of them is seen.
func TestManyAgents(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	for i := range 500 {
		f.write(fmt.Sprintf("agent-%03d", i), good)
	}
	r := f.open()
	if n, p := len(r.List()), problems(r); n != 500+len(builtIns) || p != "" {
		t.Fatalf("%d agents; %s", n, p)
	}
	f.write("agent-400", "---\ntype: chat\n---\nTwo.\n")
	for end := time.Now().Add(time.Minute); prompt(t, r, "agent-400") != "Two."; {
		if time.Now().After(end) {
			t.Fatal("the change is not seen")
		}
		time.Sleep(time.Millisecond)
	}
}

// BenchmarkNow500 is what a turn pays to see whether one of 500 agents changed.
func BenchmarkNow500(b *testing.B) {
	dir := b.TempDir()
	for i := range 500 {
		id := fmt.Sprintf("agent-%03d", i)
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, id), 0o755), os.WriteFile(filepath.Join(dir, id, "AGENT.md"), []byte(good), 0o644)); err != nil {
			b.Fatal(err)
		}
	}
	r := agents.Open(agents.Options{Dir: dir, Log: slog.New(slog.DiscardHandler)})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Now().Agent("agent-250"); err != nil {
			b.Fatal(err)
		}
	}
}
