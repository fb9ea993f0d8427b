package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// maxNesting bounds how deep the values of a meta.json lie in each other.
const maxNesting = 64

// readMeta makes the nodes of a meta.json, so that both forms of settings are read by one table. Lines count from 1.
func readMeta(src []byte) (*yaml.Node, error) {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	if len(src) > maxHeader {
		return nil, faultf(0, "the settings have more than %d bytes", maxHeader)
	}
	if !utf8.Valid(src) {
		return nil, faultf(0, "the file is not UTF-8 text")
	}
	r := jsonReader{src: src, dec: json.NewDecoder(bytes.NewReader(src))}
	r.dec.UseNumber()
	n, err := r.value(0)
	if err == nil {
		if _, more := r.dec.Token(); !errors.Is(more, io.EOF) {
			return nil, faultf(r.line(), "behind the settings stands something else; the file is one JSON object")
		}
		if n.Kind != yaml.MappingNode {
			return nil, faultf(n.Line, `the settings must be one JSON object: {"type": "task", …}`)
		}
		return n, nil
	}
	if f, ok := errors.AsType[fault](err); ok {
		return nil, f
	}
	at := r.line()
	if s, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = lineAt(src, int(s.Offset))
	}
	text := strings.TrimPrefix(err.Error(), "json: ")
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		text = "the file ends too early"
	}
	return nil, faultf(at, "the settings are not valid JSON: %s", short(text))
}

type jsonReader struct {
	src []byte
	dec *json.Decoder
}

func (r *jsonReader) line() int { return lineAt(r.src, int(r.dec.InputOffset())) }

// lineAt is the line of an offset.
func lineAt(src []byte, offset int) int {
	return bytes.Count(src[:min(max(offset, 0), len(src))], []byte("\n")) + 1
}

func (r *jsonReader) value(depth int) (*yaml.Node, error) {
	if depth > maxNesting {
		return nil, faultf(r.line(), "the values lie more than %d deep in each other", maxNesting)
	}
	tok, err := r.dec.Token()
	if err != nil {
		return nil, err
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Line: r.line()}
	switch v := tok.(type) {
	case json.Delim:
		n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
		if v == '{' {
			n.Kind, n.Tag = yaml.MappingNode, "!!map"
		}
		for r.dec.More() {
			child, err := r.value(depth + 1)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, child)
		}
		_, err = r.dec.Token()
	case string:
		n.Tag, n.Value = "!!str", v
	case json.Number:
		n.Tag, n.Value = "!!float", v.String()
		if !strings.ContainsAny(n.Value, ".eE") {
			n.Tag = "!!int"
		}
	case bool:
		n.Tag, n.Value = "!!bool", "false"
		if v {
			n.Value = "true"
		}
	case nil:
		n.Tag, n.Value = "!!null", "null"
	}
	return n, err
}
