package terminal

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestRenderGolden sets testdata/*.md wide with styles, wide without, and narrow.
func TestRenderGolden(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no texts to set: %v", err)
	}
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			width  int
			styled bool
		}{"styled": {72, true}, "plain": {72, false}, "narrow": {24, false}} {
			t.Run(filepath.Base(f)+"/"+name, func(t *testing.T) {
				t.Parallel()
				got := newRenderer(c.styled).render(string(src), c.width) + "\n"
				golden := strings.TrimSuffix(f, ".md") + "." + name + ".golden"
				if *update {
					if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(golden)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", golden, diff)
				}
			})
		}
	}
}

// TestRenderIsSafe: whatever the text, no control character but our own styles comes out.
func TestRenderIsSafe(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"raw escape":           "a \x1b]52;c;eA==\a b",
		"entity":               "a &#27;]52;c;eA==&#7; &#x1b;[2J &#x9b;31m b",
		"entity in a link":     "[text&#27;[2J](http://x/&#27;[2J)",
		"entity of bidi":       "a &#x202e; b",
		"code":                 "```\n\x1b[2J&#27;\n```",
		"inline code":          "`\x1b[2J &#27;[2J`",
		"html":                 "<b \x1b[2J>x</b>\n\n<div>\x1b]0;t\a</div>",
		"table":                "| a | b |\n|---|---|\n| \x1b[2J | &#27;[2J |",
		"autolink":             "<http://x/\x1b[2J>",
		"escaped punctuation":  `\` + "\x1b[2J \\&#27;[2J",
		"language of a fence":  "```\x1b[2J\nx\n```",
		"title of a link":      "[x](http://y \"\x1b[2J\")",
		"reference definition": "[x]\n\n[x]: http://y/\x1b[2J",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := newRenderer(false).render(text, 60); strings.ContainsAny(got, "\x1b\a\u009b\u202e") {
				t.Errorf("%q is set as %q", text, got)
			}
		})
	}
}

func TestLinksShowWhereTheyLead(t *testing.T) {
	t.Parallel()
	r := newRenderer(false)
	if got := r.render("[bank.example](http://evil.example)", 60); got != "bank.example (http://evil.example)" {
		t.Errorf("got %q", got)
	}
	if got := r.render("<http://good.example>", 60); got != "http://good.example" {
		t.Errorf("got %q", got)
	}
}

func FuzzRender(f *testing.F) {
	files, err := filepath.Glob("testdata/*.md")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(src), uint8(30))
	}
	f.Fuzz(func(t *testing.T, text string, width uint8) {
		got := newRenderer(true).render(text, int(width))
		if i := strings.IndexFunc(ansi.Strip(got), func(r rune) bool { return r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 }); i >= 0 {
			t.Errorf("%q is set as %q", text, got)
		}
	})
}
