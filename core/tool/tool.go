package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"herald/core/chat"
	"herald/core/model"
	"herald/core/session"
)

// MaxResult is the largest result in bytes that is kept; a longer one is cut and says so.
const MaxResult = 100 << 10

// Call is one call as its tool sees it.
type Call struct {
	// ID is the same when a repeatable call is run again: what a tool passes on as idempotency key.
	ID        string
	Name      string
	Arguments json.RawMessage
	Agent     string
	Session   string
	Turn      string
	Person    string
	// Askers are all persons whose messages the turn answers, Person among them: the call has the rights that all of them have.
	Askers       []string
	Conversation chat.Conversation
	// Direct: only the person and Herald read the conversation.
	Direct bool
	// Approved names who let the call through, "" when nobody had to.
	Approved string
	// Unattended: nobody is there who could decide, so that a call which needs a person is refused at once.
	Unattended bool
}

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
	// Owe is what the call hands over to other partitions, committed with its result.
	Owe []Debt
}

// Push is a delegation: the agent that takes over and what it is asked.
type Push struct {
	Agent, Prompt string
}

// Debt is a handover: Kind chooses the taker, To is the partition.
type Debt struct {
	Kind, To string
	Data     []byte
}

// Tool is one tool.
type Tool struct {
	Spec   model.ToolSpec
	Traits session.Traits
	// Run performs a call. An error becomes a failed result that the model sees: its text must hold no secret. When ctx ends
	// Run returns soon.
	Run func(ctx context.Context, c Call) (Result, error)
}

// Registry is the tools of an installation.
type Registry struct {
	tools map[string]Tool
}

// NewRegistry checks tools: names are unique and fit every provider, and parameters are an object schema.
func NewRegistry(tools ...Tool) (*Registry, error) {
	r := &Registry{tools: make(map[string]Tool, len(tools))}
	for _, t := range tools {
		n := t.Spec.Name
		if !ValidName(n) {
			return nil, fmt.Errorf("tool %q: a name has 1 to 64 letters, digits, '_' or '-'", n)
		}
		if _, dup := r.tools[n]; dup {
			return nil, fmt.Errorf("tool %q is registered twice", n)
		}
		var schema struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(t.Spec.Parameters, &schema); err != nil || schema.Type != "object" {
			return nil, fmt.Errorf("tool %q: its parameters are no JSON Schema of type object", n)
		}
		if t.Run == nil {
			return nil, fmt.Errorf("tool %q does nothing", n)
		}
		r.tools[n] = t
	}
	return r, nil
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

// Select is the tools of these names, sorted, without those that do not exist; nil names mean all.
func (r *Registry) Select(names []string) []Tool {
	var out []Tool
	for n, t := range r.tools {
		if names == nil || slices.Contains(names, n) {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b Tool) int {
		if a.Spec.Name < b.Spec.Name {
			return -1
		}
		return 1
	})
	return out
}

// ErrUnknown is what a model is told of a tool that is not its own: invisible equals missing.
var ErrUnknown = errors.New("there is no such tool")
