package conversation

import (
	"time"

	"herald/core/chat"
	"herald/core/session"
	"herald/core/store"
)

// Message is a message that waits for a turn.
type Message struct {
	V int `json:"v"`
	// MessageID, Order, SentAt, Text and Files are those of the inbound event.
	MessageID string      `json:"message_id"`
	Order     string      `json:"order"`
	SentAt    time.Time   `json:"sent_at"`
	Person    string      `json:"person"`
	Sender    chat.Sender `json:"sender"`
	Text      string      `json:"text"`
	Files     []chat.File `json:"files,omitempty"`
	Direct    bool        `json:"direct,omitempty"`
	// NoNotes: when the message came, nobody had ever kept a note that could be open to who reads here, so that none need be looked for.
	NoNotes bool `json:"no_notes,omitempty"`
	// Agent is the chat agent that was asked for by name; "" is whoever the conversation is with.
	Agent string `json:"agent,omitempty"`
	// Task is set in what a task came to: a message that no person has written and no platform knows.
	Task *session.TaskEnd `json:"task,omitempty"`
}

// Key is the document's key: the inbox lists in the platform's order.
func (m *Message) Key() store.Key {
	return store.Key{Collection: Inbox, Name: ordered(m.Order, m.MessageID)}
}

// ControlKind is what a control asks for.
type ControlKind string

// The kinds of controls.
const (
	Stop ControlKind = "stop"
	New  ControlKind = "new"
	// Compact has the older part of the history summarised.
	Compact ControlKind = "compact"
	Edit    ControlKind = "edit"
	Delete  ControlKind = "delete"
	// Retry starts the turn Target over, whose answer failed.
	Retry ControlKind = "retry"
)

// Control is a control entry: written by whoever received it, applied by the turn's holder.
type Control struct {
	V    int         `json:"v"`
	Kind ControlKind `json:"kind"`
	// ID names the control: the message or invocation that it came with.
	ID    string `json:"id"`
	Order string `json:"order"`
	By    string `json:"by"` // person
	// Name is the shown name of By.
	Name string `json:"name,omitempty"`
	// Target is the message that an edit or a deletion speaks of, or the turn of a retry; Text the new text.
	Target string `json:"target,omitempty"`
	Text   string `json:"text,omitempty"`
	// TargetKey is the dedupe key of the target's own event: whether it has arrived yet.
	TargetKey string `json:"target_key,omitempty"`
	// Agent is the agent of the session that New opens; "" for the default.
	Agent string `json:"agent,omitempty"`
	// Interaction is the invocation whose response the confirmation is, "" for a message.
	Interaction string    `json:"interaction,omitempty"`
	At          time.Time `json:"at"`
}

// Key is the document's key: controls list in the platform's order.
func (c *Control) Key() store.Key {
	return store.Key{Collection: Controls, Name: ordered(c.Order, c.ID)}
}

// Head is what a commit that answers or starts a tool is guarded by: it changes with each stop and new.
type Head struct {
	V int `json:"v"`
	// StopOrder is the order of the newest stop or new: a message before it that arrives later is not run.
	StopOrder string `json:"stop_order"`
	By        string `json:"by"`
}

// Suspect counts how often a turn that was under way in a crash crashed again while it ran alone.
type Suspect struct {
	V int `json:"v"`
	// Count is how often.
	Count int `json:"count"`
	// Alone is the attempt of the claim under which the turn last ran alone, 0 when that run ended by itself. A later claim with a higher
	// attempt says that it crashed; one with the same that it was given back, which speaks against nothing.
	Alone int `json:"alone,omitempty"`
	// Last is what was seen of the last one (a panic's text), if anything was.
	Last string `json:"last,omitempty"`
}
