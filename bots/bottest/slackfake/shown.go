package slackfake

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// Shown is what a person reads: the blocks' texts when there are blocks, one block a line, or else the text; entities are decoded.
// Markdown stays as it was given.
func (m *Message) Shown() string {
	var blocks []object
	if len(m.Blocks) == 0 || json.Unmarshal(m.Blocks, &blocks) != nil {
		return unescaper.Replace(m.Text)
	}
	parts := []string{}
	for _, b := range blocks {
		var out strings.Builder
		shown(&out, b, text(b, "type") != "rich_text" && text(b, "type") != "table")
		if out.Len() > 0 {
			parts = append(parts, out.String())
		}
	}
	return strings.Join(parts, "\n")
}

// sections are the parts of rich text that stand on lines of their own.
var sections = []string{"rich_text_section", "rich_text_preformatted", "rich_text_quote"}

// shown writes the texts below v in their order; mrkdwn texts are escaped, those of rich text are not.
func shown(out *strings.Builder, v any, escaped bool) {
	switch v := v.(type) {
	case []any:
		for _, each := range v {
			shown(out, each, escaped)
		}
	case object:
		if slices.Contains(sections, text(v, "type")) && out.Len() > 0 {
			out.WriteString("\n")
		}
		switch t, ok := v["text"].(string); {
		case ok && escaped && text(v, "type") != "plain_text":
			out.WriteString(unescaper.Replace(t))
		case ok:
			out.WriteString(t)
		case text(v, "type") == "user":
			out.WriteString("<@" + text(v, "user_id") + ">")
		case text(v, "type") == "link":
			out.WriteString(text(v, "url"))
		}
		for _, key := range []string{"text", "fields", "elements", "accessory", "label", "element", "rows"} {
			if _, isText := v[key].(string); !isText {
				shown(out, v[key], escaped)
			}
		}
	}
}

var (
	// code is what Slack does not read tokens in, as far as Markdown goes.
	code = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	// live are tokens that notify, or that link with a text of the writer's choice.
	live = regexp.MustCompile(`<(?:[@#!]|https?:|mailto:)[^<>]*>`)
)

// Live lists what a message makes happen beyond being read: mentions of people, groups, channels and everyone, and links with a label, in
// Slack's form. A test of hostile text asks that it holds what policy allowed, and nothing else.
func (m *Message) Live() []string {
	var out []string
	if m.Markdown != "" {
		out = live.FindAllString(code.ReplaceAllString(m.Markdown, ""), -1)
	} else if len(m.Blocks) == 0 {
		out = live.FindAllString(m.Text, -1)
	}
	var blocks []any
	if len(m.Blocks) > 0 && json.Unmarshal(m.Blocks, &blocks) == nil {
		out = alive(out, blocks)
	}
	return out
}

func alive(out []string, v any) []string {
	switch v := v.(type) {
	case []any:
		for _, each := range v {
			out = alive(out, each)
		}
	case object:
		switch text(v, "type") {
		case "mrkdwn":
			out = append(out, live.FindAllString(text(v, "text"), -1)...)
		case "markdown":
			out = append(out, live.FindAllString(code.ReplaceAllString(text(v, "text"), ""), -1)...)
		case "user":
			out = append(out, "<@"+text(v, "user_id")+">")
		case "channel":
			out = append(out, "<#"+text(v, "channel_id")+">")
		case "usergroup":
			out = append(out, "<!subteam^"+text(v, "usergroup_id")+">")
		case "broadcast":
			out = append(out, "<!"+text(v, "range")+">")
		case "link":
			link := "<" + text(v, "url")
			if label := text(v, "text"); label != "" {
				link += "|" + label
			}
			out = append(out, link+">")
		}
		for _, key := range []string{"text", "fields", "elements", "accessory", "label", "element", "rows"} {
			if _, isText := v[key].(string); !isText {
				out = alive(out, v[key])
			}
		}
	}
	return out
}
