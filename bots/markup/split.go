package markup

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

// split cuts one block in two so that the head fits; ok is false when not even the least part of it does.
func (c *cutter) split(b Block, fits func(Block) bool) (head, rest Block, ok bool) {
	switch b.Kind {
	case Paragraph, Heading:
		return c.splitSpans(b, fits)
	case CodeBlock:
		return c.splitCode(b, fits)
	case Quote:
		return c.splitQuote(b, fits)
	case List:
		return c.splitList(b, fits)
	}
	return b, b, false
}

// most is the largest n in [0, limit] for which fits(n) holds, when it holds for all below.
func most(limit int, fits func(int) bool) int {
	n := sort.Search(limit, func(i int) bool { return !fits(i + 1) })
	for n > 0 && !fits(n) {
		n--
	}
	return n
}

func (c *cutter) splitCode(b Block, fits func(Block) bool) (head, rest Block, ok bool) {
	part := func(code string) Block {
		h := b
		h.Code = code
		return h
	}
	// No more bytes can fit than the budget has code points, four bytes each.
	window := b.Code
	if len(window) > 4*c.budget+4 {
		window = window[:4*c.budget+4]
		for !utf8.RuneStart(b.Code[len(window)]) {
			window = window[:len(window)-1]
		}
	}
	var ends []int
	for i := range len(window) {
		if window[i] == '\n' {
			ends = append(ends, i)
		}
	}
	n := most(len(ends), func(n int) bool { return fits(part(window[:ends[n-1]])) })
	if n > 0 {
		at := ends[n-1]
		rest = part(b.Code[at+1:])
		rest.Continued, rest.Joint = true, newline()
		return part(b.Code[:at]), rest, true
	}
	if !c.hard {
		return b, b, false
	}
	line, _, _ := strings.Cut(window, "\n")
	bounds := boundaries(line)
	n = most(len(bounds), func(n int) bool { return fits(part(line[:bounds[n-1]])) })
	if n == 0 || bounds[n-1] == len(b.Code) {
		return b, b, false
	}
	rest = part(b.Code[bounds[n-1]:])
	rest.Continued, rest.Joint = true, nil
	if strings.HasPrefix(rest.Code, "\n") {
		rest.Code, rest.Joint = rest.Code[1:], newline()
	}
	return part(b.Code[:bounds[n-1]]), rest, true
}

func newline() []Span { return []Span{{Text: "\n"}} }

// maxCharacter is the most bytes that are kept together as one character: a letter with more marks on it than any script has is cut.
const maxCharacter = 256

// boundaries are the places behind each character (as people see it) of s.
func boundaries(s string) []int {
	var out []int
	for g := graphemes.FromString(s); g.Next(); {
		if g.End()-g.Start() > maxCharacter {
			for i := range g.Value() {
				if i > 0 {
					out = append(out, g.Start()+i)
				}
			}
		}
		out = append(out, g.End())
	}
	return out
}

func characters(s string) []string {
	var out []string
	from := 0
	for _, to := range boundaries(s) {
		out = append(out, s[from:to])
		from = to
	}
	return out
}

func (c *cutter) splitQuote(b Block, fits func(Block) bool) (head, rest Block, ok bool) {
	with := func(blocks []Block) Block {
		h := b
		h.Blocks = blocks
		return h
	}
	n := most(min(len(b.Blocks), c.budget), func(n int) bool { return fits(with(b.Blocks[:n])) })
	if n == len(b.Blocks) {
		return b, b, false
	}
	first, left := b.Blocks[:n:n], append([]Block{}, b.Blocks[n:]...)
	if c.tears(with(first), with(left[:1])) {
		if h, r, cut := c.split(b.Blocks[n], func(h Block) bool { return fits(with(append(first, h))) }); cut {
			first = append(first, h)
			left[0] = r
		}
	}
	if len(first) == 0 {
		return b, b, false
	}
	rest = with(left)
	rest.Continued, rest.Joint = true, nil
	return with(first), rest, true
}

// tears decides whether a part that does not fit behind kept is cut: only where nothing stands before it, where it is larger than a message, or
// where the message would stay half empty.
func (c *cutter) tears(kept, next Block) bool {
	before, size := length(c.block(kept, 0, false)), length(c.block(next, 0, false))
	return len(kept.Blocks)+len(kept.Items) == 0 || size > c.budget || before < c.budget/2 && size > c.budget/2
}

func (c *cutter) splitList(b Block, fits func(Block) bool) (head, rest Block, ok bool) {
	with := func(items []Item) Block {
		h := b
		h.Items = items
		return h
	}
	n := most(min(len(b.Items), c.budget), func(n int) bool { return fits(with(b.Items[:n])) })
	if n == len(b.Items) {
		return b, b, false
	}
	first, left := b.Items[:n:n], append([]Item{}, b.Items[n:]...)
	if c.tears(with(first), with(left[:1])) {
		if h, r, cut := c.splitItem(b, n, first, fits); cut {
			first = append(first, h)
			left[0] = r
		}
	}
	if len(first) == 0 {
		return b, b, false
	}
	rest = with(left)
	rest.Continued, rest.Joint = true, nil
	if b.Ordered {
		rest.Start = b.Start + n
	}
	return with(first), rest, true
}

