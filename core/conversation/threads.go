package conversation

import (
	"time"

	"herald/core/store"
)

// When a message of a thread that Herald takes part in is for Herald.
const (
	ThreadsAlways  = "always"  // each one, except one that mentions somebody else and not Herald
	ThreadsMention = "mention" // only one that mentions Herald
)

// ThreadsKey is what was set about that in a conversation: in a thread for itself, in a channel for its threads.
var ThreadsKey = store.Key{Collection: Session, Name: "threads"}

// Threads is that document. By is the person who set it, At the store's time of that, Event the command.
type Threads struct {
	V int `json:"v"`
	// Policy is one of the constants; empty means that nothing is set any more.
	Policy string    `json:"policy,omitempty"`
	By     string    `json:"by"`
	At     time.Time `json:"at"`
	Event  string    `json:"event"`
}

// Written is the version that wrote the document.
func (t *Threads) Written() int { return t.V }
