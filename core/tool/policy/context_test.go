package policy_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herald/core/command"
	"herald/core/conversation"
	"herald/core/people"
	"herald/core/store"
	"herald/core/tool"
	"herald/core/tool/gate"
	"herald/core/tool/policy"
)

// bind binds a run context without asking whose right it is.
func (r *rig) bind(p store.Partition, event string, c *gate.RunContext) {
	r.Helper()
	_, err := r.store.Commit(r.Context(), store.Commit{ID: event, Partition: p, Ops: policy.BindOps(policy.Actor{Person: "ann", Event: event}, c)})
	if err != nil {
		r.Fatal(err)
	}
}

// What is bound to a channel holds in its threads, until a thread has something of its own.
func TestAThreadHasTheContextOfItsChannel(t *testing.T) {
	t.Parallel()
	r := inMemory(t)
	channel := place
	channel.Thread = ""
	bound := func() tool.Binding { return tool.Bound(r.open()) }
	if d := cmp.Diff(tool.Binding{}, bound()); d != "" {
		t.Errorf("nothing is bound (-want +got)\n%s", d)
	}
	r.bind(conversation.Partition(channel), "e1", &gate.RunContext{Agent: "coordinator", SystemPrompt: []string{"of the channel"}})
	if d := cmp.Diff(tool.Binding{Agent: "coordinator", Lines: []string{"of the channel"}}, bound()); d != "" {
		t.Errorf("the channel's (-want +got)\n%s", d)
	}
	r.bind(part, "e2", &gate.RunContext{SystemPrompt: []string{"of the thread"}})
	if d := cmp.Diff(tool.Binding{Lines: []string{"of the thread"}}, bound()); d != "" {
		t.Errorf("the thread's (-want +got)\n%s", d)
	}
	c, err := policy.ContextOf(t.Context(), r.store, part)
	if err != nil || c == nil || c.SystemPrompt[0] != "of the thread" {
		t.Errorf("ContextOf: %+v %v", c, err)
	}
	r.bind(part, "e3", nil)
	if got := bound().Agent; got != "coordinator" {
		t.Errorf("after the thread's is gone: %q", got)
	}
}

// A path counts as what the tool makes of it: a link in the working folder cannot give notes the rules of files, nor files those of notes.
func TestALinkDoesNotChangeWhoseARootIs(t *testing.T) {
	t.Parallel()
	r := inMemory(t)
	dir := t.TempDir()
	for name, target := range map[string]string{"shared-memory": "data", "data/in": "../private", "inner": "user-memory"} {
		if err := os.MkdirAll(filepath.Join(dir, "data"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	r.bind(part, "e1", &gate.RunContext{WorkingDirectory: dir})
	rule := func(n int, p string, a tool.Answer) gate.Rule {
		g := fileRule(n, "@fs_any", a)
		g.Path = p
		return g
	}
	r.file = []gate.Rule{rule(1, "data/*", tool.Allow), rule(2, "user-memory/*", tool.Allow), rule(3, "*", tool.Deny)}
	for p, want := range map[string]tool.Answer{
		"data/a": tool.Allow, "user-memory/a.md": tool.Allow, "./x/../user-memory/a.md": tool.Allow, filepath.Join(dir, "data/a"): tool.Allow,
		"shared-memory/a.md": tool.Deny, "data/in/a": tool.Deny, "../data/a": tool.Deny, "data/../../data/a": tool.Deny, "other/a": tool.Deny,
	} {
		c := call("write_file")
		c.Arguments, _ = json.Marshal(map[string]string{"path": p})
		if got := r.answer(c); got.Answer != want {
			t.Errorf("%s: %s (%s), want %s", p, got.Answer, got.Rule, want)
		}
	}
}

// A person chooses a permission group that their role may use, and nothing else with it: what is bound beside it stays.
func TestTheGroupOfAConversation(t *testing.T) {
	t.Parallel()
	r := inMemory(t)
	roles := gate.Roles{"admin": {Admin: true}, "member": {Groups: []string{"ops"}}}
	x := &policy.Contexts{Store: r.store, Roles: func() gate.Roles { return roles }, Groups: func() []string { return []string{"ops", "secret"} }}
	n := 0
	say := func(role people.Role, words ...string) string {
		t.Helper()
		n++
		out, err := x.Commands()[0].Run(t.Context(), command.Call{Read: r.store, Where: part, Person: people.Person{ID: "ann", Role: role}, Args: words, Event: fmt.Sprint("e", n)})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	r.bind(part, "b", &gate.RunContext{WorkingDirectory: "projects/x", AllowFSWrites: []string{"."}})
	for _, step := range []struct {
		role  people.Role
		words []string
		want  string
		group string
	}{
		{people.Member, nil, "No permission group is chosen here", ""},
		{people.Member, []string{"secret"}, "Nothing was changed", ""},
		{people.Member, []string{"ops"}, "is `ops` now", "ops"},
		{people.Member, nil, "is `ops`. You may choose: `default`, `ops`", "ops"},
		{people.Restricted, []string{"default"}, "Nothing was changed", "ops"},
		{people.Admin, []string{"absent"}, "Nothing was changed", "ops"},
		{people.Admin, []string{"secret"}, "is `secret` now", "secret"},
		{people.Member, []string{"none"}, "any more", ""},
	} {
		if got := say(step.role, step.words...); !strings.Contains(got, step.want) {
			t.Errorf("%s %v: %q, want %q", step.role, step.words, got, step.want)
		}
		c, err := policy.ContextOf(t.Context(), r.store, part)
		if err != nil || c == nil || c.SecurityGroup != step.group || c.WorkingDirectory != "projects/x" || len(c.AllowFSWrites) != 1 {
			t.Errorf("%s %v: %+v %v", step.role, step.words, c, err)
		}
	}
}
