package agents_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"herald/agents"
)

// put writes a file of the folder, with a later time than every one before.
func (f *folder) put(path, src string) {
	f.t.Helper()
	full := filepath.Join(f.dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(src), 0o644); err != nil {
		f.t.Fatal(err)
	}
	f.at = f.at.Add(time.Second)
	if err := os.Chtimes(full, f.at, f.at); err != nil {
		f.t.Fatal(err)
	}
}

const meta = `{"name": "Ada", "description": "Counts.", "type": "task"}`

// The three layouts stand side by side, and a setting means the same in each.
func TestLayouts(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	f.put("seed/meta.json", `{"name": "N", "description": "D", "type": "task", "max_steps": 7, "tools": [], "delegates": ["flat"]}`)
	f.put("seed/AGENT.md", "P")
	const front = "---\nname: N\ndescription: D\ntype: task\nmax-steps: 7\ntools: []\ndelegates: [seed]\n---\nP\n"
	f.put("folder/AGENT.md", front)
	f.put("flat.md", front)
	f.put("a.b.md", front)
	f.put("README.md", "What is here.")
	f.put("notes.txt", "x")
	f.put("common/x/AGENT.md", "broken")
	r := f.open()
	want := map[string]agents.Layout{"seed": agents.Meta, "folder": agents.Folder, "flat": agents.Flat, "a.b": agents.Flat}
	for id, layout := range want {
		a, err := r.Agent(t.Context(), id)
		if err != nil {
			t.Error(err)
			continue
		}
		if a.Layout != layout || a.Name != "N" || a.Description != "D" || a.Type != agents.Task || a.MaxSteps != 7 || !a.Tools.None() || len(a.Delegates) != 1 || a.Prompt != "P" {
			t.Errorf("%+v", a)
		}
	}
	if p := problems(r); p != "" {
		t.Error(p)
	}
}

func TestDiscoveryFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		files map[string]string
		// want is what the problem says, stays the prompt of the agent that it concerns, "missing" for none.
		want, id, stays string
	}{
		{"settings twice", map[string]string{"x/AGENT.md": good, "x/meta.json": meta}, "x/AGENT.md:1: the agent has settings twice", "x", "missing"},
		{"an id twice", map[string]string{"x/AGENT.md": good, "x.md": "---\n---\nTwo."}, "x.md: the agent \"x\" stands in ", "x", "One."},
		{"the same once sanitised", map[string]string{"a.b.md": good, "a_b/AGENT.md": "---\n---\nTwo."}, `names of tools (a_b); rename one of both`, "a.b", "One."},
		{"no type", map[string]string{"x/AGENT.md": "One.", "x/meta.json": `{"name": "x", "description": "x"}`}, `x/meta.json:1: the settings have no type; add "type": "task"`, "x", "missing"},
		{"unknown strength", map[string]string{"x.md": "---\nname: x\nstrength: medium\n---\nOne."}, `x.md:3: strength: "medium" is no strength; there are: very_low`, "x", "missing"},
		{"unknown key", map[string]string{"x.md": "---\nfriendly-descripton: x\n---\nOne."}, `x.md:2: there is no setting "friendly-descripton"; did you mean "friendly_description"?`, "x", "missing"},
		{"metadata alone", map[string]string{"x/meta.json": meta}, "there is no file AGENT.md", "x", "missing"},
		{"neither", map[string]string{"x/AGENT.md": "One."}, "must begin with a line", "x", "missing"},
		{"a reserved name", map[string]string{"AGENT.md": good}, "belongs into a folder", "AGENT", "missing"},
		{"an id that is none", map[string]string{"Größe.md": good}, "cannot be an agent's id", "Größe", "missing"},
		{"a missing include", map[string]string{"x.md": "---\ntype: chat\n---\nOne.\n<!-- INCLUDE: common/no.md -->"}, "x.md:5: INCLUDE: there is no file common/no.md", "x", "missing"},
		{"an include outside", map[string]string{"x.md": "---\n---\n<!-- INCLUDE: ../x.md -->"}, `x.md:3: INCLUDE: "../x.md" is no path`, "x", "missing"},
		{
			"a circle",
			map[string]string{"x.md": "---\n---\n\n<!-- INCLUDE: common/a.md -->", "common/a.md": "a\n<!-- INCLUDE: common/b.md -->", "common/b.md": "<!--INCLUDE:common/a.md-->"},
			"common/b.md:1: INCLUDE: files include each other in a circle: common/a.md → common/b.md → common/a.md", "x", "missing",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFolder(t)
			f.put("other.md", "---\ntype: task\n---\nOther.")
			for path, src := range tt.files {
				f.put(path, src)
			}
			r := f.open()
			if got := problems(r); !strings.Contains(got, tt.want) || strings.Count(got, "\n") != 0 {
				t.Errorf("problems %q, want one with %q", got, tt.want)
			}
			if got := prompt(t, r, tt.id); got != tt.stays {
				t.Errorf("%s: %q, want %q", tt.id, got, tt.stays)
			}
			if got := prompt(t, r, "other"); got != "Other." {
				t.Errorf("another agent is hidden: %q", got)
			}
		})
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	f.put("a.md", "---\ndelegates: [b, main, nobody]\n---\nA.")
	f.put("b.md", "---\navatar-url: https://example.org/b.png\n---\nB.")
	f.put("main.md", "---\ntype: chat\n---\nOurs.")
	r := f.open()
	var got []string
	for _, n := range r.Notes() {
		got = append(got, strings.TrimPrefix(n.String(), f.dir+"/"))
	}
	for _, want := range []string{
		"a.md:1: the settings have no type; chat is taken",
		`a.md: it delegates to "main", which is a chat agent`,
		`a.md: it delegates to "nobody", which is no agent`,
		"b.md:1: the settings have no type; task is taken",
		"b.md:2: avatar-url changes nothing",
		"main.md: it replaces the built-in agent",
	} {
		if !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("%q is missing in\n%s", want, strings.Join(got, "\n"))
		}
	}
	if p := problems(r); p != "" {
		t.Error(p)
	}
}

