package gate_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"herald/core/tool"
	"herald/core/tool/gate"
)

func rule(id, group, pattern string, a tool.Answer, priority int) gate.Rule {
	return gate.Rule{ID: id, Group: group, Tool: pattern, Action: a, Priority: priority}
}

func TestOrderOfResolution(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	bypass := gate.Bypass{Tool: "send", Session: "s1", Person: "ann", By: "ann", At: now}
	ended := bypass
	ended.Until = now
	base := gate.Request{Scoped: true, Tool: "send", Agent: "main", Source: "slack", Session: "s1", Askers: []string{"ann"}, Now: now}
	with := func(f func(*gate.Request)) gate.Request { q := base; f(&q); return q }
	rules := []gate.Rule{
		rule("r1", "", "send", tool.Require, 100),
		rule("r2", "", "drop", tool.Deny, 100),
		rule("r3", "", "look", tool.Allow, 100),
		rule("r4", "ops", "look", tool.Deny, 500),
		{ID: "r5", Tool: "write_file", Path: "locked/*", Action: tool.Deny, Priority: 1},
		{ID: "r6", Tool: "only", Agent: "writer", Action: tool.Allow, Priority: 1},
		{ID: "r7", Tool: "only", Source: "cron", Action: tool.Allow, Priority: 1},
		rule("r81", "", "same", tool.Deny, 100),
		rule("r80", "", "same", tool.Allow, 100),
		rule("r9", "", "early", tool.Allow, -1),
		rule("r0", "", "early", tool.Deny, 0),
		{ID: "rA", Tool: "pay", Action: tool.Require, Deciders: []string{"admin"}, FourEyes: true, Priority: 100},
	}
	file := func(tool, path string) func(*gate.Request) {
		return func(q *gate.Request) {
			q.Tool, q.Path, q.HasPath = tool, path, true
			q.Reads, q.Writes = []string{"docs"}, []string{"data", "locked"}
		}
	}
	for _, tc := range []struct {
		name string
		q    gate.Request
		want tool.Answer
		by   gate.By
		rule string
	}{
		{"a call outside of a turn", with(func(q *gate.Request) { q.Scoped, q.Tool = false, "look" }), tool.Deny, gate.ByNoTurn, ""},
		{"a path that leaves the folder", with(func(q *gate.Request) { q.Outside, q.Tool = true, "look" }), tool.Deny, gate.ByOutside, ""},
		{"the rule that fits", base, tool.Require, gate.ByRule, "r1"},
		{"nothing matched", with(func(q *gate.Request) { q.Tool = "other" }), tool.Require, gate.ByNothing, ""},
		{"the default group", with(func(q *gate.Request) { q.Tool = "look" }), tool.Allow, gate.ByRule, "r3"},
		{"a group comes before the default group, whatever the priority", with(func(q *gate.Request) { q.Tool, q.Group = "look", "ops" }), tool.Deny, gate.ByRule, "r4"},
		{"the default group behind a group", with(func(q *gate.Request) { q.Tool, q.Group = "drop", "ops" }), tool.Deny, gate.ByRule, "r2"},
		{"another group's rules", with(func(q *gate.Request) { q.Tool, q.Group = "look", "other" }), tool.Allow, gate.ByRule, "r3"},
		{"the agent does not fit", with(func(q *gate.Request) { q.Tool = "only" }), tool.Require, gate.ByNothing, ""},
		{"the agent fits", with(func(q *gate.Request) { q.Tool, q.Agent = "only", "writer" }), tool.Allow, gate.ByRule, "r6"},
		{"the source fits", with(func(q *gate.Request) { q.Tool, q.Source = "only", "cron" }), tool.Allow, gate.ByRule, "r7"},
		{"the lower id of one priority", with(func(q *gate.Request) { q.Tool = "same" }), tool.Allow, gate.ByRule, "r80"},
		{"the lower priority", with(func(q *gate.Request) { q.Tool = "early" }), tool.Allow, gate.ByRule, "r9"},
		{"a bypass lifts a require", with(func(q *gate.Request) { q.Bypasses = []gate.Bypass{bypass} }), tool.Allow, gate.ByBypass, "r1"},
		{"a bypass that has ended", with(func(q *gate.Request) { q.Bypasses = []gate.Bypass{ended} }), tool.Require, gate.ByRule, "r1"},
		{"a bypass of another session", with(func(q *gate.Request) { q.Bypasses, q.Session = []gate.Bypass{bypass}, "s2" }), tool.Require, gate.ByRule, "r1"},
		{"a bypass of another person", with(func(q *gate.Request) { q.Bypasses, q.Askers = []gate.Bypass{bypass}, []string{"bob"} }), tool.Require, gate.ByRule, "r1"},
		{"a bypass of one of two who ask", with(func(q *gate.Request) { q.Bypasses, q.Askers = []gate.Bypass{bypass}, []string{"ann", "bob"} }), tool.Require, gate.ByRule, "r1"},
		{"a bypass of another tool", with(func(q *gate.Request) { q.Bypasses, q.Tool = []gate.Bypass{bypass}, "send_all" }), tool.Require, gate.ByNothing, ""},
		{"a bypass never lifts a deny", with(func(q *gate.Request) {
			b := bypass
			b.Tool = "drop"
			q.Bypasses, q.Tool = []gate.Bypass{b}, "drop"
		}), tool.Deny, gate.ByRule, "r2"},
		{"a bypass by somebody who may not decide", with(func(q *gate.Request) {
			b := bypass
			b.Tool = "pay"
			q.Bypasses, q.Tool = []gate.Bypass{b}, "pay"
		}), tool.Require, gate.ByRule, "rA"},
		{"a bypass by an admin", with(func(q *gate.Request) {
			b := bypass
			b.Tool, b.By, b.ByAdmin = "pay", "eve", true
			q.Bypasses, q.Tool = []gate.Bypass{b}, "pay"
		}), tool.Allow, gate.ByBypass, "rA"},
		{"a write root lets a write through", with(file("write_file", "data/x")), tool.Allow, gate.ByContext, ""},
		{"a write root implies reading", with(file("read_file", "data/x")), tool.Allow, gate.ByContext, ""},
		{"a read root lets a read through", with(file("read_file", "docs/x")), tool.Allow, gate.ByContext, ""},
		{"a read root does not imply writing", with(file("write_file", "docs/x")), tool.Require, gate.ByNothing, ""},
		{"a path beside a root", with(file("read_file", "docs-secret/x")), tool.Require, gate.ByNothing, ""},
		{"a root never lifts a deny", with(file("write_file", "locked/x")), tool.Deny, gate.ByRule, "r5"},
		{"a root is for files only", with(file("send", "data/x")), tool.Require, gate.ByRule, "r1"},
		{"unattended", with(func(q *gate.Request) { q.Unattended = true }), tool.Deny, gate.ByUnattended, "r1"},
		{"unattended and nothing matched", with(func(q *gate.Request) { q.Unattended, q.Tool = true, "other" }), tool.Deny, gate.ByUnattended, ""},
		{"unattended and allowed", with(func(q *gate.Request) { q.Unattended, q.Tool = true, "look" }), tool.Allow, gate.ByRule, "r3"},
		{"unattended behind a bypass", with(func(q *gate.Request) { q.Unattended, q.Bypasses = true, []gate.Bypass{bypass} }), tool.Allow, gate.ByBypass, "r1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			v := gate.NewSet(rules[:6], rules[6:]).Decide(tc.q)
			id := ""
			if v.Rule != nil {
				id = v.Rule.ID
			}
			if v.Answer != tc.want || v.By != tc.by || id != tc.rule {
				t.Errorf("got %s by %q, rule %q; want %s by %q, rule %q", v.Answer, v.By, id, tc.want, tc.by, tc.rule)
			}
		})
	}
}

