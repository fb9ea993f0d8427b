package prompt

import (
	"slices"
	"strings"
	"unicode/utf8"

	"herald/core/session"
)

// directive is a place in an agent's text that is filled in for each request: <!-- KEY -->, on one line. It is found by hand: texts are long, and
// every request fills one in.
type directive struct {
	start, end int
	key        string
}

// blanks may stand around a key and behind a directive.
const blanks = " \t"

// nextDirective is the first directive of text at or behind from.
func nextDirective(text string, from int) (directive, bool) {
	for {
		i := strings.Index(text[from:], "<!--")
		if i < 0 {
			return directive{}, false
		}
		start := from + i
		from = start + len("<!--")
		rest := strings.TrimLeft(text[from:], blanks)
		n := keyLength(rest)
		if n == 0 {
			continue
		}
		if tail, ok := strings.CutPrefix(strings.TrimLeft(rest[n:], blanks), "-->"); ok {
			return directive{start, len(text) - len(tail), rest[:n]}, true
		}
	}
}

// keyLength is the length of the key at the beginning of s: capitals, digits and underscores behind a capital.
func keyLength(s string) int {
	n := 0
	for n < len(s) && (s[n] >= 'A' && s[n] <= 'Z' || n > 0 && (s[n] >= '0' && s[n] <= '9' || s[n] == '_')) {
		n++
	}
	return n
}

// maxLabel is the length of a label in characters.
const maxLabel = 60

// labels reports whether before, the beginning of a line, is nothing but marks of a list, a heading or a quotation and a label at the most.
func labels(before string) bool {
	const marks = blanks + ">#*+-"
	name, after, ok := strings.Cut(before, ":")
	if !ok {
		return strings.Trim(before, marks) == ""
	}
	if name == "" || strings.ContainsAny(name, ".!?<\n") || strings.Trim(strings.TrimLeft(after, "*"), blanks) != "" {
		return false
	}
	// What is too long for a label must be marks in front of it.
	more := utf8.RuneCountInString(name) - maxLabel
	for _, r := range name {
		if more <= 0 {
			break
		}
		if !strings.ContainsRune(marks, r) {
			return false
		}
		more--
	}
	return true
}

// Keys are the keys of the directives in an agent's text, each once, in their order.
func Keys(text string) []string {
	var out []string
	for d, ok := nextDirective(text, 0); ok; d, ok = nextDirective(text, d.end) {
		if !slices.Contains(out, d.key) {
			out = append(out, d.key)
		}
	}
	return out
}

// Expand fills in the directives of an agent's text: <!-- KEY --> becomes the value of KEY. What has no value is left out, with its line where that
// holds nothing else but a label. Values are not looked through again: what stands in them is data.
func Expand(text string, value func(key string) string) string {
	d, ok := nextDirective(text, 0)
	if !ok {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	done := 0 // what of text is written or left out
	for ; ok; d, ok = nextDirective(text, d.end) {
		v := value(d.key)
		if v == "" {
			line := strings.LastIndexByte(text[:d.start], '\n') + 1
			tail := strings.TrimLeft(text[d.end:], blanks)
			// On a line of two directives the first has a part of it behind, and the second one before it.
			if (tail == "" || tail[0] == '\n') && labels(text[line:d.start]) {
				b.WriteString(text[done:line])
				done = min(len(text)-len(tail)+1, len(text))
				continue
			}
		}
		b.WriteString(text[done:d.start])
		b.WriteString(v)
		done = d.end
	}
	b.WriteString(text[done:])
	return b.String()
}

// AgentLine is an agent in the list that a delegating agent reads.
func AgentLine(id, description string) string {
	return "- **" + id + "** — " + strings.Join(strings.Fields(description), " ")
}

// missing stands for a file that is not there.
const missing = "(file not created yet)"

// MemoryFile is a file or note that stands in the prompt. What it holds is data: a mark of its end inside of it is broken up, and so is one with which
// the service speaks.
func MemoryFile(path, text string, exists bool) string {
	if !exists {
		text = missing
	}
	text = strings.ReplaceAll(session.Unmarked(text), "</memory_file", "<\\/memory_file")
	return "<memory_file path=\"" + attribute(path) + "\">\n" + strings.TrimRight(text, "\n") + "\n</memory_file>"
}

// attribute is a text that cannot end the mark in which it stands.
func attribute(s string) string {
	return strings.NewReplacer(`"`, "'", "<", "(", ">", ")", "\n", " ").Replace(s)
}
