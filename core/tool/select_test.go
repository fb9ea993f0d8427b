package tool_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"herald/core/tool"
)

func toolbox() []tool.Tool {
	in := func(name, group string, own bool) tool.Tool {
		t := named(name, `{"type":"object"}`)
		t.Group, t.Own = group, own
		return t
	}
	return []tool.Tool{in("clock", "", false), in("note", "", false), in("fetch", "web", false), in("read_file", "files", false), in("write_todos", "", true)}
}

func usable(chain []tool.Selection, groups ...string) string {
	return usableOf(toolbox(), chain, groups...)
}

func usableOf(all []tool.Tool, chain []tool.Selection, groups ...string) string {
	var out []string
	for _, t := range tool.Usable(chain, groups, all) {
		out = append(out, t.Spec.Name)
	}
	return strings.Join(out, " ")
}

func TestUsable(t *testing.T) {
	t.Parallel()
	type s = tool.Selection
	for _, tc := range []struct {
		name   string
		chain  []s
		groups []string
		want   string
	}{
		{"nobody", nil, nil, ""},
		{"the default set", []s{{}}, nil, "clock note write_todos"},
		{"with a group that was activated", []s{{}}, []string{"web"}, "clock fetch note write_todos"},
		{"everything", []s{{All: true}}, nil, "clock fetch note read_file write_todos"},
		{"a list names what is in a group", []s{{Names: []string{"fetch"}}}, nil, "fetch write_todos"},
		{"a list bounds what a group opens", []s{{Names: []string{"fetch"}}}, []string{"files"}, "fetch write_todos"},
		{"an empty list leaves the engine's own", []s{{Names: []string{}}}, nil, "write_todos"},
		{"none at all", []s{{None: true, All: true}}, []string{"web"}, ""},
		{"a child of the default agent has its own list", []s{{}, {Names: []string{"fetch"}}}, nil, "fetch write_todos"},
		{"a child never has what its caller's list leaves out", []s{{Names: []string{"clock"}}, {All: true}}, []string{"web"}, "clock write_todos"},
		{"nor what the caller's caller leaves out", []s{{Names: []string{"clock"}}, {}, {Names: []string{"clock", "note"}}}, nil, "clock write_todos"},
		{"a child of an agent without tools", []s{{None: true}, {All: true}}, nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := usable(tc.chain, tc.groups...); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// What belongs to the agent at the end alone is bounded by its own declaration and by a caller that has no tools; a caller's list speaks of
// what callers can have.
func TestToolsOfTheAgentAlone(t *testing.T) {
	t.Parallel()
	type s = tool.Selection
	mine := named("helper_build", `{"type":"object"}`)
	mine.Owned = true
	for _, tc := range []struct {
		name  string
		chain []s
		want  string
	}{
		{"of itself", []s{{}}, "clock helper_build note write_todos"},
		{"that it leaves out", []s{{Names: []string{"clock"}}}, "clock write_todos"},
		{"under a caller with a list", []s{{Names: []string{"clock"}}, {}}, "clock helper_build write_todos"},
		{"that it leaves out under a caller with a list", []s{{Names: []string{"clock"}}, {Names: []string{"clock"}}}, "clock write_todos"},
		{"under a caller without tools", []s{{}, {None: true}, {All: true}}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := usableOf(append(toolbox(), mine), tc.chain); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// However agents delegate, one more in the chain never adds a tool to what its caller could come to use.
func TestAChildIsNeverMoreThanItsCaller(t *testing.T) {
	t.Parallel()
	names := []string{"clock", "note", "fetch", "read_file"}
	rnd := rand.New(rand.NewPCG(1, 2))
	pick := func() tool.Selection {
		s := tool.Selection{None: rnd.IntN(8) == 0, All: rnd.IntN(3) == 0}
		if rnd.IntN(2) == 0 {
			s.Names = []string{}
			for _, n := range names {
				if rnd.IntN(2) == 0 {
					s.Names = append(s.Names, n)
				}
			}
		}
		return s
	}
	groups := []string{"files", "web"}
	for range 2000 {
		var chain []tool.Selection
		for range 1 + rnd.IntN(4) {
			chain = append(chain, pick())
		}
		child := append(slices.Clone(chain), pick())
		may := strings.Fields(usable(chain, groups...))
		for _, n := range strings.Fields(usable(child, groups...)) {
			if !slices.Contains(may, n) {
				t.Fatalf("%+v may use %v, and its child %+v has %s", chain, may, child[len(chain)], n)
			}
		}
	}
}

type byAgent map[string]tool.Decision

func (g byAgent) Decide(_ context.Context, c tool.Call) (tool.Decision, error) {
	return g[c.Agent], nil
}

func TestTheStrictestRuleOfTheChainCounts(t *testing.T) {
	t.Parallel()
	d := func(a tool.Answer) tool.Decision { return tool.Decision{Answer: a, Rule: string(a)} }
	for _, tc := range []struct {
		root, middle, own tool.Answer
		want              string
	}{
		{tool.Allow, tool.Allow, tool.Allow, "allow allow"},
		{tool.Allow, tool.Allow, tool.Deny, "deny deny"},
		{tool.Deny, tool.Allow, tool.Allow, "deny for root, which delegated: deny"},
		{tool.Require, tool.Allow, tool.Allow, "require for root, which delegated: require"},
		{tool.Require, tool.Deny, tool.Require, "deny for middle, which delegated: deny"},
	} {
		g := byAgent{"root": d(tc.root), "middle": d(tc.middle), "own": d(tc.own)}
		got := tool.AskAll(t.Context(), g, tool.Call{Scope: tool.Scope{Agent: "own"}, Name: "x"}, []string{"root", "middle"})
		if s := fmt.Sprint(got.Answer, " ", got.Rule); s != tc.want {
			t.Errorf("%s, %s, %s: got %q, want %q", tc.root, tc.middle, tc.own, s, tc.want)
		}
	}
}
