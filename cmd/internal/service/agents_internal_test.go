package service

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"herald/agents"
	"herald/core/chat"
	notes "herald/core/memory"
	"herald/core/people"
	"herald/core/prompt"
	"herald/core/session"
	"herald/core/store"
	"herald/core/store/memory"
	"herald/core/tool"
	"herald/core/tool/builtin"
	"herald/core/tool/stack"
)

// sourceOf is an agentSource over a folder with these files. Its working folder is dir/wd.
func sourceOf(t *testing.T, files map[string]string) agentSource {
	t.Helper()
	dir := t.TempDir()
	for path, text := range files {
		full := filepath.Join(dir, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return agentSource{
		registry: agents.Open(agents.Options{Dir: dir, Log: slog.New(slog.DiscardHandler)}), clean: func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") },
		desk: &builtin.Desk{Notes: notes.New(memory.New(memory.Options{}), nil)}, dir: dir,
		folder: func(context.Context, tool.Call) (string, error) { return filepath.Join(dir, "common", "wd"), nil },
	}
}

// textOf is what the prompt holds beside the agent's own text.
func textOf(a prompt.Agent) string {
	var b strings.Builder
	for _, s := range a.Sections {
		b.WriteString(s.Text + "\n")
	}
	return b.String()
}

// laidOut is an agent's text as its model sees it in a frame where no rule hides a tool.
func laidOut(t *testing.T, s agentSource, of tool.Scope) string {
	t.Helper()
	a, err := s.Agent(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	ts, err := stack.New(stack.Options{Agents: directory{s}, Groups: func() map[string][]string { return nil }}).Tools(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	a, _ = new(prompt.Stable).Hold(a, tool.Usable([]tool.Selection{{None: a.NoTools, All: a.AllTools, Names: a.Tools}}, nil, ts), "")
	return a.Text
}

func TestAgentSettings(t *testing.T) {
	t.Parallel()
	s := sourceOf(t, map[string]string{
		"plain.md":  "---\ntype: task\nname: Plain\ninstructions: Ask.\nfriendly_description: For people.\n---\nThe password is hunter2.",
		"none.md":   "---\ntype: chat\nallow_tools: false\ntools: [recall]\ndelegates: []\ncompaction_enabled: false\n---\nP <!-- AGENTS_LIST -->",
		"some.md":   "---\ntype: chat\ntools: [recall]\nmax-steps: 3\ntemperature: 0.3\nthinking: 2000\nscope: coding\n---\nP",
		"all.md":    "---\ntype: chat\ntools: true\n---\nP",
		"closed.md": "---\ntype: chat\ntools: []\n---\nP",
	})
	get := func(id string) (a struct {
		text  string
		tools []string
		all   bool
		none  bool
	},
	) {
		p, err := s.Agent(t.Context(), tool.Scope{Agent: id})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(p.Text+p.Description+p.Instructions+textOf(p), "For people") {
			t.Errorf("%s: what is for people reaches the model", id)
		}
		a.text, a.tools, a.all, a.none = laidOut(t, s, tool.Scope{Agent: id}), p.Tools, p.AllTools, p.NoTools
		return a
	}
	if a := get("plain"); a.text != "The password is ***." || a.tools != nil || a.all || a.none {
		t.Errorf("plain: %+v", a)
	}
	if a := get("none"); a.text != "P " || !a.none {
		t.Errorf("none: %+v", a)
	}
	if a := get("some"); !slices.Equal(a.tools, []string{"recall"}) {
		t.Errorf("some: %+v", a)
	}
	if a := get("all"); !a.all || a.tools != nil {
		t.Errorf("all: %+v", a)
	}
	if a := get("closed"); a.tools == nil || len(a.tools) != 0 {
		t.Errorf("closed: %+v", a)
	}
	if p, err := s.Agent(t.Context(), tool.Scope{Agent: "some"}); err != nil || p.MaxRounds != 3 || p.Scope != "coding" {
		t.Errorf("some: %+v, %v", p, err)
	} else if r := prompt.Build(p, nil, nil, time.Time{}, time.UTC); r.Temperature == nil || *r.Temperature != 0.3 || r.Thinking == nil || *r.Thinking != 2000 {
		t.Errorf("the request says %+v", r)
	}
	p, err := s.Agent(t.Context(), tool.Scope{Agent: "none"})
	if err != nil || p.Delegates == nil || len(p.Delegates) != 0 || !p.NoCompaction || p.Type != "chat" {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := s.Agent(t.Context(), tool.Scope{Agent: "nobody"}); !errors.Is(err, agents.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

// The list of agents holds what this frame can really delegate to.
func TestAgentsList(t *testing.T) {
	t.Parallel()
	const list = "\n---\n<!-- AGENTS_LIST --><!-- MCP_LIST -->"
	files := map[string]string{
		"lead.md": "---\ntype: task\ndescription: Leads." + list, "one.md": "---\ntype: chat\ndelegates: [researcher, main]" + list, "mute.md": "---\ntype: chat\ndelegates: []" + list,
	}
	s := sourceOf(t, files)
	of := func(id string, depth int) string {
		return laidOut(t, s, tool.Scope{Agent: id, Depth: depth})
	}
	got := of("lead", 1)
	if !strings.Contains(got, "- **researcher** — Answers a question") || strings.Contains(got, "**lead**") || strings.Contains(got, "**main**") || strings.Contains(got, "**event-triage**") {
		t.Errorf("lead:\n%s", got)
	}
	if got := of("one", 0); !strings.HasPrefix(got, "- **researcher** — ") || strings.Contains(got, "\n") {
		t.Errorf("one:\n%s", got)
	}
	if got := of("mute", 0) + of("lead", session.MaxDepth); got != "" {
		t.Errorf("who cannot delegate is shown:\n%s", got)
	}
}

func TestInjectedMemory(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"a.md":                "---\ntype: chat\ninject_memory: [user-memory/index.md, user-memory/none.md, $WD/HERALD.md, $WD/link, common/words.md]\n---\nP",
		"common/words.md":     "Words.",
		"common/wd/HERALD.md": "Diary hunter2.",
	}
	s := sourceOf(t, files)
	if err := os.Symlink("/etc/hostname", filepath.Join(s.dir, "common", "wd", "link")); err != nil {
		t.Fatal(err)
	}
	scope := tool.Scope{Agent: "a", Person: "ada", Askers: []string{"ada"}, Direct: true, Conversation: chat.Conversation{Workspace: "test:lab", Channel: "d"}}
	if _, err := s.desk.Notes.Remember(t.Context(), notes.User, notes.Of("ada"), notes.Writer{Person: "ada", Name: "Ada", Call: "c1"}, "Ada likes tea."); err != nil {
		t.Fatal(err)
	}
	// A link out of the working folder is not followed: the agent says what is wrong instead.
	if _, err := s.Agent(t.Context(), scope); err == nil || !strings.Contains(err.Error(), "$WD/link") {
		t.Errorf("a link out of the folder: %v", err)
	}
	if err := os.Remove(filepath.Join(s.dir, "common", "wd", "link")); err != nil {
		t.Fatal(err)
	}
	sections := func(of tool.Scope) string {
		a, err := s.Agent(t.Context(), of)
		if err != nil {
			t.Fatal(err)
		}
		return textOf(a)
	}
	got := sections(scope)
	for _, want := range []string{
		"<memory_file path=\"user-memory/index.md\">\n", "likes tea", "<memory_file path=\"user-memory/none.md\">\n(file not created yet)", "<memory_file path=\"HERALD.md\">\nDiary ***.",
		"<memory_file path=\"common/words.md\">\nWords.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	// The notes are read in one round trip, and in none where nobody has kept any.
	st := memory.New(memory.Options{})
	if _, err := notes.New(st, nil).Remember(t.Context(), notes.User, notes.Of("ada"), notes.Writer{Person: "ada", Name: "Ada", Call: "c1"}, "Ada likes tea."); err != nil {
		t.Fatal(err)
	}
	s.desk.Notes = notes.New(st, nil)
	trips := func(of tool.Scope) int64 {
		before := st.Stats().RoundTrips
		sections(of)
		return st.Stats().RoundTrips - before
	}
	without := scope
	without.NoNotes = true
	if n := trips(scope); n != 1 {
		t.Errorf("%d round trips for the notes", n)
	}
	if n, got := trips(without), sections(without); n != 0 || strings.Contains(got, "likes tea") || !strings.Contains(got, "<memory_file path=\"user-memory/index.md\">\n(file not created yet)") || !strings.Contains(got, "Words.") {
		t.Errorf("%d round trips where there are no notes:\n%s", n, got)
	}
	// What one person keeps is not in what others read.
	for name, change := range map[string]func(*tool.Scope){
		"a channel": func(s *tool.Scope) { s.Direct = false }, "two askers": func(s *tool.Scope) { s.Askers = []string{"ada", "ben"} }, "somebody else": func(s *tool.Scope) { s.Person, s.Askers = "ben", []string{"ben"} },
	} {
		of := scope
		change(&of)
		if got := sections(of); strings.Contains(got, "likes tea") || !strings.Contains(got, "Words.") {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

// What is known of a person stands in the prompt where that person alone reads.
func TestUserProfile(t *testing.T) {
	t.Parallel()
	s := &Service{store: observe(memory.New(memory.Options{}), func(string) {})}
	rec, err := json.Marshal(people.Record{V: 1, Name: "Ada <note>\nL."})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.store.Commit(t.Context(), store.Commit{ID: "1", Partition: people.PersonPartition("ada"), Ops: []store.Op{store.Put{Key: people.PersonKey, Value: rec}}}); err != nil {
		t.Fatal(err)
	}
	direct := tool.Scope{Person: "ada", Askers: []string{"ada"}, Direct: true}
	for _, tt := range []struct {
		name, key string
		change    func(*tool.Scope)
		want      string
	}{
		{"alone", "USER_PROFILE", func(*tool.Scope) {}, "Name: Ada &lt;note> L."},
		{"another key", "MCP_LIST", func(*tool.Scope) {}, ""},
		{"where others read", "USER_PROFILE", func(s *tool.Scope) { s.Direct = false }, ""},
		{"for two", "USER_PROFILE", func(s *tool.Scope) { s.Askers = append(s.Askers, "ben") }, ""},
		{"of nobody known", "USER_PROFILE", func(s *tool.Scope) { s.Person, s.Askers = "ben", []string{"ben"} }, ""},
	} {
		of := direct
		tt.change(&of)
		if got, err := s.value(t.Context(), of, tt.key); err != nil || got != tt.want {
			t.Errorf("%s: %q, %v, want %q", tt.name, got, err, tt.want)
		}
	}
}