func TestIncludes(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	f.put("x.md", "---\ntype: chat\n---\nBegin.\n<!-- INCLUDE: common/a.md -->\nEnd. <!-- INCLUDE:common/b.md --><!-- OTHER -->")
	f.put("common/a.md", "\n\nA and <!-- INCLUDE: common/b.md -->.\n")
	f.put("common/b.md", "B")
	r := f.open()
	if got, want := prompt(t, r, "x"), "Begin.\nA and B.\nEnd. B<!-- OTHER -->"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	before, _ := r.Agent(t.Context(), "x")
	f.put("common/b.md", "C")
	if got := prompt(t, r, "x"); !strings.Contains(got, "A and C.") {
		t.Errorf("a change of an included file is not seen: %q", got)
	}
	if after, _ := r.Agent(t.Context(), "x"); after.Hash == before.Hash {
		t.Error("the hash did not change with the included file")
	}
	f.remove("common/b.md")
	if got := prompt(t, r, "x"); !strings.Contains(got, "A and C.") || !strings.Contains(problems(r), "no file common/b.md in the agents' folder (the version before it stays in force)") {
		t.Errorf("%q, problems %q", got, problems(r))
	}
	f.put("common/b.md", "D")
	if got := prompt(t, r, "x"); !strings.Contains(got, "A and D.") || problems(r) != "" {
		t.Errorf("%q, problems %q", got, problems(r))
	}
}

// Files that include each other twice would double with each step.
func TestIncludesAreBounded(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	f.put("x.md", "---\ntype: chat\n---\n<!-- INCLUDE: common/0.md -->")
	f.put("common/X.md", "")
	for i := range 40 {
		next := "<!-- INCLUDE: common/" + string(rune('0'+i+1)) + ".md -->"
		f.put("common/"+string(rune('0'+i))+".md", next+next)
	}
	if got := problems(f.open()); !strings.Contains(got, "includes more than 256 files") {
		t.Errorf("got %q", got)
	}
}

func TestSanitize(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"a.b": "a_b", "a-b_C9": "a-b_C9", "ä": "_"} {
		if got := agents.Sanitize(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	for id, ok := range map[string]bool{"a": true, "a.b": true, "A_1-x": true, ".": false, "..": false, "a/b": false, ".a": false, "-a": false, "": false, "common": false, strings.Repeat("x", 65): false} {
		if got := agents.CheckID(id) == nil; got != ok {
			t.Errorf("%q: %v", id, got)
		}
	}
}
