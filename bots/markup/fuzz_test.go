package markup_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"herald/bots/markup"
)

func FuzzMarkdown(f *testing.F) {
	for _, src := range corpus(f) {
		f.Add(src, 300)
	}
	f.Fuzz(func(t *testing.T, src string, limit int) {
		if len(src) > 5_000 {
			return
		}
		limit = 200 + max(0, limit)%2_000
		doc := markup.Parse(src)
		for _, d := range dialects() {
			d.Limit, d.MarginPercent = limit, 0
			for i, piece := range doc.Pieces(d, policy()) {
				text := piece.Text(d, policy())
				if n := utf8.RuneCountInString(text); n > limit {
					t.Fatalf("%s: piece %d has %d code points of %d", d.Name, i, n, limit)
				}
				if !utf8.ValidString(text) {
					t.Fatalf("%s: piece %d is no UTF-8", d.Name, i)
				}
			}
		}
		if got := outsideCode(doc.Text(small(0), markup.Policy{})); strings.Contains(got, "<@") || strings.Contains(got, "<!") || mass.MatchString(got) {
			t.Fatalf("a token is left in %q", got)
		}
		if blocks := doc.SlackBlocks(policy(), 7); len(blocks) > 7 {
			t.Fatalf("%d blocks, room was for 7", len(blocks))
		}
	})
}

func FuzzFromSlack(f *testing.F) {
	f.Add("<@U1> *b* &amp;lt; `x` ```y``` <https://x.y|l>", richMessage)
	f.Add("•\t<!date^1^x|", `[{"type":"rich_text","elements":[{"type":"rich_text_list","indent":99,"elements":[]}]}]`)
	f.Fuzz(func(t *testing.T, text, blocks string) {
		if out := markup.FromSlackMessage(text, json.RawMessage(blocks), nil, names()); !utf8.ValidString(out) {
			t.Fatalf("%q is no UTF-8", out)
		}
	})
}

// TestHostileTextsTakeLittleTime: the bound is far above what they take, and far below what a quadratic walk would.
func TestHostileTextsTakeLittleTime(t *testing.T) {
	t.Parallel()
	const n = 20_000
	for name, src := range map[string]string{
		"quotes":       strings.Repeat(">", n),
		"quotes apart": strings.Repeat("> ", n/2),
		"lists":        strings.Repeat("- ", n/2),
		"numbers":      strings.Repeat("1. ", n/3),
		"stairs": func() string {
			var b strings.Builder
			for i := 0; b.Len() < n; i++ {
				b.WriteString(strings.Repeat("  ", i) + "- x\n")
			}
			return b.String()
		}(),
		"brackets":     strings.Repeat("[", n),
		"links":        strings.Repeat("[a](", n/4),
		"stars":        strings.Repeat("*a ", n/3),
		"marks":        strings.Repeat("*a _b ~c ", n/9),
		"closers":      strings.Repeat("a** ", n/4),
		"backticks":    strings.Repeat("`a``", n/4),
		"ticks grow":   strings.Repeat("` `` ``` ", n/9),
		"angles":       strings.Repeat("<a ", n/3),
		"entities":     strings.Repeat("&amp;", n/5),
		"pipes":        strings.Repeat("|", n),
		"table":        grid(2_000, 20),
		"zalgo":        "e" + strings.Repeat("\u0301", 2*n),
		"lines":        strings.Repeat("\n", n),
		"tokens":       strings.Repeat("<https://x.y|", n/13),
		"comments":     strings.Repeat("<!--", n/4),
		"declarations": strings.Repeat("<!A", n/3),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			d := markup.SlackMarkdown()
			for i, piece := range markup.Parse(src).Pieces(d, markup.Policy{}) {
				if len(piece.SlackBlocks(markup.Policy{}, 50)) > 50 || utf8.RuneCountInString(piece.Text(d, markup.Policy{})) > 10_800 {
					t.Errorf("piece %d is too large", i)
				}
			}
			markup.FromSlackText(src, names())
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("took %v", took)
			} else {
				t.Log(took)
			}
		})
	}
}

func BenchmarkAnswer(b *testing.B) {
	for name, size := range map[string]int{"short": 500, "long": 200_000} {
		b.Run(name, func(b *testing.B) {
			src, d := long(size)[:size], markup.SlackMarkdown()
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if len(markup.Cut(src, d, markup.Policy{})) == 0 {
					b.Fatal("no piece")
				}
			}
		})
	}
}
