package gate

import (
	"errors"
	"fmt"
	"slices"
)

// RunContext is what is bound to a session beside its agent: rights, folder, further lines of the prompt.
type RunContext struct {
	// SecurityGroup is the permission group; "" leaves it to the person's role.
	SecurityGroup string `json:"security_group,omitempty"`
	// SystemPrompt are lines for the volatile end of the prompt.
	SystemPrompt []string `json:"system_prompt,omitempty"`
	// AllowFSReads and AllowFSWrites are paths in the working folder whose calls need no decision; what may be written may be read.
	AllowFSReads  []string `json:"allow_fs_reads,omitempty"`
	AllowFSWrites []string `json:"allow_fs_writes,omitempty"`
	// WorkingDirectory is the folder of the session's files, below the installation's folder of files or absolute; "" for the person's own.
	WorkingDirectory string `json:"working_directory,omitempty"`
	// Agent is the chat agent that a session begins with, "" for the usual one.
	Agent string `json:"agent,omitempty"`
}

// ErrForbidden is returned for a group that a role may not use.
var ErrForbidden = errors.New("the role may not use this permission group")

// Role is what a role may use.
type Role struct {
	// Group is the role's own group; "" means [DefaultGroup]. Groups are further ones.
	Group  string
	Groups []string
	// Admin: every group may be used.
	Admin bool
}

// Roles are the roles of an installation by name. A role that is not among them may use nothing.
type Roles map[string]Role

// EffectiveGroups are the groups of a role, its own first, each once; nil for an unknown one. An admin may use others too.
func (rs Roles) EffectiveGroups(role string) []string {
	r, ok := rs[role]
	if !ok {
		return nil
	}
	out := []string{r.own()}
	for _, g := range r.Groups {
		if !slices.Contains(out, g) {
			out = append(out, g)
		}
	}
	return out
}

func (r *Role) own() string {
	if r.Group == "" {
		return DefaultGroup
	}
	return r.Group
}

// Allows reports whether the role may use the group.
func (rs Roles) Allows(role, group string) bool {
	return rs[role].Admin || slices.Contains(rs.EffectiveGroups(role), group)
}

// ValidateForRole is what of a run context a person of the role may choose: an admin everything; others a group that their role may use,
// and nothing else. nil clears. The error is [ErrForbidden] and names the group.
func ValidateForRole(c *RunContext, role string, rs Roles) (*RunContext, error) {
	switch {
	case c == nil || rs[role].Admin:
		return c, nil
	case c.SecurityGroup != "" && !rs.Allows(role, c.SecurityGroup):
		return nil, fmt.Errorf("group %q, role %q: %w; an admin can allow it", c.SecurityGroup, role, ErrForbidden)
	}
	return &RunContext{SecurityGroup: c.SecurityGroup}, nil
}

// Reconcile is a stored run context with the rights that its person has now: a group that the role has lost becomes the role's own.
// role is "" for a person whose role is not known; the context is then left alone. It never comes to nothing: a context that is absent
// would select the broad default group.
func Reconcile(c *RunContext, role string, rs Roles) *RunContext {
	r, known := rs[role]
	if c == nil || c.SecurityGroup == "" || !known || rs.Allows(role, c.SecurityGroup) {
		return c
	}
	out := *c
	out.SecurityGroup = r.own()
	return &out
}

// GroupFor is the group whose rules hold for a person's calls: that of the reconciled context, else the role's own. A role that is not
// known has no group of its own and gets that of the least one, restricted, when there is such a role.
func GroupFor(c *RunContext, role string, rs Roles) string {
	if c = Reconcile(c, role, rs); c != nil && c.SecurityGroup != "" {
		return c.SecurityGroup
	}
	r, known := rs[role]
	if !known {
		r = rs[Restricted]
	}
	return r.own()
}

// Restricted names the role and the group of those who may only talk and keep notes.
const Restricted = "restricted"

// Common is the group that all roles have as their own; ok is false where they differ, so that a person's role must be known.
func (rs Roles) Common() (group string, ok bool) {
	for _, r := range rs {
		if group != "" && group != r.own() {
			return "", false
		}
		group = r.own()
	}
	return group, group != ""
}
