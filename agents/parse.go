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

// fault is a problem of a file. path is the file below the agents' folder, "" for the one with the prompt.
type fault struct {
	path string
	line int
	text string
}

func (f fault) Error() string { return f.text }

func faultf(line int, format string, args ...any) error {
	return fault{line: line, text: fmt.Sprintf(format, args...)}
}

// written is what stands in an agent's files.
type written struct {
	id string
	// prompt is AGENT.md, or the flat file.
	prompt []byte
	// meta is meta.json, nil when there is none.
	meta   []byte
	layout Layout
}

// parse reads an agent's files. It does no I/O and resolves no includes. Its error is a fault. The notes say what a person should know though
// the agent is good.
func parse(w written) (a Agent, notes []fault, err error) {
	sum := sha256.Sum256(append(append(bytes.Clone(w.prompt), 0), w.meta...))
	a = Agent{ID: w.id, Layout: w.layout, InjectSkills: true, Hash: hex.EncodeToString(sum[:8])}
	if w.meta != nil {
		notes, err = a.parseMeta(w)
	} else {
		notes, err = a.parseFront(w)
	}
	if err != nil {
		return Agent{}, nil, err
	}
	if a.Name == "" {
		a.Name = a.ID
	}
	if a.Tools.All && len(a.Delegates) > 0 {
		return Agent{}, nil, faultf(0, "tools: true and delegates exclude each other: list the tools that the agent needs beside its delegates")
	}
	if a.Prompt == "" {
		return Agent{}, nil, faultf(0, "there is no prompt; write what the agent is to do")
	}
	return a, notes, nil
}

// parseMeta takes the settings from meta.json and the prompt from AGENT.md.
func (a *Agent) parseMeta(w written) ([]fault, error) {
	const name = metaName
	in := func(err error) error {
		f := err.(fault)
		f.path = w.id + "/" + name
		return f
	}
	text, err := plain(w.prompt)
	if err != nil {
		return nil, err
	}
	if head, _, err := split(text); err == nil && isSettings(head) {
		return nil, faultf(1, "the agent has settings twice, here and in %s; keep one of both", name)
	}
	m, err := readMeta(w.meta)
	if err != nil {
		return nil, in(err)
	}
	notes, err := a.settings(m, 0)
	if err != nil {
		return nil, in(err)
	}
	for _, need := range []struct{ key, value, example string }{
		{"type", string(a.Type), `"task"`}, {"name", a.Name, `"Researcher"`}, {"description", a.Description, `"What it does and what it returns"`},
	} {
		if need.value == "" {
			return nil, in(faultf(1, `the settings have no %s; add "%s": %s`, need.key, need.key, need.example))
		}
	}
	for i := range notes {
		notes[i].path = w.id + "/" + name
	}
	if a.Prompt = strings.TrimSpace(text); len(a.Prompt) > maxPrompt {
		return nil, faultf(0, "the prompt has %d bytes, at most %d", len(a.Prompt), maxPrompt)
	}
	return notes, nil
}

// isSettings reports whether a text between two fences can be meant as settings, not as a part of a prompt that begins with a rule.
func isSettings(head string) bool {
	var doc yaml.Node
	err := yaml.Unmarshal([]byte(head), &doc)
	return err != nil || len(doc.Content) > 0 && doc.Content[0].Kind == yaml.MappingNode
}

// parseFront takes settings and prompt from one file.
func (a *Agent) parseFront(w written) ([]fault, error) {
	text, err := plain(w.prompt)
	if err != nil {
		return nil, err
	}
	head, body, err := split(text)
	if err != nil {
		return nil, err
	}
	a.Prompt = body
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(head), &doc); err != nil {
		// The parser may count line ends that no editor shows.
		last := strings.Count(head, "\n") + 1
		return nil, faultf(min(yamlLine(err), last), "the settings are not valid YAML: %s", yamlText(err))
	}
	var notes []fault
	if len(doc.Content) > 0 {
		m := doc.Content[0]
		if m.Kind != yaml.MappingNode {
			return nil, faultf(m.Line+1, `the settings must be lines of the form "key: value"`)
		}
		if notes, err = a.settings(m, 1); err != nil {
			return nil, err
		}
	}
	if a.Type == "" {
		a.Type, a.TypeTaken = Task, true
		why := "others delegate to it"
		if len(a.Delegates) > 0 {
			a.Type, why = Chat, "it has delegates"
		}
		notes = append(notes, fault{line: 1, text: fmt.Sprintf("the settings have no type; %s is taken, since %s", a.Type, why)})
	}
	return notes, nil
}

// lineEnds makes the line ends of all systems, which YAML counts as such too, LF.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// plain is a file's text with LF line ends.
func plain(src []byte) (string, error) {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	if !utf8.Valid(src) {
		return "", faultf(0, "the file is not UTF-8 text")
	}
	return lineEnds.Replace(string(src)), nil
}

// split takes a text apart at its two fences: lines that are exactly "---", the first of them the first line.
func split(text string) (head, body string, err error) {
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return "", "", faultf(1, `the file must begin with a line "---", its settings and another line "---"; settings may also stand in a file %s beside %s`, metaName, fileName)
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

// settings reads a mapping into a. Values are taken from the nodes, so that they keep their text and their line; above is the number of
// lines of the file in front of the nodes.
func (a *Agent) settings(m *yaml.Node, above int) (notes []fault, err error) {
	seen := map[string]bool{}
	for i := 0; i+1 < len(m.Content); i += 2 {
		k, v := m.Content[i], m.Content[i+1]
		s, ok := lookup(k.Value)
		if !ok {
			return nil, faultf(k.Line+above, "%s", unknown(k.Value))
		}
		if seen[s.key] {
			return nil, faultf(k.Line+above, "the setting %q stands twice", s.key)
		}
		seen[s.key] = true
		switch {
		case s.refused != "":
			return nil, faultf(k.Line+above, "%s: %s", short(k.Value), s.refused)
		case s.idle != "":
			notes = append(notes, fault{line: k.Line + above, text: fmt.Sprintf("%s changes nothing: %s", short(k.Value), s.idle)})
		case isNull(v):
		default:
			if err := s.set(a, v); err != nil {
				return nil, faultf(v.Line+above, "%s: %s", short(k.Value), err)
			}
		}
	}
	return notes, nil
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
