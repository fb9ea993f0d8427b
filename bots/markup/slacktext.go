package markup

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Names finds what ids are called. A nil function, or one that answers "", leaves the id.
type Names struct {
	User, Channel, Group func(id string) string
}

func (n Names) user(id, label string) string    { return "@" + name(n.User, id, label) }
func (n Names) channel(id, label string) string { return "#" + name(n.Channel, id, label) }
func (n Names) group(id, label string) string {
	return "@" + strings.TrimPrefix(name(n.Group, id, label), "@")
}

func name(find func(string) string, id, label string) string {
	if find != nil {
		if s := find(id); s != "" {
			return s
		}
	}
	if label != "" {
		return label
	}
	return id
}

// FromSlackText makes Markdown of a message's text field (Slack's mrkdwn). Slack's tokens are taken out first, then its three entities are
// decoded, once: "&amp;lt;" comes back as "&lt;". Signs inside of code stay as they are.
func FromSlackText(s string, names Names) string {
	t := slackText{names: names}
	return t.convert(strings.ReplaceAll(s, "\r\n", "\n"))
}

// DecodeSlack decodes Slack's three entities in one pass, and no others.
func DecodeSlack(s string) string { return slackEntities.Replace(s) }

// EncodeSlack escapes what Slack would read as the start of a token or an entity.
func EncodeSlack(s string) string { return escapeEntities(s) }

var slackEntities = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

// held marks the place of a finished part while the text around it is read. It is a private rune, which no message may bring along.
const held = '\ue000'

type slackText struct {
	names Names
	parts []string
}

func (t *slackText) hold(s string) string {
	t.parts = append(t.parts, s)
	return string(held)
}

