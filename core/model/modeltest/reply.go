package modeltest

import (
	"strings"
	"time"

	"herald/core/model"
)

// Reply is what a scripted model says to one request. The zero Reply is an empty answer.
type Reply struct {
	// Text is the visible text, sent in Chunks pieces of about the same number of runes (one when 0).
	Text   string
	Chunks int
	// Calls are the tool calls, in order.
	Calls []Call
	// Finish is the reason given. When empty: calls if there are Calls, else stop.
	Finish model.Finish
	// Usage is what the answer is said to cost. When zero it is estimated, so that costs add up in tests; NoUsage sends none.
	Usage   model.Usage
	NoUsage bool
	// FirstDelay is waited before the first piece, Delay between pieces.
	FirstDelay, Delay time.Duration
	// Err ends the answer of a [Scripted] after BreakAfter pieces; a [Server] ignores it and has Wire instead.
	Err        error
	BreakAfter int
	// Wire makes a [Server] misbehave; a [Scripted] ignores it.
	Wire Wire
}

// Call is a tool call that a reply makes. Arguments are sent as they stand, also when they are no JSON; empty means "{}".
type Call struct {
	Name      string
	Arguments string
	// ID is the id on the wire of a [Server]; one is made when it is empty. A [Scripted] takes its ids from the request.
	ID string
	// Extra is further JSON members of the call on the wire, without braces: `"extra_content":{…}`.
	Extra string
}

// Rule answers a request, or passes it on to the next rule.
type Rule func(r *model.Request) (Reply, bool)

// Say is a plain answer.
func Say(text string) Reply { return Reply{Text: text} }

// Use is an answer that calls one tool; arguments are a JSON object.
func Use(name, arguments string) Reply {
	return Reply{Calls: []Call{{Name: name, Arguments: arguments}}}
}

// Fail is an answer that fails before its first piece. Only a [Scripted] gives it.
func Fail(err error) Reply { return Reply{Err: err} }

// Always answers every request with the reply.
func Always(reply Reply) Rule {
	return func(*model.Request) (Reply, bool) { return reply, true }
}

// When answers a request whose last message is a user's and contains the words.
func When(words string, reply Reply) Rule {
	return func(r *model.Request) (Reply, bool) {
		m, ok := last(r)
		return reply, ok && m.Role == model.User && strings.Contains(m.Text, words)
	}
}

// Whenever answers a request whose last user message contains the words, whatever came after it: also the rounds after a
// tool call. Put the more special rules before it.
func Whenever(words string, reply Reply) Rule {
	return func(r *model.Request) (Reply, bool) { return reply, strings.Contains(LastUser(r), words) }
}

// AfterTool answers a request that ends with the result of a call of the named tool. The text of the reply may hold {result},
// which is replaced by the result's text.
func AfterTool(name string, reply Reply) Rule {
	return func(r *model.Request) (Reply, bool) {
		m, ok := last(r)
		if !ok || m.Role != model.Tool || callName(r, m.CallID) != name {
			return Reply{}, false
		}
		out := reply
		out.Text = strings.ReplaceAll(reply.Text, "{result}", m.Text)
		return out, true
	}
}

// Echo answers every request with "You said: " and the last user message. It is what a model without rules does.
func Echo() Rule {
	return func(r *model.Request) (Reply, bool) { return Say("You said: " + LastUser(r)), true }
}

// LastUser is the text of the last user message, or "".
func LastUser(r *model.Request) string {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role == model.User {
			return r.Messages[i].Text
		}
	}
	return ""
}

func last(r *model.Request) (model.Message, bool) {
	if len(r.Messages) == 0 {
		return model.Message{}, false
	}
	return r.Messages[len(r.Messages)-1], true
}

func callName(r *model.Request, id string) string {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		for _, c := range r.Messages[i].Calls {
			if c.ID == id {
				return c.Name
			}
		}
	}
	return ""
}

func decide(rules []Rule, r *model.Request) Reply {
	for _, rule := range rules {
		if reply, ok := rule(r); ok {
			return reply
		}
	}
	reply, _ := Echo()(r)
	return reply
}

// pieces cuts text into n pieces of whole runes; none of them is empty.
func pieces(text string, n int) []string {
	if text == "" {
		return nil
	}
	if n <= 1 {
		return []string{text}
	}
	runes := []rune(text)
	n = min(n, len(runes))
	out := make([]string, n)
	for i := range n {
		out[i] = string(runes[i*len(runes)/n : (i+1)*len(runes)/n])
	}
	return out
}

// estimate is a usage of about a token for four bytes, never 0 where there is text.
func estimate(r *model.Request, reply *Reply) model.Usage {
	in := 0
	for _, s := range r.System {
		in += len(s)
	}
	for i := range r.Messages {
		in += len(r.Messages[i].Text)
		for _, c := range r.Messages[i].Calls {
			in += len(c.Name) + len(c.Arguments)
		}
	}
	for i := range r.Tools {
		in += len(r.Tools[i].Name) + len(r.Tools[i].Description) + len(r.Tools[i].Parameters)
	}
	out := len(reply.Text)
	for _, c := range reply.Calls {
		out += len(c.Name) + len(c.Arguments)
	}
	return model.Usage{Input: in/4 + 1, Output: out/4 + 1}
}

func (reply *Reply) finish() model.Finish {
	switch {
	case reply.Finish != "":
		return reply.Finish
	case len(reply.Calls) > 0:
		return model.FinishCalls
	default:
		return model.FinishStop
	}
}
