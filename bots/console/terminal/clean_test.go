package terminal_test

import (
	"strings"
	"testing"
	"unicode"

	"herald/bots/console/terminal"
)

func TestClean(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"plain":                {"hello\tworld\n", "hello\tworld\n"},
		"letters and emoji":    {"Grüße 👩‍👩‍👧 ❤️ שלום", "Grüße 👩‍👩‍👧 ❤️ שלום"},
		"colour":               {"a\x1b[31;1mred\x1b[0mb", "aredb"},
		"clear the screen":     {"\x1b[2J\x1b[Hgone", "gone"},
		"title":                {"a\x1b]0;evil\ab", "ab"},
		"clipboard":            {"a\x1b]52;c;ZXZpbA==\x1b\\b", "ab"},
		"hyperlink":            {"\x1b]8;;http://evil\x1b\\good\x1b]8;;\x1b\\", "good"},
		"device control":       {"a\x1bP+q544e\x1b\\b", "ab"},
		"8 bit control":        {"a\u009b31mb\u009d52;c;eA==\u009cc", "abc"},
		"string without end":   {"a\x1b]52;c;eA\nb", "a\nb"},
		"sequence without end": {"a\x1b[31", "a"},
		"escape alone":         {"a\x1b", "a"},
		"character set":        {"a\x1b(0b", "ab"},
		"reset":                {"a\x1bcb", "ab"},
		"bell and backspace":   {"a\a\bb\x00\x7f", "ab"},
		"line ends":            {"a\r\nb\rc", "a\nb\nc"},
		"bidi":                 {"a\u202eb\u2066c", "a⟨U+202E⟩b⟨U+2066⟩c"},
		"zero width":           {"pass\u200bword\ufeff", "pass⟨U+200B⟩word⟨U+FEFF⟩"},
		"tags":                 {"x\U000e0041", "x⟨U+E0041⟩"},
		"no text":              {"a\xff\xc0b", "a\ufffd\ufffdb"},
		"nested":               {"\x1b\x1b[31mx\x1b[\x1b[31my", "xy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := terminal.Clean(c.in); got != c.want {
				t.Errorf("Clean(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func hostile(r rune) bool {
	return r == '\x1b' || r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

func FuzzClean(f *testing.F) {
	f.Add("\x1b]52;c;\x1b\x1b[x\u009b")
	f.Fuzz(func(t *testing.T, s string) {
		once := terminal.Clean(s)
		if i := strings.IndexFunc(once, hostile); i >= 0 {
			t.Errorf("Clean(%q) leaves %q at %d", s, once, i)
		}
		if again := terminal.Clean(once); again != once {
			t.Errorf("cleaning twice differs: %q, then %q", once, again)
		}
		if letters := strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) }); !letters && !strings.ContainsFunc(s, func(r rune) bool {
			return unicode.Is(unicode.Cf, r) || r >= 0x2028 && r <= 0x2029 || r > 0xe0000 || r == unicode.ReplacementChar
		}) && once != s {
			t.Errorf("Clean(%q) = %q, though nothing in it is obeyed", s, once)
		}
	})
}