func (t *slackText) convert(s string) string {
	s = private.Replace(strings.ToValidUTF8(s, "\ufffd"))
	s = t.codes(s)
	s = DecodeSlack(s)
	s = bullets.ReplaceAllString(s, "$1- ")
	s = restyle(s, '*', "**")
	s = restyle(s, '~', "~~")
	var b strings.Builder
	next := 0
	for _, r := range s {
		if r == held {
			b.WriteString(t.parts[next])
			next++
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

var private = strings.NewReplacer(string(held), "\ufffd", codeOpen, "\ufffd", codeClose, "\ufffd")

var (
	slackToken = regexp.MustCompile(`<[^<>\n]+>`)
	fenced     = regexp.MustCompile("(?s)```(.+?)```")
	inlined    = regexp.MustCompile("`[^`\n]+`")
	bullets    = regexp.MustCompile(`(?m)^([ \t]*)[•◦▪▫‣][ \t]+`)
)

// codes holds the code in a text. The held parts must stand in the text's order, so both sorts are found in one walk.
func (t *slackText) codes(s string) string {
	var b strings.Builder
	for s != "" {
		at := fenced.FindStringSubmatchIndex(s)
		plain := s
		if at != nil {
			plain = s[:at[0]]
		}
		b.WriteString(t.mark(plain))
		if at == nil {
			break
		}
		code := strings.Trim(t.literal(s[at[2]:at[3]]), "\n")
		fence := "```"
		for n := longestRun(code, '`'); len(fence) <= n; {
			fence += "`"
		}
		block := fence + "\n" + code + "\n" + fence
		if out := b.String(); out != "" && !strings.HasSuffix(out, "\n") {
			block = "\n" + block
		}
		s = s[at[1]:]
		if s != "" && !strings.HasPrefix(s, "\n") {
			block += "\n"
		}
		b.WriteString(codeOpen + block + codeClose)
	}
	// Everything between the two marks is held as it is, in order with the tokens.
	return t.seal(b.String())
}

// codeOpen and codeClose stand around finished code until tokens are read; like held they are private runes.
const (
	codeOpen  = "\ue001"
	codeClose = "\ue002"
)

func (t *slackText) mark(s string) string {
	return inlined.ReplaceAllStringFunc(s, func(m string) string { return codeOpen + t.literal(m) + codeClose })
}

// literal is text within code: tokens as their plain text, entities decoded.
func (t *slackText) literal(s string) string {
	var b strings.Builder
	for s != "" {
		at := slackToken.FindStringIndex(s)
		if at == nil {
			b.WriteString(DecodeSlack(s))
			break
		}
		b.WriteString(DecodeSlack(s[:at[0]]))
		b.WriteString(t.token(s[at[0]:at[1]], true))
		s = s[at[1]:]
	}
	return b.String()
}

var sealed = regexp.MustCompile(`(?s)\x{e001}(.*?)\x{e002}|<[^<>\n]+>`)

// seal holds code and tokens in the order of the text.
func (t *slackText) seal(s string) string {
	return sealed.ReplaceAllStringFunc(s, func(m string) string {
		if rest, ok := strings.CutPrefix(m, codeOpen); ok {
			return t.hold(strings.TrimSuffix(rest, codeClose))
		}
		return t.hold(t.token(m, false))
	})
}

// token is what one of Slack's tokens stands for, as Markdown, or plain within code.
func (t *slackText) token(m string, plain bool) string {
	body, label, _ := strings.Cut(m[1:len(m)-1], "|")
	body, label = DecodeSlack(body), DecodeSlack(label)
	switch {
	case strings.HasPrefix(body, "@"):
		return t.names.user(body[1:], label)
	case strings.HasPrefix(body, "#"):
		return t.names.channel(body[1:], label)
	case strings.HasPrefix(body, "!subteam^"):
		return t.names.group(strings.TrimPrefix(body, "!subteam^"), label)
	case strings.HasPrefix(body, "!date^"):
		if label == "" {
			return body
		}
		return label
	case strings.HasPrefix(body, "!"):
		return "@" + strings.TrimPrefix(body[1:], "@")
	}
	bare := label == "" || label == body || "mailto:"+label == body || "tel:"+label == body
	switch {
	case !strings.Contains(body, ":"): // no token of Slack's
		return DecodeSlack(m)
	case bare && label != "":
		return label
	case bare:
		return body
	case plain:
		return label
	}
	d := commonMark()
	w := inlineWriter{writer: writer{d: &d}, pairs: map[rune]bool{'*': true, '_': true, '~': true}}
	return d.Link(w.text(label, true, ']', false), body)
}

// restyle doubles Slack's single marks, which stand at the bounds of words and within a line.
func restyle(s string, mark rune, with string) string {
	rs := []rune(s)
	var b strings.Builder
	for i := 0; i < len(rs); i++ {
		if rs[i] == mark && (i == 0 || !joinsWord(rs[i-1], mark)) {
			if end := closing(rs, i, mark); end > 0 {
				b.WriteString(with + string(rs[i+1:end]) + with)
				i = end
				continue
			}
		}
		b.WriteRune(rs[i])
	}
	return b.String()
}

func joinsWord(r, mark rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == mark }

// closing finds the mark that ends the run opened at i, 0 when there is none in the line.
func closing(rs []rune, i int, mark rune) int {
	if i+1 >= len(rs) || unicode.IsSpace(rs[i+1]) || rs[i+1] == mark {
		return 0
	}
	for j := i + 2; j < len(rs) && rs[j] != '\n'; j++ {
		if rs[j] != mark {
			continue
		}
		if !unicode.IsSpace(rs[j-1]) && (j+1 == len(rs) || !joinsWord(rs[j+1], mark)) {
			return j
		}
		return 0
	}
	return 0
}

// emoji is the sign that Slack's hyphenated code points stand for, "" when they are none.
func emoji(unicodes string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(unicodes, "-") {
		var r rune
		for _, c := range strings.ToLower(part) {
			d := strings.IndexRune("0123456789abcdef", c)
			if d < 0 || r > unicode.MaxRune {
				return ""
			}
			r = r<<4 | rune(d)
		}
		if r == 0 || !utf8.ValidRune(r) {
			return ""
		}
		b.WriteRune(r)
	}
	return b.String()
}
