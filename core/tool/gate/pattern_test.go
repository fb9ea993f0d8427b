package gate_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"herald/core/tool"
	"herald/core/tool/gate"
)

// decide is what one rule that allows says of a call; a call that it does not fit needs a person.
func fits(r gate.Rule, q gate.Request) bool {
	r.ID, r.Action, q.Scoped = "r", tool.Allow, true
	return gate.NewSet([]gate.Rule{r}).Decide(q).Answer == tool.Allow
}

func TestToolPatterns(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		pattern, tool string
		want          bool
	}{
		{"execute_cmd", "execute_cmd", true},
		{"execute_cmd", "execute_cmd2", false},
		{"execute_cmd", "execute", false},
		{"mobile_*", "mobile_pair", true},
		{"mobile_*", "mobile_", true},
		{"mobile_*", "mobile", false},
		{"mobile_*", "a_mobile_x", false},
		{"*", "anything", true},
		{"@fs_read", "read_file", true},
		{"@fs_read", "list_files", true},
		{"@fs_read", "grep_files", true},
		{"@fs_read", "write_file", false},
		{"@fs_write", "write_file", true},
		{"@fs_write", "edit_file", true},
		{"@fs_write", "append_file", true},
		{"@fs_write", "read_file", false},
		{"@fs_any", "read_file", true},
		{"@fs_any", "append_file", true},
		{"@fs_any", "execute_cmd", false},
		// The classes are closed: a name that looks like a file's tool is none.
		{"@fs_any", "read_file2", false},
		{"@fs_any", "read_", false},
	} {
		if got := fits(gate.Rule{Tool: tc.pattern}, gate.Request{Tool: tc.tool}); got != tc.want {
			t.Errorf("%s on %s: %v, want %v", tc.pattern, tc.tool, got, tc.want)
		}
	}
}

func TestPathPatterns(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		pattern, path string
		want          bool
	}{
		{"memory/*", "memory", true},
		{"memory/*", "memory/x", true},
		{"memory/*", "memory/x/y", true},
		{"memory/*", "memory-secrets/x", false},
		{"memory/*", "memoryx", false},
		{"memory/*", "other/memory", false},
		{"memory/*", "other/memory/x", false},
		{"data*", "data", true},
		{"data*", "data/x", true},
		{"data*", "database/x", true},
		{"data*", "dat", false},
		{"data*", "x/data", false},
		{"a/b.md", "a/b.md", true},
		{"a/b.md", "a/b.mdx", false},
		{"a/b.md", "a/b", false},
		{"*", "anything/at/all", true},
	} {
		if got := fits(gate.Rule{Tool: "*", Path: tc.pattern}, gate.Request{Tool: "read_file", Path: tc.path, HasPath: true}); got != tc.want {
			t.Errorf("%s on %s: %v, want %v", tc.pattern, tc.path, got, tc.want)
		}
	}
	if fits(gate.Rule{Tool: "*", Path: "*"}, gate.Request{Tool: "read_file"}) {
		t.Error("a rule with a path fitted a call without one")
	}
}

func TestCanonicalPaths(t *testing.T) {
	t.Parallel()
	links := map[string]string{
		"data/out":      "../secrets",
		"data/far":      "../../elsewhere",
		"data/abs":      "/home/ada/job/secrets/key",
		"data/gone":     "/etc/passwd",
		"data/loop":     "loop",
		"data/in":       "sub",
		"data/sub/back": "..",
	}
	link := func(p string) (string, bool) { t, ok := links[p]; return t, ok }
	for _, tc := range []struct {
		name, path, want string
		ok               bool
	}{
		{"plain", "data/x", "data/x", true},
		{"dots", "./data//x/.", "data/x", true},
		{"a way back inside", "data/../secrets/x", "secrets/x", true},
		{"the folder itself", ".", ".", true},
		{"nothing", "", ".", true},
		{"a way out", "../x", "", false},
		{"a way out that comes back", "../job/data/x", "", false},
		{"a way out deep inside", "data/../../x", "", false},
		{"absolute and inside", "/home/ada/job/data/x", "data/x", true},
		{"absolute and the folder", "/home/ada/job", ".", true},
		{"absolute and outside", "/etc/passwd", "", false},
		{"absolute beside", "/home/ada/jobshop/x", "", false},
		{"absolute with a way out", "/home/ada/job/../etc/passwd", "", false},
		{"a link out of the root of a grant", "data/out/key", "secrets/key", true},
		{"a link out of the folder", "data/far/key", "", false},
		{"an absolute link inside", "data/abs", "secrets/key", true},
		{"an absolute link outside", "data/gone", "", false},
		{"a link to itself", "data/loop/x", "", false},
		{"dots behind a link go on from its target", "data/in/back/y", "data/y", true},
		{"dots after a link", "data/out/../x", "x", true},
		{"a zero byte", "data/\x00x", "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, ok := gate.Canonical("/home/ada/job", tc.path, link)
			if got != tc.want || ok != tc.ok {
				t.Errorf("%q became %q %v, want %q %v", tc.path, got, ok, tc.want, tc.ok)
			}
		})
	}
	if _, ok := gate.Canonical("", "/etc/passwd", link); ok {
		t.Error("without a working folder an absolute path was taken")
	}
}

