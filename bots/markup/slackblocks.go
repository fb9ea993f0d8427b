package markup

import (
	"encoding/json"
	"slices"
	"strings"
)

// FromSlackBlocks reads blocks as Slack sends them (a JSON array, or attachments that carry one each) into a document. Mentions become names.
// whole is false when something was not understood: its text is kept where it has one, and the caller may prefer the message's text field.
func FromSlackBlocks(raw json.RawMessage, names Names) (doc Document, whole bool) {
	r := blockReader{names: names, whole: true}
	r.blocks(raw, 0)
	return Document{Blocks: r.out}, r.whole
}

// FromSlackMessage makes Markdown of a message: of its text, or of its blocks and those of its attachments where they hold what the text
// field loses: tables, code, lists. raw arrays may be empty.
func FromSlackMessage(text string, blocks, attachments json.RawMessage, names Names) string {
	doc, whole := FromSlackBlocks(blocks, names)
	extra, _ := FromSlackBlocks(attachments, names)
	out := FromSlackText(text, names)
	if whole && slices.ContainsFunc(doc.Blocks, structured) || strings.TrimSpace(text) == "" {
		out = doc.Text(Markdown(), Policy{})
	}
	if slices.ContainsFunc(extra.Blocks, structured) {
		out = strings.TrimLeft(out+"\n\n"+extra.Text(Markdown(), Policy{}), "\n")
	}
	return out
}

func structured(b Block) bool { return b.Kind != Paragraph && b.Kind != Rule }

type blockReader struct {
	names Names
	out   []Block
	whole bool
}

// inElement is a block or an element as Slack sends it. Fields that have several shapes stay raw.
type inElement struct {
	Type      string            `json:"type"`
	Elements  []json.RawMessage `json:"elements"`
	Fields    []json.RawMessage `json:"fields"`
	Blocks    json.RawMessage   `json:"blocks"`
	Rows      [][]inElement     `json:"rows"`
	Columns   []json.RawMessage `json:"column_settings"`
	Text      json.RawMessage   `json:"text"`
	Style     json.RawMessage   `json:"style"`
	Title     json.RawMessage   `json:"title"`
	Indent    int               `json:"indent"`
	Offset    int               `json:"offset"`
	URL       string            `json:"url"`
	ImageURL  string            `json:"image_url"`
	AltText   string            `json:"alt_text"`
	Fallback  string            `json:"fallback"`
	UserID    string            `json:"user_id"`
	ChannelID string            `json:"channel_id"`
	GroupID   string            `json:"usergroup_id"`
	TeamID    string            `json:"team_id"`
	Range     string            `json:"range"`
	Name      string            `json:"name"`
	Unicode   string            `json:"unicode"`
	Value     string            `json:"value"`
}

// maxJSONDepth bounds blocks within attachments within blocks.
const maxJSONDepth = 4

func (r *blockReader) blocks(raw json.RawMessage, depth int) {
	if len(raw) == 0 || depth > maxJSONDepth {
		return
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		r.whole = false
		return
	}
	for _, one := range list {
		var e inElement
		if json.Unmarshal(one, &e) != nil { // one malformed block does not take its neighbours along
			r.whole = false
			continue
		}
		if len(e.Blocks) > 0 {
			r.blocks(e.Blocks, depth+1)
			continue
		}
		r.block(e)
	}
}

func (r *blockReader) block(e inElement) {
	switch e.Type {
	case "rich_text":
		for _, raw := range e.Elements {
			r.rich(raw)
		}
	case "header":
		if s := plainText(e.Text); s != "" {
			r.out = append(r.out, Block{Kind: Heading, Level: 1, Spans: tidy([]Span{{Text: strings.ReplaceAll(s, "\n", " ")}})})
		}
	case "divider":
		r.out = append(r.out, Block{Kind: Rule})
	case "markdown":
		r.out = append(r.out, Parse(plainText(e.Text)).Blocks...)
	case "section", "context":
		r.textObject(e.Text)
		for _, f := range append(e.Fields, e.Elements...) {
			r.textObject(f)
		}
	case "image":
		if e.ImageURL != "" {
			r.out = append(r.out, Block{Kind: Paragraph, Spans: []Span{{Text: orElse(e.AltText, e.ImageURL), URL: e.ImageURL, Image: true}}})
		}
	case "table":
		r.table(e)
	default:
		r.whole = false
		r.add(paragraphs([]Span{{Text: orElse(plainText(e.Text), e.Fallback)}}))
	}
}

func orElse(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// plainText reads a text that is a string or a text object.
func plainText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var o struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &o) == nil {
		return o.Text
	}
	return ""
}

// textObject reads {"type":"mrkdwn"|"plain_text","text":…}, or an image in a context.
func (r *blockReader) textObject(raw json.RawMessage) {
	var o struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		AltText string `json:"alt_text"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &o) != nil {
		return
	}
	switch o.Type {
	case "mrkdwn":
		r.add(Parse(FromSlackText(o.Text, r.names)).Blocks)
	case "image":
		r.add(paragraphs([]Span{{Text: o.AltText}}))
	default:
		r.add(paragraphs([]Span{{Text: o.Text}}))
	}
}

func (r *blockReader) add(bs []Block) { r.out = append(r.out, bs...) }

func (r *blockReader) table(e inElement) {
	t := Block{Kind: Table}
	columns := 0
	for _, row := range e.Rows {
		columns = max(columns, len(row))
	}
	for i := range columns {
		var c struct {
			Align Align `json:"align"`
		}
		if i < len(e.Columns) {
			_ = json.Unmarshal(e.Columns[i], &c) // null stands for a column without settings
		}
		if c.Align != AlignCenter && c.Align != AlignRight {
			c.Align = AlignNone
		}
		t.Align = append(t.Align, c.Align)
	}
	for _, row := range e.Rows {
		cells := make([]Cell, columns)
		for i, cell := range row {
			cells[i] = Cell{Spans: r.cell(cell)}
		}
		t.Rows = append(t.Rows, cells)
	}
	if columns > 0 {
		r.out = append(r.out, t)
	}
}

func (r *blockReader) cell(e inElement) []Span {
	if e.Type != "rich_text" {
		return tidy([]Span{{Text: plainText(e.Text)}})
	}
	inner := blockReader{names: r.names, whole: true}
	for _, raw := range e.Elements {
		inner.rich(raw)
	}
	r.whole = r.whole && inner.whole
	var spans []Span
	for i, b := range inner.out { // a cell is one line
		if i > 0 {
			spans = append(spans, Span{Text: " "})
		}
		if b.Kind == Paragraph {
			spans = append(spans, b.Spans...)
			continue
		}
		spans = append(spans, Span{Text: Document{Blocks: []Block{b}}.Text(Plain(), Policy{})})
	}
	for i := range spans {
		spans[i].Text = strings.ReplaceAll(spans[i].Text, "\n", " ")
	}
	return tidy(spans)
}
