package policy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"herald/core/command"
	"herald/core/people"
	"herald/core/tool"
	"herald/core/tool/gate"
)

// The texts of the commands.
const (
	helpRules = "lists the rules of permission in the order in which they are read"
	helpRule  = "adds or removes a rule of permission; those of the configuration file are changed there"
	argsRule  = "add TOOL allow|require|deny [path=… agent=… source=… group=… priority=… deciders=…,… four_eyes expires_minutes=… note=…] | remove ID"

	textNoRules = "There are no rules: every call of a tool needs a person."
	textHead    = "The first rule that fits a call decides; where none does, a person is asked. Rules of a group are read before those of the group `default`."
	textAdded   = "Rule added; it holds from the next call on.\n"
	textRemoved = "Rule removed; it holds no more from the next call on.\n"
)

// Commands are the commands with which admins see and change rules.
func (b *Book) Commands() []command.Spec {
	return []command.Spec{
		{Name: "rules", Least: people.Admin, Help: helpRules, Run: b.list},
		{Name: "rule", Args: argsRule, MaxArgs: 60, Least: people.Admin, Help: helpRule, Run: b.edit},
	}
}

func (b *Book) list(ctx context.Context, _ command.Call) (string, error) {
	rules, err := b.List(ctx)
	if err != nil {
		return "", err
	}
	if len(rules) == 0 {
		return textNoRules, nil
	}
	lines := []string{textHead}
	for i := range rules {
		lines = append(lines, "- "+line(&rules[i]))
	}
	return strings.Join(lines, "\n"), nil
}

// edit carries out "rule add" and "rule remove". What the caller did wrong is the answer.
func (b *Book) edit(ctx context.Context, c command.Call) (string, error) {
	who := Actor{Person: c.Person.ID, Event: c.Event}
	var (
		r    gate.Rule
		done string
		err  error
	)
	switch {
	case len(c.Args) >= 3 && strings.EqualFold(c.Args[0], "add"):
		if r, err = parseRule(c.Args[1:]); err == nil {
			r, err = b.Add(ctx, who, r)
		}
		done = textAdded
	case len(c.Args) == 2 && strings.EqualFold(c.Args[0], "remove"):
		r, err = b.Remove(ctx, who, c.Args[1])
		done = textRemoved
	default:
		return "Usage: `rule " + argsRule + "`", nil
	}
	switch {
	case err == nil:
		return done + "- " + line(&r), nil
	case errors.Is(err, gate.ErrInvalid), errors.Is(err, ErrFile), errors.Is(err, ErrNoRule), errors.Is(err, ErrFull):
		return "Nothing was changed: " + plain(err.Error()) + ".", nil
	default:
		return "", err
	}
}

// parseRule reads TOOL ACTION and what limits the rule. An unknown word is an error: it could be what was meant to limit it.
func parseRule(words []string) (gate.Rule, error) {
	r := gate.Rule{Tool: words[0], Action: tool.Answer(strings.ToLower(words[1])), Priority: gate.DefaultPriority}
	for i, w := range words[2:] {
		key, value, has := strings.Cut(w, "=")
		var err error
		switch {
		case key == "four_eyes" && !has:
			r.FourEyes = true
		case !has || value == "":
			err = fmt.Errorf("%q is none of path=, agent=, source=, group=, priority=, deciders=, four_eyes, expires_minutes=, note=", w)
		case key == "path":
			r.Path = value
		case key == "agent":
			r.Agent = value
		case key == "source":
			r.Source = value
		case key == "group":
			r.Group = value
		case key == "priority":
			r.Priority, err = strconv.Atoi(value)
		case key == "expires_minutes":
			r.ExpiresS, err = strconv.Atoi(value)
			r.ExpiresS *= 60
		case key == "deciders":
			r.Deciders = strings.Split(value, ",")
			if j := slices.IndexFunc(r.Deciders, func(d string) bool { return d != gate.Asker && d != gate.Admins && !strings.Contains(d, ":") }); j >= 0 {
				err = fmt.Errorf("%q is nobody who could decide; write asker, admin, or an identity as PLATFORM:ID", r.Deciders[j])
			}
		case key == "note":
			// A note is a sentence: it takes all that follows.
			r.Note = strings.Join(append([]string{value}, words[i+3:]...), " ")
			return r, nil
		default:
			err = fmt.Errorf("%q is none of path=, agent=, source=, group=, priority=, deciders=, four_eyes, expires_minutes=, note=", w)
		}
		if err != nil {
			return r, fmt.Errorf("read %s: %w: %w", w, gate.ErrInvalid, err)
		}
	}
	return r, nil
}

// line shows a rule on one line.
func line(r *gate.Rule) string {
	out := fmt.Sprintf("`%s` %s `%s`", plain(r.ID), r.Action, plain(r.Tool))
	for _, f := range []struct{ name, value string }{{"path", r.Path}, {"agent", r.Agent}, {"source", r.Source}, {"group", r.Group}} {
		if f.value != "" && f.value != gate.DefaultGroup {
			out += fmt.Sprintf(" %s `%s`", f.name, plain(f.value))
		}
	}
	out += " priority " + strconv.Itoa(r.Priority)
	if len(r.Deciders) > 0 {
		out += ", decided by " + plain(strings.Join(r.Deciders, ", "))
	}
	if r.FourEyes {
		out += ", not by who asked"
	}
	if r.ExpiresS > 0 {
		out += fmt.Sprintf(", within %d min", r.ExpiresS/60)
	}
	if r.Note != "" {
		out += " — " + plain(r.Note)
	}
	return out
}

// plain takes out of a text what would end a code span or a line.
func plain(s string) string {
	return strings.Map(func(c rune) rune {
		if c == '`' || c < ' ' {
			return -1
		}
		return c
	}, s)
}
