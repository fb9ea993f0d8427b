package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"herald/core/model"
	"herald/core/session"
	"herald/core/tool"
)

func named(n, params string) tool.Tool {
	return tool.Tool{Spec: model.ToolSpec{Name: n, Parameters: json.RawMessage(params)}, Run: func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, nil }}
}

func TestRegistryRefuses(t *testing.T) {
	t.Parallel()
	const object = `{"type":"object"}`
	idle := named("idle", object)
	idle.Run = nil
	for _, tc := range []struct {
		name  string
		tools []tool.Tool
		want  string
	}{
		{"a name with a blank", []tool.Tool{named("a b", object)}, "1 to 64"},
		{"an empty name", []tool.Tool{named("", object)}, "1 to 64"},
		{"a name that is too long", []tool.Tool{named(strings.Repeat("a", 65), object)}, "1 to 64"},
		{"a name twice", []tool.Tool{named("a", object), named("a", object)}, "twice"},
		{"parameters that are no object", []tool.Tool{named("a", `{"type":"string"}`)}, "type object"},
		{"no parameters", []tool.Tool{named("a", ``)}, "type object"},
		{"a tool that does nothing", []tool.Tool{idle}, "does nothing"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if _, err := tool.NewRegistry(tc.tools...); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestAll(t *testing.T) {
	t.Parallel()
	b := named("b", `{"type":"object"}`)
	b.Group = "more"
	r, err := tool.NewRegistry(b, named("a", `{"type":"object"}`))
	if err != nil {
		t.Fatal(err)
	}
	all := r.All()
	if len(all) != 2 || all[0].Spec.Name != "a" || all[1].Spec.Name != "b" {
		t.Errorf("all: %v, want them sorted", all)
	}
	_ = append(all, named("c", `{"type":"object"}`))
	if again := r.All(); len(again) != 2 {
		t.Errorf("a caller's append came back: %v", again)
	}
	if got := r.Groups(); len(got) != 1 || len(got["more"]) != 1 || got["more"][0] != "b" {
		t.Errorf("groups: %v", got)
	}
}

type gate struct {
	d   tool.Decision
	err error
}

func (g gate) Decide(context.Context, tool.Call) (tool.Decision, error) { return g.d, g.err }

func TestAnApprovedCallDoesNotRunByRulesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	g := gate{tool.Decision{Answer: tool.Allow}, errors.New("no rules")}
	if d := tool.Ask(t.Context(), g, tool.Call{Name: "x", Approved: "ann"}); d.Answer != tool.Deny || d.Refusal != session.ByUnreadable {
		t.Errorf("got %+v", d)
	}
}

func TestTheGateClosesWhereItCannotAnswer(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		gate tool.Gate
		want tool.Answer
	}{
		{"allow", gate{d: tool.Decision{Answer: tool.Allow}}, tool.Allow},
		{"deny", gate{d: tool.Decision{Answer: tool.Deny}}, tool.Deny},
		{"an error with an allow beside it", gate{tool.Decision{Answer: tool.Allow}, errors.New("no rules")}, tool.Require},
		{"no answer", gate{}, tool.Require},
		{"an unknown answer", gate{d: tool.Decision{Answer: "maybe"}}, tool.Require},
		{"a name on the list", tool.AllowList{"x"}, tool.Allow},
		{"a name that only begins like one", tool.AllowList{"x_y"}, tool.Require},
		{"an empty list", tool.AllowList{}, tool.Require},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := tool.Ask(t.Context(), tc.gate, tool.Call{Name: "x"}).Answer; got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}
