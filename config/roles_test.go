package config_test

import (
	"strings"
	"testing"

	"herald/config"
)

func TestRolesAndWeb(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"a role with a group", "[groups.kids]\ndefault = \"deny\"\n[roles.child]\ngroup = \"kids\"\npeople = [\"slack:T1/U1\"]\n", ""},
		{"the role restricted", "[roles.restricted]\npeople = [\"slack:T1/U1\"]\n", ""},
		{"a group that the role may choose", "[groups.ops]\nroles = [\"oncall\", \"member\"]\n[roles.oncall]\npeople = [\"slack:T1/U1\"]\n", ""},
		{"a group that does not exist", "[groups.kids]\n[roles.child]\ngroup = \"kid\"\n", `did you mean "kids"?`},
		{"two roles for one", "[roles.a]\npeople = [\"slack:T1/U1\"]\n[roles.b]\npeople = [\"slack:T1/U1\"]\n", "has the role a already"},
		{"admin", "[roles.admin]\npeople = [\"slack:T1/U1\"]\n", "is no name for a role of your own"},
		{"nobody", "[roles.child]\npeople = [\"ann\"]\n", "ann"},
		{"a group for a role that does not exist", "[groups.ops]\nroles = [\"boss\"]\n", `there is no role "boss"`},
		{"a search", "[web]\nsearch_url = \"https://s.example/?q={query}\"\n", ""},
		{"a search without words", "[web]\nsearch_url = \"https://s.example/?q=\"\n", "does not say where the words go"},
		{"a search with a password", "[web]\nsearch_url = \"https://a:b@s.example/?q={query}\"\n", "must not hold a user"},
		{"no address", "[web]\nsearch_url = \"s.example/{query}\"\n", "must begin with http"},
		{"no header", "[web]\nsearch_key_header = \"X Key\"\n", "no name of a header"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.want == "" {
				mustLoad(t, options(tt.text))
				return
			}
			if got := problemsOf(t, options(tt.text)).Error(); !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	for _, tt := range []struct {
		role config.Role
		want string
	}{{config.Role{Name: "restricted"}, "restricted"}, {config.Role{Name: "child"}, "default"}, {config.Role{Name: "child", Group: "kids"}, "kids"}} {
		if got := tt.role.OwnGroup(); got != tt.want {
			t.Errorf("%+v: %q", tt.role, got)
		}
	}
}
