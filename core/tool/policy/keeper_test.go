package policy_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/people"
	"herald/core/session"
	"herald/core/tool"
	"herald/core/tool/gate"
	"herald/core/tool/policy"
)

func TestWhoIsAsked(t *testing.T) {
	t.Parallel()
	const bob = chat.IdentityID("slack:T1/U2")
	accounts := map[string]string{people.PersonOf(bob): string(bob)}
	four := gate.Rule{ID: gate.FileID(1), Tool: "pay", Action: tool.Require, Deciders: []string{"admin", string(bob), "asker"}, FourEyes: true, ExpiresS: 60}
	for _, tc := range []struct {
		name   string
		single bool
		want   tool.Decision
	}{
		{"four eyes", false, tool.Decision{
			Answer: tool.Require, Rule: "rule file-00001", Deciders: []string{"admin", people.PersonOf(bob), "ann"}, Barred: []string{"ann", "joe"},
			Accounts: accounts, Who: "an admin or <" + people.PersonOf(bob) + "> or the person who asked, but not who asked", Expires: 60e9,
		}},
		{"a single operator", true, tool.Decision{
			Answer: tool.Require, Rule: "rule file-00001; the one who asked may decide, because this installation has a single operator",
			Deciders: []string{"admin", people.PersonOf(bob), "ann"}, Accounts: accounts, Who: "an admin or <" + people.PersonOf(bob) + "> or the person who asked", Expires: 60e9,
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := inMemory(t)
			r.file, r.single = []gate.Rule{four}, tc.single
			c := call("pay")
			c.Askers = []string{"ann", "joe"}
			if d := cmp.Diff(tc.want, r.answer(c)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			if d := r.answer(call("other")); d.Answer != tool.Require || d.Deciders != nil || d.Who != "" {
				t.Errorf("what no rule knows is the asker's to decide: %+v", d)
			}
		})
	}
}

// An identity stands for the person that its document names.
func TestADeciderIsAPerson(t *testing.T) {
	t.Parallel()
	r := inMemory(t)
	r.file = []gate.Rule{{ID: gate.FileID(1), Tool: "pay", Action: tool.Require, Deciders: []string{"slack:T1/U2"}}}
	r.put(people.IdentityPartition("slack:T1/U2"), people.IdentityKey, people.Identity{V: 1, Identity: "slack:T1/U2", Person: "bob"})
	if d := r.answer(call("pay")); !cmp.Equal(d.Deciders, []string{"bob"}) {
		t.Errorf("got %+v", d)
	}
	c := call("pay")
	c.Approved = "bob"
	if d := r.answer(c); d.Answer != tool.Allow {
		t.Errorf("his approval: %+v", d)
	}
}

// An approval is judged by the rules and rights of the instant at which the call runs.
func TestAnApprovalIsJudgedAgain(t *testing.T) {
	t.Parallel()
	require := gate.Rule{ID: gate.FileID(1), Tool: "pay", Action: tool.Require, Deciders: []string{"admin"}}
	for _, tc := range []struct {
		name    string
		rule    gate.Rule
		by      string
		admin   bool
		want    tool.Answer
		refusal session.Refusal
	}{
		{"still right", require, "eve", true, tool.Allow, session.ByRule},
		{"no admin any more", require, "eve", false, tool.Deny, session.ByLapse},
		{"denied since", fileRule(1, "pay", tool.Deny), "eve", true, tool.Deny, session.ByRule},
		{"allowed since", fileRule(1, "pay", tool.Allow), "eve", false, tool.Allow, session.ByRule},
		{"the asker's own", fileRule(1, "other", tool.Allow), "ann", false, tool.Allow, session.ByRule},
		{"another's where the asker decides", fileRule(1, "other", tool.Allow), "bob", false, tool.Deny, session.ByLapse},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := inMemory(t)
			r.file, r.admins["eve"] = []gate.Rule{tc.rule}, tc.admin
			c := call("pay")
			c.Approved = tc.by
			if d := r.answer(c); d.Answer != tc.want || d.Refusal != tc.refusal {
				t.Errorf("got %+v", d)
			}
		})
	}
}

func TestUnattendedIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	r := inMemory(t)
	r.file = []gate.Rule{fileRule(1, "look", tool.Allow), fileRule(2, "drop", tool.Deny)}
	for name, want := range map[string]tool.Decision{
		"look":    {Answer: tool.Allow, Rule: "rule file-00001"},
		"drop":    {Answer: tool.Deny, Rule: "rule file-00002"},
		"mystery": {Answer: tool.Deny, Rule: "nobody is there to decide", Refusal: session.ByNobody},
	} {
		c := call(name)
		c.Unattended = true
		if d := cmp.Diff(want, r.answer(c)); d != "" {
			t.Errorf("%s (-want +got)\n%s", name, d)
		}
	}
}

// Where several persons ask, the call has the rights that all of them have.
func TestRightsAreTheIntersection(t *testing.T) {
	t.Parallel()
	r := inMemory(t)
	r.roles["restricted"] = gate.Role{Group: gate.Restricted}
	r.role["ann"], r.role["joe"] = "member", "restricted"
	deny := fileRule(2, "send", tool.Deny)
	deny.Group = gate.Restricted
	r.file = []gate.Rule{fileRule(1, "send", tool.Allow), deny}
	c := call("send")
	if d := r.answer(c); d.Answer != tool.Allow {
		t.Errorf("ann alone: %+v", d)
	}
	if tool.Hides(t.Context(), r.open(), c, "send") {
		t.Error("hidden from ann")
	}
	c.Askers = []string{"ann", "joe"}
	if d := r.answer(c); d.Answer != tool.Deny {
		t.Errorf("ann and joe: %+v", d)
	}
	if !tool.Hides(t.Context(), r.open(), c, "send") {
		t.Error("shown to both")
	}
	c.Askers, c.Person = nil, "stranger"
	if d := r.answer(c); d.Answer != tool.Deny {
		t.Errorf("a person whose role is not known: %+v", d)
	}
}

func TestWhatCannotBeReadOpensNothing(t *testing.T) {
	t.Parallel()
	r := inMemory(t)
	r.file = []gate.Rule{fileRule(1, "send", tool.Allow)}
	r.roles["restricted"] = gate.Role{Group: gate.Restricted}
	r.fails = errors.New("away")
	if d := r.answer(call("send")); d.Answer != tool.Require {
		t.Errorf("the role cannot be read: %+v", d)
	}
	c := call("send")
	c.Approved = "ann"
	if d := r.answer(c); d.Answer != tool.Deny {
		t.Errorf("the role cannot be read after an approval: %+v", d)
	}
}

// A call outside of any turn never runs.
func TestNoTurnNoCall(t *testing.T) {
	t.Parallel()
	r := inMemory(t)
	r.file = []gate.Rule{fileRule(1, "*", tool.Allow)}
	c := call("send")
	c.Turn = ""
	d, err := r.keeper().Decide(t.Context(), c)
	if err != nil || d.Answer != tool.Deny {
		t.Errorf("got %+v %v", d, err)
	}
}

// A deny that is set while a turn runs holds for the calls that follow, and a plain turn reads nothing beside what its load read.
func TestRulesAreAsFreshAsTwoSeconds(t *testing.T) {
	t.Parallel()
	r := inMemory(t)
	r.file = []gate.Rule{fileRule(9, "send", tool.Allow)}
	g := r.open()
	before := r.store.Stats().RoundTrips
	for range 3 {
		if d := tool.Ask(t.Context(), g, call("send")); d.Answer != tool.Allow {
			t.Fatalf("got %+v", d)
		}
		tool.Hides(t.Context(), g, call("send"), "send")
	}
	if n := r.store.Stats().RoundTrips - before; n != 0 {
		t.Errorf("%d round trips", n)
	}
	early := ruleOf("send", tool.Deny)
	early.Priority = 0
	r.add("e1", early)
	r.pass(3e9)
	if d := tool.Ask(t.Context(), g, call("send")); d.Answer != tool.Deny {
		t.Errorf("three seconds later: %+v", d)
	}
}

