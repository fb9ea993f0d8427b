package proto

import (
	"encoding/json"
	"net/url"
	"strconv"
	"time"
)

// DefaultPlace is the conversation of a terminal that names none.
const DefaultPlace = "terminal"

// MaxText is the longest line in bytes that a person can send.
const MaxText = 1 << 20

// Kind is what a record says.
type Kind string

// The kinds of records.
const (
	Line   Kind = "line"   // a person's message
	Choice Kind = "choice" // a person's answer to a card; Text is the action
	Post   Kind = "post"   // a message of the service
	Edit   Kind = "edit"   // the new text of a post; without Seq it is a state on the way, which is not kept
	Ready  Kind = "ready"  // all that stood when the stream was opened has been sent
)

// Record is one thing that happened in a place.
type Record struct {
	// Seq is the record's number, the cursor of a stream; 0 for what is not kept, and for [Ready] the number of the last record.
	Seq  uint64 `json:"seq,omitempty"`
	Kind Kind   `json:"kind"`
	// ID is the message's; ids sort bytewise in the order of the messages.
	ID string    `json:"id,omitempty"`
	At time.Time `json:"at,omitzero"`
	// Key is the client's own name of a line or choice.
	Key  string `json:"key,omitempty"`
	User string `json:"user,omitempty"`
	// Text is a line as typed, a post as Markdown.
	Text string `json:"text,omitempty"`
	// ReplyTo is the id of the line that a post answers.
	ReplyTo string `json:"reply_to,omitempty"`
	// Covers are the ids of all lines that a post answers.
	Covers []string `json:"covers,omitempty"`
	// Live is true as long as a post will still be edited.
	Live bool  `json:"live,omitempty"`
	Card *Card `json:"card,omitempty"`
}

// Card is a question with answers to choose from.
type Card struct {
	Title   string   `json:"title"`
	Fields  []Field  `json:"fields,omitempty"`
	Choices []Button `json:"choices,omitempty"`
}

// Field is a named value on a card.
type Field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Button is one of a card's answers. Action goes back in a [Click].
type Button struct {
	Action string `json:"action"`
	Label  string `json:"label"`
	Danger bool   `json:"danger,omitempty"`
}

// Say is a person's line. The same Key again is the same line, so that a lost answer can be asked for once more.
type Say struct {
	Key  string `json:"key"`
	Text string `json:"text"`
}

// Click answers a card.
type Click struct {
	Key    string `json:"key"`
	Action string `json:"action"`
	Value  string `json:"value,omitempty"`
}

// Taken says that a line or click is durable.
type Taken struct {
	ID string `json:"id"`
	// Outcome is the service's word: kept, duplicate or ignored.
	Outcome string `json:"outcome"`
}

// Facts are what is known about the answer to a line.
type Facts struct {
	Session      string `json:"session"`
	InputTokens  int    `json:"input_tokens"`
	OutputTokens int    `json:"output_tokens"`
	// Cost is in the currency of the configured prices; nil means unknown.
	Cost *float64 `json:"cost"`
	// Failure is the kind of what went wrong when the answer is an excuse ("model: not configured"), "stopped" after a stop, else "".
	Failure string `json:"failure,omitempty"`
}

// Trouble answers what was not done. Retry says that the same request may succeed later.
type Trouble struct {
	Error string `json:"error"`
	Retry bool   `json:"retry,omitempty"`
}

// Prefix is where the adapter's handler stands on the service's socket.
const Prefix = "/v1/console/"

// LinesPath, ClicksPath, StreamPath, HistoryPath and FactsPath are the addresses of a place's parts.
func LinesPath(place string) string { return Prefix + url.PathEscape(place) + "/lines" }

// ClicksPath takes a [Click].
func ClicksPath(place string) string { return Prefix + url.PathEscape(place) + "/clicks" }

// StreamPath gives records after a number; now instead begins with what happens from now on.
func StreamPath(place string, after uint64, now bool) string {
	q := "?after=" + strconv.FormatUint(after, 10)
	if now {
		q = "?after=now"
	}
	return Prefix + url.PathEscape(place) + "/stream" + q
}

// HistoryPath gives the last records, oldest first.
func HistoryPath(place string, limit int) string {
	return Prefix + url.PathEscape(place) + "/history?limit=" + strconv.Itoa(limit)
}

// FactsPath gives the [Facts] of a line's answer.
func FactsPath(place, message string) string {
	return Prefix + url.PathEscape(place) + "/facts?message=" + url.QueryEscape(message)
}

// Encode writes a record as one line.
func (r *Record) Encode() ([]byte, error) {
	b, err := json.Marshal(r)
	return append(b, '\n'), err
}
