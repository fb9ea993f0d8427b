package markup

import (
	"strings"
	"unicode/utf8"
)

// SlackBlocks renders the document as Slack's blocks: headers, rich text, tables and dividers. room is how many blocks may be used, at most
// [MaxBlocks]; a caller that adds blocks of its own leaves them free. What has no block left (a second table, the 51st heading) becomes
// rich text, so the number always holds. The characters hold [MaxBlockChars] for a document that is one piece of [SlackMarkdown]'s.
func (doc Document) SlackBlocks(p Policy, room int) []SlackBlock {
	d := SlackMarkdown()
	room = max(1, min(room, MaxBlocks))
	for _, compact := range []int{0, 1, 2} {
		k := kit{writer: writer{d: &d, p: p}, compact: compact}
		k.sequence(doc.Blocks)
		k.end()
		if len(k.out) <= room && (SlackLength(k.out) <= MaxBlockChars || compact > 0) {
			return k.out
		}
	}
	k := kit{writer: writer{d: &d, p: p}, compact: 3}
	k.sequence(doc.Blocks)
	k.end()
	return k.out
}

// kit builds blocks; what is rich text gathers in one block until another kind comes.
type kit struct {
	writer
	out  []SlackBlock
	rich []SlackElement
	// compact saves: 1 lays tables out without padding, 2 also leaves out headers and dividers, 3 also tables, so one block remains.
	compact int
	tables  int
}

func (k *kit) end() {
	if len(k.rich) > 0 {
		k.out = append(k.out, SlackBlock{Type: "rich_text", Elements: k.rich})
		k.rich = nil
	}
}

func (k *kit) sequence(blocks []Block) {
	for _, b := range blocks {
		k.block(b)
	}
}

func (k *kit) block(b Block) {
	switch b.Kind {
	case Heading:
		k.heading(b)
	case CodeBlock:
		k.preformatted(b.Code, 0)
	case Quote:
		k.quote(b)
	case List:
		k.list(b, 0)
	case Table:
		k.table(b)
	case Rule:
		if k.compact >= 2 {
			k.section([]Span{{Text: k.d.Rule}})
			return
		}
		k.end()
		k.out = append(k.out, SlackBlock{Type: "divider"})
	default:
		k.section(b.Spans)
	}
}

func (k *kit) heading(b Block) {
	plain := true
	for _, s := range b.Spans {
		plain = plain && s.URL == "" && s.Mention == "" && s.Style&(Code|Strike) == 0
	}
	text := strings.ReplaceAll(textOf(b.Spans), "\n", " ")
	if plain && k.compact < 2 && text != "" && utf8.RuneCountInString(text) <= MaxHeader {
		k.end()
		k.out = append(k.out, SlackBlock{Type: "header", Text: &SlackText{Type: "plain_text", Text: breakMassMentions(text)}})
		return
	}
	k.section(bold(b.Spans))
}

// section adds a paragraph. Sections follow each other without a gap: an empty line keeps two paragraphs apart.
func (k *kit) section(spans []Span) {
	if es := k.leaves(spans); len(es) > 0 {
		if n := len(k.rich); n > 0 && k.rich[n-1].Type == "rich_text_section" {
			k.rich[n-1].Elements = append(k.rich[n-1].Elements, SlackElement{Type: "text", Text: "\n\n"})
		}
		k.rich = append(k.rich, SlackElement{Type: "rich_text_section", Elements: es})
	}
}

// bold is a copy of spans in bold.
func bold(spans []Span) []Span {
	out := append([]Span{}, spans...)
	for i := range out {
		out[i].Style |= Bold
	}
	return out
}

func (k *kit) preformatted(code string, border int) {
	if code == "" {
		code = " " // Slack refuses an empty text
	}
	k.rich = append(k.rich, SlackElement{Type: "rich_text_preformatted", Border: border, Elements: []SlackElement{{Type: "text", Text: code}}})
}

// quote gathers text in one quote element; what cannot stand in one (code, lists) follows with a border.
func (k *kit) quote(b Block) {
	var es []SlackElement
	flush := func() {
		if len(es) > 0 {
			k.rich = append(k.rich, SlackElement{Type: "rich_text_quote", Elements: es})
			es = nil
		}
	}
	for _, inner := range b.Blocks {
		switch inner.Kind {
		case Paragraph, Heading, Rule:
			spans := inner.Spans
			switch inner.Kind {
			case Heading:
				spans = bold(spans)
			case Rule:
				spans = []Span{{Text: k.d.NestedRule}}
			}
			if len(es) > 0 {
				es = append(es, SlackElement{Type: "text", Text: "\n\n"})
			}
			es = append(es, k.leaves(spans)...)
		case CodeBlock:
			flush()
			k.preformatted(inner.Code, 1)
		case Table:
			flush()
			k.preformatted(k.layout(inner), 1)
		default:
			flush()
			from := len(k.rich)
			k.block(inner)
			for i := from; i < len(k.rich); i++ {
				if k.rich[i].Type == "rich_text_list" {
					k.rich[i].Border = 1
				}
			}
		}
	}
	flush()
}

// leaves renders spans: no sign needs escaping here, as nothing is parsed again.
func (k *kit) leaves(spans []Span) []SlackElement {
	var out []SlackElement
	for _, s := range k.permit(spans) {
		e := SlackElement{Type: "text", Text: s.Text}
		if s.Style&Code == 0 {
			e.Text = breakMassMentions(s.Text)
		}
		if s.Style != 0 {
			e.Style = SlackStyle{Bold: s.Style&Bold != 0, Italic: s.Style&Italic != 0, Strike: s.Style&Strike != 0, Code: s.Style&Code != 0}
		}
		switch {
		case s.Mention != "":
			e.Type, e.UserID, e.Text = "user", s.Mention, ""
		case s.URL != "":
			e.Type, e.URL = "link", s.URL
		}
		out = append(out, e)
	}
	return out
}
