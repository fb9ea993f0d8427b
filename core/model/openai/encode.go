package openai

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"herald/core/model"
)

// What stands where a provider refuses nothing.
const (
	noOutput = "(no output)"
	noText   = "(empty)"
	failedAs = "Error: "
)

// wireRequest is the body. What changes from call to call stands last, so that its beginning stays the same.
type wireRequest struct {
	Model               string         `json:"model"`
	Stream              bool           `json:"stream"`
	StreamOptions       *streamOptions `json:"stream_options,omitempty"`
	Temperature         *float64       `json:"temperature,omitempty"`
	ReasoningEffort     string         `json:"reasoning_effort,omitempty"`
	MaxTokens           int            `json:"max_tokens,omitempty"`
	MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
	Tools               []wireTool     `json:"tools,omitempty"`
	Messages            []wireMessage  `json:"messages"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type wireTool struct {
	Type     string       `json:"type"`
	Function wireFunction `json:"function"`
}

type wireFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

type wireMessage struct {
	Role string `json:"role"`
	// Content is a string, a list of parts, or nil, which is sent as null: some servers want the key in any case.
	Content    any        `json:"content"`
	Reasoning  string     `json:"reasoning_content,omitempty"`
	ToolCalls  []wireCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type wirePart struct {
	Type     string    `json:"type"`
	Text     string    `json:"text,omitempty"`
	ImageURL *imageURL `json:"image_url,omitempty"`
}

type imageURL struct {
	URL string `json:"url"`
}

type wireCall struct {
	ID       string          `json:"id"`
	Type     string          `json:"type"`
	Function wireCalled      `json:"function"`
	Extra    json.RawMessage `json:"extra_content,omitempty"`
}

type wireCalled struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// effort is the word for so many tokens of thinking; the bounds are those by which providers themselves translate it.
func effort(tokens int) string {
	switch {
	case tokens == 0:
		return "none"
	case tokens < 0:
		return "medium"
	case tokens <= 1024:
		return "low"
	case tokens <= 8192:
		return "medium"
	default:
		return "high"
	}
}

// encode writes the body of a request, and the names that its tools have in it.
func (d *driver) encode(r *model.Request) ([]byte, *names, error) {
	if r.NewCallID == nil {
		return nil, nil, fmt.Errorf("the request has no NewCallID")
	}
	names, err := newNames(r.Tools)
	if err != nil {
		return nil, nil, err
	}
	w := wireRequest{Model: d.o.Model, Stream: true, Temperature: d.o.Temperature}
	if r.Temperature != nil {
		w.Temperature = r.Temperature
	}
	if d.o.Thinking && r.Thinking != nil {
		w.ReasoningEffort = effort(*r.Thinking)
	}
	limit := r.MaxOutputTokens
	if limit == 0 {
		limit = d.o.MaxOutputTokens
	}
	if d.quirks.completionTokens {
		w.MaxCompletionTokens = limit
	} else {
		w.MaxTokens = limit
	}
	if d.o.StreamUsage {
		w.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	for i := range r.Tools {
		t := &r.Tools[i]
		params, err := d.parameters(t.Parameters)
		if err != nil {
			return nil, nil, fmt.Errorf("tool %s: %w", t.Name, err)
		}
		w.Tools = append(w.Tools, wireTool{"function", wireFunction{names.wire(t.Name), t.Description, params}})
	}
	w.Messages = d.messages(r, names)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(w); err != nil {
		return nil, nil, fmt.Errorf("writing the request: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), names, nil
}

func (d *driver) messages(r *model.Request, names *names) []wireMessage {
	out := make([]wireMessage, 0, len(r.Messages)+1)
	if system := joinSystem(r.System); system != "" {
		out = append(out, wireMessage{Role: "system", Content: system})
	}
	ids := newIDs()
	for i := range r.Messages {
		m := &r.Messages[i]
		switch m.Role {
		case model.Tool:
			out = append(out, wireMessage{Role: "tool", Content: result(m), ToolCallID: ids.wire(m.CallID)})
		case model.Assistant:
			out = append(out, d.assistant(m, names, ids))
		default:
			out = append(out, wireMessage{Role: string(m.Role), Content: said(m)})
		}
	}
	return out
}

func (d *driver) assistant(m *model.Message, names *names, ids *ids) wireMessage {
	w := wireMessage{Role: "assistant"}
	switch {
	case m.Text != "":
		w.Content = m.Text
	case len(m.Calls) == 0:
		w.Content = noText
	}
	for i := range m.Calls {
		c := &m.Calls[i]
		own := d.ownExtra(c.Extra)
		if i == 0 {
			w.Reasoning = own.Reasoning
		}
		args := "{}"
		if isObject(string(c.Arguments)) {
			args = string(c.Arguments)
		}
		w.ToolCalls = append(w.ToolCalls, wireCall{
			ID: ids.wire(c.ID), Type: "function", Function: wireCalled{names.wire(c.Name), args}, Extra: own.Content,
		})
	}
	return w
}

func joinSystem(parts []string) string {
	kept := make([]string, 0, len(parts))
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, "\n\n")
}

func result(m *model.Message) string {
	text := m.Text
	if strings.TrimSpace(text) == "" {
		text = noOutput
	}
	if m.Failed && !strings.HasPrefix(strings.ToLower(text), "error") {
		return failedAs + text
	}
	return text
}

func said(m *model.Message) any {
	if len(m.Images) == 0 {
		if strings.TrimSpace(m.Text) == "" {
			return noText
		}
		return m.Text
	}
	parts := make([]wirePart, 0, len(m.Images)+1)
	if m.Text != "" {
		parts = append(parts, wirePart{Type: "text", Text: m.Text})
	}
	for _, img := range m.Images {
		url := "data:" + img.MIME + ";base64," + base64.StdEncoding.EncodeToString(img.Data)
		parts = append(parts, wirePart{Type: "image_url", ImageURL: &imageURL{url}})
	}
	return parts
}
