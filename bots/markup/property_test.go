package markup_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"herald/bots/markup"
)

// letters is what must survive every rendering.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}

var words = rapid.SampledFrom([]string{
	"plain", "wörter", "世界", "a*b", "**bold**", "*it*", "_under_", "~~gone~~", "`code`", "``a`b``", "snake_case", "[label](https://example.org/a_b)",
	"https://example.org/x?a=1&b=2", "<@U0AB12>", "<!here>", "<#C1|x>", "<https://x.y|z>", "@everyone", "&lt;", "&amp;lt;", "a&b", "<b>", "**Head:**next", "日本語**太字。**です",
	"👨‍👩‍👧‍👦", "e\u0301", "![pic](https://i.mg/p.png)", "1.", "-", "#", ">", "|", "\\*", "]", "(", "~5", "2 * 3", "`open", "**open", "..", "!",
})

func text(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(words, 1, 12).Draw(t, "words"), rapid.SampledFrom([]string{" ", " ", "\n"}).Draw(t, "gap"))
}

// source draws Markdown of every kind of block.
func source(t *rapid.T) string {
	block := rapid.Custom(func(t *rapid.T) string {
		switch rapid.IntRange(0, 8).Draw(t, "kind") {
		case 0:
			return "## " + strings.ReplaceAll(text(t), "\n", " ")
		case 1:
			return "```" + rapid.SampledFrom([]string{"", "go"}).Draw(t, "lang") + "\n" + text(t) + "\n\n" + text(t) + "\n```"
		case 2:
			return "> " + strings.ReplaceAll(text(t), "\n", "\n> ")
		case 3:
			return fmt.Sprintf("%d. %s\n   - %s\n\n   more\n%s", rapid.IntRange(1, 12).Draw(t, "n"), line(t), line(t), "9. "+line(t))
		case 4:
			return "- [ ] " + line(t) + "\n- [x] " + line(t)
		case 5:
			return "| a | b |\n|---|--:|\n| " + strings.ReplaceAll(line(t), "|", "/") + " | 2 |"
		case 6:
			return "---"
		}
		return text(t)
	})
	return strings.Join(rapid.SliceOfN(block, 1, 6).Draw(t, "blocks"), "\n\n")
}

func line(t *rapid.T) string { return strings.ReplaceAll(text(t), "\n", " ") }

func dialects() []markup.Dialect {
	return []markup.Dialect{markup.SlackMarkdown(), markup.SlackMrkdwn(), markup.Markdown(), markup.Plain()}
}

func TestPiecesHoldTheLimitAndLoseNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		doc := markup.Parse(source(t))
		for _, d := range dialects() {
			d.Limit = rapid.IntRange(150, 700).Draw(t, "limit")
			d.MarginPercent = 10
			d.TableRows = 0 // what a table becomes is the same for all limits
			pieces := doc.Pieces(d, markup.Policy{})
			var got strings.Builder
			for i, p := range pieces {
				out := p.Text(d, markup.Policy{})
				if n := utf8.RuneCountInString(out); n > d.Limit-d.Limit/10 {
					t.Fatalf("%s: piece %d has %d code points, the limit is %d:\n%s", d.Name, i, n, d.Limit, out)
				}
				if len(pieces) > 1 && strings.TrimSpace(out) == "" {
					t.Fatalf("%s: piece %d of %d is empty", d.Name, i, len(pieces))
				}
				got.WriteString(p.Text(markup.Plain(), markup.Policy{}))
			}
			whole := d
			whole.Limit = 0
			all := doc.Pieces(whole, markup.Policy{})[0]
			if diff := cmp.Diff(letters(all.Text(markup.Plain(), markup.Policy{})), letters(got.String())); diff != "" {
				t.Fatalf("%s: the text is not whole or not in order (-want +got):\n%s", d.Name, diff)
			}
			if diff := cmp.Diff(all, markup.Join(pieces)); diff != "" {
				t.Fatalf("%s: the pieces do not make the document again (-want +got):\n%s", d.Name, diff)
			}
		}
	})
}

func TestRenderingAgainChangesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		src := source(t)
		for _, d := range []markup.Dialect{markup.SlackMarkdown(), markup.Markdown()} {
			once := markup.Parse(src).Text(d, markup.Policy{})
			if diff := cmp.Diff(once, markup.Parse(once).Text(d, markup.Policy{})); diff != "" {
				t.Fatalf("%s: source %q\n(-once +twice):\n%s", d.Name, src, diff)
			}
		}
	})
}
