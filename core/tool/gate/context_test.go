package gate_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herald/core/tool"
	"herald/core/tool/gate"
)

func roles() gate.Roles {
	return gate.Roles{
		"admin":      {Admin: true},
		"member":     {Groups: []string{"default", "team", "team"}},
		"child":      {Group: "kid"},
		"restricted": {Group: gate.Restricted},
	}
}

func full(group string) *gate.RunContext {
	return &gate.RunContext{
		SecurityGroup: group, SystemPrompt: []string{"Speak plainly."}, AllowFSReads: []string{"docs"}, AllowFSWrites: []string{"data"}, WorkingDirectory: "/srv/p",
	}
}

func TestEffectiveGroups(t *testing.T) {
	t.Parallel()
	for role, want := range map[string][]string{
		"admin": {"default"}, "member": {"default", "team"}, "child": {"kid"}, "nobody": nil,
	} {
		if d := cmp.Diff(want, roles().EffectiveGroups(role)); d != "" {
			t.Errorf("%s: %s", role, d)
		}
	}
	if roles().Allows("nobody", gate.DefaultGroup) {
		t.Error("a role that does not exist may use the default group")
	}
	if !roles().Allows("admin", "invented") {
		t.Error("an admin may not use every group")
	}
}

func TestWhatARoleMayChoose(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, role string
		in, want   *gate.RunContext
		forbidden  string
	}{
		{"an admin keeps all, write paths too", "admin", full("ops"), full("ops"), ""},
		{"none clears", "member", nil, nil, ""},
		{"a member keeps the group and nothing else", "member", full("team"), &gate.RunContext{SecurityGroup: "team"}, ""},
		{"a member without a group", "member", full(""), &gate.RunContext{}, ""},
		{"a group that the role may not use", "member", full("secret"), nil, "secret"},
		{"a role that does not exist", "nobody", full("default"), nil, "default"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := gate.ValidateForRole(tc.in, tc.role, roles())
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Error(d)
			}
			if (tc.forbidden != "") != errors.Is(err, gate.ErrForbidden) || err != nil && !strings.Contains(err.Error(), tc.forbidden) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestReconcile(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, role string
		in, want   *gate.RunContext
	}{
		{"no context", "member", nil, nil},
		{"a context without a group", "child", full(""), full("")},
		{"an admin with an invented group", "admin", full("invented"), full("invented")},
		{"an allowed group", "member", full("team"), full("team")},
		{"a group that the role has lost: folder and lines stay", "child", full("ops"), full("kid")},
		{"a role that is not known", "", full("ops"), full("ops")},
		{"a role that does not exist any more", "gone", full("ops"), full("ops")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			before := full("ops")
			if d := cmp.Diff(tc.want, gate.Reconcile(tc.in, tc.role, roles())); d != "" {
				t.Error(d)
			}
			if tc.in != nil && tc.in.SecurityGroup == "ops" && !cmp.Equal(before, tc.in) {
				t.Error("the stored context was changed")
			}
		})
	}
}

func TestTheGroupOfACall(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, role string
		in         *gate.RunContext
		want       string
	}{
		{"a member", "member", nil, "default"},
		{"an admin", "admin", nil, "default"},
		{"no context is never more than the role", "child", nil, "kid"},
		{"nor one without a group", "child", full(""), "kid"},
		{"restricted", "restricted", nil, "restricted"},
		{"a chosen group", "member", full("team"), "team"},
		{"a lost one", "restricted", full("team"), "restricted"},
		{"a role that is not known", "", nil, "restricted"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := gate.GroupFor(tc.in, tc.role, roles()); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestSeeds(t *testing.T) {
	t.Parallel()
	all := gate.NewSet(gate.Seeds(func(string) bool { return true }))
	if err := gate.CheckAll(all.Rules()); err != nil {
		t.Fatal(err)
	}
	type q = gate.Request
	for _, tc := range []struct {
		name string
		q    gate.Request
		want tool.Answer
	}{
		{"the clock", q{Tool: "current_time"}, tool.Allow},
		{"todos", q{Tool: "write_todos"}, tool.Allow},
		{"the shared log", q{Tool: "append_file", Path: "shared-memory/log.md", HasPath: true}, tool.Allow},
		{"another way to write the shared log", q{Tool: "write_file", Path: "shared-memory/log.md", HasPath: true}, tool.Require},
		{"own notes", q{Tool: "write_file", Path: "user-memory/a.md", HasPath: true}, tool.Allow},
		{"reading shared notes", q{Tool: "read_file", Path: "shared-memory/a.md", HasPath: true}, tool.Allow},
		{"writing shared notes", q{Tool: "edit_file", Path: "shared-memory/a.md", HasPath: true}, tool.Require},
		{"data", q{Tool: "write_file", Path: "data/x", HasPath: true}, tool.Allow},
		{"beside data", q{Tool: "write_file", Path: "data-x", HasPath: true}, tool.Require},
		{"reading a skill", q{Tool: "read_file", Path: "skills/a/SKILL.md", HasPath: true}, tool.Allow},
		{"writing a skill", q{Tool: "write_file", Path: "skills/a/SKILL.md", HasPath: true}, tool.Require},
		{"search in notes", q{Tool: "memory_search"}, tool.Allow},
		{"the web", q{Tool: "web_fetch"}, tool.Allow},
		{"a program", q{Tool: "execute_cmd"}, tool.Require},
		{"what nobody knows", q{Tool: "mystery"}, tool.Require},
		{"restricted: notes", q{Tool: "recall", Group: gate.Restricted}, tool.Allow},
		{"restricted: what acts", q{Tool: "web_fetch", Group: gate.Restricted}, tool.Deny},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tc.q.Scoped = true
			if got := all.Decide(tc.q).Answer; got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// A rule is seeded only for a tool that exists.
func TestNoSeedForWhatIsMissing(t *testing.T) {
	t.Parallel()
	for _, r := range gate.Seeds(func(n string) bool { return n == "recall" }) {
		if r.Tool != "recall" && !r.CatchAll() {
			t.Errorf("%s speaks of %s", r.ID, r.Tool)
		}
	}
}
