package terminal

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// minWidth is the narrowest column that text is set in.
const minWidth = 20

// renderer sets Markdown for a terminal. Text reaches the output only through say, which cleans it.
type renderer struct {
	parser parser.Parser
	styled bool
}

func newRenderer(styled bool) *renderer {
	md := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList))
	return &renderer{parser: md.Parser(), styled: styled}
}

// Styles are pairs of on and off, so that one within another ends only itself.
type style struct{ on, off string }

var (
	bold   = style{"\x1b[1m", "\x1b[22m"}
	faint  = style{"\x1b[2m", "\x1b[22m"}
	italic = style{"\x1b[3m", "\x1b[23m"}
	under  = style{"\x1b[4m", "\x1b[24m"}
	strike = style{"\x1b[9m", "\x1b[29m"}
	cyan   = style{"\x1b[36m", "\x1b[39m"}
	red    = style{"\x1b[31m", "\x1b[39m"}
)

func (r *renderer) style(s style, t string) string {
	if !r.styled || t == "" {
		return t
	}
	return s.on + t + s.off
}

// page is one text on its way to lines.
type page struct {
	*renderer
	src []byte
	out []string
}

// render sets a text in lines of at most width cells, but for words and table cells that cannot be narrower.
func (r *renderer) render(markdown string, width int) string {
	src := []byte(Clean(markdown))
	p := &page{renderer: r, src: src}
	p.blocks(r.parser.Parse(text.NewReader(src)), max(width, minWidth), "", "")
	return strings.Join(p.out, "\n")
}

// put writes lines with a prefix, the first one with its own.
func (p *page) put(lines, first, rest string) {
	for i, l := range strings.Split(lines, "\n") {
		if i == 0 {
			p.out = append(p.out, strings.TrimRight(first+l, " "))
			continue
		}
		p.out = append(p.out, strings.TrimRight(rest+l, " "))
	}
}

// blocks sets the children of a block; first stands before its first line and rest before all others.
func (p *page) blocks(n ast.Node, width int, first, rest string) {
	tight := false
	if l, ok := n.Parent().(*ast.List); ok {
		tight = l.IsTight
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c.PreviousSibling() != nil && !tight {
			p.put("", rest, rest)
		}
		p.block(c, width, first, rest)
		first = rest
	}
}

func (p *page) block(n ast.Node, width int, first, rest string) {
	room := max(width-ansi.StringWidth(rest), minWidth/2)
	switch n := n.(type) {
	case *ast.Heading:
		s := p.style(bold, p.inline(n))
		if n.Level == 1 {
			s = p.style(under, s)
		}
		p.put(wrap(s, room), first, rest)
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		p.code(n, room-2, first+"  ", rest+"  ")
	case *ast.HTMLBlock:
		p.put(wrap(flat(strings.TrimRight(p.raw(n), "\n")), room), first, rest)
	case *ast.ThematicBreak:
		p.put(p.style(faint, strings.Repeat("─", min(room, 40))), first, rest)
	case *ast.Blockquote:
		bar := p.style(faint, "│") + " "
		p.blocks(n, width, first+bar, rest+bar)
	case *ast.List:
		p.list(n, width, first, rest)
	case *extast.Table:
		p.table(n, room, first, rest)
	default:
		if n.Type() == ast.TypeBlock && n.FirstChild() != nil && n.FirstChild().Type() == ast.TypeBlock {
			p.blocks(n, width, first, rest)
			return
		}
		p.put(wrap(p.inline(n), room), first, rest)
	}
}

func (p *page) list(n *ast.List, width int, first, rest string) {
	number := n.Start
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c.PreviousSibling() != nil && !n.IsTight {
			p.put("", rest, rest)
		}
		mark := "• "
		if n.IsOrdered() {
			mark = strconv.Itoa(number) + ". "
			number++
		}
		if c.FirstChild() == nil {
			p.put("", first+mark, rest)
		} else {
			p.blocks(c, width, first+p.style(faint, mark), rest+strings.Repeat(" ", ansi.StringWidth(mark)))
		}
		first = rest
	}
}

// code keeps every line as it is; what is too wide goes on in the next line.
func (p *page) code(n ast.Node, room int, first, rest string) {
	lines := strings.Split(strings.TrimRight(p.raw(n), "\n"), "\n")
	for i, l := range lines {
		l = ansi.Hardwrap(flat(l), max(room, 8), true)
		for j, part := range strings.Split(l, "\n") {
			at := rest
			if i+j == 0 {
				at = first
			}
			p.put(p.style(cyan, part), at, rest)
		}
	}
}

func (p *page) raw(n ast.Node) string {
	var b strings.Builder
	for _, s := range n.Lines().Sliced(0, n.Lines().Len()) {
		b.Write(s.Value(p.src))
	}
	if h, ok := n.(*ast.HTMLBlock); ok && h.HasClosure() {
		b.Write(h.ClosureLine.Value(p.src))
	}
	return b.String()
}

func wrap(s string, width int) string { return ansi.Wrap(s, max(width, 1), "") }
