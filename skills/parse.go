package skills

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// parsed is what one SKILL.md says, with what is odd about it.
type parsed struct {
	skill Skill
	name  string // what the file itself says, "" when nothing
	odd   []fault
}

func (p *parsed) oddf(line int, format string, args ...any) {
	p.odd = append(p.odd, fault{line, fmt.Sprintf(format, args...)})
}

// parse reads a SKILL.md. It does no I/O. Its error is a fault. What may take something from a model is read strictly: a file that cannot be
// understood there is no skill at all.
func parse(src []byte) (parsed, error) {
	var p parsed
	src = bytes.TrimPrefix(src, []byte("\uFEFF"))
	if !utf8.Valid(src) {
		return p, faultf(0, "the file is not UTF-8; save it in that encoding")
	}
	if bytes.ContainsRune(src, 0) {
		return p, faultf(0, "the file holds zero bytes: it is no text")
	}
	head, body, line, err := split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(src)))
	if err != nil {
		return p, err
	}
	m, err := p.header(head)
	if err != nil {
		return p, err
	}
	p.skill.Text = strings.Trim(body, "\n")
	if err := p.fields(m); err != nil {
		return p, err
	}
	if strings.TrimSpace(p.skill.Description) == "" {
		return p, faultf(1, `there is no description; add the line "description: what the skill does and when it is of use"`)
	}
	if strings.TrimSpace(p.skill.Text) == "" {
		return p, faultf(line, "there are no instructions behind the settings; write what is to be done")
	}
	return p, nil
}

// split takes the file apart at its fences: lines that are exactly "---", the first of them the first line. line is where the body begins.
func split(text string) (head, body string, line int, err error) {
	lines := strings.Split(text, "\n")
	isFence := func(l string) bool { return strings.TrimRight(l, " \t") == "---" }
	if !isFence(lines[0]) {
		return "", "", 0, faultf(1, `the file does not begin with a line "---"; its settings stand first, between two such lines`)
	}
	for i, l := range lines[1:] {
		if isFence(l) {
			head = strings.Join(lines[1:i+1], "\n")
			if len(head) > maxHeader {
				return "", "", 0, faultf(1, "the settings have %d bytes, at most %d", len(head), maxHeader)
			}
			return head, strings.Join(lines[i+2:], "\n"), i + 3, nil
		}
	}
	return "", "", 0, faultf(1, `the settings have no end; close them with a line "---"`)
}

// header reads the settings. Where they are no YAML they are read once more with their values in quotes, as people mean them.
func (p *parsed) header(head string) (*yaml.Node, error) {
	m, err := mapping(head)
	if err == nil {
		return m, nil
	}
	again, lines := quoted(head)
	if len(lines) == 0 {
		return nil, err
	}
	m, e := mapping(again)
	if e != nil {
		return nil, err
	}
	for _, l := range lines {
		p.oddf(l+1, "the value is not valid YAML as it stands; it is taken as it is written. Put it in quotes")
	}
	return m, nil
}

func mapping(head string) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(head), &doc); err != nil {
		line, text := yamlFault(err, strings.Count(head, "\n")+1)
		return nil, faultf(line+1, "the settings are not valid YAML: %s; put values with special characters in quotes", text)
	}
	if len(doc.Content) == 0 {
		return nil, faultf(1, `there are no settings; add the lines "name: …" and "description: …"`)
	}
	m := doc.Content[0]
	if m.Kind != yaml.MappingNode {
		return nil, faultf(m.Line+1, `the settings must be lines of the form "key: value"`)
	}
	seen := map[string]bool{}
	for i := 0; i < len(m.Content); i += 2 {
		k := m.Content[i]
		if seen[folded(k.Value)] {
			return nil, faultf(k.Line+1, "the setting %q stands twice; keep one of both", short(k.Value))
		}
		seen[folded(k.Value)] = true
	}
	return m, nil
}

var yamlAt = regexp.MustCompile(`line (\d+)[:,]? *(?:column \d+:? *)?`)

// yamlFault is where and what the parser says.
func yamlFault(err error, last int) (int, string) {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 0
	if m := yamlAt.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		text = strings.Replace(text, m[0], "", 1)
	}
	return min(line, last), short(strings.Join(strings.Fields(text), " "))
}

