package agents

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestRewrite(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name            string
		layout          Layout
		src, key, value string
		want            string
	}{
		{"a word", Flat, "---\ntype: task\nstrength: low # for now\n# next\nname: x\n---\nP", "strength", "high", "---\ntype: task\nstrength: high # for now\n# next\nname: x\n---\nP"},
		{"another spelling of the key", Flat, "---\nmax-steps:   3\nclient: a\n---\nP", "max_steps", "4", "---\nmax-steps:   4\nclient: a\n---\nP"},
		{"its other name", Flat, "---\nclient: a\n---\nP", "model", "b", "---\nclient: b\n---\nP"},
		{"a list over lines", Flat, "---\ntools:\n  - a\n  - b\n\n# why\nname: x\n---\nP", "tools", "[c]", "---\ntools: [c]\n\n# why\nname: x\n---\nP"},
		{"a folded text", Flat, "---\ndescription: >\n  one\n  # two\nname: x\n---\nP", "description", "short", "---\ndescription: short\nname: x\n---\nP"},
		{"a text that needs quotes", Flat, "---\nname: x\n---\nP", "name", "a: b # c", "---\nname: \"a: b # c\"\n---\nP"},
		{"CRLF", Flat, "---\r\nname: x\r\ntype: chat\r\n---\r\nP\r\n", "name", "y", "---\r\nname: y\r\ntype: chat\r\n---\r\nP\r\n"},
		{"a new setting", Flat, "---\nname: x\n---\nP\n---\n", "strength", "low", "---\nname: x\nstrength: low\n---\nP\n---\n"},
		{"no settings yet", Flat, "---\n---\nP", "strength", "low", "---\nstrength: low\n---\nP"},
		{"JSON", Meta, "{\n\t\"name\" : \"x\",\n\t\"strength\":  \"low\" ,\"type\":\"task\"}\n", "strength", "high", "{\n\t\"name\" : \"x\",\n\t\"strength\":  \"high\" ,\"type\":\"task\"}\n"},
		{"a new one in JSON", Meta, "{\n  \"name\": \"x\"\n}\n", "max-steps", "3", "{\n  \"name\": \"x\",\n  \"max_steps\": 3\n}\n"},
		{"the first one in JSON", Meta, "{}", "name", "x", "{\n  \"name\": \"x\"}"},
	}
	for _, tt := range tests {
		got, err := rewrite(tt.layout, []byte(tt.src), tt.key, tt.value)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %q, %v; want %q", tt.name, got, err, tt.want)
		}
	}
	for _, tt := range []struct{ name, src, key, value string }{
		{"unknown", "---\nname: x\n---\nP", "nmae", "x"},
		{"refused", "---\nname: x\n---\nP", "provider_tools", "[x]"},
		{"two lines of YAML in a value", "---\nname: x\n---\nP", "tools", "[a\nstrength: low"},
		{"all in one line", "---\n{name: x, type: chat}\n---\nP", "name", "y"},
		{"no settings", "P", "name", "y"},
	} {
		if got, err := rewrite(Flat, []byte(tt.src), tt.key, tt.value); err == nil && !strings.Contains(string(got), `"[a\nstrength: low"`) {
			t.Errorf("%s: accepted as %q", tt.name, got)
		}
	}
}

