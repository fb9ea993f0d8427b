package policy_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herald/core/conversation"
	"herald/core/people"
	"herald/core/store"
	"herald/core/tool"
	"herald/core/tool/gate"
	"herald/core/tool/policy"
)

// What is stored behaves alike on every store.
func TestOnEveryStore(t *testing.T) {
	t.Parallel()
	everyStore(t, func(t *testing.T, open func(t *testing.T) *rig) {
		for name, f := range map[string]func(*rig){
			"rules are one list": oneList, "changes are made once": changedOnce, "seeds come once": seededOnce,
			"what is broken closes": brokenCloses, "a bypass ends": bypassEnds, "a run context": runContext, "racing changes": racing,
		} {
			t.Run(name, func(t *testing.T) { f(open(t)) })
		}
	})
}

func ids(t *rig) string {
	t.Helper()
	rules, err := t.book().List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range rules {
		out = append(out, r.ID)
	}
	return strings.Join(out, " ")
}

// Rules of the file and of the run time are one list in which the file comes first within a priority, and only the file's editor removes
// those of the file.
func oneList(t *rig) {
	t.file = []gate.Rule{fileRule(1, "send", tool.Deny), fileRule(2, "look", tool.Allow)}
	first := t.add("e1", ruleOf("send", tool.Allow))
	early := ruleOf("look", tool.Deny)
	early.Priority = 1
	second := t.add("e2", early)
	if got, want := ids(t), second.ID+" file-00001 file-00002 "+first.ID; got != want {
		t.Errorf("the list is %q, want %q", got, want)
	}
	if d := t.answer(call("send")); d.Answer != tool.Deny || d.Rule != "rule file-00001" {
		t.Errorf("send: %+v, want the file's rule", d)
	}
	if d := t.answer(call("look")); d.Answer != tool.Deny || d.Rule != "rule "+second.ID {
		t.Errorf("look: %+v, want the rule with the lower priority", d)
	}
	who := policy.Actor{Person: "eve", Event: "e3"}
	if _, err := t.book().Remove(t.Context(), who, "file-00001"); !errors.Is(err, policy.ErrFile) {
		t.Errorf("a rule of the file was removed: %v", err)
	}
	if _, err := t.book().Remove(t.Context(), who, "run-999999"); !errors.Is(err, policy.ErrNoRule) {
		t.Errorf("a rule that does not exist was removed: %v", err)
	}
	if _, err := t.book().Remove(t.Context(), who, second.ID); err != nil {
		t.Fatal(err)
	}
	if d := t.answer(call("look")); d.Answer != tool.Allow {
		t.Errorf("look: %+v after its deny was removed", d)
	}
	want := []string{"rule_add by eve " + first.ID, "rule_add by eve " + second.ID, "rule_remove by eve " + second.ID}
	if d := cmp.Diff(want, t.audit()); d != "" {
		t.Errorf("audit (-want +got)\n%s", d)
	}
}

