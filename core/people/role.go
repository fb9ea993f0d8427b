package people

import (
	"slices"

	"herald/core/chat"
)

// Role is what a person may do, by name.
type Role string

// The roles that every installation has.
const (
	Admin      Role = "admin"
	Member     Role = "member"
	Restricted Role = "restricted"
)

// rank orders the roles; one that this code does not know has the least rights.
func (r Role) rank() int {
	switch r {
	case Admin:
		return 2
	case Member:
		return 1
	default:
		return 0
	}
}

// Covers reports whether r has at least the rights of least.
func (r Role) Covers(least Role) bool { return r.rank() >= least.rank() }

// RoleOf is the role of an identity, as the admins' document says.
func (a *Admins) RoleOf(id chat.IdentityID) Role {
	if slices.Contains(a.Identities, id) {
		return Admin
	}
	return Member
}
