package gate

import (
	"slices"
	"time"
)

// BypassFor is how long a bypass holds that has an end of its own.
const BypassFor = 15 * time.Minute

// Bypass is a person's word that calls of one tool need no further decision for a while. It never lifts a deny.
type Bypass struct {
	// Tool is the exact name; a bypass is never wider than one tool.
	Tool string `json:"tool"`
	// Session is the session that it ends with, Person whose calls it lets through: it gives nobody the rights of somebody else.
	Session string `json:"session"`
	Person  string `json:"person"`
	// By is who decided, At when.
	By string    `json:"by"`
	At time.Time `json:"at"`
	// Until is its end by the store's time; zero means that of the session.
	Until time.Time `json:"until,omitzero"`
	// ByAdmin says that By is an admin now; it is read with the bypass and never kept.
	ByAdmin bool `json:"-"`
}

// Live reports whether the bypass counts in a session at an instant.
func (b *Bypass) Live(session string, now time.Time) bool {
	return b.Session == session && (b.Until.IsZero() || now.Before(b.Until))
}

// holds reports whether the bypass lets the call through: it is for this tool, this session and everybody who asks, and who gave it may
// still decide by the rule of now.
func (b *Bypass) holds(r *Rule, q *Request) bool {
	if b.Tool != q.Tool || !b.Live(q.Session, q.Now) || len(q.Askers) == 0 || slices.ContainsFunc(q.Askers, func(p string) bool { return p != b.Person }) {
		return false
	}
	return MayDecide(r, q.Askers, b.By, b.ByAdmin, q.SingleOperator)
}

// MayDecide reports whether a person may decide what rule r requires; r is nil where none matched. The rule's deciders must be persons
// or the words for them: identities are resolved before.
func MayDecide(r *Rule, askers []string, by string, admin, single bool) bool {
	asked := slices.Contains(askers, by)
	if r != nil && r.FourEyes && asked && !single {
		return false
	}
	if r == nil || len(r.Deciders) == 0 {
		return asked && by == askers[0]
	}
	return slices.ContainsFunc(r.Deciders, func(d string) bool {
		return d == by || d == Asker && by == askers[0] || d == Admins && admin
	})
}
