package markup

import "unicode/utf8"

// The structures below are Slack's blocks as its Web API takes them in JSON; only what the renderer makes is here.

// SlackBlock is one block of a message.
type SlackBlock struct {
	Type string `json:"type"` // rich_text, header, divider or table
	// Text is a header's.
	Text *SlackText `json:"text,omitempty"`
	// Elements are a rich_text block's.
	Elements []SlackElement `json:"elements,omitempty"`
	// Rows and Columns are a table's.
	Rows    [][]SlackBlock `json:"rows,omitempty"`
	Columns []SlackColumn  `json:"column_settings,omitempty"`
}

// SlackText is a plain_text object.
type SlackText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// SlackColumn says how a table's column stands.
type SlackColumn struct {
	Align   string `json:"align,omitempty"`
	Wrapped bool   `json:"is_wrapped,omitempty"`
}

// SlackElement is an element of rich text: a section, list, quote or preformatted text that holds elements, or a leaf (text, link, user).
type SlackElement struct {
	Type     string         `json:"type"`
	Elements []SlackElement `json:"elements,omitempty"`
	// Style is "bullet" or "ordered" for a list, a [SlackStyle] for a leaf.
	Style any `json:"style,omitempty"`
	// Indent is the depth of a list, Offset what its first number exceeds 1 by.
	Indent int    `json:"indent,omitempty"`
	Offset int    `json:"offset,omitempty"`
	Border int    `json:"border,omitempty"`
	Text   string `json:"text,omitempty"`
	URL    string `json:"url,omitempty"`
	UserID string `json:"user_id,omitempty"`
}

// SlackStyle is the style of a leaf.
type SlackStyle struct {
	Bold   bool `json:"bold,omitempty"`
	Italic bool `json:"italic,omitempty"`
	Strike bool `json:"strike,omitempty"`
	Code   bool `json:"code,omitempty"`
}

// Slack's limits on a message's blocks.
const (
	MaxBlocks       = 50     // blocks in a message
	MaxBlockChars   = 12_000 // characters in all blocks together; Slack refuses somewhat more than 13,000
	MaxHeader       = 150    // characters of a header
	MaxTableRows    = 100
	MaxTableColumns = 20
	MaxTableChars   = 10_000
	maxTables       = 1 // tables in a message
)

// SlackLength counts the characters that blocks show, as MaxBlockChars does.
func SlackLength(blocks []SlackBlock) int {
	n := 0
	for _, b := range blocks {
		if b.Text != nil {
			n += utf8.RuneCountInString(b.Text.Text)
		}
		n += elementsLength(b.Elements)
		for _, r := range b.Rows {
			n += SlackLength(r)
		}
	}
	return n
}

func elementsLength(es []SlackElement) int {
	n := 0
	for _, e := range es {
		n += utf8.RuneCountInString(e.Text) + utf8.RuneCountInString(e.URL) + len(e.UserID) + elementsLength(e.Elements)
	}
	return n
}
