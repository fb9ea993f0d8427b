package markup_test

import (
	"strings"
	"testing"

	"herald/bots/markup"
)

func TestSettled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"nothing yet":           {"", ""},
		"a paragraph may go on": {"one\ntwo", ""},
		"not before the next":   {"one\n\n", ""},
		"the next has begun":    {"one\n\ntwo", "one\n\n"},
		"not within a fence":    {"one\n\n```\na\n\nb\n\nc", "one\n\n"},
		"a longer fence":        {"````\n```\n\nx\n````\n\ny", "````\n```\n\nx\n````\n\n"},
		"tildes do not close":   {"```\n~~~\n\nx", ""},
		"an item goes on":       {"- a\n\n  b", ""},
		"behind a list":         {"- a\n\n  b\n\nc", "- a\n\n  b\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := c.in[:markup.Settled(c.in)]; got != c.want {
				t.Errorf("%q settles %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func TestSettledPartsMakeTheWholeText(t *testing.T) {
	t.Parallel()
	d := markup.SlackMarkdown()
	src := long(3_000)
	var parts []string
	sent := 0
	for end := 1; end <= len(src); end += 17 {
		if n := markup.Settled(src[sent:end]); n > 0 {
			parts = append(parts, markup.Parse(src[sent:sent+n]).Text(d, markup.Policy{}))
			sent += n
		}
	}
	parts = append(parts, markup.Parse(src[sent:]).Text(d, markup.Policy{}))
	if len(parts) < 10 {
		t.Errorf("only %d parts were sent", len(parts))
	}
	if got, want := strings.Join(parts, "\n\n"), markup.Parse(src).Text(d, markup.Policy{}); got != want {
		t.Errorf("the parts do not make the text:\n%.500s\n---\n%.500s", got, want)
	}
}
