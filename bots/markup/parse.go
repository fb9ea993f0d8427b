package markup

import (
	"html"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Parse reads Markdown: CommonMark with GitHub's tables, task lists, strikethrough and bare links, and emphasis read as
// tolerantly as people and models write it ("**Status:**OK", "日本語**太字。**です"). It never fails: what is no markup is text.
// HTML is text too, but for <br>, which ends a line. Bytes that are no UTF-8 become U+FFFD.
func Parse(markdown string) Document {
	src := clean(markdown)
	if tooDeep(src) {
		return Document{Blocks: []Block{{Kind: CodeBlock, Code: strings.TrimRight(string(src), "\n")}}}
	}
	root := newParser().Parse(text.NewReader(src))
	c := converter{src: src}
	return Document{Blocks: c.blocks(root)}
}

// Keys of what a parse counts, see [bounded].
var (
	codeFailures  = parser.NewContextKey()
	tokenFailures = parser.NewContextKey()
	htmlFailures  = parser.NewContextKey()
	bracketCount  = parser.NewContextKey()
)

// newParser makes a parser; goldmark's keep state while they are being set up, so none is shared.
func newParser() parser.Parser {
	p := parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(
			util.Prioritized(extension.NewTaskCheckBoxParser(), 0),
			util.Prioritized(bounded{InlineParser: parser.NewCodeSpanParser(), key: codeFailures, max: maxFailures}, 100),
			util.Prioritized(boundedLinks{bounded{InlineParser: parser.NewLinkParser(), key: bracketCount, max: 2 * maxBrackets, all: true}}, 200),
			util.Prioritized(bounded{InlineParser: mentionParser{}, key: tokenFailures, max: 20 * maxFailures}, 290),
			util.Prioritized(parser.NewAutoLinkParser(), 300),
			util.Prioritized(bounded{InlineParser: parser.NewRawHTMLParser(), key: htmlFailures, max: maxFailures}, 400),
			util.Prioritized(emphasisParser{}, 500),
			util.Prioritized(extension.NewStrikethroughParser(), 500),
			util.Prioritized(extension.NewLinkifyParser(), 999),
		),
		parser.WithParagraphTransformers(
			util.Prioritized(parser.LinkReferenceParagraphTransformer, 100),
			util.Prioritized(extension.NewTableParagraphTransformer(), 200),
		),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
		parser.WithEscapedSpace(),
	)
	return p
}

// clean makes line ends and encoding uniform.
func clean(s string) []byte {
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	s = strings.ReplaceAll(s, "\r\n", "\n")
	s = strings.ReplaceAll(s, "\r", "\n")
	return []byte(strings.ReplaceAll(s, "\x00", string(utf8.RuneError)))
}

// converter makes our tree of goldmark's.
type converter struct{ src []byte }

func (c converter) blocks(parent ast.Node) []Block {
	var out []Block
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		b, ok := c.block(n)
		if ok {
			out = append(out, b)
		}
	}
	return out
}

func (c converter) block(n ast.Node) (Block, bool) {
	switch n := n.(type) {
	case *ast.Heading:
		return Block{Kind: Heading, Level: n.Level, Spans: c.spans(n)}, true
	case *ast.ThematicBreak:
		return Block{Kind: Rule}, true
	case *ast.CodeBlock:
		return Block{Kind: CodeBlock, Code: c.lines(n)}, true
	case *ast.FencedCodeBlock:
		return Block{Kind: CodeBlock, Language: language(string(n.Language(c.src))), Code: c.lines(n)}, true
	case *ast.Blockquote:
		inner := c.blocks(n)
		return Block{Kind: Quote, Blocks: inner}, len(inner) > 0
	case *ast.List:
		l := c.list(n)
		if len(l.Items) == 1 && len(l.Items[0].Blocks) == 0 && l.Items[0].Task == NoTask { // a lonely mark is meant as text
			mark := string(rune(n.Marker))
			if l.Ordered {
				mark = strconv.Itoa(l.Start) + mark
			}
			return Block{Kind: Paragraph, Spans: []Span{{Text: mark}}}, true
		}
		return l, true
	case *extast.Table:
		return c.table(n), true
	case *ast.HTMLBlock:
		s := c.lines(n)
		if n.HasClosure() {
			s += "\n" + string(n.ClosureLine.Value(c.src))
		}
		spans := literal(s)
		return Block{Kind: Paragraph, Spans: spans}, len(spans) > 0
	case *ast.Paragraph, *ast.TextBlock:
		spans := c.spans(n)
		return Block{Kind: Paragraph, Spans: spans}, len(spans) > 0
	}
	// No other kind is registered with the parser; should one be, its text is kept.
	spans := literal(c.lines(n))
	return Block{Kind: Paragraph, Spans: spans}, len(spans) > 0
}

// language keeps what a fence can carry: one word without backticks.
func language(s string) string {
	s = html.UnescapeString(s)
	if strings.ContainsAny(s, "`<>&\n \\") || utf8.RuneCountInString(s) > 40 {
		return ""
	}
	return s
}

func (c converter) lines(n ast.Node) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		s := n.Lines().At(i)
		b.Write(s.Value(c.src))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (c converter) list(n *ast.List) Block {
	out := Block{Kind: List, Ordered: n.IsOrdered(), Loose: !n.IsTight}
	if out.Ordered {
		out.Start = n.Start
	}
	for i := n.FirstChild(); i != nil; i = i.NextSibling() {
		item := Item{Blocks: c.blocks(i)}
		if first := i.FirstChild(); first != nil {
			if box, ok := first.FirstChild().(*extast.TaskCheckBox); ok {
				item.Task = Open
				if box.IsChecked {
					item.Task = Done
				}
			}
		}
		out.Items = append(out.Items, item)
	}
	return out
}

func (c converter) table(n *extast.Table) Block {
	out := Block{Kind: Table}
	for _, a := range n.Alignments {
		out.Align = append(out.Align, map[extast.Alignment]Align{
			extast.AlignLeft: AlignLeft, extast.AlignRight: AlignRight, extast.AlignCenter: AlignCenter,
		}[a])
	}
	for r := n.FirstChild(); r != nil; r = r.NextSibling() {
		var row []Cell
		for cell := r.FirstChild(); cell != nil; cell = cell.NextSibling() {
			row = append(row, Cell{Spans: c.spans(cell)})
		}
		for len(row) < len(out.Align) {
			row = append(row, Cell{})
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

var lineBreak = regexp.MustCompile(`(?i)<br\s*/?>\n?`)

// literal is HTML shown as it was written, but for line breaks.
func literal(s string) []Span {
	s = strings.Trim(lineBreak.ReplaceAllString(s, "\n"), "\n")
	return tidy([]Span{{Text: s}})
}
