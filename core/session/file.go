package session

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// OldFileRunes is how much of a file's text stays in the history after its turn: the beginning and the end of a longer one.
const OldFileRunes = 40_000

// fileMark is what begins or ends a file, as a model may read it.
var fileMark = regexp.MustCompile(`(?i)<(\s*/?\s*file\b)`)

// Attached is what a model sees of the files of a message, behind its text: data between marks that nothing inside of them can end.
func Attached(files []File) string {
	var b strings.Builder
	for _, f := range files {
		name, kind := label(f.Name), label(f.MIME)
		switch {
		case f.Problem != "":
			fmt.Fprintf(&b, "\n\n[The attached file %q (%s) was not read: %s. Say so if it matters.]", name, kind, unmarked(strings.TrimRight(f.Problem, ".")))
		case f.Text != "":
			fmt.Fprintf(&b, "\n\n<file name=%q type=%q>\n%s\n</file>", name, kind, fileMark.ReplaceAllString(unmarked(f.Text), "&lt;$1"))
		case strings.HasPrefix(f.MIME, "image/"):
			fmt.Fprintf(&b, "\n\n[The attached picture %q]", name)
		default:
			fmt.Fprintf(&b, "\n\n[The attached file %q (%s) is empty.]", name, kind)
		}
	}
	return b.String()
}

// label is a name that people gave, in a place where marks stand.
func label(s string) string {
	if s == "" {
		return "unknown"
	}
	return strings.NewReplacer("<", "", ">", "").Replace(s)
}

// aged is what stays of files after their turn.
func aged(files []File) []File {
	if !slices.ContainsFunc(files, func(f File) bool { return utf8.RuneCountInString(f.Text) > OldFileRunes }) {
		return files
	}
	out := slices.Clone(files) // the event stays as it is
	for i := range out {
		out[i].Text = middleOut(out[i].Text, OldFileRunes)
	}
	return out
}
