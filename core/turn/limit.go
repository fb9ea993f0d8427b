package turn

import (
	"encoding/json"
	"fmt"

	"herald/core/model"
	"herald/core/session"
)

const (
	// maxAnswer bounds what is kept of an answer's text, in bytes as JSON writes it: the delivery holds it twice, whole and in pieces.
	maxAnswer = 1_500_000
	// maxArguments bounds the arguments of all calls of an answer, which stand in the log and in the state.
	maxArguments = 500_000
)

const (
	textCut       = "\n\n[The answer was longer than can be kept; it was cut here. Ask for the rest.]"
	textArguments = "The arguments of this answer's calls are too large; nothing was run. Make them shorter, or split the work."
)

// bounded keeps an answer within what the store takes, and says so where something was left out.
func bounded(a session.Answer) session.Answer {
	if encoded(a.Text) > maxAnswer {
		a.Text = fit(a.Text, maxAnswer-len(textCut)) + textCut
	}
	size := 0
	for _, c := range a.Calls {
		size += len(c.Arguments) + len(c.Extra) + len(c.Malformed)
	}
	if size <= maxArguments {
		return a
	}
	for i := range a.Calls {
		c := &a.Calls[i]
		a.Calls[i] = session.Asked{Call: model.Call{ID: c.ID, Name: c.Name, Arguments: json.RawMessage("{}"), Malformed: textArguments}, Traits: c.Traits}
	}
	return a
}

// encoded is the length of s as JSON writes it.
func encoded(s string) int {
	if len(s) <= maxAnswer/6 {
		return len(s) // no escape is longer than six bytes a byte
	}
	b, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("turn: encode a text: %v", err)) // every string encodes
	}
	return len(b)
}

// fit is the longest beginning of s, cut by quarters, that JSON writes in n bytes.
func fit(s string, n int) string {
	for s = cutText(s, n); encoded(s) > n; {
		s = cutText(s, len(s)*3/4)
	}
	return s
}
