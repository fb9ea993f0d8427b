package agents

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Main is the agent that a person talks to when nothing else is said.
const Main = "main"

// Limits of one agent's files. They keep a wrong file from costing memory or every turn's context; a prompt of that length is
// already more than most models take.
const (
	maxHeader = 64 << 10
	maxPrompt = 256 << 10
	// maxEntries bounds the folder: each request looks at every file in it.
	maxEntries = 4096
)

// Bounds of settings; a value outside of them is a mistake in every case.
const (
	maxTemperature = 2
	maxSteps       = 200
	maxThinking    = 1 << 20 // tokens
	maxList        = 128     // entries of one list
)

// ErrNotFound: there is no usable agent of this id.
var ErrNotFound = errors.New("no such agent")

// Type says what an agent is for.
type Type string

// The types of agents.
const (
	// Chat is an agent that people talk to. Nobody can delegate to it.
	Chat Type = "chat"
	// Task is an agent that others delegate to, and the only type that lists show to a model.
	Task Type = "task"
	// System is an agent that the service itself runs. No list shows it and nobody can delegate to it.
	System Type = "system"
)

// types are all of them, for messages.
var types = []Type{Chat, Task, System}

// Layout says how an agent's files lie in the folder.
type Layout string

// The layouts. One rule holds for all: what a setting means does not depend on where it stands.
const (
	// Folder is ID/AGENT.md with its settings between two lines "---".
	Folder Layout = "folder"
	// Meta is ID/meta.json with the settings beside ID/AGENT.md with the prompt.
	Meta Layout = "folder with meta.json"
	// Flat is ID.md with its settings between two lines "---".
	Flat Layout = "file"
)

// Agent is one agent as its files describe it. It is read-only.
type Agent struct {
	// ID is the name of its folder, or of its file without ".md".
	ID string
	// Name is shown to people; the id when the file gives none.
	Name string
	// Description says in a line what the agent is for: whoever delegates chooses by it.
	Description string
	// FriendlyDescription is for people alone: it never reaches a model.
	FriendlyDescription string
	// Instructions tell a caller how to ask the agent well; only lists of agents show them.
	Instructions string
	Type         Type
	// TypeTaken means that the file names no type and Type is the one that follows from the rest.
	TypeTaken bool
	// Model names a configured model; "" leaves the choice to Strength and Scope.
	Model string
	// Strength is one of "very_low", "low", "average", "high", "very_high", or "" for any.
	Strength string
	// Scope breaks ties between models of the same strength.
	Scope string
	// Temperature is between 0 and 2; nil leaves it to the model's settings.
	Temperature *float64
	// Thinking is nil when the file says nothing, 0 for none, -1 for as much as the model takes by itself, else a bound in tokens.
	Thinking *int
	// MaxSteps bounds the tool rounds of a turn; 0 leaves it to the configuration.
	MaxSteps int
	// Compaction is nil when the file says nothing.
	Compaction *bool
	// NoTools takes every tool from the agent, whatever Tools says.
	NoTools bool
	Tools   Selector
	Skills  Selector
	// InjectSkills puts the index of skills into the prompt.
	InjectSkills bool
	// Delegates are the agents that get a tool of their own; nil when the file says nothing, empty when it forbids to delegate.
	Delegates []string
	// InjectMemory are the files and notes that stand in the prompt.
	InjectMemory []string
	// Extra is what the file keeps for other programs, as YAML; Herald does not read it.
	Extra string
	// Prompt is the text of AGENT.md without settings, with its includes, LF line ends and no blank lines around it.
	Prompt string
	Layout Layout
	// Source is the path of the file with the prompt, or "built-in".
	Source string
	// Hash changes whenever one of the files does, those it includes among them.
	Hash string
}

// Selector says which of the tools, or skills, that an agent may see it wants. The zero value says nothing.
type Selector struct {
	// All wants everything that there is.
	All bool
	// Chosen means that Names is what the file lists, however short.
	Chosen bool
	Names  []string
}

// None reports whether the file wants none.
func (s Selector) None() bool { return s.Chosen && len(s.Names) == 0 }

// idForm is what an id may look like: it is a file's name on every system, and safe in a log line, a command and a key.
var idForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$`)

// CheckID reports what is wrong with an id.
func CheckID(id string) error {
	if !idForm.MatchString(id) {
		return fmt.Errorf("%q cannot be an agent's id: use letters, digits, '-', '_' and '.', at most 64, beginning with a letter, a digit or '_'", short(id))
	}
	if strings.EqualFold(id, common) {
		return fmt.Errorf("%q cannot be an agent's id: that folder holds what agents include", short(id))
	}
	return nil
}

// Sanitize is an id as it stands in the names of tools and skills: providers take letters, digits, '_' and '-' there.
func Sanitize(id string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		default:
			return '_'
		}
	}, id)
}

// Problem is something to know about the operator's folder.
type Problem struct {
	// Agent is the id that is concerned, "" when it is the folder.
	Agent string
	// Path and Line say where; Line is 0 when it is the file as a whole.
	Path string
	Line int
	// Text says what is wrong and what to do.
	Text string
	// Kept means that an earlier version of the file stays in force.
	Kept bool
	// Bare means that the built-in agent of this id stands in without tools, skills and delegation: what the file would have
	// taken from it is not known.
	Bare bool
}

// String is the problem in one line.
func (p Problem) String() string {
	s := p.Path
	if p.Line > 0 {
		s = fmt.Sprintf("%s:%d", s, p.Line)
	}
	s += ": " + p.Text
	switch {
	case p.Kept:
		s += " (the version before it stays in force)"
	case p.Bare:
		s += " (the built-in one stands in, without tools, until it is mended)"
	}
	return s
}