var plainLine = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_-]*):[ \t]+(.+)$`)

// quoted puts the value of each top-level line that YAML cannot take alone in quotes. lines are those that changed, from 1.
func quoted(head string) (string, []int) {
	lines := strings.Split(head, "\n")
	var changed []int
	for i, l := range lines {
		m := plainLine.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		var doc yaml.Node
		if yaml.Unmarshal([]byte(l), &doc) == nil || strings.HasPrefix(m[2], "|") || strings.HasPrefix(m[2], ">") {
			continue
		}
		// What begins as a list or a mapping in brackets and ends as one may go on in the next line; in quotes it would mean another thing.
		if v := strings.TrimSpace(m[2]); len(v) == 1 && strings.ContainsAny(v, `[{"'`) {
			continue
		}
		v := strings.TrimSpace(m[2])
		if last := len(v) - 1; strings.ContainsAny(v[:1], `"'`) && v[last] == v[0] {
			v = v[1:last]
		}
		lines[i] = m[1] + ": '" + strings.ReplaceAll(v, "'", "''") + "'"
		changed = append(changed, i+1)
	}
	return strings.Join(lines, "\n"), changed
}

// folded is a key as it is compared: '_' and '-' are the same, and so are small and large letters.
func folded(key string) string { return strings.ReplaceAll(strings.ToLower(key), "_", "-") }

// foreign are keys that other programs write; they mean nothing here and are no mistake.
var foreign = map[string]bool{
	"version": true, "author": true, "tags": true, "title": true, "argument-hint": true, "arguments": true, "user-invocable": true, "model": true,
	"context": true, "agent": true, "hooks": true, "category": true, "keywords": true, "homepage": true, "icon": true, "when-to-use": true, "effort": true,
	"paths": true, "shell": true, "dependencies": true, "created": true, "updated": true, "source": true, "repository": true,
}

// fields takes the settings over.
func (p *parsed) fields(m *yaml.Node) error {
	for i := 0; i+1 < len(m.Content); i += 2 {
		k, v := m.Content[i], m.Content[i+1]
		line := k.Line + 1
		if err := safe(v, 0); err != nil {
			return faultf(line, "%s: %s", short(k.Value), err)
		}
		var err error
		s := &p.skill
		switch key := folded(k.Value); key {
		case "name":
			p.name, err = p.text(k, v, 0)
		case "description":
			s.Description, err = p.text(k, v, maxDescription)
		case "license":
			s.License, err = p.text(k, v, maxLicense)
		case "compatibility":
			s.Compatibility, err = p.text(k, v, maxCompat)
		case "allowed-tools":
			err = p.allowed(k, v)
		case "metadata":
			err = p.metadata(k, v)
		case "disable-model-invocation":
			s.Hidden, err = p.restriction(k, v)
		default:
			switch near := nearest(key); {
			case foreign[key]:
			case near == "disable-model-invocation":
				// A restriction that is misspelt is still meant.
				s.Hidden = true
				p.oddf(line, "there is no setting %q; it is taken as %s, which hides the skill from models. Correct its name", short(k.Value), near)
			case near != "":
				p.oddf(line, "there is no setting %q and it is not used; did you mean %q?", short(k.Value), near)
			default:
				p.oddf(line, "there is no setting %q and it is not used; move it below metadata, or remove it", short(k.Value))
			}
		}
		switch key := folded(k.Value); {
		case err == nil:
		case key == "name" || key == "license" || key == "compatibility" || key == "allowed-tools":
			p.oddf(line, "%s: %s; it is not used", short(k.Value), err) // what only people read costs nobody the skill
		default:
			return faultf(line, "%s: %s", short(k.Value), err)
		}
	}
	return nil
}

// known are the settings, for hints.
var known = []string{"name", "description", "license", "compatibility", "allowed-tools", "metadata", "disable-model-invocation"}

// nearest is the setting that a person most likely meant, or "".
func nearest(key string) string {
	if len(key) > 40 {
		return ""
	}
	for _, k := range known {
		if distance(key, k) <= max(1, len(k)/5) {
			return k
		}
	}
	return ""
}

// distance counts the letters to insert, remove or replace.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			next := diag
			if a[i] != b[j] {
				next++
			}
			diag = row[j+1]
			row[j+1] = min(next, row[j]+1, diag+1)
		}
	}
	return row[len(b)]
}

// safe refuses what makes a small file a large value, or a text something to be run.
func safe(n *yaml.Node, depth int) error {
	switch {
	case depth > 16:
		return errors.New("it is nested too deeply")
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return errors.New("anchors and aliases are not read; write the value out, or put it in quotes")
	case strings.HasPrefix(n.Tag, "!!") && !standard[n.Tag]:
		return fmt.Errorf("the tag %s is not read; write the value alone", short(n.Tag))
	}
	for _, c := range n.Content {
		if err := safe(c, depth+1); err != nil {
			return err
		}
	}
	return nil
}

