package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"herald/core/tool"
	"herald/core/tool/gate"
)

// Rule is one [[rules]] of the file: what the gate says of the calls that it fits.
type Rule struct {
	// Name is the rule's place in the file, counted from 1.
	Name     string
	Group    string         `key:"group"`
	Agent    string         `key:"agent"`  // "" for any
	Source   string         `key:"source"` // "" for any
	Tool     string         `key:"tool"`
	Path     string         `key:"path"` // "" for any call, with or without a path
	Action   string         `key:"action"`
	Note     string         `key:"note"`
	Priority int            `key:"priority"`
	Deciders []string       `key:"deciders"`
	FourEyes bool           `key:"four_eyes"`
	Expires  *time.Duration `key:"expires_minutes"` // nil for a day
}

// Group is one [groups.NAME]: a permission group beside the default one.
type Group struct {
	Name string
	Note string `key:"note"`
	// Default is what holds where no rule of the group fits; "" leaves it to the group default.
	Default string `key:"default"`
	// Roles are the roles that may use the group beside admins, who may use every one.
	Roles []string `key:"roles"`
}

// Approvals configures how calls are decided.
type Approvals struct {
	// SingleOperator lets the one who asked decide what a rule reserves to others.
	SingleOperator bool `key:"single_operator"`
}

func permissionSettings() []setting {
	actions := []string{string(tool.Allow), string(tool.Require), string(tool.Deny)}
	return []setting{
		{
			key: "approvals.single_operator", kind: truth, def: "false",
			doc: "For an installation of one person: whoever asked may also decide where a rule has four_eyes. Each such decision says so in the log.",
		},
		{
			key: "groups.*.note", kind: text, optional: true, sample: "people on call", form: "free text",
			doc: "What the permission group is for.",
		},
		{
			key: "groups.*.default", kind: text, choices: actions, optional: true, sample: "deny",
			doc: "What holds where no rule of the group fits. Without it the rules of the group default decide.",
		},
		{
			key: "groups.*.roles", kind: list, optional: true, sample: "member", form: "member, restricted, NAME of a role", check: checkRole,
			doc: "Roles whose people may choose the group with /herald group. Admins may use every group.",
		},
		{
			key: "rules.*.tool", kind: text, optional: true, sample: "execute_cmd", form: "NAME | BEGINNING* | * | @fs_read | @fs_write | @fs_any",
			doc: "Tools that the rule is about. The first rule that fits a call decides; where none does, a person is asked.",
		},
		{
			key: "rules.*.action", kind: text, choices: actions, optional: true, sample: "require",
			doc: "allow lets the call through, require asks a person, deny refuses it whatever else holds.",
		},
		{
			key: "rules.*.group", kind: text, def: gate.DefaultGroup, form: "name of a group",
			doc: "Permission group of the rule. A group's own rules are read before those of the group default.",
		},
		{
			key: "rules.*.agent", kind: text, optional: true, sample: "researcher", form: "id of an agent",
			doc: "Agent whose calls the rule is about. Without it, every agent's.",
		},
		{
			key: "rules.*.source", kind: text, optional: true, sample: "slack", form: "slack, discord, console, cron",
			doc: "Where the call comes from. Without it, from everywhere.",
		},
		{
			key: "rules.*.path", kind: text, optional: true, sample: "data/*", form: "DIR/* | BEGINNING* | PATH",
			doc: "Path among the call's arguments, relative to the working folder. A rule with a path never fits a call without one.",
		},
		{
			key: "rules.*.priority", kind: whole, def: strconv.Itoa(gate.DefaultPriority), min: -1000, max: gate.LastPriority,
			doc: "Order among the rules: lower is read first; among equals, rules of the file come before others, in the file's order.",
		},
		{
			key: "rules.*.deciders", kind: list, optional: true, sample: "admin", form: "asker, admin, slack:TEAM/USER, discord:ID", check: checkDecider,
			doc: "Who may decide a require. Without it, the one who asked.",
		},
		{
			key: "rules.*.four_eyes", kind: truth, def: "false",
			doc: "Whoever asked may not decide, though they are among the deciders.",
		},
		{
			key: "rules.*.expires_minutes", kind: whole, unit: "minutes", optional: true, sample: "60", min: 1, max: 43_200,
			doc: "How long the question waits before it counts as denied. Without it, a day.",
		},
		{
			key: "rules.*.note", kind: text, optional: true, sample: "runs a program", form: "free text",
			doc: "Why the rule exists. It is shown to whoever decides.",
		},
	}
}

func checkRole(s string) *fault {
	if s != "admin" && gate.ValidGroup(s) {
		return nil
	}
	return faultf("%q is no role that can be given a group", shorten(s)).withHint("write member or the name of a role; admins may use every group")
}

