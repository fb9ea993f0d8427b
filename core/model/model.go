package model

import (
	"context"
	"encoding/json"
	"iter"
	"time"
)

// Role is who speaks in a [Message].
type Role string

// The roles of a history. The system prompt is not a message; see [Request].
const (
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// Message is one entry of the history that a model is shown.
type Message struct {
	Role Role   `json:"role"`
	Text string `json:"text,omitempty"`
	// Calls are the tool calls of an Assistant message.
	Calls []Call `json:"calls,omitempty"`
	// CallID names the call that a Tool message answers; Failed marks its text as an error.
	CallID string `json:"call_id,omitempty"`
	Failed bool   `json:"failed,omitempty"`
	// Images are shown with a User message to models that take them.
	Images []Image `json:"images,omitempty"`
}

// Image is a picture in a message.
type Image struct {
	MIME string `json:"mime"`
	Data []byte `json:"data"`
}

// Call is a tool call that a model asks for.
type Call struct {
	// ID is Herald's own id, unique in the session. Drivers map it to whatever the wire needs.
	ID   string `json:"id"`
	Name string `json:"name"`
	// Arguments is a JSON object. Malformed, when not empty, says why what the model sent is none; the call must then not
	// be run and the model is told.
	Arguments json.RawMessage `json:"arguments"`
	Malformed string          `json:"malformed,omitempty"`
	// Extra is opaque data of the provider that must be sent back to the same provider with the call (a thought signature).
	Extra json.RawMessage `json:"extra,omitempty"`
}

// ToolSpec is a tool as a model sees it.
type ToolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"` // a JSON Schema of type object
}

// Request is what a model is asked.
type Request struct {
	// System is the system prompt in its parts, from stable to volatile; a driver joins them by a blank line.
	System   []string
	Messages []Message
	Tools    []ToolSpec
	// Temperature and MaxOutputTokens are left to the model's settings when nil or 0.
	Temperature     *float64
	MaxOutputTokens int
	// Thinking asks a model that takes it to think before it answers: 0 not at all, -1 as it does by itself, else about so many tokens; nil says
	// nothing.
	Thinking *int
	// NewCallID makes the ids of the calls in the answer. Required.
	NewCallID func() string
}

// TextTokens is a low estimate of what a text takes, by the rule of [Request.Tokens].
func TextTokens(s string) (n int) {
	ascii := 0
	for _, c := range s {
		if c < 0x80 {
			ascii++
		} else {
			n++
		}
	}
	return n + ascii/4
}

// Tokens is a low estimate of what the request takes in a model's context: a token for four bytes of ASCII and for each other character,
// as tokenizers roughly count. Images are not counted.
func (r *Request) Tokens() int {
	n := 0
	add := func(s string) { n += TextTokens(s) }
	for _, s := range r.System {
		add(s)
	}
	for _, m := range r.Messages {
		add(m.Text)
		for _, c := range m.Calls {
			n += (len(c.Name) + len(c.Arguments)) / 4
		}
	}
	for _, t := range r.Tools {
		n += (len(t.Name) + len(t.Description) + len(t.Parameters)) / 4
	}
	return n
}

// Finish is why a model stopped.
type Finish string

// The reasons, normalised over providers.
const (
	FinishStop   Finish = "stop"
	FinishCalls  Finish = "calls"
	FinishLength Finish = "length"
)

// Usage is what an answer cost. Cached is the part of Input that the provider had cached.
type Usage struct {
	Input  int `json:"input"`
	Cached int `json:"cached,omitempty"`
	Output int `json:"output"`
}

// Add is the sum of two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{Input: u.Input + v.Input, Cached: u.Cached + v.Cached, Output: u.Output + v.Output}
}

// Answer is a complete answer.
type Answer struct {
	Text   string
	Calls  []Call
	Finish Finish
	Usage  Usage
	// Model is the name of the configured model that gave it (not the provider's id).
	Model string
}

// Chunk is a piece of a stream: a piece of visible text, or, as the last one, the whole answer.
type Chunk struct {
	Text string
	// Done is set on the last chunk only.
	Done *Answer
}

// Model is the port. Generate streams the answer to r: any number of text chunks, then one with Done. On failure the last
// pair holds an error, one of the kinds of this package or the context's. Breaking off the loop ends the call. An
// implementation starts no goroutine that outlives the loop.
type Model interface {
	Generate(ctx context.Context, r *Request) iter.Seq2[Chunk, error]
}

// Kind classifies a failure.
type Kind string

// The kinds. Retry and fallback follow them: see [Error.Retriable].
const (
	Auth           Kind = "auth"       // 401, 403: the key is wrong or lacks rights
	RateLimit      Kind = "rate limit" // 429 with a delay
	Quota          Kind = "quota"      // out of credit: waiting does not help
	ContextTooLong Kind = "context too long"
	ContentFilter  Kind = "content filter"
	BadRequest     Kind = "bad request"    // 400, 404, 422: the request or the model's name
	Unavailable    Kind = "unavailable"    // 5xx, network, time-outs, a stream that broke off
	NotConfigured  Kind = "not configured" // no model, or a name that is none
)

// Error is a failure of a model call. Its text is safe to show to an operator: no key, no echo of one, and bounded.
type Error struct {
	Kind Kind
	// Model is the configured model's name; empty when none was chosen.
	Model string
	// Provider is the name of its provider in the configuration; empty when it has none.
	Provider string
	// Status is the HTTP status, 0 when there was none.
	Status int
	// RetryAfter is the provider's demand; 0 when it made none.
	RetryAfter time.Duration
	// Message is the provider's own words, shortened and redacted.
	Message string
	// Err is the cause, if it is worth keeping.
	Err error
}
