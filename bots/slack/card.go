package slack

import (
	"fmt"
	"strings"

	slackgo "github.com/slack-go/slack"

	"herald/core/chat"
)

// Slack's limits on cards.
const (
	maxButtons     = 25
	maxButtonLabel = 75
	maxSection     = 2_900
)

// cardBlocks shows a card below a text; nil for none.
func cardBlocks(c *chat.Card) (all []slackgo.Block) {
	if c == nil {
		return nil
	}
	section := func(text string) {
		all = append(all, slackgo.NewSectionBlock(slackgo.NewTextBlockObject(slackgo.MarkdownType, cutRunes(text, maxSection), false, true), nil, nil))
	}
	if c.Title != "" {
		section("*" + plain(c.Title) + "*")
	}
	var fields strings.Builder
	for _, f := range c.Fields {
		fmt.Fprintf(&fields, "*%s:* %s\n", plain(f.Name), plain(f.Value))
	}
	if fields.Len() > 0 {
		section(fields.String())
	}
	for from := 0; from < len(c.Buttons); from += maxButtons {
		var row []slackgo.BlockElement
		for i, b := range c.Buttons[from:min(from+maxButtons, len(c.Buttons))] {
			e := slackgo.NewButtonBlockElement(fmt.Sprintf("herald_%d", from+i), buttonValue(&b), slackgo.NewTextBlockObject(slackgo.PlainTextType, cutRunes(b.Label, maxButtonLabel), false, false))
			if b.Danger {
				e.Style = slackgo.StyleDanger
			}
			row = append(row, e)
		}
		all = append(all, slackgo.NewActionBlock("", row...))
	}
	return all
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// plain makes a text inert where Slack reads its own form.
func plain(s string) string { return escaper.Replace(s) }
