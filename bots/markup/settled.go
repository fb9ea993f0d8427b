package markup

import "strings"

// Settled is the length in bytes of the part of a growing text whose rendering what follows will not change: it ends with an empty line
// outside of fenced code, behind which an unindented line has begun. A stream that can only append renders and sends such parts, and the
// rest at the end, with an empty line between.
func Settled(markdown string) int {
	settled, at, blankBefore := 0, 0, false
	fence := ""
	for line := range strings.Lines(markdown) {
		text := strings.TrimLeft(line, " \t>")
		if fence == "" && blankBefore && text == line && strings.TrimSpace(line) != "" {
			settled = at
		}
		blankBefore = strings.TrimSpace(line) == ""
		at += len(line)
		mark := fenceMark(text)
		switch {
		case mark == "":
		case fence == "":
			fence = mark
		case strings.HasPrefix(mark, fence) && strings.TrimSpace(text[len(mark):]) == "":
			fence = ""
		}
	}
	return settled
}

// fenceMark is the run of backticks or tildes that a line begins with, "" when it opens no fence.
func fenceMark(line string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}
