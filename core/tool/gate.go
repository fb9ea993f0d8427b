package tool

import (
	"context"
	"time"

	"herald/core/session"
)

// Answer is what the gate says of a call.
type Answer string

// The answers.
const (
	Allow   Answer = "allow"
	Require Answer = "require" // a human decides
	Deny    Answer = "deny"
)

// Decision is the gate's answer with the rule that made it.
type Decision struct {
	Answer Answer
	// Rule says which rule decided, for the log and for people.
	Rule string
	// Refusal says which text a Deny has for the model.
	Refusal session.Refusal
	// Deciders are the persons who may decide a Require, or "admin"; empty means the one who asked. Barred may not, whatever else holds.
	Deciders, Barred []string
	// Accounts are those by which the rules name some of the deciders: they may never have been seen.
	Accounts map[string]string
	// Who names the deciders for the card, "" for the one who asked.
	Who string
	// Expires is how long a Require waits for its decision; 0 means a day.
	Expires time.Duration
}

// Gate decides about calls.
type Gate interface {
	// Decide answers for one call. An error counts as Require: rules that cannot be read open no door.
	Decide(ctx context.Context, c Call) (Decision, error)
}

// Hider is a gate that also says which tools a model is not even shown.
type Hider interface {
	// Hides reports whether the tool of this name is hidden from the agent of c, whose own name does not count. What is hidden cannot run
	// either: to the model it does not exist.
	Hides(ctx context.Context, c Call, name string) bool
}

// Hides asks a gate that can hide tools; others show all.
func Hides(ctx context.Context, g Gate, c Call, name string) bool {
	h, ok := g.(Hider)
	return ok && h.Hides(ctx, c, name)
}

// Binding is what is bound to a conversation beside its rules.
type Binding struct {
	// Agent is the chat agent that a session begins with, "" for the usual one.
	Agent string
	// Lines are for the volatile end of the prompt.
	Lines []string
}

// Binder is a gate that knows what is bound to its conversation.
type Binder interface{ Bound() Binding }

// Bound asks a gate that knows; others know nothing.
func Bound(g Gate) Binding {
	if b, ok := g.(Binder); ok {
		return b.Bound()
	}
	return Binding{}
}

// AllowList lets the named tools through and requires a person for all others.
type AllowList []string

// Decide implements [Gate].
func (l AllowList) Decide(_ context.Context, c Call) (Decision, error) {
	for _, n := range l {
		if n == c.Name {
			return Decision{Answer: Allow, Rule: "built-in: " + n + " has no effect outside the session"}, nil
		}
	}
	return Decision{Answer: Require, Rule: "nothing matched"}, nil
}

// Ask asks the gate and closes it where it cannot answer: a person decides, and what a person has approved is not run, for nobody can
// tell whether a rule denies it meanwhile.
func Ask(ctx context.Context, g Gate, c Call) Decision {
	d, err := g.Decide(ctx, c)
	switch {
	case err != nil && c.Approved != "":
		return Decision{Answer: Deny, Rule: "the rules could not be read", Refusal: session.ByUnreadable}
	case err != nil:
		return Decision{Answer: Require, Rule: "the rules could not be read"}
	case d.Answer != Allow && d.Answer != Deny:
		d.Answer = Require
	}
	return d
}
