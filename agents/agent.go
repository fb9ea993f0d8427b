package agents

import (
	"errors"
	"fmt"
)

// Main is the agent that a person talks to when nothing else is said.
const Main = "main"

// Limits of one AGENT.md. They keep a wrong file from costing memory or every turn's context; a prompt of that length is
// already more than most models take.
const (
	maxHeader = 64 << 10
	maxPrompt = 256 << 10
	// maxAgents bounds the folder: each request looks at every file in it.
	maxAgents = 256
)

// Bounds of settings; a value outside of them is a mistake in every case.
const (
	maxTemperature = 2
	maxSteps       = 200
)

// ErrNotFound: there is no usable agent of this id.
var ErrNotFound = errors.New("no such agent")

// Type says what an agent is for.
type Type string

// Chat is an agent that people talk to.
const Chat Type = "chat"

// Agent is one agent as its file describes it. It is read-only.
type Agent struct {
	// ID is the name of its folder.
	ID string
	// Name is shown to people; the id when the file gives none.
	Name string
	// Description says in a line what the agent is for.
	Description string
	Type        Type
	// Model names a configured model; "" leaves the choice to Strength.
	Model string
	// Strength is one of "very_low", "low", "average", "high", "very_high", or "" for any.
	Strength string
	// Temperature is between 0 and 2; nil leaves it to the model's settings.
	Temperature *float64
	// MaxSteps bounds the tool rounds of a turn; 0 leaves it to the configuration.
	MaxSteps int
	Tools    Tools
	// Prompt is the text of the file behind the settings, with LF line ends and no blank lines around it.
	Prompt string
	// Source is the path of the file, or "built-in".
	Source string
	// Hash changes whenever the file does.
	Hash string
}

// Tools says which tools an agent wants. The zero value means the default set.
type Tools struct {
	// All wants every tool that there is.
	All bool
	// Chosen means that Names is what the file lists, however short.
	Chosen bool
	Names  []string
}

// Problem is something that is wrong with the operator's folder.
type Problem struct {
	// Agent is the id that is concerned, "" when it is the folder.
	Agent string
	// Path and Line say where; Line is 0 when it is the file as a whole.
	Path string
	Line int
	// Text says what is wrong and what to do.
	Text string
	// Kept means that a version before it stays in force: an earlier one of the file, or the built-in.
	Kept bool
}

// String is the problem in one line.
func (p Problem) String() string {
	s := p.Path
	if p.Line > 0 {
		s = fmt.Sprintf("%s:%d", s, p.Line)
	}
	s += ": " + p.Text
	if p.Kept {
		s += " (the version before it stays in force)"
	}
	return s
}
