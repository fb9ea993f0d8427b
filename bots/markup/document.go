package markup

// Document is a parsed text. The zero value is an empty one. A document is not changed by rendering or cutting it.
type Document struct {
	Blocks []Block `json:"blocks,omitempty"`
}

// BlockKind says which fields of a [Block] count.
type BlockKind string

// The kinds of blocks.
const (
	Paragraph BlockKind = "paragraph" // Spans
	Heading   BlockKind = "heading"   // Level, Spans
	CodeBlock BlockKind = "code"      // Language, Code
	Quote     BlockKind = "quote"     // Blocks
	List      BlockKind = "list"      // Ordered, Start, Items
	Table     BlockKind = "table"     // Align, Rows
	Rule      BlockKind = "rule"      // nothing
)

// Block is one block of a document.
type Block struct {
	Kind  BlockKind `json:"kind"`
	Level int       `json:"level,omitempty"` // 1 to 6
	Spans []Span    `json:"spans,omitempty"`
	// Language is the first word of a fence's info string; Code ends without a line break.
	Language string  `json:"language,omitempty"`
	Code     string  `json:"code,omitempty"`
	Blocks   []Block `json:"blocks,omitempty"`
	Ordered  bool    `json:"ordered,omitempty"`
	Start    int     `json:"start,omitempty"` // number of an ordered list's first item
	Loose    bool    `json:"loose,omitempty"` // a list whose items stand apart
	Items    []Item  `json:"items,omitempty"`
	Align    []Align `json:"align,omitempty"`
	// Rows are a table's rows, the head first, all of the same number of cells.
	Rows [][]Cell `json:"rows,omitempty"`
	// Continued: the block goes on with what the last block of the piece before began. Joint is what stood at the cut: a space, a
	// line break, or nothing within a word.
	Continued bool   `json:"continued,omitempty"`
	Joint     []Span `json:"joint,omitempty"`
}

// Item is one item of a list.
type Item struct {
	Task   Task    `json:"task,omitempty"`
	Blocks []Block `json:"blocks,omitempty"`
	// Continued: the item began in the piece before, so it has no mark of its own.
	Continued bool `json:"continued,omitempty"`
}

// Task is the state of a task list's item.
type Task string

// The states of a task; an ordinary item has NoTask.
const (
	NoTask Task = ""
	Open   Task = "open"
	Done   Task = "done"
)

// Align is how a column's cells stand.
type Align string

// The alignments of a column.
const (
	AlignNone   Align = ""
	AlignLeft   Align = "left"
	AlignCenter Align = "center"
	AlignRight  Align = "right"
)

// Cell is one cell of a table.
type Cell struct {
	Spans []Span `json:"spans,omitempty"`
}

// Style is a set of marks on a span.
type Style uint8

// The marks.
const (
	Bold Style = 1 << iota
	Italic
	Strike
	Code
)

// Span is a run of text with one style. Lines within a block end with "\n".
type Span struct {
	Text  string `json:"text"`
	Style Style  `json:"style,omitempty"`
	// URL makes the span a link with Text as its label. Image: the link leads to a picture, of which Text is the description.
	URL   string `json:"url,omitempty"`
	Image bool   `json:"image,omitempty"`
	// Mention is the platform's id of a person; Text is then how the mention was written. Whether it becomes live is the policy's choice.
	Mention string `json:"mention,omitempty"`
}

// Policy is what model text may do beyond being text. The zero value allows ordinary web links and no mention.
type Policy struct {
	// Mention reports whether the person with this id may be mentioned; nil forbids all.
	Mention func(id string) bool
	// Link reports whether a URL may become a link; nil allows http, https and mailto. A label that reads as another address than
	// the link's target never hides it, whatever this says.
	Link func(url string) bool
}

func (p Policy) mention(id string) bool { return p.Mention != nil && p.Mention(id) }

func (p Policy) link(url string) bool {
	if p.Link != nil {
		return p.Link(url)
	}
	return webLink(url)
}
