package markup

import "strings"

// maxIndent is the deepest level of a list that Slack shows.
const maxIndent = 8

// list renders a list as elements of one level each; Slack joins them by their indents. A block within an item other than its text ends
// the element, and the next goes on with the number that follows.
func (k *kit) list(b Block, depth int) {
	style, number := "bullet", b.Start
	if b.Ordered {
		style = "ordered"
	}
	var items []SlackElement
	first := number
	flush := func(next int) {
		if len(items) > 0 {
			e := SlackElement{Type: "rich_text_list", Style: style, Indent: min(depth, maxIndent), Elements: items}
			if b.Ordered && first > 1 {
				e.Offset = first - 1
			}
			k.rich = append(k.rich, e)
		}
		items, first = nil, next
	}
	for _, it := range b.Items {
		var es []SlackElement
		rest := it.Blocks
		if len(rest) > 0 && (rest[0].Kind == Paragraph || rest[0].Kind == Heading) {
			es = k.leaves(rest[0].Spans)
			rest = rest[1:]
			for len(rest) > 0 && rest[0].Kind == Paragraph {
				es = append(append(es, SlackElement{Type: "text", Text: "\n"}), k.leaves(rest[0].Spans)...)
				rest = rest[1:]
			}
		}
		switch it.Task {
		case Open:
			es = append([]SlackElement{{Type: "text", Text: "☐ "}}, es...)
		case Done:
			es = append([]SlackElement{{Type: "text", Text: "☑ "}}, es...)
		}
		if it.Continued {
			flush(number)
			if len(es) > 0 {
				k.rich = append(k.rich, SlackElement{Type: "rich_text_section", Elements: es})
			}
		} else {
			if len(es) == 0 {
				es = []SlackElement{{Type: "text", Text: " "}}
			}
			items = append(items, SlackElement{Type: "rich_text_section", Elements: es})
		}
		number++
		if len(rest) == 0 {
			continue
		}
		flush(number)
		for _, inner := range rest {
			switch inner.Kind {
			case List:
				k.list(inner, depth+1)
			case Table:
				k.preformatted(k.layout(inner), 0)
			case Heading:
				k.section(bold(inner.Spans))
			case Rule:
				k.section([]Span{{Text: k.d.NestedRule}})
			default:
				k.block(inner)
			}
		}
	}
	flush(number)
}

// layout is a table as monospaced text, without padding where characters are short.
func (k *kit) layout(b Block) string {
	if k.compact == 0 {
		return k.mono(b)
	}
	var lines []string
	for _, r := range k.cells(b) {
		lines = append(lines, strings.Join(r, " | "))
	}
	return strings.Join(lines, "\n")
}

func (k *kit) table(b Block) {
	if len(b.Rows) > MaxTableRows || len(b.Align) > MaxTableColumns || k.tables >= maxTables || k.compact >= 3 || length(k.writer.table(b)) > MaxTableChars {
		k.preformatted(k.layout(b), 0)
		return
	}
	k.tables++
	t := SlackBlock{Type: "table"}
	for _, a := range b.Align {
		c := SlackColumn{Align: string(a), Wrapped: true}
		if a == AlignNone {
			c.Align = string(AlignLeft)
		}
		t.Columns = append(t.Columns, c)
	}
	for i, r := range b.Rows {
		var row []SlackBlock
		for _, cell := range r {
			spans := cell.Spans
			if i == 0 {
				spans = bold(spans)
			}
			es := k.leaves(spans)
			if len(es) == 0 {
				es = []SlackElement{{Type: "text", Text: " "}}
			}
			row = append(row, SlackBlock{Type: "rich_text", Elements: []SlackElement{{Type: "rich_text_section", Elements: es}}})
		}
		t.Rows = append(t.Rows, row)
	}
	k.end()
	k.out = append(k.out, t)
}
