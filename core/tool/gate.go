package tool

import (
	"context"
	"time"
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
	// Deciders are the persons who may decide a Require; empty means the one who asked.
	Deciders []string
	// Expires is how long a Require waits for its decision; 0 means a day.
	Expires time.Duration
}

// Gate decides about calls.
type Gate interface {
	// Decide answers for one call. An error counts as Require: rules that cannot be read open no door.
	Decide(ctx context.Context, c Call) (Decision, error)
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

// Ask asks the gate and closes it where it cannot answer.
func Ask(ctx context.Context, g Gate, c Call) Decision {
	d, err := g.Decide(ctx, c)
	switch {
	case err != nil:
		return Decision{Answer: Require, Rule: "the rules could not be read"}
	case d.Answer != Allow && d.Answer != Deny:
		d.Answer = Require
	}
	return d
}
