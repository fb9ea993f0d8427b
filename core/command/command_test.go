package command_test

import (
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"herald/core/command"
	"herald/core/people"
)

func TestParse(t *testing.T) {
	t.Parallel()
	type want struct {
		is      bool
		name    command.Name
		word    string
		args    []string
		misused bool
	}
	for _, tc := range []struct {
		text  string
		slash bool
		want  want
	}{
		// The whole text is a command.
		{"stop", false, want{is: true, name: command.Stop, word: "stop"}},
		{" Stop\n", false, want{is: true, name: command.Stop, word: "Stop"}},
		{"NEW", false, want{is: true, name: command.New, word: "NEW"}},
		{"help", false, want{is: true, name: command.Help, word: "help"}},
		{"status", false, want{is: true, name: command.Status, word: "status"}},
		{"cancel", false, want{is: true, name: command.Stop, word: "cancel"}},
		// It is not.
		{"", false, want{}},
		{"why", false, want{}},
		{"show d1", false, want{}},
		{"stop it", false, want{}},
		{"please stop", false, want{}},
		{"herald stop", false, want{}},
		{"!heraldic", false, want{}},
		{"! herald stop", false, want{}},
		// It begins with a mark.
		{"/stop", false, want{is: true, name: command.Stop, word: "stop"}},
		{"/Why  d1", false, want{is: true, name: command.Why, word: "Why", args: []string{"d1"}}},
		{"/herald why d1", false, want{is: true, name: command.Why, word: "why", args: []string{"d1"}}},
		{"!herald\twhy", false, want{is: true, name: command.Why, word: "why"}},
		{"!HERALD Stop now!", false, want{is: true, name: command.Stop, word: "Stop"}},
		{"/", false, want{is: true, name: command.Help, word: "help"}},
		{"/herald", false, want{is: true, name: command.Help, word: "help"}},
		{"!herald", false, want{is: true, name: command.Help, word: "help"}},
		{"/why a b", false, want{is: true, name: command.Why, word: "why", args: []string{"a"}, misused: true}},
		{"/new car", false, want{is: true, name: command.New, word: "new", args: []string{}, misused: true}},
		{"/usr/bin/env", false, want{is: true, word: "usr/bin/env"}},
		{"/heraldry", false, want{is: true, word: "heraldry"}},
		// It came as a slash command.
		{"", true, want{is: true, name: command.Help, word: "help"}},
		{"stop", true, want{is: true, name: command.Stop, word: "stop"}},
		{"show d1", true, want{is: true, name: command.Show, word: "show", args: []string{"d1"}}},
		{"what is this", true, want{is: true, word: "what"}},
	} {
		got := command.Default().Parse(tc.text, tc.slash)
		g := want{is: got.Is, word: got.Word, args: got.Args, misused: got.Misused}
		if got.Spec != nil {
			g.name = got.Spec.Name
		}
		if len(tc.want.args) == 0 && len(g.args) == 0 {
			g.args = tc.want.args
		}
		if diff := cmp.Diff(tc.want, g, cmp.AllowUnexported(want{})); diff != "" {
			t.Errorf("Parse(%q, %v) (-want +got):\n%s", tc.text, tc.slash, diff)
		}
	}
}

