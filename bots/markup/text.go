package markup

import (
	"strconv"
	"strings"
)

// Text renders the document in a dialect, whatever its length: [Document.Pieces] cuts to messages.
func (doc Document) Text(d Dialect, p Policy) string {
	w := writer{d: &d, p: p}
	return w.sequence(w.fit(doc.Blocks), false)
}

// writer renders blocks in one dialect.
type writer struct {
	d *Dialect
	p Policy
}

// sequence renders blocks that stand one below the other.
func (w writer) sequence(blocks []Block, nested bool) string {
	var b strings.Builder
	twin := 0
	for i, block := range blocks {
		if i > 0 {
			b.WriteString("\n\n")
		}
		twin = w.twin(blocks, i, twin)
		b.WriteString(w.block(block, twin, nested))
	}
	return b.String()
}

// twin tells a list from another of its sort directly before it: it takes the other mark, or both would be read as one.
func (w writer) twin(blocks []Block, i, before int) int {
	if i > 0 && blocks[i].Kind == List && blocks[i-1].Kind == List && blocks[i].Ordered == blocks[i-1].Ordered {
		return 1 - before
	}
	return 0
}

func (w writer) block(b Block, twin int, nested bool) string {
	switch b.Kind {
	case Heading:
		return w.heading(b)
	case CodeBlock:
		return w.code(b)
	case Quote:
		return indent(w.sequence(b.Blocks, true), w.d.Quote, w.d.Quote)
	case List:
		return w.list(b, twin)
	case Table:
		return w.table(b)
	case Rule:
		if nested {
			return w.d.NestedRule
		}
		return w.d.Rule
	}
	return w.spans(b.Spans, place{})
}

func (w writer) heading(b Block) string {
	spans := make([]Span, len(b.Spans))
	for i, s := range b.Spans {
		s.Text = strings.ReplaceAll(s.Text, "\n", " ")
		if b.Level > w.d.Headings && s.Style&Code == 0 {
			s.Style |= Bold
		}
		spans[i] = s
	}
	if b.Level > w.d.Headings {
		return w.spans(spans, place{})
	}
	text := w.spans(spans, place{})
	if strings.HasSuffix(text, "#") && !strings.HasSuffix(text, `\#`) { // would be read as the closing sequence
		text = text[:len(text)-1] + `\#`
	}
	return strings.TrimRight(strings.Repeat("#", b.Level)+" "+text, " ")
}

func (w writer) code(b Block) string {
	code := b.Code
	if w.d.EscapeCode != nil {
		code = w.d.EscapeCode(code)
	}
	fence := w.d.Fence
	if fence == "" {
		return code
	}
	if w.d.Growing {
		for n := longestRun(code, '`'); len(fence) <= n; {
			fence += "`"
		}
	} else {
		code = strings.ReplaceAll(code, fence, fence[:2]+"\u200b"+fence[2:])
	}
	open := fence
	if w.d.Languages {
		open += b.Language
	}
	if code == "" && !b.Continued {
		return open + "\n" + fence
	}
	return open + "\n" + code + "\n" + fence
}

// longestRun counts the longest run of c that is as long as a fence's.
func longestRun(s string, c byte) int {
	longest, n := 0, 0
	for i := range len(s) {
		if s[i] == c {
			n++
			longest = max(longest, n)
		} else {
			n = 0
		}
	}
	return longest
}

func (w writer) list(b Block, twin int) string {
	var out strings.Builder
	number := b.Start
	for i, item := range b.Items {
		if i > 0 {
			out.WriteByte('\n')
			if b.Loose || b.Items[i-1].Continued {
				out.WriteByte('\n')
			}
		}
		if item.Continued {
			out.WriteString(w.sequence(item.Blocks, false))
			number++
			continue
		}
		mark := w.d.Bullets[twin] + " "
		if b.Ordered {
			mark = strconv.Itoa(number) + w.d.Numbers[twin] + " "
			number++
		}
		body := w.item(item, b.Loose)
		switch item.Task {
		case Open:
			body = strings.TrimRight(w.d.Boxes[0]+" "+body, " ")
		case Done:
			body = strings.TrimRight(w.d.Boxes[1]+" "+body, " ")
		}
		out.WriteString(strings.TrimRight(indent(body, mark, strings.Repeat(" ", length(mark))), " "))
	}
	return out.String()
}

// item renders an item's blocks, close together in a tight list where Markdown still tells them apart.
func (w writer) item(item Item, loose bool) string {
	var b strings.Builder
	twin := 0
	for i, block := range item.Blocks {
		if i > 0 {
			b.WriteByte('\n')
			if loose || parts(item.Blocks[i-1], block) {
				b.WriteByte('\n')
			}
		}
		twin = w.twin(item.Blocks, i, twin)
		at := place{item: i == 0}
		if block.Kind == Paragraph {
			b.WriteString(w.spans(block.Spans, at))
			continue
		}
		b.WriteString(w.block(block, twin, true))
	}
	return b.String()
}

// parts reports whether an empty line must stand between two blocks.
func parts(a, b Block) bool {
	switch b.Kind {
	case Paragraph, Table:
		return a.Kind != Heading && a.Kind != CodeBlock && a.Kind != Rule
	case Quote:
		return a.Kind == Quote
	case List:
		return a.Kind == Quote || b.Ordered && b.Start != 1
	}
	return false
}

// indent puts first before the first line and rest before the others; empty lines get no spaces at their end.
func indent(s, first, rest string) string {
	var b strings.Builder
	prefix := first
	for line := range strings.Lines(s) {
		if strings.TrimSuffix(line, "\n") == "" {
			b.WriteString(strings.TrimRight(prefix, " "))
		} else {
			b.WriteString(prefix)
		}
		b.WriteString(line)
		prefix = rest
	}
	if s == "" {
		return strings.TrimRight(first, " ")
	}
	return b.String()
}
