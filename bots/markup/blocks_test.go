package markup_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"herald/bots/markup"
)

// types lists the types of blocks, and the text that all of them show.
func types(blocks []markup.SlackBlock) string {
	var out []string
	for _, b := range blocks {
		out = append(out, b.Type)
	}
	return strings.Join(out, " ")
}

func shown(t testing.TB, blocks []markup.SlackBlock) string {
	t.Helper()
	var b strings.Builder
	var walk func(es []markup.SlackElement)
	walk = func(es []markup.SlackElement) {
		for _, e := range es {
			b.WriteString(e.Text)
			walk(e.Elements)
		}
	}
	for _, block := range blocks {
		if block.Text != nil {
			b.WriteString(block.Text.Text)
		}
		walk(block.Elements)
		for _, r := range block.Rows {
			for _, c := range r {
				walk(c.Elements)
			}
		}
	}
	return b.String()
}

func grid(rows, columns int) string {
	line := func(s string) string { return "|" + strings.Repeat(" "+s+" |", columns) + "\n" }
	return line("h") + line("---") + strings.Repeat(line("c"), rows-1)
}

func TestSlackBlocksTakeTheFormThatFits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"nothing":                  {"", ""},
		"text gathers in one":      {"a\n\n- b\n\n> c\n\n```\nd\n```", "rich_text"},
		"heading parts it":         {"a\n\n# b\n\nc", "rich_text header rich_text"},
		"longest header":           {"# " + strings.Repeat("h", 150), "header"},
		"too long for a header":    {"# " + strings.Repeat("h", 151), "rich_text"},
		"a link is no header":      {"# [a](https://x.y)", "rich_text"},
		"divider":                  {"a\n\n---\n\nb", "rich_text divider rich_text"},
		"largest table":            {grid(100, 2), "table"},
		"a row too many":           {grid(101, 2), "rich_text"},
		"widest table":             {grid(3, 20), "table"},
		"a column too many":        {grid(3, 21), "rich_text"},
		"a table of too much text": {grid(3, 2) + "| " + strings.Repeat("x", 10_001) + " | y |", "rich_text"},
		"a second table":           {grid(2, 2) + "\ntext\n\n" + grid(2, 2), "table rich_text"},
		"fifty headings":           {strings.Repeat("# h\n\n", 50), strings.TrimSpace(strings.Repeat("header ", 50))},
		"fifty-one headings":       {strings.Repeat("# h\n\n", 51), "rich_text"},
		"many dividers, one table": {strings.Repeat("---\n\n", 60) + grid(2, 2), "rich_text table"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := types(markup.Parse(c.in).SlackBlocks(markup.Policy{}, markup.MaxBlocks)); got != c.want {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
	doc := markup.Parse("# a\n\nb\n\n---\n\n" + grid(2, 2) + "\nc")
	for room, want := range map[int]string{0: "rich_text", 1: "rich_text", 2: "rich_text", 3: "rich_text table rich_text", 9: "header rich_text divider table rich_text"} {
		if got := types(doc.SlackBlocks(markup.Policy{}, room)); got != want {
			t.Errorf("room for %d: got %s, want %s", room, got, want)
		}
	}
}

func TestSlackBlocksHoldTheLimitsAndTheText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		src := strings.Repeat(source(t)+"\n\n", rapid.IntRange(1, 60).Draw(t, "times"))
		for i, piece := range markup.Parse(src).Pieces(markup.SlackMarkdown(), markup.Policy{}) {
			room := rapid.IntRange(1, markup.MaxBlocks).Draw(t, "room")
			blocks := piece.SlackBlocks(markup.Policy{}, room)
			if n := markup.SlackLength(blocks); len(blocks) > room || n > markup.MaxBlockChars {
				t.Fatalf("piece %d: %d blocks of %d characters", i, len(blocks), n)
			}
			raw, err := json.Marshal(blocks)
			if err != nil || strings.Contains(string(raw), `"text":""`) || strings.Contains(string(raw), `"elements":[]`) {
				t.Fatalf("piece %d has empty texts or elements: %s %v", i, raw, err)
			}
		}
	})
}

func TestSlackBlocksShowEveryWord(t *testing.T) {
	t.Parallel()
	for file, src := range corpus(t) {
		doc := markup.Parse(src)
		plain := markup.Plain()
		plain.Link = func(label, _ string) string { return label } // blocks keep a target beside the text
		plain.TableRows, plain.TableColumns, plain.TableChars = 100, 20, 10_000
		// Numbers of lists and boxes of tasks are no text in blocks.
		letters := func(s string) string {
			return strings.NewReplacer("1", "", "2", "", "3", "", "4", "", "5", "", "[x]", "").Replace(letters(s))
		}
		if file == "testdata/golden/tasks" {
			plain.Boxes = [2]string{}
		}
		if want, got := letters(doc.Text(plain, markup.Policy{})), letters(shown(t, doc.SlackBlocks(markup.Policy{}, markup.MaxBlocks))); want != got {
			t.Errorf("%s:\n got %s\nwant %s", file, got, want)
		}
	}
}

func TestALongListKeepsItsNumbersInBlocks(t *testing.T) {
	t.Parallel()
	doc := markup.Parse("7. a\n8. b\n\n   ```\n   code\n   ```\n9. c")
	raw, err := json.Marshal(doc.SlackBlocks(markup.Policy{}, markup.MaxBlocks))
	if err != nil {
		t.Fatal(err)
	}
	for _, offset := range []int{6, 8} {
		if !strings.Contains(string(raw), fmt.Sprintf(`"offset":%d`, offset)) {
			t.Errorf("no list goes on after %d: %s", offset, raw)
		}
	}
}
