package command

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"herald/core/people"
	"herald/core/store"
)

// Name is the name of a command.
type Name string

// The commands.
const (
	Help Name = "help"
	// Ask puts a message to an agent where a command is typed.
	Ask    Name = "ask"
	New    Name = "new"
	Stop   Name = "stop"
	Status Name = "status"
	Why    Name = "why"
	Show   Name = "show"
	// Compact summarises the older part of the conversation for the model.
	Compact Name = "compact"
)

// Reader is the part of a store that a handler needs.
type Reader interface {
	Read(ctx context.Context, queries ...store.Query) ([]store.Answer, error)
}

// Call is one use of a command.
type Call struct {
	// Read is where the handler reads, Where the partition of the conversation in which the command stands.
	Read  Reader
	Where store.Partition
	// Person is the caller, with the role of now.
	Person people.Person
	Args   []string
	// Event names the use over redeliveries: a change that it asks for is made once.
	Event string
	// Nearby are the conversations of the same channel in which the caller spoke lately, newest first, where a command cannot say which one it means.
	Nearby []store.Partition
	// Mark stands before a command where the answer is read; "/" when empty.
	Mark string
}

// places are the conversations that a call may mean, the most likely first.
func (c *Call) places() []store.Partition { return append([]store.Partition{c.Where}, c.Nearby...) }

// mark is what an answer writes before a command.
func (c *Call) mark() string { return cmp.Or(c.Mark, "/") }

// Handler makes the answer of a command, as Markdown. Its errors are the store's; what the caller did wrong is an answer.
type Handler func(ctx context.Context, c Call) (string, error)

// Spec is a row of the table.
type Spec struct {
	Name    Name
	Aliases []string
	// Args shows the arguments in the help; at most MaxArgs words are taken. A Lenient command ignores further ones: a stop must not
	// fail on a word too many.
	Args    string
	MaxArgs int
	Lenient bool
	// Text: what stands behind the name is a text and no list of words; without one the command is misused.
	Text bool
	// Whole: the name alone is the command, without a mark before it.
	Whole bool
	// Least is the least role that may use it.
	Least people.Role
	Help  string
	// Run is nil for a command that the conversation's turn holder carries out.
	Run Handler
}

// Table is a set of commands. It does not change after it was made.
type Table struct {
	specs []Spec
	names map[string]*Spec
}

// NewTable is a table of specs. It fails when two of them share a name or an alias, or one has none.
func NewTable(specs ...Spec) (*Table, error) {
	t := &Table{specs: slices.Clone(specs), names: map[string]*Spec{}}
	for i := range t.specs {
		s := &t.specs[i]
		for _, n := range append([]string{string(s.Name)}, s.Aliases...) {
			if n == "" || n != strings.ToLower(n) || strings.ContainsAny(n, " \t\n") {
				return nil, fmt.Errorf("command table: %q of row %d is no name: one lower-case word is needed", n, i)
			}
			if other := t.names[n]; other != nil {
				return nil, fmt.Errorf("command table: %q names both %s and %s; rename one", n, other.Name, s.Name)
			}
			t.names[n] = s
		}
	}
	return t, nil
}

// Default is the table of Herald's commands, with further ones behind them.
func Default(further ...Spec) *Table {
	var t *Table
	t, err := NewTable(append([]Spec{
		{Name: Help, Aliases: []string{"?"}, Args: "[COMMAND]", MaxArgs: 1, Whole: true, Least: people.Restricted, Help: helpHelp, Run: func(_ context.Context, c Call) (string, error) {
			return t.help(c.Person.Role, c.Args, c.Mark), nil
		}},
		{Name: Ask, Args: "[AGENT] TEXT", Text: true, Least: people.Restricted, Help: helpAsk},
		{Name: New, Aliases: []string{"reset"}, Whole: true, Least: people.Restricted, Help: helpNew},
		{Name: Stop, Aliases: []string{"cancel"}, Lenient: true, Whole: true, Least: people.Restricted, Help: helpStop},
		{Name: Compact, Least: people.Restricted, Help: helpCompact},
		{Name: Status, Whole: true, Least: people.Restricted, Help: helpStatus, Run: status},
		{Name: Why, Args: "[REF]", MaxArgs: 1, Least: people.Restricted, Help: helpWhy, Run: why},
		{Name: Show, Args: "REF", MaxArgs: 1, Least: people.Restricted, Help: helpShow, Run: show},
	}, further...)...)
	if err != nil {
		panic(err) // the rows are fixed in the source; tests make these tables
	}
	return t
}

// Specs are the rows that role may use, in the table's order.
func (t *Table) Specs(role people.Role) []Spec {
	var out []Spec
	for _, s := range t.specs {
		if role.Covers(s.Least) {
			out = append(out, s)
		}
	}
	return out
}

// help lists the commands of a role, or tells of one of them. A command that the role may not use is as unknown as one that does not exist.
// mark stands before a command where the answer is read, "" where several do.
func (t *Table) help(role people.Role, args []string, mark string) string {
	if len(args) == 0 {
		marks := helpMarks
		if mark != "" {
			marks = "`" + strings.TrimSpace(mark) + "`"
		}
		var b strings.Builder
		fmt.Fprintf(&b, helpHead, marks)
		var alone []string
		for _, s := range t.Specs(role) {
			if s.Whole {
				alone = append(alone, "`"+string(s.Name)+"`")
			}
			fmt.Fprintf(&b, "\n- `%s` — %s", s.usage(), s.Help)
		}
		b.WriteString("\n\n")
		fmt.Fprintf(&b, helpFoot, all(alone))
		return b.String()
	}
	s := t.names[fold(args[0])]
	if s == nil || !role.Covers(s.Least) {
		return t.Unknown(role, args[0])
	}
	out := fmt.Sprintf("`%s` — %s", s.usage(), s.Help)
	if len(s.Aliases) > 0 {
		out += fmt.Sprintf(" (also `%s`)", strings.Join(s.Aliases, "`, `"))
	}
	return out
}

// all joins words as a sentence does.
func all(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

func (s *Spec) usage() string {
	if s.Args == "" {
		return string(s.Name)
	}
	return string(s.Name) + " " + s.Args
}

// Usage is the answer to a command whose arguments do not fit.
func (s *Spec) Usage() string { return fmt.Sprintf(textUsage, s.usage(), s.Help) }

// Unknown is the answer to a word that is no command of the role, with the nearest one.
func (t *Table) Unknown(role people.Role, word string) string {
	out := fmt.Sprintf(textUnknown, quote(word))
	if near, ok := t.nearest(role, word); ok {
		out += fmt.Sprintf(textNearest, near)
	}
	return out + textUnknownFoot
}
