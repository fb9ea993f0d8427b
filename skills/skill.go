package skills

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Limits of one skill.
const (
	maxHeader      = 64 << 10
	maxFile        = 1 << 20
	maxDescription = 1024
	maxLicense     = 256
	maxCompat      = 500
	maxMetadata    = 64
	maxMetaName    = 128
	maxMetaValue   = 2048
	maxAllowed     = 100
	maxPattern     = 256
)

// Limits of what is kept in memory. What is above them is named as a problem.
const (
	maxSkills = 10_000
	maxText   = 128 << 20 // all texts together
)

// MaxIndex is how many skills one prompt lists.
const MaxIndex = 128

// nameForm is what the name of a skill looks like.
var nameForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// ValidName reports whether n can be a skill's name: lower-case letters, digits and single hyphens, at most 64.
func ValidName(n string) bool { return len(n) <= 64 && nameForm.MatchString(n) }

// OwnedID is the id of what an agent owns: its own id with what providers do not take as '_', two hyphens, and the short name.
func OwnedID(agent, short string) string { return Sanitize(agent) + "--" + short }

// Sanitize is an agent's id as it stands in the names of tools and skills.
func Sanitize(agent string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, agent)
}

// Skill is one skill as its file describes it. It is read-only.
type Skill struct {
	// ID is its name for whoever may see it; that of an owned skill begins with its owner.
	ID string
	// Owner is the agent that alone may see it, "" for a shared one. Short is its name for its owner, the id for a shared one.
	Owner, Short string
	// Description says when the skill is of use.
	Description string
	// License, Compatibility, Allowed and Metadata are for people; none of them grants or takes anything.
	License, Compatibility string
	Allowed                []string
	Metadata               map[string]string
	// Hidden means that no model may use the skill by itself: to agents it does not exist.
	Hidden bool
	// Text is the instructions.
	Text string
	// Source is the path of the file.
	Source string

	place place
	row   string // its text in index.md, "" without one
	// broken means that there is no usable version: the entry only holds the name.
	broken bool
}

// Selector says which of the skills that an agent may see it uses. The zero value means all.
type Selector struct {
	// Chosen means that Names is what the agent lists, however short.
	Chosen bool
	Names  []string
}

// Level says how grave a problem is.
type Level string

// The levels.
const (
	// Lost: what was found is not in force, or only in an earlier version.
	Lost Level = "error"
	// Odd: it is in force, but something about it is not as it should be.
	Odd Level = "warning"
)

// Problem is something that is wrong with a folder or a file.
type Problem struct {
	Level Level
	// Owner is the agent whose skill it is, "" for a shared one. Name is the skill's, "" when it is the folder.
	Owner, Name string
	// Path and Line say where; Line is 0 when it is the file as a whole.
	Path string
	Line int
	// Text says what is wrong and what to do.
	Text string
	// Kept means that an earlier version of the file stays in force.
	Kept bool
}

// String is the problem in one line.
func (p Problem) String() string {
	s := p.Path
	if p.Line > 0 {
		s = fmt.Sprintf("%s:%d", s, p.Line)
	}
	s += ": " + p.Text
	if p.Kept {
		s += " (the version before it stays in force)"
	}
	return s
}

// fault is a problem of a file without its place.
type fault struct {
	line int
	text string
}

func (f fault) Error() string { return f.text }

func faultf(line int, format string, args ...any) error {
	return fault{line, fmt.Sprintf(format, args...)}
}

// ErrNotFound: there is no such skill for the one who asks. What it may not see is missing to it.
var ErrNotFound = errors.New("there is no such skill")

// visible are the skills that an agent may see, its own first, each group by id.
func (s *snapshot) visible(agent string) []*Skill {
	own := s.owned[agent]
	if agent == "" {
		own = nil
	}
	out := make([]*Skill, 0, len(own)+len(s.shared))
	out = append(out, own...)
	for _, k := range s.shared {
		// An own skill of this name stands before a shared one, which could not be reached by it.
		if !slices.ContainsFunc(own, func(o *Skill) bool { return o.ID == k.ID || o.Short == k.ID }) {
			out = append(out, k)
		}
	}
	return out
}

// find resolves a name for an agent: its own by the short name, then by id what it may see. A broken or hidden one is not found, and
// nothing takes its place.
func (s *snapshot) find(agent, name string) (*Skill, bool) {
	usable := func(k *Skill) (*Skill, bool) { return k, !k.broken && !k.Hidden }
	if agent != "" {
		for _, k := range s.owned[agent] {
			if k.Short == name {
				return usable(k)
			}
		}
		for _, k := range s.owned[agent] {
			if k.ID == name {
				return usable(k)
			}
		}
	}
	if k, ok := s.byID[name]; ok {
		return usable(k)
	}
	return nil, false
}

// chosen is what an agent may use: everything that it may see, or what it lists, in its order and without doubles.
func (s *snapshot) chosen(agent string, sel Selector) []*Skill {
	var out []*Skill
	if !sel.Chosen {
		for _, k := range s.visible(agent) {
			if !k.broken && !k.Hidden {
				out = append(out, k)
			}
		}
		return out
	}
	for _, n := range sel.Names {
		if k, ok := s.find(agent, n); ok && !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

// any reports whether an agent may use a skill at all.
func (s *snapshot) any(agent string, sel Selector) bool {
	usable := func(k *Skill) bool { return !k.broken && !k.Hidden }
	if !sel.Chosen && len(s.owned[agent]) == 0 {
		return slices.ContainsFunc(s.shared, usable)
	}
	return len(s.chosen(agent, sel)) > 0
}

// use finds one skill among those that an agent may use.
func (s *snapshot) use(agent string, sel Selector, name string) (*Skill, bool) {
	k, ok := s.find(agent, name)
	if !ok {
		return nil, false
	}
	if sel.Chosen && !slices.ContainsFunc(sel.Names, func(n string) bool { c, ok := s.find(agent, n); return ok && c == k }) {
		return nil, false
	}
	return k, true
}
