package terminal

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
	extast "github.com/yuin/goldmark/extension/ast"
)

// table sets columns side by side where they fit, else each row as a list of its named cells.
func (p *page) table(n *extast.Table, room int, first, rest string) {
	var rows [][]string
	for r := n.FirstChild(); r != nil; r = r.NextSibling() {
		var cells []string
		for c := r.FirstChild(); c != nil; c = c.NextSibling() {
			cells = append(cells, strings.ReplaceAll(p.inline(c), "\n", " "))
		}
		rows = append(rows, cells)
	}
	if len(rows) == 0 {
		return
	}
	widths := make([]int, len(rows[0]))
	total := -2
	for i := range widths {
		for _, r := range rows {
			if i < len(r) {
				widths[i] = max(widths[i], ansi.StringWidth(r[i]))
			}
		}
		total += widths[i] + 2
	}
	if total > room {
		p.rows(rows, room, first, rest)
		return
	}
	for i, r := range rows {
		var line strings.Builder
		for j, cell := range r {
			if j >= len(widths) {
				break
			}
			pad := strings.Repeat(" ", widths[j]-ansi.StringWidth(cell))
			if i == 0 {
				cell = p.style(bold, cell)
			}
			if j < len(n.Alignments) && n.Alignments[j] == extast.AlignRight {
				cell = pad + cell
			} else {
				cell += pad
			}
			if j > 0 {
				line.WriteString("  ")
			}
			line.WriteString(cell)
		}
		p.put(line.String(), first, rest)
		if first = rest; i == 0 {
			p.put(p.style(faint, strings.Repeat("─", max(total, 1))), first, rest)
		}
	}
}

func (p *page) rows(rows [][]string, room int, first, rest string) {
	for i, r := range rows[1:] {
		if i > 0 {
			p.put("", rest, rest)
		}
		for j, cell := range r {
			name := ""
			if j < len(rows[0]) && rows[0][j] != "" {
				name = p.style(bold, rows[0][j]) + ": "
			}
			p.put(wrap(name+cell, room), first, rest)
			first = rest
		}
	}
}
