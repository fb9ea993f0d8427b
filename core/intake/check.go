package intake

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"herald/core/chat"
)

// The largest ids of an event in bytes. Together they keep every name that is made of them inside of the store's 512.
const (
	maxApp          = 64
	maxID           = 100
	maxIdentity     = 150
	maxChannel      = 200 // of Conversation.ChannelKey, which is escaped
	maxConversation = 400 // of Conversation.Key
	maxAction       = 300
	maxFiles        = 100
	maxName         = 200 // runes of shown names: they are for reading only, so longer ones are cut
)

// problem says what is malformed about an event, "" for nothing. place is true when its conversation is one, so that a row about the
// event can stand there.
func problem(in *chat.Inbound) (what string, place bool) {
	c := in.Conversation
	switch {
	case c.Workspace == "" || c.Channel == "":
		return "its conversation has no workspace or no channel", false
	case !clean(string(c.Workspace)) || !clean(c.Channel) || !clean(c.Thread):
		return "its conversation has invalid characters", false
	case len(c.ChannelKey()) > maxChannel || len(c.Key()) > maxConversation:
		return fmt.Sprintf("its conversation's name is longer than %d bytes", maxConversation), false
	}
	switch in.Kind {
	case chat.Message, chat.Edit, chat.Delete, chat.Command, chat.Click:
	default:
		return fmt.Sprintf("its kind %q is unknown", short(string(in.Kind))), true
	}
	for _, f := range []struct {
		name, value string
		limit       int
		optional    bool
	}{
		{"app", in.App, maxApp, false},
		{"message id", in.MessageID, maxID, false},
		{"order", in.Order, maxID, in.Kind == chat.Click},
		{"sender", string(in.Sender.Identity), maxIdentity, false},
		{"action", in.Action, maxAction, in.Kind != chat.Click},
	} {
		switch {
		case f.value == "" && !f.optional:
			return "it has no " + f.name, true
		case len(f.value) > f.limit:
			return fmt.Sprintf("its %s is longer than %d bytes", f.name, f.limit), true
		case !clean(f.value):
			return fmt.Sprintf("its %s has invalid characters", f.name), true
		}
	}
	// The parts of a dedupe key and of an entry's name are joined by these two.
	if strings.Contains(in.App+in.MessageID+in.Order, "|") || strings.Contains(in.Order, "~") {
		return "its app, message id or order has a separator in it", true
	}
	if len(in.Files) > maxFiles {
		return fmt.Sprintf("it has more than %d files", maxFiles), true
	}
	return "", true
}

// clean reports whether an id is valid text without control characters.
func clean(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// tidy brings what people wrote into a form that every store keeps as it is: valid UTF-8, with shown names of a sane length.
func tidy(in *chat.Inbound) *chat.Inbound {
	out := *in
	out.Text = strings.ToValidUTF8(in.Text, "\uFFFD")
	out.Sender.Name = short(in.Sender.Name)
	out.Files = nil
	for _, f := range in.Files {
		f.ID, f.Name, f.MIME = strings.ToValidUTF8(f.ID, "\uFFFD"), short(f.Name), short(f.MIME)
		out.Files = append(out.Files, f)
	}
	return &out
}

// short is a shown name on one line, cut to a sane length.
func short(s string) string {
	n := 0
	return strings.Map(func(r rune) rune {
		if n++; n > maxName {
			return -1
		}
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
