package memory

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// The files of a store of notes that are no notes of their own.
const (
	Index         = "index.md"
	Log           = "log.md"
	UserFile      = "user.md"
	Notifications = "notifications.md"
)

// special are files that the index need not name.
func special(name string) bool {
	return slices.Contains([]string{Index, Log, UserFile, Notifications}, name)
}

// summaryRunes is how long the summary in a line of the index is.
const summaryRunes = 100

// Indexed is the note that a line of an index names: its first word that ends in ".md", without the marks of a list, a link or code
// around it and without the root before it.
func Indexed(line string) (name string, ok bool) {
	for _, w := range strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune(" \t`[]()<>*|,;", c) }) {
		w = strings.TrimRight(w, ":.")
		if !strings.HasSuffix(w, ".md") {
			continue
		}
		if _, n, ok := Split(w); ok {
			w = n
		}
		return w, w != ""
	}
	return "", false
}

// Link is index with a line for the note, which is added only where none names it.
func Link(index, name, text string) string {
	if special(name) || slices.Contains(linked(index), name) {
		return index
	}
	if index != "" && !strings.HasSuffix(index, "\n") {
		index += "\n"
	}
	return index + "- " + name + " — " + summary(text) + "\n"
}

// Unlink is index without the lines that name the note.
func Unlink(index, name string) string {
	lines := strings.SplitAfter(index, "\n")
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool { n, ok := Indexed(l); return ok && n == name }), "")
}

// linked are the notes that an index names, in its order.
func linked(index string) []string {
	var out []string
	for l := range strings.Lines(index) {
		if n, ok := Indexed(l); ok {
			out = append(out, n)
		}
	}
	return out
}

// Orphans are the notes among names that no line of the index names, sorted.
func Orphans(index string, names []string) []string {
	in := make(map[string]bool)
	for _, n := range linked(index) {
		in[n] = true
	}
	var out []string
	for _, n := range names {
		if !in[n] && !special(n) {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

// Broken are the lines of the index whose note is not among names, in their order.
func Broken(index string, names []string) []string {
	var out []string
	for l := range strings.Lines(index) {
		if n, ok := Indexed(l); ok && !special(n) && !slices.Contains(names, n) {
			out = append(out, strings.TrimRight(l, "\n"))
		}
	}
	return out
}

// summary is the first line of a text that says something, without marks of a heading or a list.
func summary(text string) string {
	for l := range strings.Lines(text) {
		if l = strings.Trim(signature.ReplaceAllString(strings.TrimRight(l, "\n"), ""), "#-*> \t\r\n"); l == "" {
			continue
		}
		l = strings.Join(strings.Fields(l), " ")
		if utf8.RuneCountInString(l) > summaryRunes {
			l = string([]rune(l)[:summaryRunes-1]) + "…"
		}
		return strings.ReplaceAll(l, ".md", ". md") // a name in the summary must not read as the line's own
	}
	return "(empty)"
}
