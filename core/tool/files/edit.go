package files

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// replaced is text with old replaced by new. old must be found, and only once unless all is set: a change in a place that was not meant is
// worse than none.
func replaced(text, old, with string, all bool) (string, error) {
	switch n := strings.Count(text, old); {
	case old == "":
		return "", errors.New("old is empty; use write_file for a new file, append_file or insert_at_line to add to one")
	case n == 0:
		return "", errors.New("old does not stand in the file as it is given; read the file again and copy the passage exactly")
	case old == with:
		return "", errors.New("old and new are the same")
	case n > 1 && !all:
		return "", fmt.Errorf("old stands %d times in the file; give more of the lines around it, or set replace_all", n)
	}
	if all {
		return strings.ReplaceAll(text, old, with), nil
	}
	return strings.Replace(text, old, with, 1), nil
}

// linesOf are the lines of a text, each with its end.
func linesOf(text string) []string {
	out := strings.SplitAfter(text, "\n")
	if out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// whole ends a text with a newline, unless it is empty.
func whole(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

// inserted is text with content before line (counted from 1); the line behind the last one is the end.
func inserted(text string, line int, content string) (string, error) {
	lines := linesOf(text)
	if line < 1 || line > len(lines)+1 {
		return "", fmt.Errorf("there is no line %d to insert before; the file has %d lines, and %d is its end", line, len(lines), len(lines)+1)
	}
	return whole(strings.Join(lines[:line-1], "")) + whole(content) + strings.Join(lines[line-1:], ""), nil
}

// swapped is text with the lines from and to, both included and counted from 1, replaced by content; an empty content removes them.
func swapped(text string, from, to int, content string) (string, error) {
	lines := linesOf(text)
	if from < 1 || to < from || to > len(lines) {
		return "", fmt.Errorf("there are no lines %d to %d; the file has %d", from, to, len(lines))
	}
	return strings.Join(lines[:from-1], "") + whole(content) + strings.Join(lines[to:], ""), nil
}

// part is the lines of a text from offset (counted from 1) on, at most limit of them and at most maxShown bytes, with the first and the last
// that it has; more says that lines follow.
func part(text string, offset, limit int) (out string, first, last, all int, more bool) {
	lines := linesOf(text)
	all = len(lines)
	if offset < 1 {
		offset = 1
	}
	if limit < 1 || limit > all {
		limit = all
	}
	var b strings.Builder
	last = offset - 1
	for i := offset - 1; i < all && i < offset-1+limit; i++ {
		if l := lines[i]; b.Len()+len(l) <= maxShown {
			b.WriteString(l)
		} else if b.Len() == 0 {
			b.WriteString(strings.ToValidUTF8(l[:maxShown], "") + "…\n")
		} else {
			break
		}
		last = i + 1
	}
	return b.String(), offset, last, all, last < all
}

// match is one line that a search found.
type match struct {
	line int
	text string
}

// matches are the lines of a text that fit, at most n.
func matches(text string, re *regexp.Regexp, n int) []match {
	var out []match
	for i, l := range linesOf(text) {
		if len(out) >= n {
			break
		}
		if l = strings.TrimRight(l, "\r\n"); re.MatchString(l) {
			if r := []rune(l); len(r) > 300 {
				l = string(r[:299]) + "…"
			}
			out = append(out, match{i + 1, l})
		}
	}
	return out
}

// pattern compiles what a search looks for.
func pattern(p string, ignoreCase bool) (*regexp.Regexp, error) {
	if p == "" {
		return nil, errors.New("the pattern is empty")
	}
	if ignoreCase {
		p = "(?i)" + p
	}
	re, err := regexp.Compile(p)
	if err != nil {
		return nil, fmt.Errorf("the pattern is no regular expression: %w; put \\ before a sign that is meant as it stands", err)
	}
	return re, nil
}