// Whatever the file looks like: outside of the value every byte stays, and no other setting changes.
func TestRewriteKeepsTheRest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		layout := rapid.SampledFrom([]Layout{Flat, Meta}).Draw(t, "layout")
		newline := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline")
		entries := []struct{ key, yaml, json, next string }{
			{"name", `Ada`, `"Ada"`, "Eve: the second"},
			{"description", "\"a # b\"", `"a , } b"`, "what # it does"},
			{"strength", "low", `"low"`, "very_high"},
			{"tools", "[a, 'b # c']", `["a", "]"]`, "[x, y]"},
			{"delegates", "\n  - a\n  - b", `[ "a" ]`, "[]"},
			{"max_steps", "7", "7", "12"},
			{"extra", "\n  a: {b: [1, 2]}\n  # deep\n  c: |\n    text\n    # no comment", `{"name": {"x": [1]}}`, ""},
		}
		picked := rapid.SliceOfNDistinct(rapid.IntRange(0, len(entries)-1), 1, len(entries), rapid.ID[int]).Draw(t, "settings")
		target := entries[rapid.IntRange(0, len(entries)-2).Draw(t, "target")]
		blank := rapid.SampledFrom([]string{" ", "  ", "\t "})
		var b strings.Builder
		for n, i := range picked {
			e := entries[i]
			if layout == Meta {
				sep := ","
				if n == len(picked)-1 {
					sep = ""
				}
				fmt.Fprintf(&b, "%s%q%s:%s%s%s%s\n", blank.Draw(t, "in"), e.key, blank.Draw(t, "before"), blank.Draw(t, "behind"), e.json, blank.Draw(t, "end"), sep)
				continue
			}
			b.WriteString(rapid.SampledFrom([]string{"", "# a comment\n", "\n", "\n# one\n\n# two\n"}).Draw(t, "above"))
			tail := ""
			if !strings.Contains(e.yaml, "\n") {
				tail = rapid.SampledFrom([]string{"", "  # why", " #"}).Draw(t, "comment")
			}
			fmt.Fprintf(&b, "%s: %s%s\n", rapid.SampledFrom([]string{e.key, strings.ReplaceAll(e.key, "_", "-")}).Draw(t, "key"), e.yaml, tail)
		}
		src := "{\n" + b.String() + "}\n"
		if layout == Flat {
			src = "---\n" + b.String() + "---\nA prompt.\n\nname: no setting\n---\n"
		}
		src = strings.ReplaceAll(src, "\n", newline)
		got, err := rewrite(layout, []byte(src), target.key, target.next)
		if err != nil {
			t.Fatalf("%q: %v", src, err)
		}
		// The changed bytes lie in one place: what is the same in front of it and behind it makes up the rest of the file.
		front := 0
		for front < min(len(src), len(got)) && src[front] == got[front] {
			front++
		}
		behind := 0
		for behind < min(len(src), len(got))-front && src[len(src)-1-behind] == got[len(got)-1-behind] {
			behind++
		}
		if changed := src[front : len(src)-behind]; strings.Contains(changed, "why") || strings.Contains(changed, "comment") || len(changed) > len("- a\r\n  - b\r\n")+8 {
			t.Fatalf("%q became %q: %q is gone", src, got, changed)
		}
		// And a second time, to the old value in its plain form, changes nothing but the value again.
		if again, err := rewrite(layout, got, target.key, target.next); err != nil || !bytes.Equal(again, got) {
			t.Fatalf("the same change again: %q, %v; was %q", again, err, got)
		}
	})
}

func TestNewAndSet(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for path, src := range map[string]string{"a.b.md": "---\n---\nP", "broken/AGENT.md": "P", "seed/AGENT.md": "P", "seed/meta.json": `{"name":"x","description":"y","type":"task"}`} {
		full := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(src), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	r := Open(Options{Dir: dir, Log: slog.New(slog.DiscardHandler)})
	before := len(r.Problems())
	for _, id := range []string{"a.b", "a_b", "broken", "seed", "main", "researcher", "../x", "common", ""} {
		if p, err := r.New(id, Task, ""); err == nil {
			t.Errorf("%q was written to %s", id, p)
		}
	}
	for _, ty := range types {
		if _, err := r.New("new-"+string(ty), ty, "Does \"this\": and # that"); err != nil {
			t.Error(err)
		}
		a, err := r.Now().Agent("new-" + string(ty))
		if err != nil || a.Type != ty || a.Description != `Does "this": and # that` || a.TypeTaken {
			t.Errorf("%+v, %v", a, err)
		}
	}
	if got := len(r.Problems()); got != before {
		t.Errorf("%d problems, there were %d: %v", got, before, r.Problems())
	}
	for _, tt := range []struct{ id, key, value, want string }{
		{"seed", "strength", "high", ""},
		{"a.b", "strength", "high", ""},
		{"new-task", "max-steps", "9", ""},
		{"seed", "strength", "medium", "is no strength"},
		{"seed", "strenth", "high", `did you mean "strength"`},
		{"main", "strength", "high", "is built-in and has no file"},
		{"nobody", "strength", "high", "nobody.md"},
		{"../x", "strength", "high", "cannot be an agent's id"},
	} {
		path, err := r.Set(tt.id, tt.key, tt.value)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %s %s: %v, want %q", tt.id, tt.key, tt.value, err, tt.want)
		}
		if err != nil {
			continue
		}
		a, err := r.Now().Agent(tt.id)
		if err != nil || a.Strength != "high" && a.MaxSteps != 9 {
			t.Errorf("%s: %+v, %v", path, a, err)
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
			t.Errorf("left over: %v", left)
		}
	}
}
