package terminal

import (
	"html"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// say cleans a piece of text once more: a character reference may have been a control character in disguise.
func say(s string) string {
	return flat(html.UnescapeString(s))
}

// flat cleans a text and sets its tabs as blanks: their width depends on where they stand.
func flat(s string) string { return strings.ReplaceAll(Clean(s), "\t", "    ") }

// inline sets the inline children of a block as one line; hard breaks are line ends.
func (p *page) inline(n ast.Node) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		p.span(&b, c)
	}
	return b.String()
}

func (p *page) span(b *strings.Builder, n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		v := n.Value(p.src)
		if !n.IsRaw() {
			v = util.UnescapePunctuations(v)
		}
		b.WriteString(say(string(v)))
		switch {
		case n.HardLineBreak():
			b.WriteByte('\n')
		case n.SoftLineBreak():
			b.WriteByte('\n') // a chat's line end is meant
		}
	case *ast.String:
		b.WriteString(say(string(n.Value)))
	case *ast.CodeSpan:
		b.WriteString(p.style(cyan, flat(p.literal(n))))
	case *ast.Emphasis:
		s := italic
		if n.Level == 2 {
			s = bold
		}
		b.WriteString(p.style(s, p.inline(n)))
	case *extast.Strikethrough:
		b.WriteString(p.style(strike, p.inline(n)))
	case *ast.Link:
		p.link(b, p.inline(n), string(n.Destination))
	case *ast.Image:
		p.link(b, p.inline(n), string(n.Destination))
	case *ast.AutoLink:
		b.WriteString(p.style(under, flat(string(n.URL(p.src)))))
	case *ast.RawHTML:
		for _, s := range n.Segments.Sliced(0, n.Segments.Len()) {
			b.WriteString(flat(string(s.Value(p.src))))
		}
	case *extast.TaskCheckBox:
		box := "[ ] "
		if n.IsChecked {
			box = "[x] "
		}
		b.WriteString(box)
	default:
		b.WriteString(p.inline(n))
	}
}

// link always shows where it leads: a text that names another place than the target must not pass.
func (p *page) link(b *strings.Builder, label, target string) {
	target = say(target)
	b.WriteString(p.style(under, label))
	if ansi.Strip(label) != target && target != "" {
		b.WriteString(" (" + target + ")")
	}
}

func (p *page) literal(n ast.Node) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			b.Write(c.Value(p.src))
			if c.SoftLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(c.Value)
		}
	}
	return b.String()
}
