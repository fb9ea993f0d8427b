package config

import (
	"fmt"
	"io"
	"iter"
	"strings"
	"text/tabwriter"
)

// Explain writes a table of every key: its value, where that came from, its
// unit, its bounds and whether a change needs a restart. Keys of providers and
// models stand once for each of them, and once with NAME where there is none.
// Secrets are never written.
func (c *Config) Explain(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "KEY\tVALUE\tFROM\tUNIT\tBOUNDS\tCHANGE TAKES EFFECT")
	for s, name := range c.eachKey() {
		key := s.concrete(name)
		e, known := c.origin[key]
		from := e.source.String()
		if !known || e.text == "" && e.source.Kind == FromDefault {
			from = "-"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\n",
			key, orDash(c.shownValue(s, e)), from, orDash(s.unit), orDash(s.limits()), s.takesEffect())
	}
	// The writer keeps the first error of all the lines above.
	return tw.Flush()
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

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
