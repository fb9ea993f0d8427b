package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"herald/core/chat"
	"herald/core/model"
	"herald/core/session"
)

// MaxResult is the largest result in bytes that is kept; a longer one is cut and says so.
const MaxResult = 100 << 10

// Scope is for whom tools are looked up and run: the frame of an agent in the turn of a session.
type Scope struct {
	// Agent is the agent of the frame. The engine sets it; nothing that a model or a person writes comes into it.
	Agent string
	// Frame is the activation of the agent, Depth how deep it stands: 0 for the session's own agent.
	Frame   string
	Depth   int
	Session string
	Turn    string
	Person  string
	// Askers are all persons whose messages the turn answers, Person among them: the call has the rights that all of them have.
	Askers       []string
	Conversation chat.Conversation
	// Task is the task that the session is, one that runs beside the conversation that began it; "" for others.
	Task string
	// Direct: only the person and Herald read the conversation.
	Direct bool
	// NoNotes: nobody had kept a note that could be open here when the newest message came.
	NoNotes bool
	// Unattended: nobody is there who could decide, so that a call which needs a person is refused at once.
	Unattended bool
	// Groups are the groups of tools that were activated for the frame, sorted; see [Tool.Group].
	Groups []string
}

// Call is one call as its tool sees it.
type Call struct {
	Scope
	// ID is the same when a repeatable call is run again: what a tool passes on as idempotency key.
	ID        string
	Name      string
	Arguments json.RawMessage
	// Approved names who let the call through, "" when nobody had to.
	Approved string
}

// Source is tools that exist for a scope beside those of the registry: an agent's delegates, skills, author's tools. What it does not give
// for a scope does not exist for it. It must be safe for concurrent use, and answer soon: it is asked before each model call and each tool
// call of a frame.
type Source interface {
	Tools(ctx context.Context, s Scope) ([]Tool, error)
}

// SourceFunc is a function that is a [Source].
type SourceFunc func(ctx context.Context, s Scope) ([]Tool, error)

// Tools calls f.
func (f SourceFunc) Tools(ctx context.Context, s Scope) ([]Tool, error) { return f(ctx, s) }

// Decode reads the arguments into v; an unknown argument is an error that the model can mend.
func (c *Call) Decode(v any) error {
	if err := json.Unmarshal(c.Arguments, v); err != nil {
		return fmt.Errorf("the arguments do not fit: %w", err)
	}
	return nil
}

// Result is what a call came to.
type Result struct {
	Text string
	// Wait, when set, parks the call until a person answers or a time comes; its outcome becomes the result. ID, Call and Person are filled in.
	Wait *session.Wait
	// Push, when set, begins a child frame; what its agent answers becomes the result. Only a tool that declares Delegates may push.
	Push *Push
	// Task, when set, begins a task beside the turn; its result comes later as a message. Only a tool that declares Delegates may begin one.
	Task *Task
	// Pad is a line that the call writes into the session's scratchpad; Groups are groups of tools that it opens for its frame.
	Pad    *session.PadLine
	Groups []string
	// Owe is what the call hands over to other partitions, committed with its result.
	Owe []Debt
}

// Push is a delegation: the agent that takes over and what it is asked.
type Push struct {
	Agent, Prompt string
	// Client is the configured model that was asked for, "" for the agent's own.
	Client string
}

// Task is a task that an agent works on beside the turn.
type Task struct {
	Agent, Client, Title, Prompt string
}

// Debt is a handover: Kind chooses the taker, To is the partition.
type Debt struct {
	Kind, To string
	Data     []byte
}

// Tool is one tool.
type Tool struct {
	Spec model.ToolSpec
	// Group is the group that must be activated before an agent which names no tools sees this one; "" for a tool of the default set.
	Group string
	// Own: the tool is the engine's own (delegation, clarification, todos, scratchpad, skills, activation). Such a tool follows its own
	// rules: an agent's selection neither names nor leaves it out.
	Own bool
	// Owned: the tool exists for one agent alone. An agent that delegates to its owner cannot have it, so that the callers' lists neither
	// name nor leave it out; their rules bound it all the same.
	Owned  bool
	Traits session.Traits
	// Run performs a call. An error becomes a failed result that the model sees: its text must hold no secret. When ctx ends
	// Run returns soon.
	Run func(ctx context.Context, c Call) (Result, error)
}

// Registry is the tools of an installation.
type Registry struct {
	tools  map[string]Tool
	sorted []Tool
	groups map[string][]string
}

// NewRegistry checks tools: names are unique and fit every provider, and parameters are an object schema.
func NewRegistry(tools ...Tool) (*Registry, error) {
	r := &Registry{tools: make(map[string]Tool, len(tools))}
	for _, t := range tools {
		n := t.Spec.Name
		if err := t.Check(); err != nil {
			return nil, err
		}
		if _, dup := r.tools[n]; dup {
			return nil, fmt.Errorf("tool %q is registered twice", n)
		}
		r.tools[n] = t
	}
	r.sorted = slices.SortedFunc(maps.Values(r.tools), func(a, b Tool) int { return strings.Compare(a.Spec.Name, b.Spec.Name) })
	r.groups = make(map[string][]string)
	for _, t := range r.sorted {
		if t.Group != "" {
			r.groups[t.Group] = append(r.groups[t.Group], t.Spec.Name)
		}
	}
	return r, nil
}

// Check reports what keeps a tool from being offered to a model.
func (t *Tool) Check() error {
	n := t.Spec.Name
	if !ValidName(n) {
		return fmt.Errorf("tool %q: a name has 1 to 64 letters, digits, '_' or '-'", n)
	}
	var schema struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(t.Spec.Parameters, &schema); err != nil || schema.Type != "object" {
		return fmt.Errorf("tool %q: its parameters are no JSON Schema of type object", n)
	}
	if t.Run == nil {
		return fmt.Errorf("tool %q does nothing", n)
	}
	return nil
}

// ValidName reports whether every provider takes the name.
func ValidName(n string) bool {
	if n == "" || len(n) > 64 {
		return false
	}
	for _, c := range n {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}

// Get finds a tool.
func (r *Registry) Get(name string) (Tool, bool) {
	t, ok := r.tools[name]
	return t, ok
}

// All is all tools, sorted by name. The caller must not change the list.
func (r *Registry) All() []Tool { return slices.Clip(r.sorted) }

// Groups are the names of the tools by their group, sorted, without the default set. The caller must not change them.
func (r *Registry) Groups() map[string][]string { return r.groups }

// ErrUnknown is what a model is told of a tool that is not its own: invisible equals missing.
var ErrUnknown = errors.New("there is no such tool")
