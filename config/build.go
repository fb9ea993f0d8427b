package config

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"time"
)

// build fills a configuration from what was given and from the defaults. It
// judges nothing but paths; check does the rest.
func (l *loader) build() *Config {
	cfg := &Config{File: l.place.shown, origin: map[string]effective{}}
	for _, name := range l.names[providersKey] {
		cfg.Providers = append(cfg.Providers, Provider{Name: name})
	}
	for _, name := range l.names[modelsKey] {
		cfg.Models = append(cfg.Models, Model{Name: name})
	}
	for _, name := range l.names[rulesKey] {
		cfg.Rules = append(cfg.Rules, Rule{Name: name})
	}
	for _, name := range l.names[groupsKey] {
		cfg.Groups = append(cfg.Groups, Group{Name: name})
	}
	for _, name := range l.names[rolesKey] {
		cfg.Roles = append(cfg.Roles, Role{Name: name})
	}
	// data_dir is the first row of the table: other defaults stand on it.
	for _, s := range l.table.rows {
		section, _, _ := strings.Cut(s.key, ".")
		switch {
		case !strings.Contains(s.key, "*"):
			l.fill(cfg, reflect.ValueOf(cfg).Elem(), s, "")
		case section == providersKey:
			for i := range cfg.Providers {
				l.fill(cfg, reflect.ValueOf(&cfg.Providers[i]).Elem(), s, cfg.Providers[i].Name)
			}
		case section == rulesKey:
			for i := range cfg.Rules {
				l.fill(cfg, reflect.ValueOf(&cfg.Rules[i]).Elem(), s, cfg.Rules[i].Name)
			}
		case section == groupsKey:
			for i := range cfg.Groups {
				l.fill(cfg, reflect.ValueOf(&cfg.Groups[i]).Elem(), s, cfg.Groups[i].Name)
			}
		case section == rolesKey:
			for i := range cfg.Roles {
				l.fill(cfg, reflect.ValueOf(&cfg.Roles[i]).Elem(), s, cfg.Roles[i].Name)
			}
		default:
			for i := range cfg.Models {
				l.fill(cfg, reflect.ValueOf(&cfg.Models[i]).Elem(), s, cfg.Models[i].Name)
			}
		}
	}
	return cfg
}

// fill sets the field of one setting in root: the configuration, or the
// provider or model of that name.
func (l *loader) fill(cfg *Config, root reflect.Value, s setting, name string) {
	key := s.concrete(name)
	g, ok := l.given[key]
	if !ok {
		g = l.defaultOf(cfg, s)
	}
	if g.value == nil {
		cfg.origin[key] = effective{source: g.source}
		return
	}
	if s.kind == path || s.kind == secretFile {
		g.value = l.opts.absolute(g.value.(string), l.base(g.source))
	}
	if s.key == "store.url" {
		g.value = l.absoluteStore(g)
	}
	assign(fieldAt(root, s), s, g.value)
	cfg.origin[key] = effective{text: s.display(g.value), source: g.source}
}

// defaultOf decodes the default of a setting.
func (l *loader) defaultOf(cfg *Config, s setting) given {
	if s.optional {
		return given{setting: s}
	}
	def := strings.ReplaceAll(s.def, "{data_dir}", cfg.DataDir)
	if strings.Contains(def, "{xdg_data}") {
		dir := xdg(l.env, "XDG_DATA_HOME", filepath.Join(".local", "share"))
		if dir == "" && !l.spoiled[s.key] {
			l.report(Problem{
				Env: "HOME", Key: s.key, Text: "has no default, because neither HOME nor XDG_DATA_HOME is an absolute path",
				Hint: "set data_dir, or HERALD_DATA_DIR, to a folder that Herald may write to",
			})
		}
		def = strings.ReplaceAll(def, "{xdg_data}", dir)
	}
	// The table's test proves that every default decodes; only a data folder
	// that itself breaks a rule can spoil one here.
	v, f := s.decode(def, true)
	if f != nil {
		src := cfg.origin["data_dir"].source
		if src.Kind == FromDefault {
			src = Source{Kind: FromEnv, Env: "HOME"}
		}
		l.report(src.problem(s.key, f))
		return given{setting: s}
	}
	return given{setting: s, value: v}
}

// absoluteStore makes the path of an embedded store absolute.
func (l *loader) absoluteStore(g given) string {
	u, f := parseStoreURL(g.value.(string))
	if f != nil || u.target.Driver != driverSQLite {
		return g.value.(string)
	}
	return driverSQLite + ":" + l.opts.absolute(u.target.Path, l.base(g.source))
}

// fieldAt finds the field of a setting by the key tags. The table's test proves
// that there is one.
func fieldAt(root reflect.Value, s setting) reflect.Value {
	tags := strings.Split(s.key, ".")
	if strings.Contains(s.key, "*") {
		tags = tags[2:]
	}
	for _, tag := range tags {
		root = fieldByTag(root, tag)
	}
	return root
}

func fieldByTag(root reflect.Value, tag string) reflect.Value {
	for field := range root.Type().Fields() {
		if field.Tag.Get("key") == tag {
			return root.FieldByIndex(field.Index)
		}
	}
	panic(fmt.Sprintf("config: %s has no field for the key %q", root.Type(), tag))
}

// assign stores a decoded value in a field, turning numbers with a unit of
// time into durations.
func assign(field reflect.Value, s setting, value any) {
	if field.Kind() == reflect.Pointer {
		field.Set(reflect.New(field.Type().Elem()))
		field = field.Elem()
	}
	if field.Type() == reflect.TypeFor[time.Duration]() {
		field.SetInt(int64(value.(int)) * int64(unitOf(s.unit)))
		return
	}
	field.Set(reflect.ValueOf(value))
}

// unitOf returns the length of a unit of time.
func unitOf(unit string) time.Duration {
	switch unit {
	case "milliseconds":
		return time.Millisecond
	case "seconds":
		return time.Second
	case "minutes":
		return time.Minute
	default:
		panic(fmt.Sprintf("config: %q is no unit of time", unit))
	}
}
