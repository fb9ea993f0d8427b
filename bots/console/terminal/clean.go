package terminal

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean takes out of a text what a terminal would obey: escape sequences with all that belongs to them, control characters but line end and tab, and
// bytes that are no text. Characters that hide or turn the order of what is read (bidirectional controls, tags and other invisible marks) are written out as
// ⟨U+202E⟩, so that nobody reads something else than what stands there.
func Clean(s string) string { return clean(s, true) }

// strip does the same, but leaves invisible characters as they are: in what a person typed or pasted they belong to the text.
func strip(s string) string { return clean(s, false) }

func clean(s string, write bool) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteRune(utf8.RuneError)
		case r == '\x1b':
			n = escape(s[i:])
		case r == 0x9b:
			n += csi(s[i+n:])
		case r == 0x90 || r == 0x98 || r >= 0x9d && r <= 0x9f:
			n += str(s[i+n:])
		case r == '\r':
			if !strings.HasPrefix(s[i:], "\r\n") {
				b.WriteByte('\n')
			}
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r < ' ' || r >= 0x7f && r < 0xa0:
		case write && invisible(r):
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// plain reports whether s needs no cleaning; most texts do not.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\n' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}

// invisible characters change how others are read and show nothing themselves. The joiners of emoji and of several scripts stay.
func invisible(r rune) bool {
	switch {
	case r == 0x200c || r == 0x200d || r == 0x00ad:
		return false
	case r >= 0xfe00 && r <= 0xfe0f: // variation selectors of emoji
		return false
	case r == 0x2028 || r == 0x2029:
		return true
	}
	return unicode.Is(unicode.Cf, r) || r >= 0xe0100 && r <= 0xe01ef
}

// escape is the length of the escape sequence at the start of s, which begins with ESC.
func escape(s string) int {
	if len(s) == 1 {
		return 1
	}
	switch c := s[1]; {
	case c == '[':
		return 2 + csi(s[2:])
	case c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_':
		return 2 + str(s[2:])
	case c >= 0x20 && c <= 0x2f: // intermediates, then a final byte
		i := 1
		for i < len(s) && s[i] >= 0x20 && s[i] <= 0x2f {
			i++
		}
		return min(i+1, len(s))
	case c >= 0x30 && c < 0x7f:
		return 2
	}
	return 1
}

// csi is the length of a control sequence's rest: parameters, intermediates and a final byte.
func csi(s string) int {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 0x40 && c <= 0x7e:
			return i + 1
		case c < 0x20 || c > 0x7e:
			return i
		}
	}
	return len(s)
}

// str is the length of a control string's rest: up to BEL or ST. One without an end reaches to the line's end, so that it cannot swallow the text.
func str(s string) int {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\a':
			return i + 1
		case strings.HasPrefix(s[i:], "\x1b\\"):
			return i + 2
		case strings.HasPrefix(s[i:], "\u009c"):
			return i + len("\u009c")
		case s[i] == '\n' || s[i] == '\x1b':
			return i
		}
	}
	return len(s)
}
