package markup

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// leaf renders one span without its outer styles; toLink tells that a link follows.
func (w *inlineWriter) leaf(s Span, link bool, next rune, toLink bool) {
	switch {
	case s.Mention != "":
		w.b.WriteString(w.d.Mention(s.Mention))
	case s.Style&Code != 0 && w.d.Code != "":
		w.b.WriteString(w.codeSpan(s.Text))
	case s.Style&Code != 0:
		w.b.WriteString(s.Text)
	default:
		w.b.WriteString(w.text(s.Text, link, next, toLink))
	}
}

// codeSpan chooses marks that do not stand in the code.
func (w *inlineWriter) codeSpan(code string) string {
	if w.d.EscapeCode != nil {
		code = w.d.EscapeCode(code)
	}
	if w.at.cell {
		code = strings.ReplaceAll(code, "|", `\|`)
	}
	mark := w.d.Code
	if !w.d.Growing {
		return mark + strings.ReplaceAll(code, mark, "ˋ") + mark
	}
	for n := 1; hasRun(code, len(mark)); n++ {
		mark += w.d.Code
	}
	if strings.HasPrefix(code, "`") || strings.HasSuffix(code, "`") ||
		strings.HasPrefix(code, " ") && strings.HasSuffix(code, " ") && strings.TrimSpace(code) != "" {
		code = " " + code + " "
	}
	return mark + code + mark
}

// hasRun reports whether s has a run of exactly n backticks.
func hasRun(s string, n int) bool {
	run := 0
	for i := range len(s) + 1 {
		if i < len(s) && s[i] == '`' {
			run++
			continue
		}
		if run == n {
			return true
		}
		run = 0
	}
	return false
}

// link renders the parts of one link; ahead is the text that follows in the block.
func (w *inlineWriter) link(spans []Span, active Style, next rune, ahead string) {
	label, target := textOf(spans), spans[0].URL
	if w.d.Link == nil { // only a bare one comes here
		w.run(spans, active, true, next)
		return
	}
	if w.d.Bare && w.writer.bare(label, target) && len(spans) == 1 && spans[0].Style&^active == 0 && standsBare(w.last(), label, next, ahead) {
		w.b.WriteString(label)
		return
	}
	inner := inlineWriter{writer: w.writer, at: w.at, pairs: w.pairs}
	inner.run(spans, active, true, ']')
	if w.at.cell {
		target = strings.ReplaceAll(target, "|", "%7C")
	}
	w.b.WriteString(w.d.Link(inner.b.String(), target))
}

var bareAddress = regexp.MustCompile(`^(?:(?:https?|ftp)://|www\.)[^\s<>|\\` + "`" + `\[\]()]*[^\s<>|\\` + "`" + `*_~\[\]().,:;!?'"]$|^[a-zA-Z0-9.+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]+$`)

// standsBare reports whether an address between these runes is read as a link of just its own length.
func standsBare(prev rune, label string, next rune, ahead string) bool {
	if prev != 0 && prev != ' ' && prev != '\n' && prev != '(' {
		return false
	}
	if strings.ContainsRune(".,:;!?", next) && ahead != "" { // the end of a sentence, not a part of the address
		after, _ := utf8.DecodeRuneInString(ahead[1:])
		next = ' '
		if len(ahead) > 1 && !unicode.IsSpace(after) {
			return false
		}
	}
	if next != 0 && !unicode.IsSpace(next) && next != ')' {
		return false
	}
	return bareAddress.MatchString(label) && !entity.MatchString(label)
}

// text makes a text inert, and its signs literal where the dialect has a way to say so.
func (w *inlineWriter) text(s string, link bool, next rune, toLink bool) string {
	escape := w.d.Escape
	if escape == nil {
		escape = func(s string) string { return s }
	}
	if !w.d.Backslash {
		return escape(s)
	}
	var b strings.Builder
	plain := 0
	flush := func(to int) {
		b.WriteString(escape(s[plain:to]))
	}
	prev := w.last()
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		run := size
		hit := false
		rest := s[i+size:]
		switch r {
		case '\\':
			hit = rest == "" || rest[0] < 0x80 && isPunct(rune(rest[0])) || rest[0] == '\n' || rest[0] == ' '
		case '`':
			hit = true
		case '*', '_', '~':
			for i+run < len(s) && s[i+run] == s[i] {
				run++
			}
			after := next
			if i+run < len(s) {
				after, _ = utf8.DecodeRuneInString(s[i+run:])
			}
			hit = w.pairs[r] && !(open(prev) && open(after)) && !(r == '_' && isWord(prev) && isWord(after))
		case '[':
			hit = link
		case ']':
			hit = link || rest == "" || strings.ContainsRune("([:", rune(rest[0]))
		case '!':
			hit = rest == "" && toLink
		case '|':
			hit = w.at.cell
		}
		if hit {
			flush(i)
			for range run / size {
				b.WriteByte('\\')
				b.WriteRune(r)
			}
			plain = i + run
		}
		i += run
		prev = r
	}
	flush(len(s))
	return b.String()
}

func open(r rune) bool { return r == 0 || unicode.IsSpace(r) }

var (
	lineStart  = regexp.MustCompile(`^(?:#{1,6}|[-+*])(?:[ \t]|$)|^(?:=+|-+)[ \t]*$|^~{3,}|^>|^(?:[-_*][ \t]*){3,}$`)
	lineNumber = regexp.MustCompile(`^(\d{1,9})([.)])([ \t]|$)`)
	tableLine  = regexp.MustCompile(`^[ \t|:-]*-[ \t|:-]*$`)
	taskBox    = regexp.MustCompile(`^\[[ xX]\]`)
)

// escapeLines keeps the start of a line from being read as the sign of a block.
func escapeLines(s string, at place) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		switch {
		case l == "":
		case lineNumber.MatchString(l):
			lines[i] = lineNumber.ReplaceAllString(l, `$1\$2$3`)
		case lineStart.MatchString(l), tableLine.MatchString(l), i == 0 && at.item && taskBox.MatchString(l):
			lines[i] = `\` + l
		}
	}
	return strings.Join(lines, "\n")
}
