package policy_test

import (
	"strings"
	"testing"

	"herald/core/command"
	"herald/core/people"
	"herald/core/tool"
)

// command carries a command of an admin out.
func (r *rig) command(event, text string) string {
	r.Helper()
	p := command.Default(r.book().Commands()...).Parse("/"+text, false)
	if p.Spec == nil || p.Misused || p.Spec.Least != people.Admin {
		r.Fatalf("%q is no command for admins: %+v", text, p)
	}
	out, err := p.Spec.Run(r.Context(), command.Call{Read: r.store, Where: part, Person: people.Person{ID: "eve", Role: people.Admin}, Args: p.Args, Event: event})
	if err != nil {
		r.Fatal(err)
	}
	return out
}

func TestRulesFromTheChat(t *testing.T) {
	t.Parallel()
	r := inMemory(t)
	r.file = append(r.file, fileRule(1, "drop", tool.Deny))
	for _, tc := range []struct {
		name, event, text string
		want              []string
	}{
		{"add", "e1", "rule add send require deciders=admin,slack:T1/U2 four_eyes expires_minutes=30 note=it costs money", []string{"Rule added", "`run-000001` require `send` priority 100, decided by admin, slack:T1/U2, not by who asked, within 30 min — it costs money"}},
		{"the same again", "e1", "rule add send require deciders=admin,slack:T1/U2 four_eyes expires_minutes=30 note=it costs money", []string{"`run-000001`"}},
		{"with limits", "e2", "rule add @fs_write ALLOW path=data/* agent=main source=slack group=ops priority=-1", []string{"`run-000002` allow `@fs_write` path `data/*` agent `main` source `slack` group `ops` priority -1"}},
		{"the list", "e3", "rules", []string{"- `run-000002` allow", "- `file-00001` deny `drop`", "- `run-000001` require `send`"}},
		{"a rule of the file", "e4", "rule remove file-00001", []string{"Nothing was changed", "configuration file"}},
		{"a rule that does not exist", "e5", "rule remove run-9", []string{"Nothing was changed", "no such rule"}},
		{"a word that is not known", "e6", "rule add x allow hours=9-17", []string{"Nothing was changed", "hours=9-17"}},
		{"a key without a value", "e7", "rule add x deny path=", []string{"Nothing was changed"}},
		{"a priority that is none", "e8", "rule add x deny priority=high", []string{"Nothing was changed"}},
		{"nobody who could decide", "e9", "rule add x require deciders=boss", []string{"Nothing was changed", "boss"}},
		{"a bad pattern", "e10", "rule add a*b deny", []string{"Nothing was changed", "at the end only"}},
		{"no action", "e11", "rule add x", []string{"Usage"}},
		{"nothing", "e12", "rule", []string{"Usage"}},
		{"remove", "e13", "rule remove run-000002", []string{"Rule removed", "`run-000002`"}},
	} {
		got := r.command(tc.event, tc.text)
		for _, want := range tc.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q lacks %q", tc.name, got, want)
			}
		}
	}
	if got := ids(r); got != "file-00001 run-000001" {
		t.Errorf("the rules are %q", got)
	}
	if rows := r.audit(); len(rows) != 3 || rows[0] != "rule_add by eve run-000001" {
		t.Errorf("audit %q", rows)
	}
}

func TestNoRules(t *testing.T) {
	t.Parallel()
	if got := inMemory(t).command("e", "rules"); !strings.Contains(got, "no rules") {
		t.Errorf("got %q", got)
	}
}
