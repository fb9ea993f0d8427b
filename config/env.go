package config

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// variable is an environment variable that may set a key.
type variable struct {
	name string
	path []string // lower case, the name of a provider or model as written
}

// variables returns the HERALD_ variables that could be settings, by name.
func (l *loader) variables() []variable {
	var out []variable
	for _, name := range slices.Sorted(maps.Keys(l.env)) {
		rest, ok := strings.CutPrefix(name, envPrefix)
		if !ok || name == envConfigFile || contains(l.opts.ExtraEnv, name) || fromKubernetes(name, l.env[name]) {
			continue
		}
		out = append(out, variable{name: name, path: strings.Split(strings.ToLower(rest), "__")})
	}
	return out
}

// readEnv lays the environment over what the file gave.
func (l *loader) readEnv() {
	var unknown []variable
	for _, v := range l.variables() {
		s, name, ok := l.table.find(v.path)
		if !ok {
			unknown = append(unknown, v)
			continue
		}
		if name != "" {
			name = l.match(s, name)
		}
		l.give(s, name, l.env[v.name], Source{Kind: FromEnv, Env: v.name})
	}
	// Only now is it known which variables the configuration itself names.
	secrets := l.secretVariables()
	for _, v := range unknown {
		if !contains(secrets, v.name) {
			l.report(l.unknownVariable(v))
		}
	}
}

// match finds the provider or model that a variable means; a new one keeps the
// lower-case name.
func (l *loader) match(s setting, name string) string {
	section, _, _ := strings.Cut(s.key, ".")
	for _, known := range l.names[section] {
		if foldName(known) == foldName(name) {
			return known
		}
	}
	return name
}

// secretVariables are the variables that keys ending in _env name.
func (l *loader) secretVariables() []string {
	var out []string
	for _, g := range l.given {
		if name, ok := g.value.(string); ok && g.setting.kind == envName {
			out = append(out, name)
		}
	}
	return out
}

func (l *loader) unknownVariable(v variable) Problem {
	if base, ok := l.table.literalSecret(v.path); ok {
		return Problem{Env: v.name, Key: keyText(v.path), Text: "a secret is never a setting itself", Hint: base.literalHint(v.name)}
	}
	p := Problem{Env: v.name, Text: "sets nothing: Herald has no such setting"}
	var names []string
	for _, s := range l.table.rows {
		name := ""
		if strings.Contains(s.key, "*") {
			name = "NAME"
			if len(v.path) > 1 && v.path[1] != "" {
				name = v.path[1]
			}
		}
		names = append(names, s.envFor(name))
	}
	most := max(1, len(v.path[len(v.path)-1])/3)
	if near := nearestWithin(v.name, append(names, envConfigFile), most); near != "" {
		p.Hint = "did you mean " + near + "?"
	} else {
		p.Hint = "the names are HERALD_ and the key in capitals, with __ for each dot, such as HERALD_STORE__URL"
	}
	return p
}

// fromKubernetes recognises the variables that Kubernetes sets in every pod
// for a Service whose name begins with "herald". They are nobody's settings.
func fromKubernetes(name, value string) bool {
	if strings.Contains(name, "__") {
		return false
	}
	if regexp.MustCompile(`^HERALD_(.+_)?SERVICE_(HOST|PORT(_.+)?)$`).MatchString(name) {
		return true
	}
	if regexp.MustCompile(`^HERALD_(.+_)?PORT_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$`).MatchString(name) {
		return true
	}
	return regexp.MustCompile(`^HERALD_(.+_)?PORT$`).MatchString(name) && strings.Contains(value, "://")
}
