package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herald/config"
	"herald/core/tool"
	"herald/core/tool/gate"
)

func TestRulesOfTheFile(t *testing.T) {
	t.Parallel()
	const document = `
[approvals]
single_operator = true

[[rules]]
tool = "execute_cmd"
action = "require"
deciders = ["admin", "slack:T1/U2"]
four_eyes = true
expires_minutes = 60
note = "runs a program"

[groups.ops]
note = "on call"
default = "deny"
roles = ["member"]

[[rules]]
group = "ops"
agent = "main"
source = "slack"
tool = "@fs_any"
path = "data/*"
action = "allow"
priority = -5
`
	cfg := mustLoad(t, options(document, "HERALD_RULES__2__PATH=docs/*"))
	want := []gate.Rule{
		{
			ID: "file-00001", Group: "default", Tool: "execute_cmd", Action: tool.Require, Note: "runs a program", Priority: 100,
			Deciders: []string{"admin", "slack:T1/U2"}, FourEyes: true, ExpiresS: 3600,
		},
		{ID: "file-00002", Group: "ops", Agent: "main", Source: "slack", Tool: "@fs_any", Path: "docs/*", Action: tool.Allow, Priority: -5},
		{ID: "file-default-ops", Group: "ops", Tool: "*", Action: tool.Deny, Note: "on call", Priority: gate.LastPriority},
	}
	if d := cmp.Diff(want, cfg.GateRules()); d != "" {
		t.Errorf("rules (-want +got)\n%s", d)
	}
	if err := gate.CheckAll(cfg.GateRules()); err != nil {
		t.Error(err)
	}
	if !cfg.Approvals.SingleOperator || !cmp.Equal(cfg.Groups[0].Roles, []string{"member"}) {
		t.Errorf("got %+v, %+v", cfg.Approvals, cfg.Groups)
	}
	if got := cfg.Source("rules.2.path").String(); got != "env HERALD_RULES__2__PATH" {
		t.Errorf("the path came from %s", got)
	}
}

// Rules take effect at once: none of their keys waits for a restart.
func TestRulesChangeWithoutARestart(t *testing.T) {
	t.Parallel()
	load := func(document string) *config.Config { return mustLoad(t, options(document)) }
	none := load("")
	some := load("[[rules]]\ntool = \"x\"\naction = \"deny\"\n[groups.ops]\ndefault = \"deny\"\n[approvals]\nsingle_operator = true\n")
	changes := config.Changes(none, some)
	if len(changes) < 4 {
		t.Errorf("only %d changes: %v", len(changes), changes)
	}
	for _, c := range changes {
		if c.Restart {
			t.Errorf("%s waits for a restart", c.Key)
		}
	}
}

func TestRulesThatCannotBe(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, document, want string }{
		{"a key that is not known", "[[rules]]\ntool = \"x\"\naction = \"deny\"\nhours = \"9\"\n", `4:1: rules.1.hours: unknown key`},
		{"a near key", "[[rules]]\ntool = \"x\"\nacton = \"deny\"\naction = \"deny\"\n", `did you mean "rules.1.action"?`},
		{"no action", "[[rules]]\ntool = \"x\"\n", "1:3: rules.1: has no action"},
		{"no tool", "[[rules]]\naction = \"deny\"\n", "1:3: rules.1: has no tool"},
		{"an unknown action", "[[rules]]\ntool = \"x\"\naction = \"ask\"\n", "3:1: rules.1.action"},
		{"a bad pattern", "[[rules]]\ntool = \"x\"\naction = \"deny\"\n[[rules]]\ntool = \"a*b\"\naction = \"deny\"\n", "4:3: rules.2: \"a*b\" is no pattern"},
		{"a path that is never met", "[[rules]]\ntool = \"*\"\npath = \"../x\"\naction = \"deny\"\npath2 = 1\n", "path2"},
		{"an unknown group", "[[rules]]\ntool = \"x\"\naction = \"deny\"\ngroup = \"opps\"\n[groups.ops]\n", `4:1: rules.1.group: there is no group "opps"; did you mean "ops"?`},
		{"a bad decider", "[[rules]]\ntool = \"x\"\naction = \"require\"\ndeciders = [\"boss\"]\n", "rules.1.deciders"},
		{"four eyes of nobody", "[[rules]]\ntool = \"x\"\naction = \"require\"\nfour_eyes = true\n", "somebody besides"},
		{"deciders of an allow", "[[rules]]\ntool = \"x\"\naction = \"allow\"\ndeciders = [\"admin\"]\n", "how a require is decided"},
		{"a second default action", "[[rules]]\ntool = \"*\"\naction = \"allow\"\n[[rules]]\ntool = \"*\"\naction = \"deny\"\n", "4:3: rules.2: group default has the default action allow by rule file-00001 already"},
		{"a default action and a rule", "[groups.ops]\ndefault = \"deny\"\n[[rules]]\ngroup = \"ops\"\ntool = \"*\"\naction = \"allow\"\n", "2:1: groups.ops.default: rule file-00001 makes allow the default"},
		{"a plain section", "[rules]\ntool = \"x\"\n", "write [[rules]]"},
		{"a named section", "[rules.1]\ntool = \"x\"\naction = \"allow\"\n", "write [[rules]]"},
		{"a list of tables in a line", "rules = [{ tool = \"x\", action = \"allow\" }]\n", "write [[rules]]"},
		{"a section below a rule", "[[rules]]\ntool = \"x\"\naction = \"deny\"\n[rules.more]\nx = 1\n", "rules.1.more: unknown section"},
		{"a list of groups", "[[groups]]\nnote = \"x\"\n", "write [groups]"},
		{"a role that does not exist", "[groups.ops]\nroles = [\"boss\"]\n", `there is no role "boss"`},
		{"a group's name", "[groups.\"a.b\"]\n", "no name for a group"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := problemsOf(t, options(tc.document)).Error(); !strings.Contains(got, tc.want) {
				t.Errorf("got %s\nwant %s", got, tc.want)
			}
		})
	}
	got := problemsOf(t, options("", "HERALD_RULES__FIRST__TOOL=x", "HERALD_RULES__FIRST__ACTION=allow")).Error()
	if !strings.Contains(got, "rules have numbers") {
		t.Errorf("a rule with a name in the environment: %s", got)
	}
}
