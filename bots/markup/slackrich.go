package markup

import (
	"encoding/json"
	"strings"
)

// rich reads one element of a rich_text block.
func (r *blockReader) rich(raw json.RawMessage) {
	var e inElement
	if json.Unmarshal(raw, &e) != nil {
		r.whole = false
		return
	}
	switch e.Type {
	case "rich_text_section":
		r.add(paragraphs(r.leaves(e.Elements)))
	case "rich_text_quote":
		if bs := paragraphs(r.leaves(e.Elements)); len(bs) > 0 {
			r.out = append(r.out, Block{Kind: Quote, Blocks: bs})
		}
	case "rich_text_preformatted":
		var b strings.Builder
		for _, s := range r.leaves(e.Elements) {
			b.WriteString(s.Text)
		}
		r.out = append(r.out, Block{Kind: CodeBlock, Code: strings.Trim(b.String(), "\n")})
	case "rich_text_list":
		r.out = addList(r.out, r.list(e), e.Indent)
	default:
		r.whole = false
		r.add(paragraphs(r.leaves(e.Elements)))
	}
}

func (r *blockReader) list(e inElement) Block {
	b := Block{Kind: List}
	var style string
	if json.Unmarshal(e.Style, &style) == nil && style == "ordered" {
		b.Ordered, b.Start = true, max(0, e.Offset)+1
	}
	for _, raw := range e.Elements {
		inner := blockReader{names: r.names, whole: true}
		inner.rich(raw)
		r.whole = r.whole && inner.whole
		b.Items = append(b.Items, Item{Blocks: inner.out})
	}
	return b
}

// addList puts a list where its indent says: below the last item of the list before it, or behind that list's items.
func addList(blocks []Block, l Block, depth int) []Block {
	n := len(blocks)
	if n == 0 || blocks[n-1].Kind != List || len(blocks[n-1].Items) == 0 {
		return append(blocks, l)
	}
	last := &blocks[n-1]
	if depth > 0 {
		it := &last.Items[len(last.Items)-1]
		it.Blocks = addList(it.Blocks, l, min(depth, maxDepth)-1)
		return blocks
	}
	if last.Ordered == l.Ordered && (!l.Ordered || l.Start == last.Start+len(last.Items)) {
		last.Items = append(last.Items, l.Items...)
		return blocks
	}
	return append(blocks, l)
}

// leaves reads the text, links, mentions and signs of a section.
func (r *blockReader) leaves(raws []json.RawMessage) []Span {
	var out []Span
	for _, raw := range raws {
		var e inElement
		if json.Unmarshal(raw, &e) != nil {
			r.whole = false
			continue
		}
		s := Span{Style: style(e.Style)}
		switch e.Type {
		case "text":
			s.Text = plainText(e.Text)
		case "link":
			s.Text, s.URL = orElse(plainText(e.Text), e.URL), e.URL
		case "user":
			s.Text = r.names.user(e.UserID, "")
		case "channel":
			s.Text = r.names.channel(e.ChannelID, "")
		case "usergroup":
			s.Text = r.names.group(e.GroupID, "")
		case "team":
			s.Text = "@" + e.TeamID
		case "broadcast":
			s.Text = "@" + e.Range
		case "emoji":
			s.Text = orElse(emoji(e.Unicode), ":"+e.Name+":")
		case "color":
			s.Text = e.Value
		case "date":
			s.Text = e.Fallback
		default:
			r.whole = false
			s.Text = orElse(plainText(e.Text), e.Fallback)
		}
		out = append(out, s)
	}
	return out
}

func style(raw json.RawMessage) Style {
	var s SlackStyle
	if len(raw) == 0 || json.Unmarshal(raw, &s) != nil {
		return 0
	}
	var out Style
	for bit, on := range map[Style]bool{Bold: s.Bold, Italic: s.Italic, Strike: s.Strike, Code: s.Code} {
		if on {
			out |= bit
		}
	}
	return out
}

// paragraphs parts spans at empty lines.
func paragraphs(spans []Span) []Block {
	var out []Block
	var now []Span
	flush := func() {
		if t := tidy(now); len(t) > 0 {
			out = append(out, Block{Kind: Paragraph, Spans: t})
		}
		now = nil
	}
	for _, s := range spans {
		if s.Style&Code != 0 {
			s.Text = strings.ReplaceAll(s.Text, "\n", " ")
			now = append(now, s)
			continue
		}
		for i, part := range strings.Split(s.Text, "\n\n") {
			if i > 0 {
				flush()
			}
			p := s
			p.Text = part
			now = append(now, p)
		}
	}
	flush()
	return out
}
