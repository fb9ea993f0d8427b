package chat

import (
	"net/url"
	"strings"
)

// Platform is "slack", "discord", "console"; core compares it with nothing.
type Platform string

// Workspace is one Slack team or Discord guild: "slack:T123", "discord:G456", "console:local".
type Workspace string

// Platform is the part before the colon.
func (w Workspace) Platform() Platform {
	p, _, _ := strings.Cut(string(w), ":")
	return Platform(p)
}

// IdentityID is a person's account on one platform: "slack:T123/U1", "discord:789", "console:local/me".
type IdentityID string

// Conversation is where a message stands. Channel and Thread are the adapter's own ids; Thread is empty outside of threads.
type Conversation struct {
	Workspace Workspace `json:"workspace"`
	Channel   string    `json:"channel"`
	Thread    string    `json:"thread,omitempty"`
}

// Key is the conversation's name in the store: its parts escaped and joined by '/'.
func (c Conversation) Key() string {
	return url.PathEscape(string(c.Workspace)) + "/" + url.PathEscape(c.Channel) + "/" + url.PathEscape(c.Thread)
}

// ParseConversation reads what Key wrote; ok is false for anything else.
func ParseConversation(key string) (c Conversation, ok bool) {
	parts := strings.Split(key, "/")
	if len(parts) != 3 {
		return c, false
	}
	var out [3]string
	for i, p := range parts {
		s, err := url.PathUnescape(p)
		if err != nil {
			return Conversation{}, false
		}
		out[i] = s
	}
	c = Conversation{Workspace: Workspace(out[0]), Channel: out[1], Thread: out[2]}
	return c, c.Key() == key && c.Workspace != "" && c.Channel != ""
}

// ChannelKey names the channel over all its threads: what shares a platform's pace.
func (c Conversation) ChannelKey() string {
	return url.PathEscape(string(c.Workspace)) + "/" + url.PathEscape(c.Channel)
}
