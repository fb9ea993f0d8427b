package bottest

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// letters is what must survive any dialect: letters and digits outside of the lines that open and close fences.
func letters(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		if isFence(line) {
			continue
		}
		for _, r := range line {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}

func isFence(line string) bool { return strings.HasPrefix(line, "```") }

// markdown draws a text of paragraphs, lists and fenced code; it may be far longer than any platform's limit.
func markdown(limit int) *rapid.Generator[string] {
	word := rapid.StringMatching(`[a-zäöü0-9世]{1,12}`)
	long := rapid.StringMatching(`[a-z]{200,400}`)
	line := rapid.Custom(func(t *rapid.T) string {
		if rapid.IntRange(0, 19).Draw(t, "kind") == 0 {
			return long.Draw(t, "long")
		}
		return strings.Join(rapid.SliceOfN(word, 0, 15).Draw(t, "words"), " ")
	})
	block := rapid.Custom(func(t *rapid.T) string {
		lines := strings.Join(rapid.SliceOfN(line, 1, 12).Draw(t, "lines"), "\n")
		if rapid.Bool().Draw(t, "code") {
			return "```" + rapid.SampledFrom([]string{"", "go", "text"}).Draw(t, "language") + "\n" + lines + "\n```"
		}
		return lines
	})
	return rapid.Custom(func(t *rapid.T) string {
		text := strings.Join(rapid.SliceOfN(block, 1, 8).Draw(t, "blocks"), "\n\n")
		if rapid.Bool().Draw(t, "fill") { // well above the limit
			text += strings.Repeat("\n\n"+text, min(limit, 8000)*2/(len(text)+1))
		}
		return text
	})
}

// checkPieces is what core relies on.
func (s *suite) checkPieces(t interface{ Errorf(string, ...any) }, limit int, text string, pieces []string) {
	if len(pieces) == 0 {
		t.Errorf("no piece at all")
	}
	for i, p := range pieces {
		if n := s.Traits.Length(p); limit > 0 && n > limit {
			t.Errorf("piece %d of %d has a length of %d, the limit is %d", i, len(pieces), n, limit)
		}
		fences := 0
		for line := range strings.Lines(p) {
			if isFence(line) {
				fences++
			}
		}
		if fences%2 != 0 {
			t.Errorf("piece %d of %d leaves a fence open:\n%s", i, len(pieces), p)
		}
	}
	var got strings.Builder
	for _, p := range pieces {
		got.WriteString(letters(p))
	}
	if want := letters(text); got.String() != want {
		t.Errorf("the text is not whole or not in order:\n got %s\nwant %s", got.String(), want)
	}
}

func (s *suite) cutProperty(t *testing.T) {
	f := s.New(t, newRecorder(nil))
	a, c := f.Adapter(), f.Place(0)
	limit := a.Capabilities(c).TextLimit
	rapid.Check(t, func(t *rapid.T) {
		text := markdown(limit).Draw(t, "text")
		s.checkPieces(t, limit, text, a.Cut(c, text))
	})
	if got := a.Cut(c, "short"); len(got) != 1 || letters(got[0]) != "short" {
		t.Errorf("a short text is cut into %q", got)
	}
	if got := a.Cut(c, ""); len(got) != 1 {
		t.Errorf("an empty text gives %d pieces, want one", len(got))
	}
}

// cutStands posts the pieces of a long text: the platform takes them all.
func (s *suite) cutStands(t *testing.T) {
	f := s.New(t, newRecorder(nil))
	a := f.Adapter()
	limit := a.Capabilities(f.Place(0)).TextLimit
	text := strings.Repeat("A line of words äöü.\n", max(limit, 100)/5) + "\n```go\n" + strings.Repeat("code := 1\n", max(limit, 100)/5) + "```\nThe end."
	pieces := a.Cut(f.Place(0), text)
	if limit > 0 && len(pieces) < 3 {
		t.Errorf("a text of %d is cut into %d pieces, the limit is %d", s.Traits.Length(text), len(pieces), limit)
	}
	s.checkPieces(t, limit, text, pieces)
	for i, piece := range pieces {
		p := post(f, 0, "d1", piece)
		p.Piece = i
		s.mustSend(t, f, p)
	}
	if got := f.Standing(0); len(got) != len(pieces) {
		t.Errorf("%d pieces were sent, %d stand", len(pieces), len(got))
	}
}
