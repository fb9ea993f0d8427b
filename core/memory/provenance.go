package memory

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// ErrKept is returned for a change of shared notes that would erase or overrule what somebody said.
var ErrKept = errors.New("shared notes keep what was said")

// signature is what stands behind a line of a shared note: who said it, when.
var signature = regexp.MustCompile(`\s+— [^—\n]+, \d{4}-\d{2}-\d{2}\s*$`)

// pending begins a line that somebody claims and nobody has confirmed.
const pending = "PENDING:"

// author is who changes a shared note.
type author struct {
	id, name string
	admin    bool
}

// signed is a shared note after a change of it: its new lines carry their author and the date, whatever the writer put there. authors names the
// person of each line of old by its id, "" for a line that is nobody's. It fails with [ErrKept] where a line was changed or removed instead of struck
// through, or struck through by somebody else than its author or an admin.
func signed(old string, authors []string, text string, who author, at time.Time) (string, []string, error) {
	was := split(old)
	for len(authors) < len(was) {
		authors = append(authors, "")
	}
	left := make(map[string][]int) // lines of old by their text
	for i, l := range was {
		left[l] = append(left[l], i)
	}
	take := func(l string) (int, bool) {
		at := left[l]
		if len(at) == 0 {
			return 0, false
		}
		left[l] = at[1:]
		return at[0], true
	}
	var out, by []string
	for _, l := range split(text) {
		if i, ok := take(l); ok {
			out, by = append(out, l), append(by, authors[i])
			continue
		}
		if i, ok := struck(l, was, left); ok {
			if authors[i] != who.id && !who.admin && authors[i] != "" {
				return "", nil, fmt.Errorf("%w: only who wrote a line, or an admin, may strike it through; leave it, add a line that begins with %s, and append a %s line to %s", ErrKept, pending, Claimed, Log)
			}
			left[was[i]] = slices.DeleteFunc(left[was[i]], func(j int) bool { return j == i })
			out, by = append(out, l), append(by, authors[i])
			continue
		}
		if plainLine(l) {
			out, by = append(out, l), append(by, "")
			continue
		}
		l = fmt.Sprintf("%s — %s, %s", strings.TrimRight(signature.ReplaceAllString(l, ""), " \t"), strings.ReplaceAll(cell(who.name), "—", "-"), at.UTC().Format(time.DateOnly))
		out, by = append(out, l), append(by, who.id)
	}
	for _, l := range was {
		if len(left[l]) > 0 && !plainLine(l) {
			return "", nil, fmt.Errorf("%w: the line %q is gone; keep it as it is, or strike it through (~~line~~) and write the new fact below it", ErrKept, short(l))
		}
	}
	return strings.Join(out, "\n") + "\n", by, nil
}

// struck finds the line of old that l strikes through; what stands behind the marks is free.
func struck(l string, was []string, left map[string][]int) (int, bool) {
	body := strings.TrimLeft(l, "-* \t")
	if !strings.HasPrefix(body, "~~") {
		return 0, false
	}
	inner, _, ok := strings.Cut(body[2:], "~~")
	if !ok {
		return 0, false
	}
	for i, o := range was {
		if plain := strings.TrimLeft(o, "-* \t"); plain != "" && slices.Contains(left[o], i) && (plain == inner || signature.ReplaceAllString(plain, "") == inner) {
			return i, true
		}
	}
	return 0, false
}

// plainLine reports whether a line states nothing: it is blank, a heading, a rule or a fence.
func plainLine(l string) bool {
	l = strings.TrimSpace(l)
	return l == "" || strings.HasPrefix(l, "#") || strings.Trim(l, "-=`") == ""
}

// strikes reports whether text has a struck line more than old.
func strikes(old, text string) bool { return strings.Count(text, "~~") > strings.Count(old, "~~") }

func split(s string) []string {
	s = strings.TrimRight(s, "\n")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

func short(l string) string {
	if r := []rune(l); len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return l
}
