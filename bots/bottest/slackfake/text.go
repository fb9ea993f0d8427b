package slackfake

import (
	"regexp"
	"strings"
)

var (
	escaper   = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	unescaper = strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">")
	// tokens are what the client makes of a choice from its menus; links what it makes of a bare address.
	tokens    = regexp.MustCompile(`<(?:@[UW][A-Z0-9]+|#C[A-Z0-9]+|!subteam\^S[A-Z0-9]+|!(?:here|channel|everyone))(?:\|[^<>]*)?>`)
	links     = regexp.MustCompile(`https?://[^\s<>]*[^\s<>.,;:!?)\]'"]`)
	wireToken = regexp.MustCompile(`<([^<>]+)>`)
)

// typed is Slack's form of what a person typed.
func typed(text string, literal bool) string {
	var b strings.Builder
	plain := func(part string) {
		last := 0
		for _, at := range links.FindAllStringIndex(part, -1) {
			b.WriteString(escaper.Replace(part[last:at[0]]))
			b.WriteString("<" + escaper.Replace(part[at[0]:at[1]]) + ">")
			last = at[1]
		}
		b.WriteString(escaper.Replace(part[last:]))
	}
	if literal {
		plain(text)
		return b.String()
	}
	last := 0
	for _, at := range tokens.FindAllStringIndex(text, -1) {
		plain(text[last:at[0]])
		b.WriteString(text[at[0]:at[1]])
		last = at[1]
	}
	plain(text[last:])
	return b.String()
}

// richText is the block that the clients make of a text in Slack's form.
func richText(text string) []byte {
	elements := []any{}
	plain := func(part string) {
		if part != "" {
			elements = append(elements, map[string]any{"type": "text", "text": unescaper.Replace(part)})
		}
	}
	last := 0
	for _, at := range wireToken.FindAllStringSubmatchIndex(text, -1) {
		plain(text[last:at[0]])
		elements = append(elements, richElement(text[at[2]:at[3]]))
		last = at[1]
	}
	plain(text[last:])
	return mustEncode([]any{map[string]any{
		"type": "rich_text", "block_id": "rt", "elements": []any{map[string]any{"type": "rich_text_section", "elements": elements}},
	}})
}

func richElement(token string) map[string]any {
	name, label, _ := strings.Cut(token, "|")
	switch {
	case strings.HasPrefix(name, "@"):
		return map[string]any{"type": "user", "user_id": name[1:]}
	case strings.HasPrefix(name, "#"):
		return map[string]any{"type": "channel", "channel_id": name[1:]}
	case strings.HasPrefix(name, "!subteam^"):
		return map[string]any{"type": "usergroup", "usergroup_id": strings.TrimPrefix(name, "!subteam^")}
	case strings.HasPrefix(name, "!"):
		return map[string]any{"type": "broadcast", "range": name[1:]}
	}
	link := map[string]any{"type": "link", "url": unescaper.Replace(name)}
	if label != "" {
		link["text"] = unescaper.Replace(label)
	}
	return link
}
