package config

import (
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode/utf8"
)

// explainWidth is the longest line of [Config.Explain]; only a value that is longer makes a longer one.
const explainWidth = 100

// Explain writes every key with its value and, below it, where that came from,
// its unit, its bounds and whether a change needs a restart. Keys of providers
// and models stand once for each of them, and once with NAME where there is
// none. Secrets are never written.
func (c *Config) Explain(w io.Writer) error {
	for s, name := range c.eachKey() {
		key := s.concrete(name)
		e, known := c.origin[key]
		from := "from " + e.source.String()
		if !known || e.text == "" && e.source.Kind == FromDefault {
			from = "not set"
		}
		facts := []string{from}
		if s.unit != "" {
			facts = append(facts, s.unit)
		}
		if l := s.limits(); l != "" {
			facts = append(facts, l)
		}
		facts = append(facts, "a change takes effect "+s.takesEffect())
		line := key
		if v := c.shownValue(s, e); v != "" {
			line += " = " + v
		}
		if _, err := fmt.Fprintf(w, "%s\n%s", line, wrapped("    ", strings.Join(facts, "; "))); err != nil {
			return err
		}
	}
	return nil
}

// wrapped is text in lines of at most explainWidth, each behind indent.
func wrapped(indent, text string) string {
	var b strings.Builder
	line := indent
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == indent:
			line += word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > explainWidth:
			b.WriteString(line + "\n")
			line = indent + word
		default:
			line += " " + word
		}
	}
	return b.String() + line + "\n"
}

// eachKey yields every setting with the name to fill into its key, all settings
// of one provider or model together.
func (c *Config) eachKey() iter.Seq2[setting, string] {
	return func(yield func(setting, string) bool) {
		rows := settings()
		for len(rows) > 0 {
			n := 1
			for n < len(rows) && rows[n].section() == rows[0].section() {
				n++
			}
			for _, name := range c.namesFor(rows[0]) {
				for _, s := range rows[:n] {
					if !yield(s, name) {
						return
					}
				}
			}
			rows = rows[n:]
		}
	}
}

// namesFor returns the names to fill into the setting's key.
func (c *Config) namesFor(s setting) []string {
	var names []string
	switch {
	case strings.HasPrefix(s.key, providersKey+"."):
		for _, p := range c.Providers {
			names = append(names, p.Name)
		}
	case strings.HasPrefix(s.key, modelsKey+"."):
		for _, m := range c.Models {
			names = append(names, m.Name)
		}
	case strings.HasPrefix(s.key, rulesKey+"."):
		for _, r := range c.Rules {
			names = append(names, r.Name)
		}
	case strings.HasPrefix(s.key, groupsKey+"."):
		for _, g := range c.Groups {
			names = append(names, g.Name)
		}
	case strings.HasPrefix(s.key, rolesKey+"."):
		for _, r := range c.Roles {
			names = append(names, r.Name)
		}
	default:
		return []string{""}
	}
	if len(names) == 0 {
		return []string{"NAME"}
	}
	return names
}

// shownValue is the value for people; of a secret, the name of the place where
// it stands.
func (c *Config) shownValue(s setting, e effective) string {
	switch {
	case e.text == "":
		return ""
	case s.secret():
		return e.text + " " + redacted
	case s.kind == text && s.choices == nil:
		return fmt.Sprintf("%q", e.text)
	default:
		return e.text
	}
}

// limits are the bounds and, where the key does not always apply, when it does.
func (s setting) limits() string {
	if s.only == "" {
		return s.bounds()
	}
	return strings.TrimPrefix(s.bounds()+"; "+s.only+" only", "; ")
}

func (s setting) takesEffect() string {
	if s.restart {
		return "at restart"
	}
	return "at once"
}