// An event that comes twice changes once and gives the same answer; numbers are not used again; a refused rule leaves nothing.
func changedOnce(t *rig) {
	a := t.add("e1", ruleOf("send", tool.Allow))
	if b := t.add("e1", ruleOf("send", tool.Allow)); b.ID != a.ID {
		t.Errorf("the repeat made %s, the first %s", b.ID, a.ID)
	}
	for range 2 {
		if r, err := t.book().Remove(t.Context(), policy.Actor{Person: "eve", Event: "e2"}, a.ID); err != nil || r.ID != a.ID {
			t.Errorf("removed %q: %v", r.ID, err)
		}
	}
	if b := t.add("e3", ruleOf("send", tool.Allow)); b.ID == a.ID {
		t.Error("an id was used again")
	}
	t.file = []gate.Rule{fileRule(1, "*", tool.Deny)}
	for name, r := range map[string]gate.Rule{
		"a default action that contradicts the file's": ruleOf("*", tool.Allow), "no pattern": ruleOf("a*b", tool.Allow), "no action": ruleOf("x", "maybe"),
	} {
		if _, err := t.book().Add(t.Context(), policy.Actor{Event: name}, r); !errors.Is(err, gate.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(t.audit()); n != 3 {
		t.Errorf("%d rows, want 3", n)
	}
}

// What an admin removed does not come back, and a rule that is new to the installation comes.
func seededOnce(t *rig) {
	seed := func(event string, tools ...string) {
		t.Helper()
		err := t.book().Seed(t.Context(), event, gate.Seeds(func(n string) bool {
			for _, x := range tools {
				if x == n {
					return true
				}
			}
			return false
		}))
		if err != nil {
			t.Fatal(err)
		}
	}
	seed("s1", "recall")
	if d := t.answer(call("recall")); d.Answer != tool.Allow {
		t.Fatalf("recall: %+v", d)
	}
	if _, err := t.book().Remove(t.Context(), policy.Actor{Person: "eve", Event: "e1"}, "seed-recall"); err != nil {
		t.Fatal(err)
	}
	rows := len(t.audit())
	seed("s2", "recall")
	if d := t.answer(call("recall")); d.Answer != tool.Require || len(t.audit()) != rows {
		t.Errorf("a rule that was removed came back: %+v", d)
	}
	seed("s3", "recall", "remember")
	if d := t.answer(call("remember")); d.Answer != tool.Allow {
		t.Errorf("a new tool has no rule: %+v", d)
	}
}

// Whatever stands in the documents that cannot be read closes the gate, also for what the file allows and what was approved.
func brokenCloses(t *rig) {
	t.file = []gate.Rule{fileRule(1, "look", tool.Allow)}
	for _, tc := range []struct {
		name string
		p    store.Partition
		key  store.Key
		doc  any
	}{
		{"rules of a newer version", people.System, policy.RulesKey, map[string]any{"v": 9}},
		{"a key that is not known", people.System, policy.RulesKey, map[string]any{"v": 1, "next": 1, "rules": []any{}, "only": "x"}},
		{"a rule with a key that is not known", people.System, policy.RulesKey, map[string]any{"v": 1, "next": 1, "rules": []any{map[string]any{"id": "run-1", "tool": "*", "action": "allow", "priority": 1, "hours": "9"}}}},
		{"a rule that cannot be", people.System, policy.RulesKey, map[string]any{"v": 1, "next": 1, "rules": []any{map[string]any{"id": "run-1", "tool": "a*b", "action": "deny", "priority": 1}}}},
		{"no document at all", people.System, policy.RulesKey, "x"},
		{"bypasses of a newer version", part, conversation.BypassKey, map[string]any{"v": 9}},
		{"a run context with a key that is not known", part, conversation.ContextKey, map[string]any{"v": 1, "context": map[string]any{"deny": "x"}}},
	} {
		t.put(tc.p, tc.key, tc.doc)
		d := t.answer(call("look"))
		approved := call("look")
		approved.Approved = "ann"
		a := t.answer(approved)
		unattended := call("look")
		unattended.Unattended = true
		if u := t.answer(unattended); d.Answer != tool.Require || a.Answer != tool.Deny || u.Answer != tool.Deny {
			t.Errorf("%s: %s, approved %s, unattended %s", tc.name, d.Answer, a.Answer, u.Answer)
		}
		if _, err := t.store.Commit(t.Context(), store.Commit{ID: "away " + tc.name, Partition: tc.p, Ops: []store.Op{store.Delete{Key: tc.key}}}); err != nil {
			t.Fatal(err)
		}
		if d := t.answer(call("look")); d.Answer != tool.Allow {
			t.Errorf("%s is gone, and the answer is %+v", tc.name, d)
		}
	}
}

func bypassEnds(t *rig) {
	b := conversation.Bypass{Tool: "send", Session: "s1", Person: "ann", By: "ann", At: start, Until: start.Add(15 * time.Minute)}
	t.bypass(b)
	if d := t.answer(call("send")); d.Answer != tool.Allow || !strings.Contains(d.Rule, "<ann>") || !strings.Contains(d.Rule, "12:15 UTC") {
		t.Errorf("got %+v", d)
	}
	if d := t.answer(call("send_all")); d.Answer != tool.Require {
		t.Errorf("another tool: %+v", d)
	}
	other := call("send")
	other.Session = "s2"
	if d := t.answer(other); d.Answer != tool.Require {
		t.Errorf("another session: %+v", d)
	}
	open := t.open()
	t.pass(15 * time.Minute)
	if d := t.answer(call("send")); d.Answer != tool.Require {
		t.Errorf("after its end: %+v", d)
	}
	if d := tool.Ask(t.Context(), open, call("send")); d.Answer != tool.Require {
		t.Errorf("after its end, by a gate that was opened before: %+v", d)
	}
	t.add("e1", ruleOf("send", tool.Deny))
	b.Until = time.Time{}
	t.bypass(b)
	if d := t.answer(call("send")); d.Answer != tool.Deny {
		t.Errorf("a bypass lifted a deny: %+v", d)
	}
}

func runContext(t *rig) {
	t.roles["member"] = gate.Role{Groups: []string{"team"}}
	t.role["ann"] = "member"
	in := ruleOf("send", tool.Deny)
	in.Group = "team"
	t.add("e1", in)
	bind := func(event, role string, c *gate.RunContext) error {
		return policy.Bind(t.Context(), t.store, part, policy.Actor{Person: "ann", Event: event}, role, t.roles, c)
	}
	if err := bind("b1", "member", &gate.RunContext{SecurityGroup: "ops"}); !errors.Is(err, gate.ErrForbidden) {
		t.Errorf("a group that the role may not use was bound: %v", err)
	}
	if err := bind("b2", "member", &gate.RunContext{SecurityGroup: "team", AllowFSWrites: []string{"data"}}); err != nil {
		t.Fatal(err)
	}
	if d := t.answer(call("send")); d.Answer != tool.Deny {
		t.Errorf("the group's rule does not hold: %+v", d)
	}
	write := call("write_file")
	write.Arguments = []byte(`{"path":"data/x"}`)
	if d := t.answer(write); d.Answer != tool.Require {
		t.Errorf("a member gave a write path: %+v", d)
	}
	if err := bind("b3", "admin", &gate.RunContext{SecurityGroup: "team", AllowFSWrites: []string{"data"}}); err != nil {
		t.Fatal(err)
	}
	if d := t.answer(write); d.Answer != tool.Allow {
		t.Errorf("the path of an admin's context: %+v", d)
	}
	t.roles["member"] = gate.Role{}
	if d := t.answer(call("send")); d.Answer != tool.Require {
		t.Errorf("a group that the role has lost still holds: %+v", d)
	}
	if err := bind("b4", "admin", nil); err != nil {
		t.Fatal(err)
	}
	if d := t.answer(write); d.Answer != tool.Require {
		t.Errorf("the context was removed, and its path still opens: %+v", d)
	}
}

func racing(t *rig) {
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() { t.add(fmt.Sprint("e", i), ruleOf(fmt.Sprint("tool", i), tool.Deny)) })
	}
	wg.Wait()
	rules, err := t.book().List(t.Context())
	if err != nil || len(rules) != 4 || len(t.audit()) != 4 {
		t.Errorf("%d rules, %d rows: %v", len(rules), len(t.audit()), err)
	}
}
