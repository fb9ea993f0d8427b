package markup_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herald/bots/markup"
)

var update = flag.Bool("update", false, "write the golden files anew")

// policy lets one person be mentioned, so that both outcomes stand in the files.
func policy() markup.Policy {
	return markup.Policy{Mention: func(id string) bool { return id == "U0OK42" }}
}

// rendered is a document in all outputs, one below the other.
func rendered(t *testing.T, source string) string {
	t.Helper()
	doc := markup.Parse(source)
	var b strings.Builder
	for _, d := range dialects() {
		fmt.Fprintf(&b, "=== %s\n%s\n", d.Name, doc.Text(d, policy()))
	}
	var blocks bytes.Buffer
	e := json.NewEncoder(&blocks)
	e.SetEscapeHTML(false)
	b.WriteString("=== slack blocks\n")
	for _, block := range doc.SlackBlocks(policy(), markup.MaxBlocks) {
		if err := e.Encode(block); err != nil {
			t.Fatal(err)
		}
	}
	b.Write(blocks.Bytes())
	return b.String()
}

func corpus(t testing.TB) map[string]string {
	t.Helper()
	files, err := filepath.Glob("testdata/golden/*.md")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d documents in testdata/golden, want at least 40 (%v)", len(files), err)
	}
	out := map[string]string{}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(f, ".md")] = string(raw)
	}
	return out
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for file, source := range corpus(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			got := rendered(t, source)
			if *update {
				if err := os.WriteFile(file+".golden", []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file + ".golden")
			if err != nil {
				t.Fatalf("%v; run the test with -update and read the new file", err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCorpusRenderedAgainIsTheSame(t *testing.T) {
	t.Parallel()
	for file, source := range corpus(t) {
		for _, d := range []markup.Dialect{markup.SlackMarkdown(), markup.Markdown()} {
			once := markup.Parse(source).Text(d, policy())
			if diff := cmp.Diff(once, markup.Parse(once).Text(d, policy())); diff != "" {
				t.Errorf("%s in %s (-once +twice):\n%s", file, d.Name, diff)
			}
		}
	}
}
