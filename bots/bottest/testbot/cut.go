package testbot

import (
	"strings"
	"unicode/utf8"

	"herald/core/chat"
)

// Cut splits Markdown into pieces of at most the platform's limit, at line ends where it can; a code fence that a cut runs through is closed and
// opened again. The platform shows Markdown as it is, so that rendering changes nothing.
func (b *Bot) Cut(_ chat.Conversation, markdown string) []string {
	return cut(markdown, b.features.TextLimit)
}

// minCut is the least limit at which a fence can be closed and opened again and still make progress.
const minCut = 64

func cut(text string, limit int) []string {
	if limit <= 0 || utf8.RuneCountInString(text) <= limit {
		return []string{text}
	}
	fences := limit >= minCut
	var pieces []string
	var piece strings.Builder
	var size int     // runes in piece
	var opened int   // runes in piece that only open a fence again
	var fence string // the line that opened the fence that stands, "" outside
	emit := func() {
		if fence != "" {
			piece.WriteString("\n" + mark(fence))
		}
		pieces = append(pieces, piece.String())
		piece.Reset()
		size, opened = 0, 0
		if fence != "" {
			piece.WriteString(fence)
			size = utf8.RuneCountInString(fence)
			opened = size
		}
	}
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			line = "\n" + line
		}
		after := fence
		if fences {
			after = step(fence, strings.TrimPrefix(line, "\n"), limit)
		}
		for {
			room := limit - size
			if keep := max(len(mark(fence)), len(mark(after))); keep > 0 {
				room -= 1 + keep
			}
			n := utf8.RuneCountInString(line[:runes(line, limit+1)]) // beyond the limit it does not matter how long the line is
			if n <= room {
				piece.WriteString(line)
				size += n
				break
			}
			if size > opened && n <= limit/2 { // a new piece holds the whole line; the line end that the cut falls on is dropped outside of fences
				emit()
				if fence == "" {
					line = strings.TrimPrefix(line, "\n")
				}
				continue
			}
			head := runes(line, room)
			piece.WriteString(line[:head])
			line = line[head:]
			size++ // not empty
			emit()
			if fence != "" { // behind the fence's line, and not in it
				line = "\n" + line
			}
		}
		fence = after
	}
	if size > opened || len(pieces) == 0 {
		pieces = append(pieces, piece.String())
	}
	return pieces
}

// step is the fence that stands after a line.
func step(fence, line string, limit int) string {
	m := mark(line)
	switch {
	case m == "" || len(m) > limit/4: // nobody fences with so many; repeating them would leave no room
		return fence
	case fence == "":
		if utf8.RuneCountInString(line) > limit/4 {
			return m // too long to be repeated whole: the language is left out
		}
		return line
	case strings.HasPrefix(m, mark(fence)) && strings.TrimSpace(line) == m:
		return ""
	}
	return fence
}

// mark is the run of backticks or tildes with which a fence line begins, "" for other lines.
func mark(line string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

// runes is the length in bytes of the first n runes of s.
func runes(s string, n int) int {
	for i := range s {
		if n--; n < 0 {
			return i
		}
	}
	return len(s)
}
