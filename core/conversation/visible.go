package conversation

import (
	"fmt"
	"strings"
	"unicode"
)

// Visible is a text in which nothing changes unseen how the rest is read: marks that turn the order of what is read or that show nothing are
// written out, as ⟨U+202E⟩. It is for what a person decides by. The joiners of emoji and of several scripts stay.
func Visible(s string) string {
	if !strings.ContainsFunc(s, unseen) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unseen(r) {
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func unseen(r rune) bool {
	switch {
	case r == '\n' || r == '\r' || r == '\t' || r == 0x200c || r == 0x200d || r == 0x00ad:
		return false
	case r == 0x2028 || r == 0x2029 || r >= 0xe0100 && r <= 0xe01ef:
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}
