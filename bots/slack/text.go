package slack

import (
	"regexp"
	"strings"
)

// token is what Slack makes of a choice from a menu or of an address.
var tokenForm = regexp.MustCompile(`<([^<>\n]+)>`)

// found is what the tokens of a text say.
type found struct {
	users map[string]bool
	// everybody: the whole channel is mentioned; somebody: a person or group is.
	everybody, somebody bool
}

func (f found) mentions(user string) bool { return f.users[user] }

func tokens(text string) (f found) {
	for _, m := range tokenForm.FindAllStringSubmatch(text, -1) {
		name, _, _ := strings.Cut(m[1], "|")
		switch {
		case strings.HasPrefix(name, "@"):
			if f.users == nil {
				f.users = map[string]bool{}
			}
			f.users[name[1:]], f.somebody = true, true
		case strings.HasPrefix(name, "!subteam^"):
			f.somebody = true
		case name == "!here", name == "!channel", name == "!everyone":
			f.everybody = true
		}
	}
	return f
}

// The texts of the adapter's own, in one place so that they can be translated together.
const (
	textFailed   = "Something went wrong inside of me, so this may not have been done. Try again."
	textStarting = "I am just starting. Try again in a moment."
	textBusy     = "I am too busy at the moment. Try again."
)

// markdown is the text of a message as Markdown, without the mention of the app with which it begins.
func (a *Adapter) markdown(who *self, m *message) string {
	text := m.Text
	for _, form := range []string{"<@" + who.user + ">", "<@" + who.user + "|" + who.name + ">"} {
		if rest, ok := strings.CutPrefix(strings.TrimLeft(text, " \n"), form); ok {
			text = strings.TrimLeft(rest, " ,:\n")
			break
		}
	}
	return plainTokens(text)
}

// plainTokens makes Slack's own form readable: each token by what it names, then the three entities once.
func plainTokens(text string) string {
	var b strings.Builder
	last := 0
	for _, at := range tokenForm.FindAllStringSubmatchIndex(text, -1) {
		b.WriteString(decode(text[last:at[0]]))
		b.WriteString(readToken(text[at[2]:at[3]]))
		last = at[1]
	}
	b.WriteString(decode(text[last:]))
	return b.String()
}

var entities = strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">")

// decode undoes Slack's escaping in one pass: what a person typed as an entity stays one.
func decode(s string) string { return entities.Replace(s) }

func readToken(t string) string {
	name, shown, _ := strings.Cut(t, "|")
	shown = decode(shown)
	switch {
	case strings.HasPrefix(name, "@"), strings.HasPrefix(name, "#"):
		return name[:1] + firstOf(shown, name[1:])
	case strings.HasPrefix(name, "!subteam^"):
		return firstOf(shown, "@"+strings.TrimPrefix(name, "!subteam^"))
	case strings.HasPrefix(name, "!date^"):
		return shown
	case strings.HasPrefix(name, "!"):
		return "@" + name[1:]
	}
	url := decode(strings.TrimPrefix(name, "mailto:"))
	if shown == "" || shown == url {
		return url
	}
	return "[" + shown + "](" + url + ")"
}
