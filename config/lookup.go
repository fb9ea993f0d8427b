package config

import (
	"fmt"
	"slices"
	"strings"
)

// table is the settings made searchable.
type table struct {
	rows  []setting
	byKey map[string]setting
}

func newTable() table {
	t := table{rows: settings(), byKey: map[string]setting{}}
	for _, s := range t.rows {
		t.byKey[s.key] = s
	}
	return t
}

// named are the sections of which there is one for each name.
func named() []string { return []string{providersKey, modelsKey, rulesKey, groupsKey, rolesKey} }

// pattern turns a concrete path into the key of the table and the name of the
// provider or model in it.
func pattern(path []string) (key, name string) {
	if len(path) >= 2 && contains(named(), path[0]) {
		rest := append([]string{path[0], "*"}, path[2:]...)
		return strings.Join(rest, "."), path[1]
	}
	return strings.Join(path, "."), ""
}

// find returns the setting at a path.
func (t table) find(path []string) (s setting, name string, ok bool) {
	// A quoted key may hold a dot, which must not be taken for a path.
	if slices.ContainsFunc(path[:1], hasDot) || slices.ContainsFunc(path[min(2, len(path)):], hasDot) {
		return setting{}, "", false
	}
	key, name := pattern(path)
	s, ok = t.byKey[key]
	if ok && strings.Contains(key, "*") && name == "" {
		return setting{}, "", false
	}
	return s, name, ok
}

func hasDot(s string) bool { return strings.ContainsAny(s, ".*") }

// isSection reports whether keys stand below the path, and whether it is the
// section of a provider or model.
func (t table) isSection(path []string) (section, named bool) {
	if slices.ContainsFunc(path[:1], hasDot) {
		return false, false
	}
	key, name := pattern(path)
	for _, s := range t.rows {
		if strings.HasPrefix(s.key, key+".") {
			return true, name != "" && strings.HasSuffix(key, ".*")
		}
	}
	return false, false
}

// settingAbove returns the setting that stands at a parent of the path.
func (t table) settingAbove(path []string) (string, bool) {
	for n := len(path) - 1; n > 0; n-- {
		if _, _, ok := t.find(path[:n]); ok {
			return keyText(path[:n]), true
		}
	}
	return "", false
}

// literalSecret reports whether the path names a secret itself, such as
// providers.x.api_key, and returns its _env setting.
func (t table) literalSecret(path []string) (setting, bool) {
	key, _ := pattern(path)
	s, ok := t.byKey[key+"_env"]
	return s, ok && s.kind == envName
}

// literalHint says what to write in place of a literal secret. given is the
// key or variable that holds it.
func (s setting) literalHint(given string) string {
	if strings.HasPrefix(given, envPrefix) {
		return fmt.Sprintf("set %s_ENV to the name of a variable that holds it, or %s_FILE to that of a file", given, given)
	}
	leaf := s.leaf()
	return fmt.Sprintf("name where it stands instead: %s = \"NAME_OF_A_VARIABLE\" or %s_file = \"PATH\"",
		leaf, strings.TrimSuffix(leaf, "_env"))
}

// suggestion is the hint for a key that does not exist.
func (t table) suggestion(path []string) string {
	_, name := pattern(path)
	if name == "" {
		name = "NAME"
	}
	parent := keyText(path[:len(path)-1])
	var siblings, all []string
	for _, s := range t.rows {
		all = append(all, s.concrete(name))
		if s.concreteSection(name) == parent {
			siblings = append(siblings, s.leaf())
		}
	}
	last := path[len(path)-1]
	if near := nearest(last, siblings); near != "" {
		return fmt.Sprintf("did you mean %q?", strings.TrimPrefix(parent+"."+near, "."))
	}
	// Only the last part may differ much: the rest is the section, which is
	// right far more often than not.
	if near := nearestWithin(keyText(path), all, max(1, len(last)/3)); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	// The key may exist in another section.
	for _, s := range t.rows {
		if s.leaf() == last {
			return fmt.Sprintf("did you mean %q?", s.concrete(name))
		}
	}
	if len(siblings) > 0 && len(path) > 1 {
		return "the keys here are " + strings.Join(siblings, ", ")
	}
	return "herald config explain lists all keys"
}

// sections returns the names of all sections.
func (t table) sections() []string {
	var out []string
	for _, s := range t.rows {
		top, _, nested := strings.Cut(s.key, ".")
		if nested && !contains(out, top) {
			out = append(out, top)
		}
	}
	return out
}
