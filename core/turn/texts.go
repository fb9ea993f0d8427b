package turn

import (
	"cmp"
	"fmt"
	"strings"

	"herald/core/model"
	"herald/core/session"
)

// What the engine says to people, in one place.
const (
	textStopped        = "Stopped."
	textStoppedNew     = "Stopped. A new conversation has begun."
	textNew            = "A new conversation has begun."
	textCompacting     = "I will summarise the older part of this conversation before my next step."
	textCompacted      = "The older part of this conversation is summarised now. What was said is kept, and I go on from the summary."
	textNotCompacted   = "The older part of this conversation could not be summarised. Nothing has changed; try again in a little while."
	textNothingOld     = "There is nothing to summarise yet."
	textNothingRuns    = "Nothing is running here."
	textMayNotStop     = "Only who wrote the message, who opened this conversation or an admin can stop this."
	textEndedCard      = "Not decided: the turn ended before."
	textNoFiles        = "files cannot be read here"
	textManyFiles      = "the files that came together are more than is read at once; send it again alone"
	textPictureReply   = "a picture is not shown with an answer to a question; send it again as a message of its own"
	textLate           = "This message reached me after a stop that was sent later, so it was not run. Send it again if it should be."
	textLateRetry      = "This came after a stop that was sent later, so it was not started over. Write the message again if it should be run."
	textNothingToRetry = "What was said then is not kept any more. Write the message again."
	textEmpty          = "The model gave an empty answer. Ask again, or say it in other words."
)

// waitingText says what the conversation waits for.
func waitingText(w session.Wait) string {
	switch w.Kind {
	case session.Approval:
		return "I am waiting for a decision about " + quoted(w.Title) + ". Your message will be read after it; `deny` refuses it, `stop` ends the wait."
	case session.Question:
		return "I am waiting for an answer to " + quoted(w.Title) + ". Your message will be read after it; `stop` ends the wait."
	default:
		return "I am waiting for a time that was set. Your message will be read after it; `stop` ends the wait."
	}
}

func quoted(s string) string {
	if s == "" {
		return "a question"
	}
	return "“" + s + "”"
}

// askText is what an approval or a question reads like without buttons.
func askText(w session.Wait) string {
	var b strings.Builder
	if w.Title != "" {
		fmt.Fprintf(&b, "**%s**\n\n", w.Title)
	}
	b.WriteString(w.Text)
	for i, c := range w.Choices {
		fmt.Fprintf(&b, "\n%d. %s", i+1, c)
	}
	if len(w.Choices) > 0 {
		b.WriteString("\n\nAnswer with a number or in your own words.")
	}
	return strings.TrimSpace(b.String())
}

// failed is what a person reads of a failure: a sentence, and the reference that `why` resolves. mark stands before a command where it is read.
func failed(f *session.Failure, mark string) string {
	return f.Reason + "\n\nReference `" + f.Ref + "`; `" + cmp.Or(mark, "/") + "why " + f.Ref + "` says more."
}

// reason is what a person is told of a model's failure.
func reason(k model.Kind) string {
	switch k {
	case model.Auth:
		return "I cannot answer: the model does not accept this installation's key. An admin must look at it."
	case model.NotConfigured:
		return "I cannot answer: no usable model is configured. An admin must name one."
	case model.Quota:
		return "I cannot answer: the account with the model's provider has reached its limit. An admin must look at it."
	case model.RateLimit:
		return "I cannot answer now: the model is asked too often. Try again in a few minutes."
	case model.ContextTooLong:
		return "This conversation has become too long for the model. Begin a new one with `new` and say again what matters."
	case model.ContentFilter:
		return "The model's provider refused this request by its content rules. Say it in other words."
	case model.BadRequest:
		return "I cannot answer: the model refused the request. An admin must look at its settings."
	default:
		return "I cannot answer now: the model could not be reached or broke off. Try again in a little while."
	}
}
