package skills

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// New writes a skill that can be filled in, and returns the path of its file: a shared one in the first folder of shared skills, or, with an
// owner, one in that agent's folder. It refuses a name that is taken, also by a broken skill.
func (r *Registry) New(owner, name, description string) (string, error) {
	if !ValidName(name) {
		return "", fmt.Errorf("%q is no name of a skill: use small letters, digits and single '-', at most 64", short(name))
	}
	if strings.TrimSpace(description) == "" {
		description = "Says in a sentence or two what the skill does and when it is of use"
	}
	s := r.refresh()
	dir := ""
	if owner == "" {
		if k, ok := s.byID[name]; ok {
			return "", fmt.Errorf("the skill %q stands in %s already", name, k.Source)
		}
		if len(r.opts.Shared) > 0 {
			dir = r.opts.Shared[0].Path
		}
	} else {
		for _, k := range s.owned[owner] {
			if k.Short == name || k.ID == OwnedID(owner, name) {
				return "", fmt.Errorf("the agent %q has the skill %q already, in %s", owner, name, k.Source)
			}
		}
		if !filepath.IsLocal(owner) || strings.ContainsAny(owner, `/\`) {
			return "", fmt.Errorf("%q cannot be an agent's id", short(owner))
		}
		dir = filepath.Join(r.opts.Agents.Path, owner, ownDir)
	}
	dir = filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("the folder %s is there already", dir)
		}
		return "", err
	}
	quoted := "'" + strings.ReplaceAll(strings.Join(strings.Fields(description), " "), "'", "''") + "'"
	text := "---\nname: " + name + "\ndescription: " + quoted + "\n---\n\n# " + name + "\n\nWrite here, step by step, what is to be done. Files in references/ and assets/ can be read, those in scripts/ can be run.\n"
	path := filepath.Join(dir, fileName)
	return path, os.WriteFile(path, []byte(text), 0o644)
}
