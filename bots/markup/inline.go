package markup

import (
	"html"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// spans flattens the inline nodes below n.
func (c converter) spans(n ast.Node) []Span {
	var out []Span
	c.inline(n, Span{}, &out)
	return tidy(out)
}

// inline appends the text below n; in carries the style and the link that n stands in.
func (c converter) inline(n ast.Node, in Span, out *[]Span) {
	add := func(s string) {
		sp := in
		sp.Text = s
		*out = append(*out, sp)
	}
	for n := n.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			s := string(n.Segment.Value(c.src))
			if !n.IsRaw() {
				s = unescape(s)
			}
			if n.SoftLineBreak() || n.HardLineBreak() {
				s = strings.TrimRight(s, " ") + "\n"
			}
			add(s)
		case *ast.String:
			add(string(n.Value))
		case *ast.CodeSpan:
			var b strings.Builder
			for t := n.FirstChild(); t != nil; t = t.NextSibling() {
				if t, ok := t.(*ast.Text); ok {
					b.Write(t.Segment.Value(c.src))
				}
			}
			sp := in
			sp.Style |= Code
			sp.Text = strings.ReplaceAll(b.String(), "\n", " ")
			*out = append(*out, sp)
		case *ast.Emphasis:
			sp := in
			sp.Style |= Italic
			if n.Level == 2 {
				sp.Style = in.Style | Bold
			}
			c.inline(n, sp, out)
		case *extast.Strikethrough:
			sp := in
			sp.Style |= Strike
			c.inline(n, sp, out)
		case *ast.Link:
			c.link(n, string(n.Destination), false, in, out)
		case *ast.Image:
			c.link(n, string(n.Destination), true, in, out)
		case *ast.AutoLink:
			c.autoLink(n, in, out)
		case *ast.RawHTML:
			var b strings.Builder
			for i := range n.Segments.Len() {
				s := n.Segments.At(i)
				b.Write(s.Value(c.src))
			}
			add(lineBreak.ReplaceAllString(b.String(), "\n"))
		case *mentionNode:
			sp := in
			sp.Text, sp.Mention = n.text, n.id
			*out = append(*out, sp)
		case *extast.TaskCheckBox:
		default:
			c.inline(n, in, out)
		}
	}
}

// link adds a link's label; a link inside of another (an image as a label) leads where the outer one does.
func (c converter) link(n ast.Node, dest string, image bool, in Span, out *[]Span) {
	if in.URL == "" {
		in.URL, in.Image = target(dest), image
	}
	start := len(*out)
	c.inline(n, in, out)
	for i := start; i < len(*out); i++ { // a label is one line
		(*out)[i].Text = strings.ReplaceAll((*out)[i].Text, "\n", " ")
	}
	if textOf((*out)[start:]) == "" {
		in.Text = in.URL
		*out = append((*out)[:start], in)
	}
}

// target reads a destination as the text that it stands for.
func target(dest string) string { return strings.TrimSpace(unescape(dest)) }

func (c converter) autoLink(n *ast.AutoLink, in Span, out *[]Span) {
	label, url := string(n.Label(c.src)), string(n.URL(c.src))
	sp := in
	sp.Text = label
	switch {
	case in.URL != "" || strings.ContainsAny(label, "|<>"): // the half of a token is no link
	case n.AutoLinkType == ast.AutoLinkEmail:
		sp.URL = "mailto:" + label
	default:
		sp.URL = url
	}
	*out = append(*out, sp)
}

var escapes = regexp.MustCompile(`\\[!-/:-@\[-` + "`" + `{-~]|\\ |&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});`)

// unescape resolves backslashes and entities in one pass, so that nothing is decoded twice.
func unescape(s string) string {
	if !strings.ContainsAny(s, `\&`) {
		return s
	}
	return escapes.ReplaceAllStringFunc(s, func(m string) string {
		if m == `\ ` {
			return "" // an escaped space only parts words for the parser
		}
		if m[0] == '\\' {
			return m[1:]
		}
		u := html.UnescapeString(m)
		return strings.Map(func(r rune) rune {
			if r == 0 || r == '\n' || r == '\r' {
				return utf8.RuneError
			}
			return r
		}, u)
	})
}

