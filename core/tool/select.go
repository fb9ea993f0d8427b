package tool

import (
	"cmp"
	"context"
	"slices"
)

// Selection is what an agent declares about its tools.
type Selection struct {
	// None takes every tool, the engine's own too.
	None bool
	// All wants everything that there is; else Names are the tools that are wanted, nil for the default set.
	All   bool
	Names []string
}

// wants reports whether the agent wants a tool, with the groups that were activated for it.
func (s *Selection) wants(t *Tool, groups []string) bool {
	switch {
	case s.None:
		return false
	case t.Own, s.All:
		return true
	case s.Names != nil:
		return slices.Contains(s.Names, t.Spec.Name)
	default:
		return t.Group == "" || slices.Contains(groups, t.Group)
	}
}

// mayPass reports whether the agent may let one that it delegates to use a tool: what it could come to use itself, and what belongs to the
// other one alone.
func (s *Selection) mayPass(t *Tool) bool {
	return !s.None && (t.Own || t.Owned || s.All || s.Names == nil || slices.Contains(s.Names, t.Spec.Name))
}

// Usable is the tools of the agent at the end of a chain of delegation, sorted by name: what it declares itself, with the groups that were
// activated for it, and of that what every agent before it in the chain may use. It is the one function that says so; what a model is
// shown and what it can run are both asked of it. Of two tools with one name the first of all counts.
func Usable(chain []Selection, groups []string, all []Tool) []Tool {
	if len(chain) == 0 {
		return nil
	}
	own, callers := &chain[len(chain)-1], chain[:len(chain)-1]
	var out []Tool
	for i := range all {
		t := &all[i]
		if !own.wants(t, groups) || slices.ContainsFunc(callers, func(c Selection) bool { return !c.mayPass(t) }) ||
			slices.ContainsFunc(out, func(o Tool) bool { return o.Spec.Name == t.Spec.Name }) {
			continue
		}
		out = append(out, *t)
	}
	slices.SortFunc(out, func(a, b Tool) int { return cmp.Compare(a.Spec.Name, b.Spec.Name) })
	return out
}

// AskAll asks the gate about a call for its own agent and for every agent before it in the chain of delegation, and gives the strictest
// answer: nobody gets by delegation what was denied to them.
func AskAll(ctx context.Context, g Gate, c Call, callers []string) Decision {
	d := Ask(ctx, g, c)
	for _, agent := range callers {
		if agent == c.Agent {
			continue
		}
		as := c
		as.Agent = agent
		if o := Ask(ctx, g, as); strictness(o.Answer) > strictness(d.Answer) {
			o.Rule = "for " + agent + ", which delegated: " + o.Rule
			d = o
		}
	}
	return d
}

func strictness(a Answer) int { return slices.Index([]Answer{Allow, Require, Deny}, a) }

// HiddenInChain reports whether the tool is hidden from the agent of c or from one before it in the chain.
func HiddenInChain(ctx context.Context, g Gate, c Call, callers []string, name string) bool {
	for _, agent := range append([]string{c.Agent}, callers...) {
		c.Agent = agent
		if Hides(ctx, g, c, name) {
			return true
		}
	}
	return false
}