func TestHelpIsWhatTheRoleMayUse(t *testing.T) {
	t.Parallel()
	run := func(context.Context, command.Call) (string, error) { return "", nil }
	table, err := command.NewTable(
		command.Spec{Name: command.Help, Least: people.Restricted, Help: "helps", Run: run},
		command.Spec{Name: "tune", Args: "N", Least: people.Member, Help: "tunes", Run: run},
		command.Spec{Name: "kill", Least: people.Admin, Help: "kills", Run: run},
	)
	if err != nil {
		t.Fatal(err)
	}
	for role, want := range map[people.Role][]command.Name{
		people.Restricted: {command.Help},
		people.Member:     {command.Help, "tune"},
		people.Admin:      {command.Help, "tune", "kill"},
		"wizard":          {command.Help},
	} {
		var got []command.Name
		for _, s := range table.Specs(role) {
			got = append(got, s.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", role, diff)
		}
	}
}

func helpText(t *testing.T, role people.Role, args ...string) string {
	t.Helper()
	table := command.Default()
	p := table.Parse("/help", false)
	text, err := p.Spec.Run(t.Context(), command.Call{Person: people.Person{Role: role}, Args: args})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestHelpNamesEveryCommand(t *testing.T) {
	t.Parallel()
	text := helpText(t, people.Member)
	for _, s := range command.Default().Specs(people.Member) {
		if s.Help == "" || !strings.Contains(text, "`"+string(s.Name)) || !strings.Contains(text, s.Help) {
			t.Errorf("help does not tell of %s:\n%s", s.Name, text)
		}
	}
	for arg, want := range map[string]string{
		"WHY":    "`why [REF]` — shows which agent",
		"cancel": "`stop` — stops what is running here",
		"stpo":   "Did you mean `stop`?",
		"`x`":    "`x` is not a command",
	} {
		if got := helpText(t, people.Member, arg); !strings.Contains(got, want) {
			t.Errorf("help %s = %q, want %q in it", arg, got, want)
		}
	}
}

func TestUnknown(t *testing.T) {
	t.Parallel()
	table := command.Default()
	for word, want := range map[string]string{
		"staus":                   "Did you mean `status`?",
		"hlep":                    "Did you mean `help`?",
		"wy":                      "Did you mean `why`?",
		"quux":                    "`quux` is not a command. `help` lists",
		"x":                       "`x` is not a command. `help` lists",
		strings.Repeat("st", 100): "…` is not a command. `help` lists",
		"a`b\x1bc":                "`abc` is not a command",
	} {
		if got := table.Unknown(people.Member, word); !strings.Contains(got, want) {
			t.Errorf("Unknown(%q) = %q, want %q in it", word, got, want)
		}
	}
}

func TestTableRefusesAmbiguity(t *testing.T) {
	t.Parallel()
	for name, specs := range map[string][]command.Spec{
		"the same name":       {{Name: "a"}, {Name: "a"}},
		"an alias of another": {{Name: "a", Aliases: []string{"b"}}, {Name: "b"}},
		"no name":             {{}},
		"two words":           {{Name: "a b"}},
		"upper case":          {{Name: "Stop"}},
	} {
		if _, err := command.NewTable(specs...); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Whatever is typed: no panic, a text without a mark is a command only as a whole name, and a slash command always is one.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"stop", "/stop", "!herald why d1", " / herald", "/\xff", "\u2028stop", "!HERALD", "ſtop", "/why a b c"} {
		f.Add(s)
	}
	table := command.Default()
	f.Fuzz(func(t *testing.T, text string) {
		if p := table.Parse(text, true); !p.Is || p.Spec == nil && p.Word == "" {
			t.Fatalf("slash %q = %+v", text, p)
		}
		p := table.Parse(text, false)
		trimmed := strings.TrimSpace(text)
		marked := strings.HasPrefix(trimmed, "/") || strings.HasPrefix(strings.ToLower(trimmed), "!herald")
		if p.Is && !marked && (p.Spec == nil || !p.Spec.Whole || len(p.Args) > 0) {
			t.Fatalf("%q without a mark = %+v", text, p)
		}
		if strings.HasPrefix(trimmed, "/") && !p.Is {
			t.Fatalf("%q begins with the mark and is no command", text)
		}
		if p.Spec != nil && len(p.Args) > p.Spec.MaxArgs {
			t.Fatalf("%q has %d arguments", text, len(p.Args))
		}
		if out := table.Unknown(people.Member, p.Word); !utf8.ValidString(out) || strings.Count(out, "\n") > 0 {
			t.Fatalf("the answer to %q is %q", p.Word, out)
		}
	})
}