func TestRulesThatCannotBe(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, rule, want string }{
		{"an unknown key", `{"id":"r1","tool":"*","action":"allow","hours":"9-17"}`, "hours"},
		{"a key of other case is not taken for granted", `{"id":"r1","tool":"*","action":"allow","only":["x"]}`, "only"},
		{"two rules", `{"id":"r1","tool":"*","action":"allow"}{}`, "behind it"},
		{"no rule", `[]`, "read a rule"},
		{"no id", `{"tool":"*","action":"allow"}`, "no id"},
		{"no tool", `{"id":"r1","action":"allow"}`, "names no tool"},
		{"no action", `{"id":"r1","tool":"*"}`, "none of allow"},
		{"an unknown action", `{"id":"r1","tool":"*","action":"ask"}`, "none of allow"},
		{"a star in the middle", `{"id":"r1","tool":"a*b","action":"deny"}`, "at the end only"},
		{"two stars", `{"id":"r1","tool":"a**","action":"deny"}`, "at the end only"},
		{"an unknown class", `{"id":"r1","tool":"@fs_all","action":"deny"}`, "no class"},
		{"a class with a star", `{"id":"r1","tool":"@fs_*","action":"deny"}`, "no class"},
		{"a path with a star inside", `{"id":"r1","tool":"*","path":"a*/b","action":"deny"}`, "before its end"},
		{"an absolute path", `{"id":"r1","tool":"*","path":"/etc/*","action":"deny"}`, "slash"},
		{"a path with dots", `{"id":"r1","tool":"*","path":"a/../b","action":"deny"}`, "never met"},
		{"a folder with dots", `{"id":"r1","tool":"*","path":"./a/*","action":"deny"}`, "never met"},
		{"a folder with a slash too many", `{"id":"r1","tool":"*","path":"a/","action":"deny"}`, "never met"},
		{"a bad group", `{"id":"r1","tool":"*","group":"a b","action":"deny"}`, "no group"},
		{"deciders of a deny", `{"id":"r1","tool":"*","action":"deny","deciders":["admin"]}`, "how a require"},
		{"four eyes of an allow", `{"id":"r1","tool":"*","action":"allow","four_eyes":true}`, "how a require"},
		{"four eyes of nobody", `{"id":"r1","tool":"*","action":"require","four_eyes":true}`, "somebody besides"},
		{"four eyes of the asker", `{"id":"r1","tool":"*","action":"require","four_eyes":true,"deciders":["asker"]}`, "somebody besides"},
		{"a decider without a name", `{"id":"r1","tool":"*","action":"require","deciders":[""]}`, "no name"},
		{"an endless card", `{"id":"r1","tool":"*","action":"require","expires_s":99999999}`, "30 days"},
		{"a card that ends before it stands", `{"id":"r1","tool":"*","action":"require","expires_s":-1}`, "30 days"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := gate.Decode([]byte(tc.rule))
			if !errors.Is(err, gate.ErrInvalid) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestARuleIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	r, err := gate.Decode([]byte(`{"id":"r1","tool":"a_*","action":"require","deciders":["admin","slack:T/U"],"four_eyes":true,"expires_s":60}`))
	if err != nil {
		t.Fatal(err)
	}
	if r.Priority != gate.DefaultPriority || r.GroupName() != gate.DefaultGroup || time.Duration(r.ExpiresS)*time.Second != time.Minute || !r.FourEyes {
		t.Errorf("got %+v", r)
	}
	if r, err = gate.Decode([]byte(`{"id":"r1","tool":"*","action":"deny","priority":0}`)); err != nil || r.Priority != 0 {
		t.Errorf("priority 0 became %d: %v", r.Priority, err)
	}
}

func TestDefaultActionsDoNotContradict(t *testing.T) {
	t.Parallel()
	last := func(id, group string, a tool.Answer) gate.Rule {
		return gate.Rule{ID: id, Group: group, Tool: "*", Action: a, Priority: gate.LastPriority}
	}
	narrow := last("r9", "", tool.Deny)
	narrow.Agent = "x"
	for _, tc := range []struct {
		name  string
		rules []gate.Rule
		ok    bool
	}{
		{"another action in one group", []gate.Rule{last("r1", "", tool.Allow), last("r2", "default", tool.Deny)}, false},
		{"the same action", []gate.Rule{last("r1", "", tool.Allow), last("r2", "", tool.Allow)}, true},
		{"another group", []gate.Rule{last("r1", "", tool.Allow), last("r2", "ops", tool.Deny)}, true},
		{"one for an agent alone", []gate.Rule{last("r1", "", tool.Allow), narrow}, true},
		{"the seeded one steps back", append(gate.Seeds(func(string) bool { return false }), last("r1", "", tool.Deny)), true},
		{"an id twice", []gate.Rule{last("r1", "", tool.Allow), last("r1", "", tool.Allow)}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if err := gate.CheckAll(tc.rules); (err == nil) != tc.ok {
				t.Errorf("got %v", err)
			}
		})
	}
}
