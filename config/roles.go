package config

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"herald/core/tool/gate"
)

// Role is one [roles.NAME]: who has it and which permission groups it may use. admin and member need no section.
type Role struct {
	Name string
	Note string `key:"note"`
	// Group is the permission group of its people; "" is that of the name restricted for this role, else the group default.
	Group string `key:"group"`
	// People are the identities that have the role. Everybody else is a member.
	People []string `key:"people"`
}

// OwnGroup is the permission group of the role.
func (r *Role) OwnGroup() string {
	switch {
	case r.Group != "":
		return r.Group
	case r.Name == gate.Restricted:
		return gate.Restricted
	}
	return gate.DefaultGroup
}

// Web configures the tools that read the web.
type Web struct {
	SearchURL       string `key:"search_url"` // "" when no search is set up
	SearchKeyEnv    string `key:"search_key_env"`
	SearchKeyFile   string `key:"search_key_file"`
	SearchKeyHeader string `key:"search_key_header"`

	// SearchKey is what search_key_env or _file gave.
	SearchKey Secret
}

// Commands configures execute_cmd.
type Commands struct {
	// Enabled: agents may run programs in the working folder, each call let through by a rule or a person.
	Enabled bool `key:"enabled"`
}

func toolSettings() []setting {
	return []setting{
		{
			key: "web.search_url", kind: text, optional: true, sample: "https://search.example.org/search?format=json&q={query}", form: "http(s)://… with {query}", check: checkSearchURL,
			doc: "Endpoint of web_search: an address that answers with JSON, with {query} in the place of the words. Without it agents say that no search is set up.",
		},
		{
			key: "web.search_key_env", kind: envName, optional: true, sample: "SEARCH_API_KEY", form: "name of a variable", check: checkEnvName,
			doc: "Environment variable that holds the key of the search endpoint, where it asks for one.",
		},
		{
			key: "web.search_key_file", kind: secretFile, optional: true, sample: "/run/secrets/search_api_key",
			doc: "File that holds the key, instead of search_key_env.",
		},
		{
			key: "web.search_key_header", kind: text, def: "Authorization", form: "name of a header", check: checkHeader,
			doc: "Header that carries the key. Authorization carries it as a bearer token.",
		},
		{
			key: "commands.enabled", kind: truth, def: "false", restart: true,
			doc: "Give agents execute_cmd, which runs programs in the working folder in a sandbox without network. The rules ask a person for each call unless they say otherwise.",
		},
		{
			key: "roles.*.people", kind: list, optional: true, sample: "slack:T0123/U0456", form: "slack:TEAM/USER, discord:ID", check: checkIdentity,
			doc: "Identities that have the role. Everybody else is a member; who is among admins is an admin.",
		},
		{
			key: "roles.*.group", kind: text, optional: true, sample: "restricted", form: "name of a group",
			doc: "Permission group of the role's people. Without it the group restricted for the role restricted, else the group default.",
		},
		{
			key: "roles.*.note", kind: text, optional: true, sample: "pupils", form: "free text",
			doc: "What the role is for.",
		},
	}
}

// checkSearchURL never repeats the text: it may hold a key.
func checkSearchURL(s string) *fault {
	u, err := url.Parse(strings.ReplaceAll(s, "{query}", "x"))
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return faultf("must begin with http:// or https:// and a host").withHint("such as https://search.example.org/search?format=json&q={query}")
	case u.User != nil:
		return faultf("must not hold a user or password").withHint("use search_key_env or search_key_file")
	case !strings.Contains(s, "{query}"):
		return faultf("does not say where the words go").withHint("write {query} in their place")
	}
	return nil
}

func checkHeader(s string) *fault {
	if s == "" || strings.ContainsFunc(s, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-'
	}) {
		return faultf("%q is no name of a header", shorten(s)).withHint("such as Authorization or X-Subscription-Token")
	}
	return nil
}

// checkTools fetches the search's key and judges the roles.
func (l *loader) checkTools(cfg *Config) {
	cfg.Web.SearchKey = l.secret("web.search_key", cfg.Web.SearchKeyEnv, cfg.Web.SearchKeyFile)
	owner := map[string]string{}
	for i := range cfg.Roles {
		r := &cfg.Roles[i]
		key := under(rolesKey, r.Name)
		if g := r.Group; g != "" && g != gate.DefaultGroup && g != gate.Restricted && !slices.ContainsFunc(cfg.Groups, func(o Group) bool { return o.Name == g }) {
			f := faultf("there is no group %q", shorten(g)).withHint("add [%s]", under(groupsKey, g))
			if near := nearest(g, append(slices.Clone(l.names[groupsKey]), gate.DefaultGroup, gate.Restricted)); near != "" {
				f.hint = fmt.Sprintf("did you mean %q?", near)
			}
			l.report(l.given[key+".group"].source.problem(key+".group", f))
		}
		for _, id := range r.People {
			if other, ok := owner[id]; ok && other != r.Name {
				l.report(l.given[key+".people"].source.problem(key+".people", faultf("%s has the role %s already", shorten(id), other).withHint("leave it out of one of them")))
			}
			owner[id] = r.Name
		}
	}
	for i := range cfg.Groups {
		for _, role := range cfg.Groups[i].Roles {
			if role == "member" || role == gate.Restricted || slices.ContainsFunc(cfg.Roles, func(r Role) bool { return r.Name == role }) {
				continue
			}
			key := under(groupsKey, cfg.Groups[i].Name) + ".roles"
			l.report(l.given[key].source.problem(key, faultf("there is no role %q", shorten(role)).withHint("add [%s], or write member", under(rolesKey, role))))
		}
	}
}