// data/../secrets/x is secrets/x, which a grant for data does not cover.
func TestAGrantIsComparedWithWhereAPathLeads(t *testing.T) {
	t.Parallel()
	for p, want := range map[string]tool.Answer{"data/../secrets/x": tool.Require, "data/link/x": tool.Require, "data/y/../x": tool.Allow} {
		rel, ok := gate.Canonical("/w", p, func(rel string) (string, bool) { return "/w/secrets", rel == "data/link" })
		q := gate.Request{Scoped: true, Tool: "write_file", Path: rel, HasPath: ok, Outside: !ok, Writes: []string{"data"}}
		if got := gate.NewSet().Decide(q).Answer; got != want {
			t.Errorf("%s: %s, want %s", p, got, want)
		}
	}
}

func TestRulesThatCannotBeReadOpenNothing(t *testing.T) {
	t.Parallel()
	q := gate.Request{
		Scoped: true, Tool: "write_file", HasPath: true, Path: "data/x", Writes: []string{"data"}, Session: "s", Askers: []string{"ann"},
		Bypasses: []gate.Bypass{{Tool: "write_file", Session: "s", Person: "ann", By: "ann"}},
	}
	var none *gate.Set
	if v := none.Decide(q); v.Answer != tool.Require || v.By != gate.ByUnreadable {
		t.Errorf("got %+v", v)
	}
	q.Unattended = true
	if v := none.Decide(q); v.Answer != tool.Deny {
		t.Errorf("unattended: got %+v", v)
	}
}

