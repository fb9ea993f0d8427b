package conversation

import (
	"slices"
	"time"
)

// MaxBypasses bounds how many stand at once: a conversation has few tools that need a decision.
const MaxBypasses = 50

// Bypasses is the document of what persons let through for a while. A stop and the end of the session remove it.
type Bypasses struct {
	V    int      `json:"v"`
	List []Bypass `json:"list"`
}

// Bypass lets the calls of one tool through without a further decision.
type Bypass struct {
	// Tool is the exact name of the tool, Session the session that the bypass ends with, Person whose calls it lets through.
	Tool    string `json:"tool"`
	Session string `json:"session"`
	Person  string `json:"person"`
	// By is who decided, At the store's time of it, Until the end (zero: that of the session).
	By    string    `json:"by"`
	At    time.Time `json:"at"`
	Until time.Time `json:"until,omitzero"`
}

// Add puts n in the place of an earlier bypass of the same tool and person, and drops what has ended or belongs to another session. It
// answers false when there is no room.
func (b *Bypasses) Add(n Bypass) bool {
	b.V = Version
	b.List = slices.DeleteFunc(b.List, func(o Bypass) bool {
		return o.Session != n.Session || o.Tool == n.Tool && o.Person == n.Person || !o.Until.IsZero() && !n.At.Before(o.Until)
	})
	if len(b.List) >= MaxBypasses {
		return false
	}
	b.List = append(b.List, n)
	return true
}
