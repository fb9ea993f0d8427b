package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"herald/core/memory"
	"herald/core/tool"
	"herald/core/tool/gate"
)

// request is what the decision about c depends on.
func (d *door) request(ctx context.Context, c tool.Call) (gate.Request, error) {
	askers := c.Askers
	if len(askers) == 0 && c.Person != "" {
		askers = []string{c.Person}
	}
	q := gate.Request{
		Scoped: c.Turn != "" && c.Session != "", Tool: c.Name, Agent: c.Agent, Source: string(c.Conversation.Workspace.Platform()), Session: c.Session,
		Askers: askers, Now: d.now.Add(d.o.Clock().Sub(d.since)), Unattended: c.Unattended, SingleOperator: d.o.SingleOperator(),
	}
	for _, b := range d.bypasses {
		if b.Tool != c.Name || !b.Live(c.Session, q.Now) {
			continue
		}
		admin, err := d.o.Admin(ctx, b.By)
		if err != nil {
			return q, fmt.Errorf("look up the role of %s: %w", b.By, err)
		}
		b.ByAdmin = admin
		q.Bypasses = append(q.Bypasses, b)
	}
	if rc := d.context; rc != nil {
		q.Reads, q.Writes = rc.AllowFSReads, rc.AllowFSWrites
	}
	if p, ok := pathOf(c); ok {
		root, _ := d.o.Folder(c, d.context) // without one there are notes only, and no links
		rel, inside := canonical(root, p)
		q.Path, q.HasPath, q.Outside = rel, inside, !inside
	}
	return q, nil
}

// pathOf is the path among the arguments of a call to a tool of files, read the way in which the tool reads it.
func pathOf(c tool.Call) (string, bool) {
	if !gate.IsFile(c.Name) {
		return "", false
	}
	// Not a pointer: a null behind a path would empty that, while the tool's own text keeps the path.
	var a struct {
		Path string `json:"path"`
	}
	if json.Unmarshal(c.Arguments, &a) != nil || a.Path == "" {
		return "", false // the tool refuses it, too
	}
	return a.Path, true
}

// canonical is the path of a call as rules compare it. The roots of notes are no folders: whatever stands in the working folder under their
// names, the tools never look there.
func canonical(root, p string) (string, bool) {
	rel, ok := gate.Lexical(root, p)
	if !ok {
		return "", false
	}
	if notes, name, ok := memory.Split(rel); ok {
		return path.Join(string(notes), name), true
	}
	return gate.Canonical(root, p, links(root))
}

// links reads symbolic links below root.
func links(root string) func(string) (string, bool) {
	return func(rel string) (string, bool) {
		if root == "" {
			return "", false
		}
		target, err := os.Readlink(filepath.Join(root, filepath.FromSlash(rel)))
		return filepath.ToSlash(target), err == nil
	}
}

// groups are the groups of all who ask, each once. The role is read only where it can make a difference.
func (d *door) groups(ctx context.Context, c tool.Call) ([]string, error) {
	roles := d.o.Roles()
	if common, ok := roles.Common(); ok && (d.context == nil || d.context.SecurityGroup == "") {
		return []string{common}, nil
	}
	askers := c.Askers
	if len(askers) == 0 {
		askers = []string{c.Person}
	}
	var out []string
	for _, person := range askers {
		role, ok := d.roles[person]
		if !ok {
			var err error
			if role, err = d.o.Role(ctx, person); err != nil {
				return nil, fmt.Errorf("look up the role of %s: %w", person, err)
			}
			if d.roles == nil {
				d.roles = make(map[string]string)
			}
			d.roles[person] = role
		}
		if g := gate.GroupFor(d.context, role, roles); !slices.Contains(out, g) {
			out = append(out, g)
		}
	}
	return out, nil
}
