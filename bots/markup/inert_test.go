package markup_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"herald/bots/markup"
)

// outsideCode drops fences and code spans of rendered Markdown.
func outsideCode(s string) string {
	var b strings.Builder
	fence := ""
	for line := range strings.Lines(s) {
		t := strings.TrimLeft(line, " >-+0123456789.)")
		ticks := len(t) - len(strings.TrimLeft(t, "`"))
		switch {
		case fence == "" && ticks >= 3:
			fence = t[:ticks]
		case fence != "":
			if ticks >= len(fence) && strings.TrimSpace(t[ticks:]) == "" {
				fence = ""
			}
		default:
			b.WriteString(line)
		}
	}
	return codeSpans.ReplaceAllString(b.String(), "")
}

var (
	codeSpans = regexp.MustCompile("(^|[^\\\\`])(`[^`]+`|``.+?``)")
	mass      = regexp.MustCompile(`(?i)@(everyone|here|channel)\b`)
	allowed   = regexp.MustCompile(`<@U0OK42>`)
	ownLink   = regexp.MustCompile(`<(https?://|mailto:)[^<>|\s]+(\|[^<>|]*)?>`)
)

func TestNoTokenThatThePolicyDidNotMake(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		src := source(t) + "\n\n" + rapid.StringMatching(`[<>@!#|&;a-zU0-9\\*_ \[\]()/:-]{0,60}`).Draw(t, "signs") + "\n\n<@U0OK42> <@U0NO42> <!here> @here"
		doc := markup.Parse(src)
		text := allowed.ReplaceAllString(outsideCode(doc.Text(markup.SlackMarkdown(), policy())), "")
		if strings.ContainsAny(text, "<") || mass.MatchString(text) {
			t.Fatalf("source %q leaves a token in\n%s", src, text)
		}
		// In mrkdwn the only tokens are the policy's mention and links that show where they lead or have a label of the text's own.
		text = doc.Text(markup.SlackMrkdwn(), policy())
		if rest := ownLink.ReplaceAllString(allowed.ReplaceAllString(text, ""), ""); strings.ContainsAny(rest, "<>") && strings.Contains(strings.ReplaceAll(rest, "\n> ", "\n"), "<") {
			t.Fatalf("source %q leaves a token in\n%s", src, rest)
		}
		raw, err := json.Marshal(doc.SlackBlocks(policy(), markup.MaxBlocks))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(raw), `"user_id":"U0NO42"`) || !strings.Contains(string(raw), `"user_id":"U0OK42"`) || strings.Contains(string(raw), `"broadcast"`) {
			t.Fatalf("source %q: mentions in blocks are not the policy's:\n%s", src, raw)
		}
	})
}

func TestLinksThatThePolicyRefusesAreText(t *testing.T) {
	t.Parallel()
	doc := markup.Parse("[in](https://in.example/x) [out](https://out.example/x) https://out.example/y")
	p := markup.Policy{Link: func(url string) bool { return strings.HasPrefix(url, "https://in.example/") }}
	if got, want := doc.Text(markup.SlackMarkdown(), p), "[in](https://in.example/x) out (https:\u200b//out.example/x) https:\u200b//out.example/y"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	raw, err := json.Marshal(doc.SlackBlocks(p, markup.MaxBlocks))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), `"url":"https://out`) || !strings.Contains(string(raw), `"url":"https://in`) {
		t.Errorf("links in blocks are not the policy's: %s", raw)
	}
}

func TestEscapingIsIdempotent(t *testing.T) {
	t.Parallel()
	d := markup.SlackMarkdown()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`([a-z ]|<|>|&|;|&lt;|&amp;|@here|<@U1>){0,40}`).Draw(t, "text")
		once := markup.Parse(s).Text(d, markup.Policy{})
		if twice := markup.Parse(once).Text(d, markup.Policy{}); twice != once {
			t.Fatalf("%q is escaped to %q, and that to %q", s, once, twice)
		}
		if shown := markup.Parse(once).Text(markup.Plain(), markup.Policy{}); shown != markup.Parse(s).Text(markup.Plain(), markup.Policy{}) {
			t.Fatalf("%q is shown as %q", s, shown)
		}
	})
}