func TestWhatIsHidden(t *testing.T) {
	t.Parallel()
	s := gate.NewSet([]gate.Rule{
		rule("r1", "", "execute_cmd", tool.Deny, 1),
		{ID: "r2", Tool: "agents_only", Agent: "writer", Source: "cron", Path: "x/*", Action: tool.Deny, Priority: 1},
		rule("r3", "", "shown_*", tool.Allow, 1),
		rule("r4", "", "shown_late", tool.Deny, 2),
		rule("r5", "", "asked", tool.Require, 1),
		rule("r6", "kid", "*", tool.Deny, 9),
		rule("r7", "kid", "recall", tool.Allow, 1),
	})
	for _, tc := range []struct {
		name, group, tool string
		want              bool
	}{
		{"denied", "", "execute_cmd", true},
		{"denied for others only, but first by its name", "", "agents_only", true},
		{"denied behind an allow", "", "shown_late", false},
		{"needs a person", "", "asked", false},
		{"no rule", "", "unknown", false},
		{"denied by the group's last rule", "kid", "unknown", true},
		{"allowed in the group", "kid", "recall", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := s.Hides(tc.group, tc.tool); got != tc.want {
				t.Errorf("hidden: %v, want %v", got, tc.want)
			}
		})
	}
}

func TestWhoMayDecide(t *testing.T) {
	t.Parallel()
	named := &gate.Rule{Deciders: []string{"bob"}}
	admins := &gate.Rule{Deciders: []string{gate.Admins}}
	four := &gate.Rule{Deciders: []string{gate.Admins, "bob"}, FourEyes: true}
	for _, tc := range []struct {
		name          string
		rule          *gate.Rule
		by            string
		admin, single bool
		want          bool
	}{
		{"the asker where no rule matched", nil, "ann", false, false, true},
		{"another where no rule matched", nil, "bob", false, false, false},
		{"an admin where no rule names them", nil, "eve", true, false, false},
		{"the asker where nobody is named", &gate.Rule{}, "ann", false, false, true},
		{"one who asked along", &gate.Rule{}, "joe", false, false, false},
		{"the asker where another is named", named, "ann", false, false, false},
		{"the one who is named", named, "bob", false, false, true},
		{"an admin where another is named", named, "eve", true, false, false},
		{"an admin", admins, "eve", true, false, true},
		{"one who is no admin any more", admins, "eve", false, false, false},
		{"the asker who is an admin", admins, "ann", true, false, true},
		{"four eyes: the asker who is an admin", four, "ann", true, false, false},
		{"four eyes: one who asked along and is named", &gate.Rule{Deciders: []string{"joe"}, FourEyes: true}, "joe", false, false, false},
		{"four eyes: another admin", four, "eve", true, false, true},
		{"a single operator", four, "ann", true, true, true},
		{"a single operator who is not named", four, "ann", false, true, false},
		{"the asker by the word", &gate.Rule{Deciders: []string{gate.Asker, "bob"}}, "ann", false, false, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := gate.MayDecide(tc.rule, []string{"ann", "joe"}, tc.by, tc.admin, tc.single); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

// drawn are rules and a request of a small world, so that they meet often.
func drawn(t *rapid.T) ([]gate.Rule, gate.Request) {
	pick := func(name string, from ...string) string { return rapid.SampledFrom(from).Draw(t, name) }
	n := rapid.IntRange(0, 6).Draw(t, "rules")
	var rules []gate.Rule
	for i := range n {
		rules = append(rules, gate.Rule{
			ID: "r" + string(rune('0'+i)), Group: pick("group", "", "default", "ops"), Agent: pick("agent", "", "main", "x"), Source: pick("source", "", "slack"),
			Tool:   pick("pattern", "*", "send", "write_file", "read_file", "w*", "@fs_any", "@fs_write"),
			Path:   pick("path pattern", "", "data/*", "data*", "docs/x"),
			Action: tool.Answer(pick("action", "allow", "require", "deny")), Priority: rapid.IntRange(0, 3).Draw(t, "priority"),
		})
	}
	name := pick("tool", "send", "write_file", "read_file", "other")
	q := gate.Request{
		Scoped: true, Group: pick("of", "", "ops", "none"), Tool: name, Agent: pick("by", "main", "x"), Source: "slack",
		Session: "s", Askers: []string{"ann"}, Unattended: rapid.Bool().Draw(t, "unattended"),
	}
	if gate.IsFile(name) {
		q.HasPath, q.Path = true, pick("path", "data", "data/x", "database", "docs/x")
	}
	return rules, q
}

// lifted is the request with everything that can lift a require.
func lifted(q gate.Request) gate.Request {
	q.Bypasses = []gate.Bypass{{Tool: q.Tool, Session: q.Session, Person: "ann", By: "ann"}}
	q.Reads, q.Writes = []string{"."}, []string{"."}
	return q
}

func TestADenyIsNeverLifted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rules, q := drawn(t)
		s := gate.NewSet(rules)
		plain, open := s.Decide(q), s.Decide(lifted(q))
		if plain.Answer == tool.Deny && plain.By == gate.ByRule && open.Answer != tool.Deny {
			t.Fatalf("%s denied and %s let it through", plain.Rule.ID, open.By)
		}
	})
}

func TestWhatNoRuleFitsNeedsAPerson(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rules, q := drawn(t)
		v := gate.NewSet(rules).Decide(q)
		if (v.Rule == nil) != (v.By == gate.ByNothing || v.By == gate.ByUnattended && v.Rule == nil) || v.Rule == nil && v.Answer == tool.Allow {
			t.Fatalf("got %+v", v)
		}
		if q.Unattended && v.Answer == tool.Require {
			t.Fatal("nobody is there to decide, and the answer is require")
		}
	})
}

// The order in which rules are handed in changes nothing, and a rule of another group never matters.
func TestTheListHasOneOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rules, q := drawn(t)
		want := gate.NewSet(rules).Decide(q)
		mixed := rapid.Permutation(rules).Draw(t, "order")
		foreign := gate.Rule{ID: "a", Group: "foreign", Tool: "*", Action: tool.Allow, Priority: -1}
		got := gate.NewSet([]gate.Rule{foreign}, mixed).Decide(q)
		if got.Answer != want.Answer || got.By != want.By || got.Rule != nil && got.Rule.ID != want.Rule.ID {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	})
}
