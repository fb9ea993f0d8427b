package slack

import (
	"regexp"
	"strings"

	"herald/bots/markup"
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
	textNoForm   = "I could not show the form in time. Click again, or write what you wanted to say."
	textCancel   = "Cancel"
)

// markdown is a message as Markdown, without the mention of the app with which it begins.
func (a *Adapter) markdown(who *self, m *message) string {
	name := firstOf(who.name, who.user)
	names := markup.Names{User: func(id string) string {
		if id == who.user {
			return name
		}
		known, _ := a.names.get(id)
		return known
	}}
	text := markup.FromSlackMessage(m.Text, m.Blocks, m.Attachments, names)
	if strings.HasPrefix(strings.TrimSpace(m.Text), "<@"+who.user) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(text), "@"+name); ok {
			return strings.TrimLeft(rest, " ,:\n")
		}
	}
	return text
}
