package gate

import (
	"cmp"
	"slices"
	"time"

	"herald/core/tool"
)

// Set is all rules of an installation as one ordered list. A nil Set stands for rules that could not be read.
type Set struct{ rules []Rule }

// NewSet orders rules by priority, then by id. A seeded default action steps back where its group has one of the operator's.
func NewSet(rules ...[]Rule) *Set {
	all := slices.Concat(rules...)
	own := make(map[string]bool)
	for i := range all {
		if r := &all[i]; r.CatchAll() && !Seeded(r) {
			own[r.GroupName()] = true
		}
	}
	all = slices.DeleteFunc(all, func(r Rule) bool { return Seeded(&r) && r.CatchAll() && own[r.GroupName()] })
	slices.SortStableFunc(all, func(a, b Rule) int { return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.ID, b.ID)) })
	return &Set{rules: all}
}

// Rules are the rules in the order in which they are read.
func (s *Set) Rules() []Rule { return slices.Clone(s.rules) }

// Request is what a decision depends on beside the rules.
type Request struct {
	// Scoped: the call belongs to a turn; one that belongs to none never runs.
	Scoped bool
	// Group is the group of the session after its rights were reconciled; "" means [DefaultGroup].
	Group               string
	Tool, Agent, Source string
	// Path is the canonical path of the call when HasPath is set; Outside: it leaves the working folder.
	Path             string
	HasPath, Outside bool
	// Session and Askers say whose bypass counts: the persons whose messages the turn answers.
	Session string
	Askers  []string
	// Bypasses are those that a person has given in the conversation, Now the store's time.
	Bypasses []Bypass
	Now      time.Time
	// Reads and Writes are the paths that the run context lets through.
	Reads, Writes []string
	// Unattended: nobody is there to decide.
	Unattended bool
	// SingleOperator: in an installation of one the asker may decide what otherwise takes four eyes.
	SingleOperator bool
}

// By says what made a decision.
type By string

// What makes decisions.
const (
	ByRule       By = "rule"
	ByNothing    By = "nothing matched"
	ByUnreadable By = "the rules could not be read"
	ByNoTurn     By = "the call belongs to no turn"
	ByOutside    By = "the path leaves the working folder"
	ByBypass     By = "bypass"
	ByContext    By = "run context"
	ByUnattended By = "unattended"
)

// Verdict is a decision.
type Verdict struct {
	Answer tool.Answer
	By     By
	// Rule is the rule that matched first, nil when none did.
	Rule *Rule
	// Bypass is the one that lifted a require.
	Bypass *Bypass
}

// Decide answers for one call.
//
//  1. A call outside of any turn never runs, nor one whose path leaves the working folder.
//  2. The rules of the session's group are read in order, then those of the default group; the first that fits in agent, source, tool
//     and path decides. Where none does, or the rules could not be read, a person decides.
//  3. A bypass, then the run context's paths may lift a require that the rules came to. Nothing lifts a deny.
//  4. Where nobody is there to decide, a require that is left is a deny.
func (s *Set) Decide(q Request) Verdict {
	switch {
	case !q.Scoped:
		return Verdict{Answer: tool.Deny, By: ByNoTurn}
	case q.Outside:
		return Verdict{Answer: tool.Deny, By: ByOutside}
	}
	v := s.read(q)
	if v.Answer == tool.Require && v.By != ByUnreadable {
		v = lift(v, q)
	}
	if v.Answer == tool.Require && q.Unattended {
		v.Answer, v.By = tool.Deny, ByUnattended
	}
	return v
}

// read is what the rules say.
func (s *Set) read(q Request) Verdict {
	if s == nil {
		return Verdict{Answer: tool.Require, By: ByUnreadable}
	}
	if r := s.first(q.Group, func(r *Rule) bool { return fits(r, &q) }); r != nil {
		return Verdict{Answer: r.Action, By: ByRule, Rule: r}
	}
	return Verdict{Answer: tool.Require, By: ByNothing}
}

// first is the first rule of the group, then of the default group, for which f holds.
func (s *Set) first(group string, f func(*Rule) bool) *Rule {
	tiers := []string{DefaultGroup}
	if group != "" && group != DefaultGroup {
		tiers = []string{group, DefaultGroup}
	}
	for _, g := range tiers {
		for i := range s.rules {
			if r := &s.rules[i]; r.GroupName() == g && f(r) {
				return r
			}
		}
	}
	return nil
}

func fits(r *Rule, q *Request) bool {
	return (r.Agent == "" || r.Agent == q.Agent) &&
		(r.Source == "" || r.Source == q.Source) &&
		matchTool(r.Tool, q.Tool) &&
		(r.Path == "" || q.HasPath && matchPath(r.Path, q.Path))
}

// lift lets a require through where a person or the run context did so before.
func lift(v Verdict, q Request) Verdict {
	for i := range q.Bypasses {
		if b := &q.Bypasses[i]; b.holds(v.Rule, &q) {
			v.Answer, v.By, v.Bypass = tool.Allow, ByBypass, b
			return v
		}
	}
	if !q.HasPath {
		return v
	}
	if fsRead(q.Tool) && (inside(q.Path, q.Reads) || inside(q.Path, q.Writes)) || fsWrite(q.Tool) && inside(q.Path, q.Writes) {
		v.Answer, v.By = tool.Allow, ByContext
	}
	return v
}

// Hides reports whether a tool is not even shown: the first rule that fits its name, whatever else the rule asks for, denies it. What
// needs a decision, or matches nothing, is shown. Rules that could not be read hide nothing; nothing runs by them either.
func (s *Set) Hides(group, name string) bool {
	if s == nil {
		return false
	}
	r := s.first(group, func(r *Rule) bool { return matchTool(r.Tool, name) })
	return r != nil && r.Action == tool.Deny
}
