package web

import (
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// hidden are elements whose content nobody sees as text.
var hidden = []atom.Atom{atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Iframe, atom.Object, atom.Canvas, atom.Head, atom.Textarea, atom.Select}

// blocks are elements that stand on lines of their own.
var blocks = []atom.Atom{
	atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Br, atom.Dd, atom.Div, atom.Dl, atom.Dt, atom.Figcaption, atom.Figure, atom.Footer, atom.Form,
	atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Header, atom.Hr, atom.Li, atom.Main, atom.Nav, atom.Ol, atom.P, atom.Pre, atom.Section, atom.Table,
	atom.Tr, atom.Ul,
}

// void are elements that are never closed.
var void = []atom.Atom{atom.Br, atom.Hr, atom.Img, atom.Input, atom.Meta, atom.Link, atom.Area, atom.Base, atom.Col, atom.Embed, atom.Source, atom.Track, atom.Wbr}

// extract is the title and the text of a page. It reads tokens and builds no tree, so that no nesting is too deep for it, and it ends where the
// text is longer than maxText.
func extract(page string, base *url.URL) (title, text string) {
	z := html.NewTokenizer(strings.NewReader(page))
	var (
		b       writer
		skip    atom.Atom // the hidden element that is open
		depth   int       // how often it is open
		inTitle bool
		link    string
		named   strings.Builder
	)
	for {
		kind := z.Next()
		if kind == html.ErrorToken || b.Len() > maxText {
			return strings.Join(strings.Fields(named.String()), " "), b.String()
		}
		t := z.Token()
		switch kind {
		case html.TextToken:
			switch {
			case inTitle:
				named.WriteString(t.Data)
			case skip == 0:
				b.text(t.Data)
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			a := t.DataAtom
			switch {
			case a == atom.Title && kind == html.StartTagToken:
				inTitle = true
			case a == atom.Body:
				skip, depth = 0, 0 // a head that was never closed ends here
			case skip != 0:
				if a == skip && kind == html.StartTagToken {
					depth++
				}
			case slices.Contains(hidden, a) && kind == html.StartTagToken && !slices.Contains(void, a):
				skip, depth = a, 1
			case slices.Contains(blocks, a):
				b.block(a)
			case a == atom.A:
				link = absolute(t, base)
				b.open()
			case a == atom.Img:
				if alt := attr(t, "alt"); alt != "" {
					b.text(" [" + alt + "] ")
				}
			case a == atom.Td || a == atom.Th:
				b.text(" | ")
			}
		case html.EndTagToken:
			a := t.DataAtom
			switch {
			case a == atom.Title:
				inTitle = false
			case skip != 0:
				if a == skip {
					if depth--; depth == 0 {
						skip = 0
					}
				}
			case a == atom.A:
				b.shut(link)
				link = ""
			case slices.Contains(blocks, a):
				b.line()
			}
		}
	}
}

func attr(t html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return strings.Join(strings.Fields(a.Val), " ")
		}
	}
	return ""
}

// absolute is where a link leads, "" for one that leads nowhere on the web.
func absolute(t html.Token, base *url.URL) string {
	u, err := base.Parse(attr(t, "href"))
	if err != nil || allowed(u) != nil || attr(t, "href") == "" || strings.HasPrefix(attr(t, "href"), "#") {
		return ""
	}
	return u.String()
}

// writer lays words out in lines.
type writer struct {
	strings.Builder
	// gap: a space is due before the next word; from is where the link that is open began.
	gap  bool
	from int
}

func (w *writer) text(s string) {
	for i, f := range strings.Fields(s) {
		if w.Len() > 0 && !strings.HasSuffix(w.String()[max(0, w.Len()-1):], "\n") && (i > 0 || w.gap || s[0] == ' ' || s[0] == '\n' || s[0] == '\t' || s[0] == '\r') {
			w.WriteByte(' ')
		}
		w.WriteString(f)
		w.gap = false
	}
	if s != "" && strings.TrimRight(s, " \t\r\n") != s {
		w.gap = true
	}
}

// line ends the line, unless it is empty.
func (w *writer) line() {
	w.gap = false
	if s := w.String(); s != "" && !strings.HasSuffix(s, "\n") {
		w.WriteByte('\n')
	}
}

func (w *writer) block(a atom.Atom) {
	w.line()
	switch a {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		if w.Len() > 0 {
			w.WriteByte('\n')
		}
		w.WriteString(strings.Repeat("#", int(a.String()[1]-'0')) + " ")
	case atom.Li:
		w.WriteString("- ")
	case atom.P, atom.Table, atom.Blockquote, atom.Pre:
		if w.Len() > 0 && !strings.HasSuffix(w.String(), "\n\n") {
			w.WriteByte('\n')
		}
	}
}

func (w *writer) open() { w.from = w.Len() }

// shut writes where a link leads behind its words.
func (w *writer) shut(to string) {
	if to != "" && w.Len() > w.from {
		w.WriteString(" <" + to + ">")
	}
}
