package openai

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// chunk is one event of a stream, or a whole completion, decoded with tolerance: servers send strings for numbers, objects for
// strings, null for lists. What has an unusable type counts as absent.
type chunk struct {
	Choices flexList[choice] `json:"choices"`
	Usage   *usage           `json:"usage"`
	XGroq   *struct {
		Usage *usage `json:"usage"`
	} `json:"x_groq"`
}

type choice struct {
	Index        flexInt  `json:"index"`
	Delta        *delta   `json:"delta"`
	Message      *delta   `json:"message"` // of a completion that is no stream
	FinishReason flexText `json:"finish_reason"`
}

type delta struct {
	Content      flexText            `json:"content"`
	Refusal      flexText            `json:"refusal"`
	Reasoning    flexText            `json:"reasoning_content"`
	ToolCalls    flexList[callDelta] `json:"tool_calls"`
	FunctionCall *functionDelta      `json:"function_call"` // the form before tool_calls
}

type callDelta struct {
	Index    flexInt         `json:"index"`
	ID       flexText        `json:"id"`
	Function functionDelta   `json:"function"`
	Extra    json.RawMessage `json:"extra_content"`
}

type functionDelta struct {
	Name      flexText `json:"name"`
	Arguments flexArgs `json:"arguments"`
}

type usage struct {
	Prompt     flexInt `json:"prompt_tokens"`
	Completion flexInt `json:"completion_tokens"`
	Details    *struct {
		Cached flexInt `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CacheHit flexInt `json:"prompt_cache_hit_tokens"` // DeepSeek
}

// decodeChunk decodes one event. It fails only on what is no JSON object; a member of a wrong type that no flex type covers is
// left out.
func decodeChunk(raw []byte) (*chunk, error) {
	var c chunk
	err := json.Unmarshal(raw, &c)
	if _, ok := err.(*json.UnmarshalTypeError); ok { //nolint:errorlint // json returns it bare
		err = nil
	}
	if err != nil {
		return nil, err
	}
	return &c, nil
}

// flexText is text in any form: a string, a number, null, a list of parts of which those of type text count.
type flexText string

// UnmarshalJSON implements json.Unmarshaler. It never fails on valid JSON.
func (t *flexText) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '"':
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*t = flexText(s)
	case '[':
		var parts []json.RawMessage
		if err := json.Unmarshal(b, &parts); err != nil {
			return err
		}
		var s strings.Builder
		for _, p := range parts {
			var part flexText
			if part.UnmarshalJSON(p) == nil {
				s.WriteString(string(part))
			}
		}
		*t = flexText(s.String())
	case '{':
		var p struct {
			Type string   `json:"type"`
			Text flexText `json:"text"`
		}
		// A part of another type, such as thinking, has no text to show.
		if json.Unmarshal(b, &p) == nil && (p.Type == "" || p.Type == "text" || p.Type == "output_text") {
			*t = p.Text
		}
	case 'n', 't', 'f':
	default:
		*t = flexText(b)
	}
	return nil
}

// flexInt is a whole number in any form: 1, 1.0, "1". set is false for null, nonsense and what is absent.
type flexInt struct {
	n   int
	set bool
}

// UnmarshalJSON implements json.Unmarshaler. It never fails.
func (i *flexInt) UnmarshalJSON(b []byte) error {
	s := string(bytes.Trim(b, `" `))
	if n, err := strconv.Atoi(s); err == nil {
		*i = flexInt{n, true}
		return nil
	}
	const most = 1 << 53
	if f, err := strconv.ParseFloat(s, 64); err == nil && f > -most && f < most {
		*i = flexInt{int(f), true}
	}
	return nil
}

// flexArgs is the text of a call's arguments: a string that holds JSON, or the JSON itself.
type flexArgs string

// UnmarshalJSON implements json.Unmarshaler. It never fails on valid JSON.
func (a *flexArgs) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '"':
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*a = flexArgs(s)
	case 'n':
	default:
		*a = flexArgs(b)
	}
	return nil
}

// flexList is a list that may be null, a single element, or hold elements that are none.
type flexList[T any] []T

// UnmarshalJSON implements json.Unmarshaler. It never fails on valid JSON.
func (l *flexList[T]) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '[':
		var list []T
		if json.Unmarshal(b, &list) == nil {
			*l = list
			return nil
		}
		var raws []json.RawMessage
		if err := json.Unmarshal(b, &raws); err != nil {
			return err
		}
		for _, r := range raws {
			l.add(r)
		}
	case '{':
		l.add(b)
	}
	return nil
}

func (l *flexList[T]) add(b []byte) {
	if b[0] != '{' {
		return
	}
	var e T
	_ = json.Unmarshal(b, &e) // what decodes of it is kept
	*l = append(*l, e)
}
