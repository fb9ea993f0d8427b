package markup

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// place is where spans stand.
type place struct {
	item bool // at the start of a list's item
	cell bool // in a table's cell
}

// spans renders the spans of one block.
func (w writer) spans(spans []Span, at place) string {
	spans = w.permit(spans)
	if at.cell {
		for i := range spans {
			spans[i].Text = strings.ReplaceAll(spans[i].Text, "\n", " ")
		}
	}
	spans = shiftMarks(spans)
	iw := inlineWriter{writer: w, at: at}
	iw.survey(spans)
	iw.run(spans, 0, false, 0)
	out := iw.b.String()
	if w.d.Backslash && !at.cell {
		out = escapeLines(out, at)
	}
	return out
}

// permit turns what the policy does not allow into text. It returns a copy.
func (w writer) permit(spans []Span) []Span {
	out := make([]Span, 0, len(spans))
	label := ""
	for i, s := range spans {
		if s.Mention != "" && (w.d.Mention == nil || !w.p.mention(s.Mention)) {
			s.Mention = ""
		}
		if s.URL == "" {
			out = append(out, s)
			continue
		}
		last := i == len(spans)-1 || !sameLink(spans[i+1], s)
		first := i == 0 || !sameLink(spans[i-1], s)
		if first {
			label = linkLabel(spans[i:])
		}
		if w.d.Link != nil && w.p.link(s.URL) && !disguises(label, s.URL) || w.d.Link == nil && w.bare(label, s.URL) {
			out = append(out, s)
			continue
		}
		url := s.URL
		s.URL, s.Image = "", false
		named := !w.bare(label, url) && label != ""
		if !w.p.link(url) { // shown, but not as something that a client would make a link of again
			s.Text, url = unlink(s.Text), unlink(url)
		}
		out = append(out, s)
		if last && named {
			out = append(out, Span{Text: " (" + url + ")", Style: s.Style &^ Code})
		}
	}
	return out
}

// unlink puts a space of no width where a client would recognise an address.
func unlink(s string) string { return strings.ReplaceAll(s, "://", ":\u200b//") }

func (w writer) bare(label, url string) bool {
	return label == url || "mailto:"+label == url || "http://"+label == url
}

func sameLink(a, b Span) bool { return a.URL == b.URL && a.Image == b.Image }

// linkLabel is the whole label of the link that spans begin with.
func linkLabel(spans []Span) string {
	n := 1
	for n < len(spans) && sameLink(spans[n], spans[0]) {
		n++
	}
	return textOf(spans[:n])
}

// shiftMarks moves spaces, and punctuation that touches a word outside, out of styled runs: no dialect would read the marks there.
func shiftMarks(spans []Span) []Span {
	for _, bit := range []Style{Bold, Italic, Strike} {
		var out []Span
		for i := 0; i < len(spans); {
			if spans[i].Style&bit == 0 {
				out = append(out, spans[i])
				i++
				continue
			}
			j := i
			for j < len(spans) && spans[j].Style&bit != 0 {
				j++
			}
			next := ' '
			if j < len(spans) {
				next, _ = utf8.DecodeRuneInString(spans[j].Text)
			}
			out = append(out, shiftRun(spans[i:j], bit, lastRune(out), next)...)
			i = j
		}
		spans = out
	}
	return spans
}

func lastRune(spans []Span) rune {
	if len(spans) == 0 {
		return ' '
	}
	r, _ := utf8.DecodeLastRuneInString(spans[len(spans)-1].Text)
	return r
}

func shiftRun(run []Span, bit Style, prev, next rune) []Span {
	var head, tail []Span
	out := func(r, beside rune) bool {
		return unicode.IsSpace(r) || isPunct(r) && !unicode.IsSpace(beside) && !isPunct(beside)
	}
	for len(run) > 0 {
		s := run[0]
		cut := len(s.Text) - len(strings.TrimLeftFunc(s.Text, func(r rune) bool { return out(r, prev) }))
		if s.signed() {
			cut = 0
			if out('[', prev) || s.Text == "" {
				cut = len(s.Text)
			}
		}
		if cut == 0 {
			break
		}
		moved := s
		moved.Text, moved.Style = s.Text[:cut], s.Style&^bit
		head = append(head, moved)
		prev, _ = utf8.DecodeLastRuneInString(moved.Text)
		if s.signed() {
			prev = ']'
		}
		if s.Text = s.Text[cut:]; s.Text != "" {
			run = append([]Span{s}, run[1:]...)
			break
		}
		run = run[1:]
	}
	for len(run) > 0 {
		s := run[len(run)-1]
		cut := len(strings.TrimRightFunc(s.Text, func(r rune) bool { return out(r, next) }))
		if s.signed() {
			cut = len(s.Text)
			if out(']', next) {
				cut = 0
			}
		}
		if cut == len(s.Text) && s.Text != "" {
			break
		}
		moved := s
		moved.Text, moved.Style = s.Text[cut:], s.Style&^bit
		tail = append([]Span{moved}, tail...)
		next, _ = utf8.DecodeRuneInString(moved.Text)
		if s.signed() {
			next = '['
		}
		if s.Text = s.Text[:cut]; s.Text != "" {
			run = append(append([]Span{}, run[:len(run)-1]...), s)
			break
		}
		run = run[:len(run)-1]
	}
	return append(append(head, run...), tail...)
}