func (c *cutter) splitItem(b Block, i int, first []Item, fits func(Block) bool) (head, rest Item, ok bool) {
	it := b.Items[i]
	with := func(blocks []Block) (Item, Block) {
		h := it
		h.Blocks = blocks
		l := b
		l.Items = append(first, h)
		return h, l
	}
	n := most(min(len(it.Blocks), c.budget), func(n int) bool {
		_, l := with(it.Blocks[:n])
		return fits(l)
	})
	if n == len(it.Blocks) {
		return it, it, false
	}
	kept, left := it.Blocks[:n:n], append([]Block{}, it.Blocks[n:]...)
	h, r, cut := c.split(it.Blocks[n], func(h Block) bool {
		_, l := with(append(kept, h))
		return fits(l)
	})
	if cut {
		kept = append(kept, h)
		left[0] = r
	}
	if len(kept) == 0 {
		return it, it, false
	}
	head, _ = with(kept)
	return head, Item{Blocks: left, Continued: true}, true
}

func (c *cutter) splitSpans(b Block, fits func(Block) bool) (head, rest Block, ok bool) {
	with := func(spans []Span) Block {
		h := b
		h.Spans = spans
		return h
	}
	window := firstRunes(textOf(b.Spans), c.budget+1)
	bounds := boundaries(window)
	n := most(len(bounds), func(n int) bool {
		h, _ := cutSpans(b.Spans, bounds[n-1])
		return fits(with(h))
	})
	if n == 0 {
		return b, b, false
	}
	at, soft := niceCut(b.Spans, window, bounds[:n])
	if !soft && !c.hard {
		return b, b, false
	}
	if t := strings.TrimRightFunc(window[:at], blank); t != "" {
		at = len(t)
	}
	h, r := cutSpans(b.Spans, at)
	var joint []Span
	for len(r) > 0 && r[0].Style&Code == 0 && r[0].Mention == "" {
		t := strings.TrimLeftFunc(r[0].Text, blank)
		if t == r[0].Text {
			break
		}
		j := r[0]
		j.Text = j.Text[:len(j.Text)-len(t)]
		joint = append(joint, j)
		if r[0].Text = t; t != "" {
			break
		}
		r = r[1:]
	}
	h, r = tidy(h), tidy(r)
	if len(h) == 0 || len(r) == 0 {
		return b, b, false
	}
	rest = with(r)
	rest.Continued, rest.Joint = true, joint
	return with(h), rest, true
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// cutSpans cuts at a byte of the spans' text.
func cutSpans(spans []Span, at int) (head, rest []Span) {
	for i, s := range spans {
		if at >= len(s.Text) {
			at -= len(s.Text)
			head = append(head, s)
			continue
		}
		if at > 0 {
			h := s
			h.Text = s.Text[:at]
			head = append(head, h)
			s.Text = s.Text[at:]
		}
		return head, append(append(rest, s), spans[i+1:]...)
	}
	return head, nil
}

// niceCut chooses the best place to cut among bounds, the last of which is the furthest possible: the end of a line or of a sentence in the
// last third, else the last space, else before a link or code that would be cut. soft is false when there is only the furthest, within a word.
func niceCut(spans []Span, text string, bounds []int) (at int, soft bool) {
	end := bounds[len(bounds)-1]
	whole := wholes(spans, end+1)
	best, rank := end, 0
	for i := len(bounds) - 1; i >= 0 && (bounds[i] > end/2 || rank == 0); i-- {
		at := bounds[i]
		if from, inside := whole.around(at); inside {
			if from > 0 && rank < 1 {
				best, rank = from, 1
			}
			continue
		}
		next, _ := utf8.DecodeRuneInString(text[at:])
		prev, _ := utf8.DecodeLastRuneInString(text[:at])
		got := 0
		switch {
		case at == len(text):
		case next == '\n' && at > end*2/3:
			got = 4
		case unicode.IsSpace(next) && strings.ContainsRune(".!?:;", prev) && at > end*2/3, strings.ContainsRune("。！？", prev) && at > end*2/3:
			got = 3
		case unicode.IsSpace(next):
			got = 2
		}
		if got > rank {
			best, rank = at, got
		}
	}
	return best, rank > 0
}

// extent is a part of the text that is better not cut, in bytes.
type extent struct{ from, to int }

// extents are in the order of the text and do not overlap.
type extents []extent

// wholes finds links, mentions and short code within the first limit bytes.
func wholes(spans []Span, limit int) extents {
	var out extents
	at := 0
	for i := 0; i < len(spans) && at < limit; i++ {
		start, s := at, spans[i]
		at += len(s.Text)
		if !s.signed() || s.Style&Code != 0 && s.URL == "" && len(s.Text) > 200 { // long code is cut like text
			continue
		}
		for s.URL != "" && i+1 < len(spans) && sameLink(spans[i+1], s) {
			i++
			at += len(spans[i].Text)
		}
		out = append(out, extent{start, at})
	}
	return out
}

// around tells whether a cut at this byte would lie within an extent, and where that begins.
func (e extents) around(at int) (start int, inside bool) {
	i := sort.Search(len(e), func(i int) bool { return e[i].to > at })
	if i < len(e) && e[i].from < at {
		return e[i].from, true
	}
	return 0, false
}
