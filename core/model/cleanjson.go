package model

import (
	"bytes"
	"encoding/json"
	"strings"
)

// cleanJSON is raw with each of its strings and numbers put through clean. What clean does not change stays byte for byte; a number that
// it changes becomes a string. Text that is no JSON is cleaned as it stands.
func cleanJSON(raw json.RawMessage, clean func(string) string) json.RawMessage {
	if len(raw) == 0 {
		return raw
	}
	if !json.Valid(raw) {
		return json.RawMessage(clean(string(raw)))
	}
	var out bytes.Buffer
	from := 0
	for i := 0; i < len(raw); {
		n := literal(raw[i:])
		if n == 0 {
			i++
			continue
		}
		if text := value(raw[i : i+n]); clean(text) != text {
			out.Write(raw[from:i])
			out.Write(quoted(clean(text)))
			from = i + n
		}
		i += n
	}
	if from == 0 {
		return raw
	}
	out.Write(raw[from:])
	return out.Bytes()
}

// literal is the length of the string or number that valid JSON begins with here, 0 for anything else.
func literal(b []byte) int {
	if b[0] != '"' {
		n := 0
		for n < len(b) && strings.IndexByte("+-.0123456789eE", b[n]) >= 0 {
			n++
		}
		if n > 0 && (b[0] == 'e' || b[0] == 'E') {
			return 0 // a letter of true or false
		}
		return n
	}
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}

// value is what a literal says.
func value(b []byte) string {
	var s string
	if b[0] != '"' || json.Unmarshal(b, &s) != nil {
		return string(b)
	}
	return s
}

// quoted is s as a JSON string, with <, > and & as they are.
func quoted(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) != nil {
		return []byte(`""`) // strings cannot fail
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
