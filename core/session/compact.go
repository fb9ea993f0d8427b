package session

import (
	"fmt"
	"strings"

	"herald/core/model"
)

// KeepRecent is how many of the last entries of a history a summary leaves as they are.
const KeepRecent = 6

// Limits in runes of what one entry brings into a summary.
const (
	summaryHeadRunes, summaryTailRunes = 6000, 1500
	summaryArguments                   = 1200
)

// HasOlder reports whether a frame's history has a part that a summary may stand for.
func (h *History) HasOlder(frame string) bool { return h.split(frame) > 0 }

// split is how many entries of a frame a summary may stand for.
func (h *History) split(frame string) int {
	t := h.threads[frame]
	if t == nil {
		return 0
	}
	n := len(t.items) - KeepRecent
	for n > 0 && t.items[n].role != model.User {
		n--
	}
	return max(n, 0)
}

// Older is the part of a frame's history that a summary may stand for: the text of its entries, the summary before it, and the first entry
// that stays. It ends at what a person said, so that no call is parted from its result. clean takes out what no summary may hold, before long
// texts are cut: half a secret has no form any more. ok is false where there is nothing to summarise.
func (h *History) Older(frame string, clean func(string) string) (text, prior string, from int64, ok bool) {
	split := h.split(frame)
	if split == 0 {
		return "", "", 0, false
	}
	t := h.threads[frame]
	var b strings.Builder
	for _, i := range t.items[:split] {
		switch i.role {
		case model.User:
			fmt.Fprintf(&b, "PERSON: %s\n\n", clipped(clean(i.text+Attached(i.files))))
		case model.Assistant:
			if i.text != "" {
				fmt.Fprintf(&b, "AGENT: %s\n\n", clipped(clean(i.text)))
			}
			for _, c := range i.calls {
				args := []rune(clean(string(c.Arguments)))
				if len(args) > summaryArguments {
					args = append(args[:summaryArguments:summaryArguments], '…')
				}
				fmt.Fprintf(&b, "CALL of %s: %s\n\n", c.Name, string(args))
			}
		case model.Tool:
			fmt.Fprintf(&b, "RESULT: %s\n\n", clipped(clean(i.text)))
		}
	}
	return strings.TrimSpace(b.String()), t.summary, t.items[split].seq, true
}

// Task is what the agent of a child frame was asked, "" for other frames.
func (h *History) Task(frame string) string {
	if t := h.threads[frame]; t != nil && frame != rootFrame && len(t.items) > 0 {
		return t.items[0].text
	}
	return ""
}

// Size is about how many tokens a frame's history has, for a model that does not count them: a quarter of its characters.
func (h *History) Size(frame string) int {
	n := 0
	for _, m := range h.Visible(frame) {
		n += len(m.Text)
		for _, c := range m.Calls {
			n += len(c.Arguments)
		}
	}
	return n / 4
}

// clipped is a text without its middle where it is long.
func clipped(s string) string {
	r := []rune(s)
	if len(r) <= summaryHeadRunes+summaryTailRunes {
		return s
	}
	return string(r[:summaryHeadRunes]) + "\n[…]\n" + string(r[len(r)-summaryTailRunes:])
}
