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
