package session

// Refusal is why a call was not let through.
type Refusal string

// The refusals. The zero value is a rule's.
const (
	ByRule       Refusal = ""
	ByPerson     Refusal = "person"
	ByTime       Refusal = "time"       // nobody decided in time
	ByNobody     Refusal = "nobody"     // nobody is there who could decide
	ByLapse      Refusal = "lapse"      // who approved may not decide any more
	ByUnreadable Refusal = "unreadable" // the rules could not be read again after the approval
)

// RefusalText is what a model is told of a refused call, in one place so that no two ways of refusing read alike. reason is what a person
// gave as theirs, "" for none.
func RefusalText(why Refusal, reason string) string {
	var text string
	switch why {
	case ByPerson:
		text = "A person refused this call. Do not try it again or another way; ask what to do instead."
	case ByTime:
		text = "Nobody decided about this call in time, so it was not run. Do not try it again; say what is still missing."
	case ByNobody:
		text = "This call needs a person's decision, and nobody is there in this run. It was not run. Go on without it and say so."
	case ByLapse:
		text = "This call was approved, and who approved it may not decide about it any more. It was not run. Do not try it again; ask what to do instead."
	case ByUnreadable:
		text = "This call was approved, and the rules could not be read again before it. It was not run. Tell the person; an admin finds the reason in the log."
	default:
		text = "A rule of this installation denies this call. Do not try it again or another way."
	}
	if reason != "" {
		text += " Their reason: " + reason
	}
	return text
}