// signed reports whether a span begins and ends with signs of its own.
func (s Span) signed() bool { return s.Style&Code != 0 || s.URL != "" || s.Mention != "" }

// inlineWriter renders the spans of one block into b.
type inlineWriter struct {
	writer
	b  strings.Builder
	at place
	// pairs holds the signs of which the block has enough to be read as marks.
	pairs map[rune]bool
}

// survey counts what could pair up to a mark by accident.
func (w *inlineWriter) survey(spans []Span) {
	w.pairs = map[rune]bool{}
	count := map[rune]int{}
	for _, s := range spans {
		if s.Style&(Bold|Italic) != 0 {
			w.pairs['*'], w.pairs['_'] = true, true
		}
		if s.Style&Strike != 0 {
			w.pairs['~'] = true
		}
		if s.Style&Code != 0 {
			continue
		}
		var last rune
		for _, r := range s.Text {
			if (r == '*' || r == '_' || r == '~') && r != last {
				count[r]++
			}
			last = r
		}
	}
	for r, n := range count {
		w.pairs[r] = w.pairs[r] || n > 1
	}
}

// run renders spans; active are the styles that are open already, link tells that a link is, next is the rune that will follow.
func (w *inlineWriter) run(spans []Span, active Style, link bool, next rune) {
	for i := 0; i < len(spans); {
		s := spans[i]
		bit, end := longestStyle(spans, i, active)
		linkEnd := i
		if s.URL != "" && !link {
			for linkEnd < len(spans) && sameLink(spans[linkEnd], s) {
				linkEnd++
			}
		}
		switch {
		case linkEnd > i && linkEnd >= end:
			ahead := ""
			if linkEnd < len(spans) {
				ahead = spans[linkEnd].Text
			}
			w.link(spans[i:linkEnd], active, follower(spans, linkEnd, next), ahead)
			i = linkEnd
		case bit != 0:
			w.styled(spans[i:end], bit, active, link, follower(spans, end, next))
			i = end
		default:
			w.leaf(s, link, follower(spans, i+1, next), i+1 < len(spans) && spans[i+1].URL != "" && !link)
			i++
		}
	}
}

// follower is the rune that comes after spans[:i].
func follower(spans []Span, i int, next rune) rune {
	if i >= len(spans) {
		return next
	}
	r, _ := utf8.DecodeRuneInString(spans[i].Text)
	if spans[i].signed() {
		r = '['
	}
	return r
}

func longestStyle(spans []Span, i int, active Style) (Style, int) {
	best, end := Style(0), i
	for _, bit := range []Style{Bold, Strike, Italic} {
		if active&bit != 0 {
			continue
		}
		j := i
		for j < len(spans) && spans[j].Style&bit != 0 {
			j++
		}
		if j > end {
			best, end = bit, j
		}
	}
	return best, end
}

func (w *inlineWriter) styled(spans []Span, bit, active Style, link bool, next rune) {
	mark := w.d.Bold
	prev := w.last()
	beside := isWord(prev) || isWord(next)
	switch bit {
	case Strike:
		mark = w.d.Strike
	case Italic:
		mark = w.d.Italic
		if beside {
			mark = w.d.WideItalic
		}
	}
	if mark == "" {
		w.run(spans, active|bit, link, next)
		return
	}
	if w.d.Guard != "" && isWord(prev) {
		w.b.WriteString(w.d.Guard)
	}
	w.b.WriteString(mark)
	w.run(spans, active|bit, link, rune(mark[0]))
	w.b.WriteString(mark)
	if w.d.Guard != "" && isWord(next) {
		w.b.WriteString(w.d.Guard)
	}
}

func isWord(r rune) bool { return r != 0 && !unicode.IsSpace(r) && !isPunct(r) && r != '\u200b' }

// last is the rune written last, 0 at the start.
func (w *inlineWriter) last() rune {
	s := w.b.String()
	if s == "" {
		return 0
	}
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}
