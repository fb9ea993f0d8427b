package slack

import (
	"herald/bots/markup"
	"herald/core/chat"
)

// Cut renders Markdown into pieces that each fit a message; nothing in them is a live mention.
func (a *Adapter) Cut(_ chat.Conversation, markdown string) []string {
	return markup.Cut(markdown, markup.SlackMarkdown(), markup.Policy{})
}

// mrkdwn is a rendered piece in the older form that notifications, cards and response_urls take, at most n characters of it.
func mrkdwn(text string, n int) string {
	return cutRunes(markup.Parse(text).Text(markup.SlackMrkdwn(), markup.Policy{}), n)
}
