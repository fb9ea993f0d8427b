package testbot_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"herald/bots/bottest/testbot"
	"herald/bots/bottest/wire"
	"herald/core/chat"

	"github.com/google/go-cmp/cmp"
)

func cutter(t *testing.T, limit int) func(string) []string {
	t.Helper()
	b, err := testbot.New(testbot.Options{URL: wire.Address("http://127.0.0.1:1", wire.Features{Workspace: "w", TextLimit: limit, SendTimeout: time.Second})})
	if err != nil {
		t.Fatal(err)
	}
	return func(s string) []string { return b.Cut(chat.Conversation{}, s) }
}

func TestCut(t *testing.T) {
	t.Parallel()
	ten := strings.Repeat("0123456789", 10)
	for name, c := range map[string]struct {
		limit int
		text  string
		want  []string
	}{
		"no limit":           {0, ten, []string{ten}},
		"fits exactly":       {100, ten, []string{ten}},
		"empty":              {10, "", []string{""}},
		"at a line end":      {10, "aaaa\nbbbb\ncccc", []string{"aaaa\nbbbb", "cccc"}},
		"a long line":        {10, strings.Repeat("x", 25), []string{strings.Repeat("x", 10), strings.Repeat("x", 10), "xxxxx"}},
		"runes and no bytes": {4, "äöüßäö", []string{"äöüß", "äö"}},
		"fence goes on": {
			64, "```go\n" + strings.Repeat("abcdefghi\n", 8) + "```\nend",
			[]string{"```go\n" + strings.Repeat("abcdefghi\n", 4) + "abcdefghi\n```", "```go\n" + strings.Repeat("abcdefghi\n", 3) + "```\nend"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, cutter(t, c.limit)(c.text)); diff != "" {
				t.Errorf("pieces differ (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzCut: whatever the text, each piece fits and the letters come out in order.
func FuzzCut(f *testing.F) {
	f.Add("```go\nx\n```", uint8(64))
	f.Add(strings.Repeat("`", 200)+"\nabc\n"+strings.Repeat("~", 90), uint8(64))
	f.Add("\n\n\n\n\n", uint8(1))
	f.Fuzz(func(t *testing.T, text string, limit uint8) {
		limit = max(limit, 1)
		if len(text) > 4096 {
			return
		}
		pieces := cutter(t, int(limit))(text)
		for i, p := range pieces {
			if n := utf8.RuneCountInString(p); n > int(limit) {
				t.Errorf("piece %d has %d runes, the limit is %d", i, n, limit)
			}
		}
		if limit < 64 || !strings.ContainsAny(text, "`~") { // below, and without fences, nothing is added
			got := strings.ReplaceAll(strings.Join(pieces, ""), "\n", "")
			if want := strings.ReplaceAll(text, "\n", ""); got != want {
				t.Errorf("the pieces read %q, want %q", got, want)
			}
		}
	})
}
