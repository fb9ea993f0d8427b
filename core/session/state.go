package session

import (
	"encoding/json"

	"herald/core/model"
)

// FoldVersion is the version of [Fold]: a state that another version made is folded anew from the log.
const FoldVersion = 2

// Limits of a session, in one place.
const (
	// MaxDepth is the deepest frame; the root is 0.
	MaxDepth = 5
	// MaxParallel is how many delegations run side by side.
	MaxParallel = 4
	// MaxTasks is how many delegations one answer of a model may ask for.
	MaxTasks = 8
	// MaxPad is how many bytes the scratchpad may hold: every model call of the session carries it.
	MaxPad = 16 << 10
	// MaxRounds is how many model calls a frame may make in a turn unless set otherwise: an agent that needs more is in a loop.
	MaxRounds = 20
	// MaxRepeats is how often in a row the same calls may be asked for: the third time nothing new can come of it.
	MaxRepeats = 3
	// MaxGates is how many answers of the gate a turn remembers for its record; the log has all of them.
	MaxGates = 50
)

// State is the small, materialised part of a session: its stack and what is pending.
type State struct {
	Fold    int    `json:"fold"`
	Session string `json:"session,omitempty"`
	Agent   string `json:"agent,omitempty"`
	Opener  string `json:"opener,omitempty"`
	Closed  bool   `json:"closed,omitempty"`
	// Frames are the active frames; the root is the first. Parallel children stand beside each other.
	Frames []Frame `json:"frames,omitempty"`
	// Turn is the turn under way, nil between turns.
	Turn *Turn `json:"turn,omitempty"`
	// Waits are the open waits, oldest first.
	Waits []Wait `json:"waits,omitempty"`
	// Pad is the scratchpad, in the order in which its keys were first written.
	Pad []PadLine `json:"pad,omitempty"`
}

// Frame is one activation of an agent.
type Frame struct {
	ID    string `json:"id"`
	Agent string `json:"agent"`
	Depth int    `json:"depth"`
	// Call is the call of the parent frame that pushed this one, Parent that frame.
	Call   string `json:"call,omitempty"`
	Parent string `json:"parent,omitempty"`
	// Client is the configured model that the frame's call named, "" for the agent's own.
	Client string `json:"client,omitempty"`
	// Groups are the groups of tools that were opened for the frame, sorted; those of the root stay for the session.
	Groups []string `json:"groups,omitempty"`
	// Tokens is how many tokens the last request and its answer had; 0 where that is not known.
	Tokens int `json:"tokens,omitempty"`
	// Rounds counts the model's answers in this turn; Answers those of the frame's whole life (it names the next model call).
	Rounds  int `json:"rounds,omitempty"`
	Answers int `json:"answers,omitempty"`
	// Calls are those of the last answer, in its order.
	Calls []CallState `json:"calls,omitempty"`
	// Unseen: something was said to the frame that the model has not answered.
	Unseen bool `json:"unseen,omitempty"`
	// Final is the last answer's text when it asked for no calls.
	Final *string `json:"final,omitempty"`
	// Same counts how often in a row the calls of an answer were the same, Print names them.
	Same  int    `json:"same,omitempty"`
	Print string `json:"print,omitempty"`
}

// CallState is a call of the last answer.
type CallState struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments,omitempty"` // dropped when the call has ended
	Malformed string          `json:"malformed,omitempty"`
	Traits
	// Begun: the call has started; Waits: it is parked on this wait; Approved: a person let it through.
	Begun    bool   `json:"begun,omitempty"`
	Waits    string `json:"waits,omitempty"`
	Approved string `json:"approved,omitempty"` // by whom
	// Child is the frame that the call pushed.
	Child  string `json:"child,omitempty"`
	Status Status `json:"status,omitempty"` // set when it has ended
}

// Ended reports whether the call has its result.
func (c *CallState) Ended() bool { return c.Status != "" }

// Turn is the turn under way.
type Turn struct {
	ID     string      `json:"id"`
	Covers []Cover     `json:"covers"`
	Usage  model.Usage `json:"usage"`
	Models []string    `json:"models,omitempty"`
	Tools  []string    `json:"tools,omitempty"`
	Gates  []Gate      `json:"gates,omitempty"`
	Rounds int         `json:"rounds,omitempty"`
	// Cost is the sum of the known costs; Unpriced: at least one answer had no price, so that the cost of the turn is unknown.
	Cost     float64 `json:"cost,omitempty"`
	Unpriced bool    `json:"unpriced,omitempty"`
	// Cancel is set when a stop took hold, Failure when the turn failed.
	Cancel  *Cancel  `json:"cancel,omitempty"`
	Failure *Failure `json:"failure,omitempty"`
}

// Person is whose message the turn answers first.
func (t *Turn) Person() string {
	if len(t.Covers) == 0 {
		return ""
	}
	return t.Covers[0].Person
}

// Root is the root frame, nil before the session was opened.
func (s *State) Root() *Frame {
	if len(s.Frames) == 0 {
		return nil
	}
	return &s.Frames[0]
}

// Frame finds an active frame.
func (s *State) Frame(id string) *Frame {
	for i := range s.Frames {
		if s.Frames[i].ID == id {
			return &s.Frames[i]
		}
	}
	return nil
}

// Call finds an open or ended call of the last answers, with its frame.
func (s *State) Call(id string) (*Frame, *CallState) {
	for i := range s.Frames {
		for j := range s.Frames[i].Calls {
			if s.Frames[i].Calls[j].ID == id {
				return &s.Frames[i], &s.Frames[i].Calls[j]
			}
		}
	}
	return nil, nil
}

// Clone is a deep copy.
func (s *State) Clone() State {
	c := *s
	c.Frames = append([]Frame(nil), s.Frames...)
	for i := range c.Frames {
		c.Frames[i].Calls = append([]CallState(nil), c.Frames[i].Calls...)
	}
	c.Waits = append([]Wait(nil), s.Waits...)
	c.Pad = append([]PadLine(nil), s.Pad...)
	if s.Turn != nil {
		t := *s.Turn
		t.Covers = append([]Cover(nil), t.Covers...)
		t.Models = append([]string(nil), t.Models...)
		t.Tools = append([]string(nil), t.Tools...)
		t.Gates = append([]Gate(nil), t.Gates...)
		c.Turn = &t
	}
	return c
}
