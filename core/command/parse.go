package command

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"herald/core/people"
)

// mark is the word that begins a command in any conversation: "!herald stop".
const mark = "!herald"

// Parsed is what a text is to the table.
type Parsed struct {
	// Is: the text is a command, known or not; otherwise it goes to the agent and the rest is empty.
	Is bool
	// Spec is the row, nil for a word that is no command; Word is that word as it was written.
	Spec *Spec
	Word string
	Args []string
	// Text is what stands behind the name of a command that takes a text.
	Text string
	// Misused: the arguments do not fit the row.
	Misused bool
}

// Parse decides whether text is a command. slash says that it came as the platform's own slash command: then it always is one. Otherwise
// it is one when it is the whole name of a command that allows that, or begins with '/' or "!herald".
func (t *Table) Parse(text string, slash bool) Parsed {
	text = strings.TrimSpace(text)
	if slash {
		return t.marked(text)
	}
	if s := t.names[fold(text)]; s != nil && s.Whole {
		return Parsed{Is: true, Spec: s, Word: text}
	}
	if rest, ok := strings.CutPrefix(text, "/"); ok {
		// "/herald stop" typed as a text is what the slash command would have been.
		if first, tail := word(rest); fold(first) == "herald" {
			rest = tail
		}
		return t.marked(rest)
	}
	if first, tail := word(text); fold(first) == mark {
		return t.marked(tail)
	}
	return Parsed{}
}

// marked reads what stands behind the mark. Nothing is a call for help.
func (t *Table) marked(rest string) Parsed {
	first, tail := word(strings.TrimSpace(rest))
	if first == "" {
		return Parsed{Is: true, Spec: t.names[string(Help)], Word: string(Help)}
	}
	s := t.names[fold(first)]
	if s == nil {
		return Parsed{Is: true, Word: first}
	}
	if s.Text {
		text := strings.TrimSpace(tail)
		return Parsed{Is: true, Spec: s, Word: first, Text: text, Misused: text == ""}
	}
	p := Parsed{Is: true, Spec: s, Word: first, Args: strings.Fields(tail)}
	if len(p.Args) > s.MaxArgs {
		p.Misused = !s.Lenient
		p.Args = p.Args[:s.MaxArgs]
	}
	return p
}

// word cuts the first word off.
func word(s string) (first, tail string) {
	if i := strings.IndexFunc(s, unicode.IsSpace); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

func fold(s string) string { return strings.ToLower(s) }

// nearest is the command of the role that differs least from word, when it differs by little.
func (t *Table) nearest(role people.Role, word string) (string, bool) {
	word = fold(word)
	if utf8.RuneCountInString(word) > 20 {
		return "", false
	}
	best, least := "", 3
	for _, s := range t.Specs(role) {
		for _, n := range append([]string{string(s.Name)}, s.Aliases...) {
			if d := distance([]rune(word), []rune(n)); d < least && d < len(n) {
				best, least = n, d
			}
		}
	}
	return best, best != ""
}

// distance counts the letters to change, add or remove between a and b.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			cost := diagonal
			if x != y {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// quote shows a word of a person inside of code marks: one line, short, without marks of its own.
func quote(s string) string { return quoteUpTo(s, 40) }

// quoteUpTo is quote for texts of up to n runes.
func quoteUpTo(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if r == '`' || unicode.IsControl(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, s)
	if r := []rune(s); len(r) > n {
		s = string(r[:n]) + "…"
	}
	return s
}