// tidy joins neighbours of the same kind and trims the spaces around lines and at both ends: they carry no meaning in Markdown.
func tidy(spans []Span) []Span {
	out := make([]Span, 0, len(spans))
	atStart := true
	for _, s := range spans {
		if s.Style&Code == 0 && s.Mention == "" {
			s.Text = trimLines(s.Text, atStart)
		}
		if s.Text == "" {
			continue
		}
		atStart = s.Style&Code == 0 && strings.HasSuffix(s.Text, "\n")
		if n := len(out); n > 0 && s.joins(out[n-1]) {
			out[n-1].Text += s.Text
			continue
		}
		out = append(out, s)
	}
	for i := len(out) - 1; i >= 0; i-- { // spaces before a line's end may lie in an earlier span
		if out[i].Style&Code != 0 || out[i].Mention != "" {
			continue
		}
		if i == len(out)-1 {
			out[i].Text = strings.TrimRightFunc(out[i].Text, blank)
		} else if strings.HasPrefix(out[i+1].Text, "\n") && out[i+1].Style&Code == 0 {
			out[i].Text = strings.TrimRight(out[i].Text, " \t")
		}
		if out[i].Text == "" {
			out = append(out[:i], out[i+1:]...)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

func (s Span) joins(prev Span) bool {
	return s.Style == prev.Style && s.URL == prev.URL && s.Image == prev.Image && s.Mention == "" && prev.Mention == "" && s.Style&Code == 0
}

func blank(r rune) bool { return r == ' ' || r == '\t' || r == '\n' }

func trimLines(s string, atStart bool) string {
	if atStart {
		s = strings.TrimLeftFunc(s, blank)
	}
	if !strings.Contains(s, "\n") {
		return s
	}
	lines := strings.Split(s, "\n")
	out := lines[:0]
	for i, l := range lines {
		if i > 0 {
			l = strings.TrimLeft(l, " \t")
		}
		if i < len(lines)-1 {
			l = strings.TrimRight(l, " \t")
		}
		if l == "" && i > 0 && i < len(lines)-1 {
			continue // a blank line would end the block
		}
		out = append(out, l)
	}
	return strings.Join(out, "\n")
}

func textOf(spans []Span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.Text)
	}
	return b.String()
}

// emphasisParser is goldmark's with wider eyes: punctuation at the inner edge of a bold run that touches a letter outside ("**Status:**OK")
// does not keep it from being one. It works within the parser, so code, links and escapes are out of its reach.
type emphasisParser struct{}

func (emphasisParser) Trigger() []byte { return []byte{'*', '_'} }

var delimiterCount = parser.NewContextKey()

func (emphasisParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, segment := block.PeekLine()
	d := parser.ScanDelimiter(line, before, 1, delimiters{})
	if d == nil {
		return nil
	}
	n, _ := pc.Get(delimiterCount).(int)
	if n >= maxDelimiters {
		return nil
	}
	pc.Set(delimiterCount, n+1)
	if d.Char == '*' && d.OriginalLength >= 2 {
		after, _ := utf8.DecodeRune(line[d.OriginalLength:])
		if d.OriginalLength == len(line) {
			after = ' '
		}
		beforeThat := ' '
		if head := block.Source()[:segment.Start]; len(head) > 0 {
			_, size := utf8.DecodeLastRune(head)
			if r, _ := utf8.DecodeLastRune(head[:len(head)-size]); r != utf8.RuneError {
				beforeThat = r
			}
		}
		d.CanClose = d.CanClose || closesTolerantly(beforeThat, before, after)
		d.CanOpen = d.CanOpen || opensTolerantly(before, after)
	}
	d.Segment = segment.WithStop(segment.Start + d.OriginalLength)
	block.Advance(d.OriginalLength)
	pc.PushDelimiter(d)
	return d
}

// closesTolerantly: the run ends behind punctuation and a word follows at once. An opening bracket or quote rather begins something.
func closesTolerantly(beforeThat, before, after rune) bool {
	if unicode.IsSpace(before) || !isPunct(before) || unicode.IsSpace(after) || isPunct(after) || before == '*' || before == '_' {
		return false
	}
	if unicode.In(before, unicode.Ps, unicode.Pi) {
		return false
	}
	if (before == '"' || before == '\'') && (unicode.IsSpace(beforeThat) || unicode.In(beforeThat, unicode.Ps)) {
		return false
	}
	return true
}

// opensTolerantly: the run begins with a quote or bracket directly behind a word.
func opensTolerantly(before, after rune) bool {
	if unicode.IsSpace(before) || isPunct(before) {
		return false
	}
	return unicode.In(after, unicode.Ps, unicode.Pi) || strings.ContainsRune("\"'`#@$+-", after)
}

func isPunct(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

type delimiters struct{}

func (delimiters) IsDelimiter(b byte) bool { return b == '*' || b == '_' }

func (delimiters) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	return opener.Char == closer.Char
}

func (delimiters) OnMatch(consumes int) ast.Node { return ast.NewEmphasis(consumes) }
