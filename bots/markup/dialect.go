package markup

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// Dialect is what a platform reads, as data. A new platform is a new value, no new renderer.
type Dialect struct {
	Name string
	// Limit is the largest message in code points after rendering, 0 for none; MarginPercent of it stay free, as platforms count differently.
	Limit         int
	MarginPercent int
	// Escape makes text outside of code inert; EscapeCode does so within code. Both leave what has been escaped before alone when it is
	// parsed and rendered again. nil leaves the text.
	Escape     func(string) string
	EscapeCode func(string) string
	// Backslash: Markdown's signs in a text are taken literally behind a backslash.
	Backslash bool
	// Bold, Italic, Strike and Code are the marks on both sides of a span; "" drops the style. WideItalic is the italic mark that also works within a word.
	Bold, Italic, WideItalic, Strike, Code string
	// Guard stands between a mark and a letter beside it, where the platform knows marks at the bounds of words only.
	Guard string
	// Fence opens and closes a code block; "" shows the code without. Growing: a longer fence may hold a shorter one. Languages: the opener may name one.
	Fence     string
	Growing   bool
	Languages bool
	// Headings is the deepest level that has a sign; deeper ones become bold.
	Headings int
	// Bullets are the marks of a list and of one that follows it directly; Numbers those behind a number.
	Bullets, Numbers [2]string
	// Boxes stand before open and done tasks.
	Boxes [2]string
	// Quote begins a quoted line.
	Quote string
	// Rule and NestedRule part sections, NestedRule within a list or quote.
	Rule, NestedRule string
	// Link renders a link whose label and target are rendered already; nil shows both as text. Bare: a link whose label is its target stands as it is.
	Link func(label, target string) string
	Bare bool
	// Mention renders a mention that the policy allows; nil forbids all.
	Mention func(id string) string
	// Tables: a table of at most these sizes has signs of its own; others become monospaced code. Width is the widest that such code is laid out.
	TableRows, TableColumns, TableChars int
	Width                               int
}

// budget is the room of one message in code points; 0 means no limit.
func (d *Dialect) budget() int { return d.Limit - d.Limit*d.MarginPercent/100 }

// SlackMarkdown is Slack's markdown_text: standard Markdown in which Slack also reads its own tokens between angle brackets.
func SlackMarkdown() Dialect {
	d := commonMark()
	d.Name = "slack markdown_text"
	d.Limit, d.MarginPercent = 12_000, 10
	d.Escape = escapeMarkdown
	d.Mention = func(id string) string { return "<@" + id + ">" }
	return d
}

// SlackMrkdwn is the older markup of Slack's text field: for notifications, response URLs and hosts without markdown_text.
func SlackMrkdwn() Dialect {
	return Dialect{
		Name: "slack mrkdwn", Limit: 4_000, MarginPercent: 10,
		Escape: escapeMrkdwn, EscapeCode: escapeEntities,
		Bold: "*", Italic: "_", WideItalic: "_", Strike: "~", Code: "`", Guard: "\u200b",
		Fence:   "```",
		Bullets: [2]string{"•", "•"}, Numbers: [2]string{".", "."}, Boxes: [2]string{"☐", "☑"},
		Quote: "> ", Rule: "──────────", NestedRule: "──────────",
		Link:    mrkdwnLink,
		Mention: func(id string) string { return "<@" + id + ">" },
		Width:   80,
	}
}

// Plain is text without any markup, for places that read none.
func Plain() Dialect {
	return Dialect{
		Name: "plain", Escape: breakMassMentions,
		Bullets: [2]string{"-", "-"}, Numbers: [2]string{".", "."}, Boxes: [2]string{"[ ]", "[x]"},
		Quote: "> ", Rule: "----------", NestedRule: "----------", Width: 80,
	}
}

// Markdown is CommonMark with GitHub's extensions, as models read it; nothing in it is live.
func Markdown() Dialect {
	d := commonMark()
	d.Name = "markdown"
	d.Escape = escapeAngles
	return d
}

func commonMark() Dialect {
	return Dialect{
		Backslash: true, Bold: "**", Italic: "_", WideItalic: "*", Strike: "~~", Code: "`",
		Fence: "```", Growing: true, Languages: true, Headings: 6,
		Bullets: [2]string{"-", "+"}, Numbers: [2]string{".", ")"}, Boxes: [2]string{"[ ]", "[x]"},
		Quote: "> ", Rule: "---", NestedRule: "***",
		Link: func(label, target string) string { return "[" + label + "](" + escapeDestination(target) + ")" }, Bare: true,
		TableRows: 100, TableColumns: 20, TableChars: 9_500, Width: 80,
	}
}

var (
	entity = regexp.MustCompile(`&(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});`)
	// massMention is a word that calls everybody on one platform or another.
	massMention = regexp.MustCompile(`(?i)@(everyone|here|channel|group)\b`)
)

// breakMassMentions puts a space of no width into "@everyone" and its like; doing it again changes nothing.
func breakMassMentions(s string) string {
	if !strings.Contains(s, "@") {
		return s
	}
	return massMention.ReplaceAllString(s, "@\u200b$1")
}

var angles = strings.NewReplacer("<", "&lt;", ">", "&gt;")

// escapeMarkdown leaves "&" alone unless what follows makes it an entity, since an address may hold one.
func escapeMarkdown(s string) string {
	if strings.Contains(s, "&") {
		s = entity.ReplaceAllString(s, "&amp;$1;")
	}
	return angles.Replace(breakMassMentions(s))
}

var entities = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func escapeEntities(s string) string { return entities.Replace(s) }

func escapeMrkdwn(s string) string { return entities.Replace(breakMassMentions(s)) }

var angleStart = regexp.MustCompile(`<([a-zA-Z/!?@#])`)

func escapeAngles(s string) string {
	if strings.Contains(s, "&") {
		s = entity.ReplaceAllString(s, "&amp;$1;")
	}
	return angleStart.ReplaceAllString(s, `\<$1`)
}

var pipes = strings.NewReplacer("|", "¦", "\n", " ")

// escapeLabel keeps a label from ending its token: Slack knows no escape for the bar.
func escapeLabel(s string) string { return pipes.Replace(s) }

var targets = strings.NewReplacer("&", "&amp;", "<", "%3C", ">", "%3E", "|", "%7C", " ", "%20", "\n", "")

func escapeTarget(s string) string { return targets.Replace(s) }

func mrkdwnLink(label, target string) string {
	t, l := escapeTarget(target), escapeLabel(label)
	if t == l {
		return "<" + t + ">"
	}
	return "<" + t + "|" + l + ">"
}

var destinations = strings.NewReplacer("<", "%3C", ">", "%3E", " ", "%20", "\n", "", "\t", "%09", `\`, "%5C", "`", "%60", "|", "%7C")

// escapeDestination keeps a target exact but for signs that would end it.
func escapeDestination(s string) string {
	s = destinations.Replace(s)
	if depth := 0; strings.ContainsAny(s, "()") {
		for _, r := range s {
			switch r {
			case '(':
				depth++
			case ')':
				depth--
			}
			if depth < 0 || depth > 20 {
				depth = -1
				break
			}
		}
		if depth != 0 {
			s = strings.NewReplacer("(", "%28", ")", "%29").Replace(s)
		}
	}
	return entity.ReplaceAllString(s, "&amp;$1;")
}

func length(s string) int { return utf8.RuneCountInString(s) }