var standard = map[string]bool{
	"!!str": true, "!!int": true, "!!float": true, "!!bool": true, "!!null": true, "!!map": true, "!!seq": true, "!!timestamp": true, "!!binary": false, "!!merge": false,
}

// text is a plain value as it is written; longer than limit it is cut. limit 0 is none.
func (p *parsed) text(k, v *yaml.Node, limit int) (string, error) {
	line := k.Line + 1
	if v.Kind != yaml.ScalarNode {
		return "", errors.New("it must be one text")
	}
	if v.Tag == "!!null" && v.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) == 0 {
		return "", errors.New("it has no value")
	}
	s := strings.TrimSpace(v.Value)
	if strings.HasPrefix(v.Tag, "!") && !strings.HasPrefix(v.Tag, "!!") {
		p.oddf(line, "%q is taken as a part of the value of %s, which YAML reads as a tag. Put the value in quotes", short(v.Tag), k.Value)
		s = strings.TrimSpace(v.Tag + " " + s)
	}
	if c := strings.TrimSpace(v.LineComment); c != "" {
		p.oddf(line, "what follows %q in %s is taken as a part of the value, which YAML reads as a comment. Put the value in quotes", short(c), k.Value)
		s = strings.TrimSpace(s + " " + c)
	}
	if limit > 0 && utf8.RuneCountInString(s) > limit {
		p.oddf(line, "%s has %d characters, at most %d; the rest is not used", k.Value, utf8.RuneCountInString(s), limit)
		s = string([]rune(s)[:limit])
	}
	return s, nil
}

// restriction is true unless the file clearly says that it is not.
func (p *parsed) restriction(k, v *yaml.Node) (bool, error) {
	s, err := p.text(k, v, 0)
	if err != nil {
		return false, fmt.Errorf("%w; write true or false", err)
	}
	switch strings.ToLower(s) {
	case "true", "yes", "on":
		return true, nil
	case "false", "no", "off":
		return false, nil
	}
	p.oddf(k.Line+1, "%s is neither true nor false; it is taken as true", k.Value)
	return true, nil
}

func (p *parsed) allowed(k, v *yaml.Node) error {
	var all []string
	if v.Kind == yaml.SequenceNode {
		for _, e := range v.Content {
			if e.Kind != yaml.ScalarNode {
				return errors.New("its entries must be texts")
			}
			all = append(all, strings.TrimSpace(e.Value))
		}
		p.oddf(k.Line+1, "%s is a list; the specification has names with blanks between them", k.Value)
	} else {
		s, err := p.text(k, v, 0)
		if err != nil {
			return err
		}
		all = strings.Fields(s)
	}
	for _, a := range all {
		if len(p.skill.Allowed) == maxAllowed || len(a) > maxPattern {
			p.oddf(k.Line+1, "%s has more than %d entries, or one of more than %d characters; the rest is not shown", k.Value, maxAllowed, maxPattern)
			break
		}
		p.skill.Allowed = append(p.skill.Allowed, a)
	}
	return nil
}

func (p *parsed) metadata(k, v *yaml.Node) error {
	line := k.Line + 1
	if v.Kind != yaml.MappingNode {
		p.oddf(line, "metadata is no mapping of names to texts; it is not used")
		return nil
	}
	p.skill.Metadata = map[string]string{}
	for i := 0; i+1 < len(v.Content); i += 2 {
		name, value := v.Content[i].Value, v.Content[i+1]
		switch {
		case len(p.skill.Metadata) == maxMetadata:
			p.oddf(line, "metadata has more than %d entries; the rest is not used", maxMetadata)
			return nil
		case value.Kind != yaml.ScalarNode, len(name) > maxMetaName, len(value.Value) > maxMetaValue:
			p.oddf(v.Content[i].Line+1, "metadata.%s is no text of at most %d bytes; it is not used", short(name), maxMetaValue)
		default:
			p.skill.Metadata[name] = value.Value
		}
	}
	return nil
}

// short keeps a foreign text printable and brief.
func short(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7F || r == utf8.RuneError {
			return '?'
		}
		return r
	}, s)
	if utf8.RuneCountInString(s) > 60 {
		return string([]rune(s)[:60]) + "…"
	}
	return s
}
