package conversation

import (
	"strings"
	"time"

	"herald/core/chat"
	"herald/core/store"
)

// What begins the actions of buttons; what follows names the thing that the button acts on.
const (
	// ActionMark begins those that decide a wait; see [Action].
	ActionMark = "wait:"
	// AgainMark begins the one that starts a failed turn over, ShowMark the one that shows the text which its age had replaced by one line.
	AgainMark = "again:"
	ShowMark  = "show:"
	// AllMark begins the one that shows all arguments of the call that an approval is about.
	AllMark = "all:"
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

// Copied is the document of a card's copy in another conversation, such as the direct messages of who may decide.
type Copied struct {
	V int `json:"v"`
	// Origin is the partition in which the wait stands, Delivery the id of the copy's delivery.
	Origin   store.Partition `json:"origin"`
	Delivery string          `json:"delivery"`
	// Ended: the copy says how the wait ended, or was never posted because it had ended before.
	Ended bool `json:"ended,omitempty"`
}

// Written is the version that wrote the document.
func (c *Copied) Written() int { return c.V }

// CopiedKey is the key of that document for the wait.
func CopiedKey(wait string) store.Key { return store.Key{Collection: Copies, Name: wait} }

// CopyKind and CopyEndKind are the kinds of entries whose data is a [Copy]: a copy of a card for somebody's direct messages, and its end.
const (
	CopyKind    = "card"
	CopyEndKind = "card-end"
)

// Copy is what is owed to who may decide and does not read the conversation in which the wait stands.
type Copy struct {
	V    int             `json:"v"`
	Wait string          `json:"wait"`
	To   chat.IdentityID `json:"to,omitempty"`
	// At is the conversation for a copy that is for no account's direct messages.
	At store.Partition `json:"at,omitempty"`
	// Person is who asked for the call.
	Person string `json:"person"`
	// Delivery is the card, of a copy that begins; How says how the wait ended, of one that ends.
	Delivery *Delivery `json:"delivery,omitempty"`
	How      string    `json:"how,omitempty"`
}

// Written is the version that wrote it.
func (c *Copy) Written() int { return c.V }

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
