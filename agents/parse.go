package agents

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// fault is a problem of a file without its place in the folder.
type fault struct {
	line int
	text string
}

func (f fault) Error() string { return f.text }

func faultf(line int, format string, args ...any) error {
	return fault{line, fmt.Sprintf(format, args...)}
}

// parse reads one AGENT.md. It does no I/O. Its error is a fault.
func parse(id string, src []byte) (Agent, error) {
	head, body, err := split(src)
	if err != nil {
		return Agent{}, err
	}
	sum := sha256.Sum256(src)
	a := Agent{ID: id, Name: id, Prompt: body, Hash: hex.EncodeToString(sum[:8])}
	if err := settings(&a, head); err != nil {
		return Agent{}, err
	}
	if a.Type == "" {
		return Agent{}, faultf(1, `the settings have no type; add the line "type: chat"`)
	}
	if a.Prompt == "" {
		return Agent{}, faultf(0, "there is no prompt behind the settings; write what the agent is to do")
	}
	return a, nil
}

// lineEnds makes the line ends of all systems, which YAML counts as such too, LF.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// split takes the file apart at its two fences: lines that are exactly "---", the first of them the first line.
func split(src []byte) (head, body string, err error) {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	if !utf8.Valid(src) {
		return "", "", faultf(0, "the file is not UTF-8 text")
	}
	text := lineEnds.Replace(string(src))
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return "", "", faultf(1, `the file must begin with a line "---", its settings and another line "---"`)
	}
	for line := range strings.Lines(rest) {
		if strings.TrimSuffix(line, "\n") == "---" {
			rest = rest[len(head)+len(line):]
			if body = strings.TrimSpace(rest); len(body) > maxPrompt {
				return "", "", faultf(0, "the prompt has %d bytes, at most %d", len(body), maxPrompt)
			}
			return head, body, nil
		}
		head = rest[:len(head)+len(line)]
		if len(head) > maxHeader {
			return "", "", faultf(0, "the settings have more than %d bytes", maxHeader)
		}
	}
	return "", "", faultf(1, `the settings have no end: a line "---" is missing behind them`)
}

// settings reads the YAML between the fences into a. Values are taken from the nodes, so that they keep their text and
// their line.
func settings(a *Agent, head string) error {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(head), &doc); err != nil {
		// The parser may count line ends that no editor shows.
		last := strings.Count(head, "\n") + 1
		return faultf(min(yamlLine(err), last), "the settings are not valid YAML: %s", yamlText(err))
	}
	if len(doc.Content) == 0 {
		return nil
	}
	m := doc.Content[0]
	if m.Kind != yaml.MappingNode {
		return faultf(m.Line+1, `the settings must be lines of the form "key: value"`)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(m.Content); i += 2 {
		k, v := m.Content[i], m.Content[i+1]
		s, ok := lookup(k.Value)
		if !ok {
			text := fmt.Sprintf("there is no setting %q", short(k.Value))
			if n := nearest(k.Value); n != "" {
				text += fmt.Sprintf("; did you mean %q?", n)
			}
			return fault{k.Line + 1, text}
		}
		if seen[s.key] {
			return faultf(k.Line+1, "the setting %q stands twice", s.key)
		}
		seen[s.key] = true
		if err := s.set(a, v); err != nil {
			return faultf(v.Line+1, "%s: %s", short(k.Value), err)
		}
	}
	return nil
}

// yamlLine finds the line that the parser's error names, counted in the file, whose first line is the fence.
func yamlLine(err error) int {
	_, rest, ok := strings.Cut(err.Error(), "line ")
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))])
	if err != nil {
		return 0
	}
	return n + 1
}

// yamlText is the parser's error without its own name and place.
func yamlText(err error) string {
	s := strings.TrimPrefix(err.Error(), "yaml: ")
	if i := strings.LastIndex(s, ": "); i >= 0 && strings.Contains(s[:i], "line ") {
		s = s[i+2:]
	}
	return short(s)
}

// short makes a text of a file fit to be shown in a line.
func short(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	if r := []rune(s); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return s
}
