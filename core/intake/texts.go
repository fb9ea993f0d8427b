package intake

import (
	"context"
	"errors"
	"fmt"

	"herald/core/chat"
	"herald/core/store"
)

// The fixed texts of intake, in one place so that they can be translated together.
const (
	textEmpty     = "There is nothing in your message that I can read. Write what you need, or attach a file."
	textTooLong   = "Your message has %d kB, and I read at most %d kB at once. Send it in parts, or as a file."
	textFull      = "%d messages are waiting here already, so this one was not taken. Send it again when the first ones are answered, or write `stop` to drop them."
	textNoAgent   = "`%s` is no agent that can be asked. %s"
	textAgents    = "These can: `%s`."
	textNoAgents  = "None can be named at the moment; leave the name out."
	textNoWords   = "Write what you want to ask `%s` behind its name."
	textAsks      = "%s asks:\n\n%s"
	textAsksAgent = "%s asks `%s`:\n\n%s"
	textForbidden = "`%s` needs the role `%s`, and yours is `%s`."

	textNoAction  = "This button means nothing to me any more."
	textNoWait    = "This question is no longer open."
	textNotYours  = "This decision is not yours to make."
	textDecided   = "%s was faster: %s."
	textDecidedMe = "You have decided this already: %s."
	textEnded     = "The time to decide this is over."
	textBadChoice = "This button does not fit the question any more."

	textNoAnswer    = "Write an answer."
	textLongAnswer  = "Your answer has %d characters; write at most %d."
	textArguments   = "All arguments of `%s`:"
	textNoRetry     = "This cannot be tried again."
	textNotYourTurn = "Only who wrote the message, who opened this conversation or an admin can try this again."
	textRetriedMe   = "You have tried this again already."
	textRetried     = "%s has tried this again already."
	textNoShow      = "There is nothing more to show here."
	textShown       = "The whole text stands here already, or is on its way."

	textStoreAway = "I cannot keep anything at the moment, so this may not have been done. Look at `status` in a minute, and try again if it was not."
	textMalformed = "I could not understand what the platform sent me, so nothing was done. An admin finds the reason among the dead letters."
	textInternal  = "Something went wrong inside of me, so this may not have been done. Try again; an admin finds the reason in the log."
)

// The list of running turns, where a stop comes without its thread.
const (
	textNoneRuns  = "No turn of yours is running in this channel. In a thread, write `stop` there."
	textRuns      = "These turns of yours are running in this channel. A command carries no thread here, so choose what to stop."
	textRunsTitle = "Your running turns"
	textRunsSince = "since %s, %s"
	textRunsWorks = "at work"
	textRunsWaits = "waiting for a person"
	textRunsStop  = "Stop %s"
	textRunsMore  = " %d more are not listed; write `stop` in their threads."
)

// The introductions; golden files show them.
const (
	textGreetDirect = `Hello, I am **Herald**: an assistant made of language models, run by the people of your workspace. Your message is being answered beside this; I say this once.

- **What I keep:** what you write to me and attach here, my answers, which tools I used and what they cost, and notes that you ask me to make. I do not read along in channels where nobody mentions me.
- **Who can review it:** the people who run me can see what is stored; nobody else of this workspace reads your direct messages with me.
- **Three things to try:** ask me to explain or shorten a text that you paste or attach; write “remember that …”, and ask me about it another day; write ` + "`help`" + ` for what I understand as a command. ` + "`stop`" + ` ends what I am doing, ` + "`new`" + ` begins anew.`

	textGreetChannel = `Hello, I am **Herald**: an assistant made of language models, run by the people of your workspace. The message above is being answered beside this; I say this once in a channel.

- **What I keep:** the messages of threads in which somebody mentions me, my answers, which tools I used and what they cost. The rest of the channel I do not keep.
- **Who can review it:** everybody in this channel reads along, and the people who run me can see what is stored.
- **Three things to try:** mention me with a question, and go on in the thread without a mention; attach a file and ask about it; write ` + "`stop`" + ` in the thread to end what I am doing. A message that mentions somebody else is not for me.`
)

func tooLong(size, limit int) string {
	return fmt.Sprintf(textTooLong, (size+999)/1000, limit/1000)
}

// Sentence is what an adapter shows to the person whose interaction ended in err: platforms do not send interactions again, so
// silence would look like success. It holds nothing of err's own text.
func Sentence(err error) string {
	if e, ok := errors.AsType[*chat.Invalid](err); ok {
		return e.Text
	}
	switch {
	case errors.Is(err, ErrMalformed):
		return textMalformed
	case store.Outage(err), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return textStoreAway
	default:
		return textInternal
	}
}
