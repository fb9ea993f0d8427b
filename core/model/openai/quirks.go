package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// quirks are the ways in which known hosts differ from what compatible servers take.
type quirks struct {
	// completionTokens: the output limit is max_completion_tokens, and max_tokens is refused by newer models.
	completionTokens bool
	// plainSchemas: parts of JSON Schema are refused.
	plainSchemas bool
}

func quirksOf(host string) quirks {
	return quirks{
		completionTokens: host == "api.openai.com" || strings.HasSuffix(host, ".openai.azure.com"),
		plainSchemas:     strings.HasSuffix(host, ".googleapis.com"),
	}
}

const emptySchema = `{"type":"object","properties":{}}`

// parameters is the schema of a tool as the provider takes it. It must be an object; without one an empty object schema is sent.
func (d *driver) parameters(raw json.RawMessage) (json.RawMessage, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" || string(raw) == "{}" {
		return json.RawMessage(emptySchema), nil
	}
	var head struct {
		Type json.RawMessage `json:"type"`
	}
	if json.Unmarshal(raw, &head) != nil {
		return nil, errors.New("its parameters are no JSON object")
	}
	if t := string(head.Type); t != "" && t != `"object"` {
		return nil, errors.New(`its parameters have another type than "object"`)
	}
	if len(head.Type) > 0 && !d.quirks.plainSchemas {
		return raw, nil
	}
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, errors.New("its parameters are no JSON object")
	}
	m["type"] = "object"
	if _, ok := m["properties"]; !ok {
		m["properties"] = map[string]any{}
	}
	if d.quirks.plainSchemas {
		plain(m)
	}
	return json.Marshal(m)
}

// plain takes out of a schema what Gemini refuses. The original stays with its tool for the check of the arguments.
func plain(m map[string]any) {
	for _, k := range []string{"$schema", "$id", "$comment", "additionalProperties", "exclusiveMinimum", "exclusiveMaximum", "patternProperties", "default", "examples"} {
		delete(m, k)
	}
	if c, ok := m["const"]; ok {
		delete(m, "const")
		if s, ok := c.(string); ok {
			m["enum"] = []any{s}
		}
	}
	if list, ok := m["enum"].([]any); ok {
		for _, e := range list {
			if _, ok := e.(string); !ok {
				delete(m, "enum")
				break
			}
		}
	}
	if t, ok := m["type"].(string); ok && t != "object" {
		delete(m, "properties")
		delete(m, "required")
	}
	if props, ok := m["properties"].(map[string]any); ok {
		for _, p := range props {
			plainAny(p)
		}
	}
	for _, k := range []string{"items", "anyOf", "oneOf", "allOf", "not"} {
		plainAny(m[k])
	}
}

func plainAny(v any) {
	switch v := v.(type) {
	case map[string]any:
		plain(v)
	case []any:
		for _, e := range v {
			plainAny(e)
		}
	}
}