// Paths are compared with where they lead on the disk.
func TestPathsOfCalls(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, dir := range []string{"data", "secrets"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"data/link": "../secrets", "data/out": "/etc"} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	r := inMemory(t)
	r.file = []gate.Rule{{ID: gate.FileID(1), Tool: gate.FSAny, Path: "data/*", Action: tool.Allow}, fileRule(2, "other_*", tool.Allow)}
	err := policy.Bind(t.Context(), r.store, part, policy.Actor{Event: "b"}, "admin", r.roles, &gate.RunContext{WorkingDirectory: root})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, tool, args string
		want             tool.Answer
	}{
		{"inside", "write_file", `{"path":"data/x"}`, tool.Allow},
		{"absolute and inside", "write_file", `{"path":"` + root + `/data/x"}`, tool.Allow},
		{"by dots", "write_file", `{"path":"data/../secrets/x"}`, tool.Require},
		{"by a link", "write_file", `{"path":"data/link/x"}`, tool.Require},
		{"by a link out of the folder", "read_file", `{"path":"data/out/passwd"}`, tool.Deny},
		{"out of the folder", "read_file", `{"path":"../x"}`, tool.Deny},
		{"without a path", "list_files", `{}`, tool.Require},
		{"the last of two paths counts, as for the tool", "write_file", `{"path":"data/x","path":"secrets/x"}`, tool.Require},
		{"a path of a tool that knows no files", "other_tool", `{"path":"../x"}`, tool.Allow},
	} {
		c := call(tc.tool)
		c.Arguments = json.RawMessage(tc.args)
		if d := r.answer(c); d.Answer != tc.want {
			t.Errorf("%s: %+v, want %s", tc.name, d, tc.want)
		}
	}
}

// Whatever arguments look like, a rule sees the path that the tool sees.
func TestArgumentsHideNoPath(t *testing.T) {
	t.Parallel()
	r := inMemory(t)
	r.file = []gate.Rule{{ID: gate.FileID(1), Tool: gate.FSAny, Path: "secrets/*", Action: tool.Deny}, fileRule(2, "*", tool.Allow)}
	err := policy.Bind(t.Context(), r.store, part, policy.Actor{Event: "b"}, "admin", r.roles, &gate.RunContext{WorkingDirectory: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{
		`{"path":"secrets/x"}`, `{"path":"secrets/x","path":null}`, `{"path":"secrets/x","Path":null}`, `{"path":"y","PATH":"secrets/x"}`,
		`{"path":"../x","path":null}`,
	} {
		c := call("read_file")
		c.Arguments = json.RawMessage(args)
		if d := r.answer(c); d.Answer != tool.Deny {
			t.Errorf("%s: %+v", args, d)
		}
	}
	// Notes have one name however its accents are written.
	r.file = []gate.Rule{{ID: gate.FileID(1), Tool: gate.FSAny, Path: "shared-memory/caf\u00e9/*", Action: tool.Deny}, fileRule(2, "*", tool.Allow)}
	for _, name := range []string{"shared-memory/caf\u00e9/x.md", "shared-memory/cafe\u0301/x.md"} {
		c := call("read_file")
		c.Arguments, _ = json.Marshal(map[string]string{"path": name})
		if d := r.answer(c); d.Answer != tool.Deny {
			t.Errorf("%s: %+v", name, d)
		}
	}
	c := call("read_file")
	c.Arguments = json.RawMessage(`{"path":"secrets/x","path":"y"}`)
	if d := r.answer(c); d.Answer != tool.Allow {
		t.Errorf("the last path is another one: %+v", d)
	}
}

// A bypass by an admin counts while they are one.
func TestABypassLastsNoLongerThanTheRight(t *testing.T) {
	t.Parallel()
	r := inMemory(t)
	r.file = []gate.Rule{{ID: gate.FileID(1), Tool: "pay", Action: tool.Require, Deciders: []string{"admin"}}}
	r.admins["eve"] = true
	r.bypass(conversation.Bypass{Tool: "pay", Session: "s1", Person: "ann", By: "eve", At: start})
	if d := r.answer(call("pay")); d.Answer != tool.Allow {
		t.Errorf("got %+v", d)
	}
	r.admins["eve"] = false
	if d := r.answer(call("pay")); d.Answer != tool.Require {
		t.Errorf("after the role was taken away: %+v", d)
	}
}

func TestTheBookHasAnEnd(t *testing.T) {
	t.Parallel()
	r := inMemory(t)
	rules := make([]gate.Rule, policy.MaxRules)
	for i := range rules {
		rules[i] = fileRule(i, "x", tool.Allow)
	}
	r.put(people.System, policy.RulesKey, map[string]any{"v": 1, "next": 1, "rules": rules})
	if _, err := r.book().Add(t.Context(), policy.Actor{Event: "e"}, ruleOf("y", tool.Deny)); !errors.Is(err, policy.ErrFull) {
		t.Errorf("got %v", err)
	}
}