func checkDecider(s string) *fault {
	if s == gate.Asker || s == gate.Admins {
		return nil
	}
	if f := checkIdentity(s); f != nil {
		return f.withHint("write asker, admin, slack:TEAM/USER or discord:NUMBER")
	}
	return nil
}

// numberRules gives each [[rules]] its place in the file as a name, so that its keys can be told from those of the next one.
func numberRules(entries []entry) []entry {
	n := 0
	for i := range entries {
		e := &entries[i]
		if e.path[0] != rulesKey {
			continue
		}
		if e.array && len(e.path) == 1 {
			n++
			e.array = false
		} else if n == 0 {
			continue
		}
		e.path = append([]string{rulesKey, strconv.Itoa(n)}, e.path[1:]...)
		e.listed = true
	}
	return entries
}

// GateRules are the rules of the file as the gate reads them: each [[rules]] in the order of the file, and the default action of each group.
func (c *Config) GateRules() []gate.Rule {
	out := make([]gate.Rule, 0, len(c.Rules)+len(c.Groups))
	for i := range c.Rules {
		out = append(out, c.Rules[i].gate())
	}
	for _, g := range c.Groups {
		if g.Default != "" {
			out = append(out, gate.Rule{
				ID: gate.FileMark + "default-" + g.Name, Group: g.Name, Tool: "*", Action: tool.Answer(g.Default), Priority: gate.LastPriority, Note: g.Note,
			})
		}
	}
	return out
}

func (r *Rule) gate() gate.Rule {
	n, _ := strconv.Atoi(r.Name) // a number, as the name was checked
	out := gate.Rule{
		ID: gate.FileID(n), Group: r.Group, Agent: r.Agent, Source: r.Source, Tool: r.Tool, Path: r.Path, Action: tool.Answer(r.Action), Note: r.Note,
		Priority: r.Priority, Deciders: r.Deciders, FourEyes: r.FourEyes,
	}
	if r.Expires != nil {
		out.ExpiresS = int(r.Expires.Seconds())
	}
	return out
}

// checkRules judges each rule by itself, then against the groups and the others.
func (l *loader) checkRules(cfg *Config) {
	// The environment may have named them in another order.
	slices.SortStableFunc(cfg.Rules, func(a, b Rule) int { return cmp.Or(len(a.Name)-len(b.Name), strings.Compare(a.Name, b.Name)) })
	var sound []gate.Rule
	for i := range cfg.Rules {
		r := &cfg.Rules[i]
		key := under(rulesKey, r.Name)
		if !l.soundRule(cfg, r, key) {
			continue
		}
		g := r.gate()
		if o, ok := gate.Contradicts(&g, sound); ok {
			l.report(l.mention[key].problem(key, faultf("group %s has the default action %s by rule %s already", g.GroupName(), o.Action, o.ID).
				withHint("leave one of them out")))
			continue
		}
		sound = append(sound, g)
	}
	for _, g := range cfg.Groups {
		key := under(groupsKey, g.Name)
		if g.Default == "" {
			continue
		}
		own := gate.Rule{ID: gate.FileMark + "default-" + g.Name, Group: g.Name, Tool: "*", Action: tool.Answer(g.Default)}
		if o, ok := gate.Contradicts(&own, sound); ok {
			l.report(l.given[key+".default"].source.problem(key+".default", faultf("rule %s makes %s the default action of this group", o.ID, o.Action).
				withHint("leave one of them out")))
		}
	}
}

// soundRule judges one rule and reports whether it may stand.
func (l *loader) soundRule(cfg *Config, r *Rule, key string) bool {
	for _, leaf := range []string{"tool", "action"} {
		_, given := l.given[key+"."+leaf]
		if l.spoiled[key+"."+leaf] {
			return false
		}
		if !given {
			l.report(l.mention[key].problem(key, faultf("has no %s", leaf).withHint("add %s = VALUE", leaf)))
			return false
		}
	}
	if r.Group != gate.DefaultGroup && r.Group != gate.Restricted && !slices.ContainsFunc(cfg.Groups, func(g Group) bool { return g.Name == r.Group }) {
		f := faultf("there is no group %q", shorten(r.Group)).withHint("add [%s]", under(groupsKey, r.Group))
		if near := nearest(r.Group, append(slices.Clone(l.names[groupsKey]), gate.DefaultGroup, gate.Restricted)); near != "" {
			f.hint = fmt.Sprintf("did you mean %q?", near)
		}
		l.report(l.given[key+".group"].source.problem(key+".group", f))
		return false
	}
	g := r.gate()
	if err := g.Check(); err != nil {
		text := strings.TrimPrefix(err.Error(), fmt.Sprintf("rule %s: %v: ", g.ID, gate.ErrInvalid))
		l.report(l.mention[key].problem(key, faultf("%s", text)))
		return false
	}
	return true
}
