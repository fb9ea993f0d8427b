package intake

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"herald/core/chat"
	"herald/core/command"
)

// ask makes of the command an ordinary message to the agent, in the conversation of the place where it was typed.
func (i *Intake) ask(ctx context.Context, e *event) (chat.Outcome, Reason, error) {
	chats := i.chats()
	agent, text := addressee(e.command.Text, chats)
	switch {
	case agent != "" && !slices.Contains(chats, agent):
		there := textNoAgents
		if len(chats) > 0 {
			there = fmt.Sprintf(textAgents, strings.Join(chats, "`, `"))
		}
		return i.say(ctx, e, UnknownCommand, fmt.Sprintf(textNoAgent, strings.ReplaceAll(short(agent), "`", ""), there), false)
	case text == "":
		return i.say(ctx, e, Empty, fmt.Sprintf(textNoWords, agent), false)
	case len(text) > e.policy.Text:
		return i.say(ctx, e, TooLong, tooLong(len(text), e.policy.Text), false)
	}
	e.agent, e.in.Text = agent, text
	if e.in.Kind == chat.Command {
		// Only the caller sees a command of the platform: an answer to a question that nobody can read would puzzle everybody else.
		e.shown = e.delivery(asks(e.in.Sender.Name, agent, text), false)
		e.shown.Interaction = ""
	}
	return i.queue(ctx, e)
}

// addressee splits what stands behind the command into the agent that is named and the text. The first word is a name when it is one of
// chats, or begins with '@'; then it may be one that does not exist.
func addressee(s string, chats []string) (agent, text string) {
	word, tail := s, ""
	if n := strings.IndexFunc(s, unicode.IsSpace); n >= 0 {
		word, tail = s[:n], strings.TrimSpace(s[n:])
	}
	name, meant := strings.CutPrefix(word, "@")
	if n := slices.IndexFunc(chats, func(id string) bool { return strings.EqualFold(id, name) }); n >= 0 {
		return chats[n], tail
	}
	if meant && name != "" {
		return name, tail
	}
	return "", s
}

// asks shows who asked whom what.
func asks(name, agent, text string) string {
	if name == "" {
		name = "Somebody"
	}
	quoted := "> " + strings.ReplaceAll(text, "\n", "\n> ")
	if agent == "" {
		return fmt.Sprintf(textAsks, name, quoted)
	}
	return fmt.Sprintf(textAsksAgent, name, agent, quoted)
}

// asked is the text that the agent is given of a message: one that asks by command loses the command, when it is edited too.
func (i *Intake) asked(text string) string {
	p := i.commands.Parse(text, false)
	if p.Spec == nil || p.Spec.Name != command.Ask {
		return text
	}
	_, text = addressee(p.Text, i.chats())
	return text
}
