package conversation

import (
	"strings"
	"time"

	"herald/core/store"
)

// What begins the actions of buttons; what follows names the thing that the button acts on.
const (
	// ActionMark begins those that decide a wait; see [Action].
	ActionMark = "wait:"
	// AgainMark begins the one that starts a failed turn over, ShowMark the one that shows the text which its age had replaced by one line.
	AgainMark = "again:"
	ShowMark  = "show:"
)

// Action is the action of a button that decides the wait: choice is one of those of an approval, or the number of a question's.
func Action(wait, choice string) string { return ActionMark + wait + ":" + choice }

// ParseAction reads what [Action] wrote.
func ParseAction(action string) (wait, choice string, ok bool) {
	rest, ok := strings.CutPrefix(action, ActionMark)
	if !ok {
		return "", "", false
	}
	n := strings.LastIndexByte(rest, ':')
	if n <= 0 || n == len(rest)-1 {
		return "", "", false
	}
	return rest[:n], rest[n+1:], true
}

// Retried is the document that says that a failed turn was started over: it happens once.
type Retried struct {
	V  int       `json:"v"`
	By string    `json:"by"` // person
	At time.Time `json:"at"`
}

// Written is the version that wrote the document.
func (r *Retried) Written() int { return r.V }

// RetriedKey is the key of that document for the turn.
func RetriedKey(turn string) store.Key { return store.Key{Collection: Again, Name: turn} }
