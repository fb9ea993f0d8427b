package modeltest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"herald/core/model"
)

// wireQuery is a request as it came over the wire.
type wireQuery struct {
	model   string
	stream  bool
	usage   bool
	request model.Request
	// faults are violations that the parsed request no longer shows.
	faults []error
}

type wireBody struct {
	Model         string          `json:"model"`
	Stream        bool            `json:"stream"`
	StreamOptions json.RawMessage `json:"stream_options"`
	Temperature   *float64        `json:"temperature"`
	MaxTokens     *int            `json:"max_tokens"`
	MaxCompletion *int            `json:"max_completion_tokens"`
	Messages      []struct {
		Role       string          `json:"role"`
		Content    json.RawMessage `json:"content"`
		ToolCallID string          `json:"tool_call_id"`
		ToolCalls  []struct {
			ID       string          `json:"id"`
			Type     string          `json:"type"`
			Extra    json.RawMessage `json:"extra_content"`
			Function struct {
				Name      string  `json:"name"`
				Arguments *string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"messages"`
	Tools []struct {
		Type     string `json:"type"`
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
}

// parseWire reads a body. It fails only on what cannot be read at all.
func parseWire(body []byte) (*wireQuery, error) {
	var b wireBody
	if err := json.Unmarshal(body, &b); err != nil {
		return nil, fmt.Errorf("the body is no request: %w", err)
	}
	q := &wireQuery{model: b.Model, stream: b.Stream}
	q.settings(&b)
	for i := range b.Messages {
		m := &b.Messages[i]
		text, images, err := content(m.Content)
		if err != nil {
			q.fault("message %d: %w", i, err)
		}
		if m.Role == "system" || m.Role == "developer" {
			if len(q.request.Messages) > 0 {
				q.fault("message %d: a system message stands behind others", i)
			}
			q.request.System = append(q.request.System, text)
		}
		if len(m.Content) == 0 {
			q.fault("message %d: content is missing", i)
		}
		if text == "" && len(images) == 0 && len(m.ToolCalls) == 0 {
			q.fault("message %d: content is empty", i)
		}
		if m.Role == "system" || m.Role == "developer" {
			continue
		}
		msg := model.Message{Role: model.Role(m.Role), Text: text, CallID: m.ToolCallID, Images: images}
		for _, c := range m.ToolCalls {
			if c.Type != "function" {
				q.fault("message %d: call %s has type %q", i, c.ID, c.Type)
			}
			if !wireName(c.Function.Name) {
				q.fault("message %d: call %s has the unusable name %q", i, c.ID, c.Function.Name)
			}
			call := model.Call{ID: c.ID, Name: c.Function.Name, Extra: c.Extra}
			if c.Function.Arguments == nil || *c.Function.Arguments == "" {
				q.fault("message %d: call %s has no arguments", i, c.ID)
			} else {
				call.Arguments = json.RawMessage(*c.Function.Arguments)
			}
			msg.Calls = append(msg.Calls, call)
		}
		q.request.Messages = append(q.request.Messages, msg)
	}
	q.tools(&b)
	return q, nil
}

// glance finds the last user message in a body without parsing the rest, as Herald's driver writes it; nil when it cannot.
func glance(body []byte) *wireQuery {
	mark := []byte(`{"role":"user","content":"`)
	at := bytes.LastIndex(body, mark)
	if at < 0 || !bytes.HasPrefix(body, []byte(`{"model":"`)) {
		return nil
	}
	text := body[at+len(mark)-1:]
	end := 1
	for end < len(text) && text[end] != '"' {
		if text[end] == '\\' {
			end++
		}
		end++
	}
	m := model.Message{Role: model.User}
	if end >= len(text) || json.Unmarshal(text[:end+1], &m.Text) != nil {
		return nil
	}
	head := body[:min(len(body), 1024)]
	return &wireQuery{
		stream:  bytes.Contains(head, []byte(`"stream":true`)),
		usage:   bytes.Contains(head, []byte(`"include_usage":true`)),
		request: model.Request{Messages: []model.Message{m}},
	}
}

func (q *wireQuery) settings(b *wireBody) {
	q.request.Temperature = b.Temperature
	if b.Model == "" {
		q.fault("model is missing")
	}
	if t := b.Temperature; t != nil && (*t < 0 || *t > 2) {
		q.fault("temperature %v is not in 0 to 2", *t)
	}
	for _, limit := range []*int{b.MaxTokens, b.MaxCompletion} {
		if limit == nil {
			continue
		}
		q.request.MaxOutputTokens = *limit
		if *limit < 1 {
			q.fault("the output limit is %d", *limit)
		}
	}
	if len(b.StreamOptions) > 0 {
		var o struct {
			IncludeUsage *bool `json:"include_usage"`
		}
		if json.Unmarshal(b.StreamOptions, &o) != nil || o.IncludeUsage == nil || !b.Stream {
			q.fault("stream_options is %s", b.StreamOptions)
		} else {
			q.usage = *o.IncludeUsage
		}
	}
}

func (q *wireQuery) tools(b *wireBody) {
	for _, t := range b.Tools {
		f := t.Function
		if t.Type != "function" || !wireName(f.Name) {
			q.fault("tool %q of type %q is unusable", f.Name, t.Type)
		}
		var schema struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(f.Parameters, &schema) != nil || schema.Type != "object" {
			q.fault("the parameters of tool %s are no schema of type object: %s", f.Name, f.Parameters)
		}
		q.request.Tools = append(q.request.Tools, model.ToolSpec{Name: f.Name, Description: f.Description, Parameters: f.Parameters})
	}
}

func (q *wireQuery) fault(format string, args ...any) {
	q.faults = append(q.faults, fmt.Errorf(format, args...))
}

// validate reports why a strict provider refuses the request, or nil.
func (q *wireQuery) validate() error {
	r := q.request
	r.NewCallID = func() string { return "" } // ids are the server's affair
	return errors.Join(append(q.faults, Validate(&r))...)
}

// content reads a message's content: a string, null, or a list of parts.
func content(raw json.RawMessage) (string, []model.Image, error) {
	var text *string
	if len(raw) == 0 || json.Unmarshal(raw, &text) == nil {
		if text == nil {
			return "", nil, nil
		}
		return *text, nil, nil
	}
	var parts []struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		ImageURL struct {
			URL string `json:"url"`
		} `json:"image_url"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", nil, fmt.Errorf("content is neither text nor parts: %s", raw)
	}
	var b strings.Builder
	var images []model.Image
	for _, p := range parts {
		switch p.Type {
		case "text":
			b.WriteString(p.Text)
		case "image_url":
			mime, encoded, ok := strings.Cut(strings.TrimPrefix(p.ImageURL.URL, "data:"), ";base64,")
			data, err := base64.StdEncoding.DecodeString(encoded)
			if !ok || err != nil {
				return "", nil, errors.New("an image is no data URL")
			}
			images = append(images, model.Image{MIME: mime, Data: data})
		default:
			return "", nil, fmt.Errorf("unknown part type %q", p.Type)
		}
	}
	return b.String(), images, nil
}

// wireName reports whether every provider takes the name of a tool.
func wireName(name string) bool {
	for i := range len(name) {
		b := name[i]
		if b != '_' && b != '-' && (b < '0' || b > '9') && (b < 'a' || b > 'z') && (b < 'A' || b > 'Z') {
			return false
		}
	}
	const longest = 64
	return name != "" && len(name) <= longest
}
