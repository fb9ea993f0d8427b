package markup

import "strings"

// fit turns tables that the dialect cannot show into monospaced code. It returns a copy where it changes something.
func (w writer) fit(blocks []Block) []Block {
	out := make([]Block, 0, len(blocks))
	for _, b := range blocks {
		switch b.Kind {
		case Table:
			if len(b.Rows) > w.d.TableRows || len(b.Align) > w.d.TableColumns || length(w.table(b)) > w.tableRoom() {
				b = Block{Kind: CodeBlock, Code: w.mono(b)}
			}
		case Quote:
			b.Blocks = w.fit(b.Blocks)
		case List:
			items := make([]Item, len(b.Items))
			for i, it := range b.Items {
				it.Blocks = w.fit(it.Blocks)
				items[i] = it
			}
			b.Items = items
		}
		out = append(out, b)
	}
	return out
}

// tableRoom is how long a table may be: it is never cut.
func (w writer) tableRoom() int {
	if n := w.d.budget(); n > 0 {
		return min(w.d.TableChars, n*9/10)
	}
	return w.d.TableChars
}

// table renders a table with signs of its own.
func (w writer) table(b Block) string {
	var out strings.Builder
	for i, row := range b.Rows {
		if i > 0 {
			out.WriteByte('\n')
		}
		out.WriteByte('|')
		for _, c := range row {
			out.WriteByte(' ')
			out.WriteString(w.spans(c.Spans, place{cell: true}))
			out.WriteString(" |")
		}
		if i > 0 {
			continue
		}
		out.WriteString("\n|")
		for _, a := range b.Align {
			out.WriteString(map[Align]string{AlignNone: " --- |", AlignLeft: " :-- |", AlignRight: " --: |", AlignCenter: " :-: |"}[a])
		}
	}
	return out.String()
}

// mono lays a table out in lines of equal width, or, where they would grow wider than the dialect's width, as one record a row.
func (w writer) mono(b Block) string {
	rows := w.cells(b)
	widths := make([]int, len(b.Align))
	total := 3 * (len(widths) - 1)
	for c := range widths {
		for _, r := range rows {
			widths[c] = max(widths[c], width(r[c]))
		}
		total += widths[c]
	}
	if total > w.d.Width && len(rows) > 1 {
		return records(rows)
	}
	var out strings.Builder
	for i, r := range rows {
		var line strings.Builder
		for c, cell := range r {
			if c > 0 {
				line.WriteString(" | ")
			}
			pad := strings.Repeat(" ", widths[c]-width(cell))
			if b.Align[c] == AlignRight {
				cell, pad = pad, cell
			}
			line.WriteString(cell + pad)
		}
		out.WriteString(strings.TrimRight(line.String(), " ") + "\n")
		if i == 0 {
			for c, n := range widths {
				if c > 0 {
					out.WriteString("-|-")
				}
				out.WriteString(strings.Repeat("-", n))
			}
			out.WriteByte('\n')
		}
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// cells are the texts of a table; a link's target follows its label.
func (w writer) cells(b Block) [][]string {
	plain := Plain()
	plain.Escape = nil
	p := writer{d: &plain, p: w.p}
	rows := make([][]string, len(b.Rows))
	for i, r := range b.Rows {
		rows[i] = make([]string, len(b.Align))
		for c := range rows[i] {
			rows[i][c] = p.spans(r[c].Spans, place{cell: true})
		}
	}
	return rows
}

func records(rows [][]string) string {
	var out strings.Builder
	for i, r := range rows[1:] {
		if i > 0 {
			out.WriteByte('\n')
		}
		for c, cell := range r {
			if cell == "" && rows[0][c] == "" {
				continue
			}
			out.WriteString(strings.TrimRight(rows[0][c]+": "+cell, " ") + "\n")
		}
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// width is the number of columns that a text takes in a monospaced font.
func width(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case r == '\u200b' || r == '\u200d' || r >= 0xfe00 && r <= 0xfe0f || r >= 0x300 && r <= 0x36f:
		case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3, r >= 0xf900 && r <= 0xfaff,
			r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6, r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
			n += 2
		default:
			n++
		}
	}
	return n
}
