package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with the configuration.
type Problem struct {
	// File is the configuration file as the operator named it, "" when the
	// problem comes from the environment.
	File string
	// Line and Column are 1-based; 0 when the problem is about the whole file.
	Line, Column int
	// Env is the environment variable that carries the problem, "" when the
	// file does.
	Env string
	// Key is the full key, such as "store.url"; "" when no key is concerned.
	Key string
	// Text says what is wrong. It never holds the value of a secret.
	Text string
	// Hint says what to do, "" when Text already does.
	Hint string
}

// Where returns the place: "herald.toml:3:1", "environment HERALD_X", or the
// file alone.
func (p Problem) Where() string {
	switch {
	case p.Env != "":
		return "environment " + p.Env
	case p.Line > 0:
		return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	default:
		return p.File
	}
}

// String returns the problem in one line: place, key, text and hint.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.Where())
	b.WriteString(": ")
	if p.Key != "" {
		b.WriteString(p.Key)
		b.WriteString(": ")
	}
	b.WriteString(p.Text)
	if p.Hint != "" {
		b.WriteString("; ")
		b.WriteString(p.Hint)
	}
	return b.String()
}

// Problems are all problems that one reading found, in the order of the file,
// those of the environment after them. It is never empty when it is returned
// as an error.
type Problems []Problem

// Error lists every problem, one a line, after a line with their number.
func (ps Problems) Error() string {
	var b strings.Builder
	if len(ps) == 1 {
		b.WriteString("the configuration has 1 problem:")
	} else {
		fmt.Fprintf(&b, "the configuration has %d problems:", len(ps))
	}
	for _, p := range ps {
		b.WriteString("\n  ")
		b.WriteString(p.String())
	}
	return b.String()
}

// sorted orders by place and drops exact repeats, so that the text is the same
// whatever order the checks ran in.
func (ps Problems) sorted() Problems {
	out := slices.Clone(ps)
	slices.SortStableFunc(out, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(a.Env, b.Env),
			cmp.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Key, b.Key),
		)
	})
	return slices.Compact(out)
}

// fault is a problem whose place is not yet known: pure checks return it.
type fault struct {
	text string
	hint string
}

func faultf(format string, args ...any) *fault {
	return &fault{text: fmt.Sprintf(format, args...)}
}

func (f *fault) withHint(format string, args ...any) *fault {
	f.hint = fmt.Sprintf(format, args...)
	return f
}
