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
	// maxArguments bounds the arguments of all calls of an answer, in bytes as JSON writes them; they stand in the log and in the state.
	maxArguments = 500_000
	// maxHeld bounds those of all calls that have not ended: agents that work side by side share one state, and beside it stands an answer.
	maxHeld = 2_000_000
	// maxCalled is how much of the name of a call is kept, in bytes: no tool has a longer one.
	maxCalled = 200
)

const (
	textCut       = "\n\n[The answer was longer than can be kept; it was cut here. Ask for the rest.]"
	textArguments = "The arguments of this answer's calls are too large; nothing was run. Make them shorter, or split the work."
	textHeld      = "The arguments of this answer's calls are too large beside those of calls that wait at the moment; nothing was run. Make them shorter, or try again later."
)

// bounded keeps an answer within what the store takes, and says so where something was left out. waiting is the weight of the arguments that
// other calls hold.
func bounded(a session.Answer, waiting int) session.Answer {
	if encoded(a.Text) > maxAnswer {
		a.Text = fit(a.Text, maxAnswer-len(textCut)) + textCut
	}
	size := 0
	for i := range a.Calls {
		c := &a.Calls[i]
		c.Name = cutText(c.Name, maxCalled)
		size += weight(c.Arguments) + weight(c.Extra) + len(c.Malformed)
	}
	why := textArguments
	if size <= maxArguments {
		if waiting+size <= maxHeld {
			return a
		}
		why = textHeld
	}
	for i := range a.Calls {
		c := &a.Calls[i]
		a.Calls[i] = session.Asked{Call: model.Call{ID: c.ID, Name: c.Name, Arguments: json.RawMessage("{}"), Malformed: why}, Traits: c.Traits}
	}
	return a
}

// held is the weight of the arguments of all calls that have not ended.
func held(s *session.State) int {
	n := 0
	for i := range s.Frames {
		for _, c := range s.Frames[i].Calls {
			n += weight(c.Arguments)
		}
	}
	return n
}

// weight is the length of JSON once it stands in other JSON, where some marks are escaped.
func weight(raw json.RawMessage) int {
	n := len(raw)
	for _, c := range raw {
		switch c {
		case '<', '>', '&':
			n += 5
		case 0xe2: // may begin a line separator
			n += 3
		}
	}
	return n
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
