package intake

import (
	"strings"

	"herald/core/chat"
	"herald/core/command"
)

// Reason says why an event had its outcome; events are counted by it.
type Reason string

// The reasons. The first group makes no entry.
const (
	Own         Reason = "own"          // Herald's own message
	Bot         Reason = "bot"          // another bot, by policy
	BotLoop     Reason = "bot_loop"     // another bot, silenced by the loop guard
	MassMention Reason = "mass_mention" // everybody is mentioned and Herald is not
	Unfurl      Reason = "unfurl"       // a preview was attached
	Unaddressed Reason = "unaddressed"  // not for Herald
	Unknown     Reason = "not_taken"    // an edit or a deletion of a message that was never taken in

	Queued         Reason = "message"
	Edited         Reason = "edit"
	Deleted        Reason = "delete"
	Commanded      Reason = "command"
	Decided        Reason = "decided"         // a click that ended a wait
	Asked          Reason = "asked"           // a form may be shown; makes no entry
	Invalid        Reason = "invalid"         // what was typed into a form will not do; makes no entry
	TooLate        Reason = "too_late"        // a click whose wait had ended
	Retried        Reason = "retry"           // a failed turn is started over
	Shown          Reason = "show"            // a text that was too old is shown after all
	Forbidden      Reason = "forbidden"       // somebody who may not do it
	Empty          Reason = "empty"           // nothing in it
	TooLong        Reason = "too_long"        // more text than is read
	Full           Reason = "inbox_full"      // too many messages wait
	UnknownCommand Reason = "unknown_command" // or one with wrong arguments
	UnknownAction  Reason = "unknown_action"  // a button that means nothing

	TooOld    Reason = "too_old"   // ends as a row
	Malformed Reason = "malformed" // ends as a row
	Failed    Reason = "failed"    // an error: it is not acknowledged
)

// verdict is what an event is to become, as far as it can be told from the event and the policy alone.
type verdict struct {
	// ignore, when set, ends the event without an entry.
	ignore Reason
	// notice, when set, answers the event with a text for the given reason.
	notice string
	reason Reason
	// guarded: it is another bot's, so the loop guard must let it through.
	guarded bool
	command command.Parsed
}

func ignored(why Reason) verdict { return verdict{ignore: why} }

func noticed(why Reason, text string) verdict { return verdict{reason: why, notice: text} }

// judge decides what in is, without reading anything.
func judge(in *chat.Inbound, p Policy, t *command.Table) verdict {
	// Bots have no commands and no buttons; their edits and deletions make no turn and so no loop.
	if in.Sender.Bot && (p.Bots != BotsMentioned || in.Kind.Interaction()) {
		return ignored(Bot)
	}
	switch {
	case in.Unfurl:
		return ignored(Unfurl)
	case in.Kind == chat.Message:
		return judgeMessage(in, p, t)
	case in.Kind == chat.Command:
		return verdict{command: t.Parse(in.Text, true)}
	}
	return verdict{}
}

func judgeMessage(in *chat.Inbound, p Policy, t *command.Table) verdict {
	switch {
	case in.MassMention && !in.Mentioned && !in.Direct:
		return ignored(MassMention)
	case !in.Addressed && !in.Direct && !in.Mentioned:
		return ignored(Unaddressed)
	}
	v := verdict{command: t.Parse(in.Text, false)}
	switch {
	case v.command.Is:
	case strings.TrimSpace(in.Text) == "" && len(in.Files) == 0:
		v = noticed(Empty, textEmpty)
	case len(in.Text) > p.Text:
		v = noticed(TooLong, tooLong(len(in.Text), p.Text))
	}
	if in.Sender.Bot {
		// A notice to a bot would begin a loop.
		if !in.Mentioned || v.command.Is || v.notice != "" {
			return ignored(Bot)
		}
		v.guarded = true
	}
	return v
}
