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
	if r, ok := a.Roles[id]; ok {
		return r
	}
	return Member
}

// RoleOfAll is the role of a person with these identities: an admin by one of them is one by all; else a limit on one of them holds for
// all. Where two limit differently, restricted goes first, then the name that sorts first.
func (a *Admins) RoleOfAll(ids []chat.IdentityID) Role {
	out := Member
	for _, id := range ids {
		switch r := a.RoleOf(id); {
		case r == Admin:
			return Admin
		case r == Member, out == Restricted:
		case out == Member, r == Restricted, r < out:
			out = r
		}
	}
	return out
}
