package agents

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// strengths are the five words, weakest first.
var strengths = [...]string{"very_low", "low", "average", "high", "very_high"}

// setting is one key that a file may have. Keys may be written with '_' or '-'.
type setting struct {
	key     string
	aliases []string
	set     func(*Agent, *yaml.Node) error
	// idle says why the setting changes nothing here; such a one is reported and harmless.
	idle string
	// refused says why the setting cannot be obeyed, and what to do.
	refused string
}

// table is what a file may say.
var table = []setting{
	{key: "name", set: func(a *Agent, n *yaml.Node) (err error) { a.Name, err = line(n, 80); return }},
	{key: "description", set: func(a *Agent, n *yaml.Node) (err error) { a.Description, err = line(n, 1024); return }},
	{key: "friendly_description", set: func(a *Agent, n *yaml.Node) (err error) { a.FriendlyDescription, err = line(n, 1024); return }},
	{key: "instructions", set: func(a *Agent, n *yaml.Node) (err error) { a.Instructions, err = line(n, 2048); return }},
	{key: "type", set: setType},
	{key: "model", aliases: []string{"client"}, set: setModel},
	{key: "strength", set: setStrength},
	{key: "scope", set: func(a *Agent, n *yaml.Node) (err error) { a.Scope, err = line(n, 80); return }},
	{key: "temperature", set: setTemperature},
	{key: "thinking", set: setThinking},
	{key: "max_steps", set: func(a *Agent, n *yaml.Node) (err error) { a.MaxSteps, err = whole(n, 1, maxSteps); return }},
	{key: "compaction_enabled", set: func(a *Agent, n *yaml.Node) error {
		b, err := boolean(n)
		a.Compaction = &b
		return err
	}},
	{key: "allow_tools", set: func(a *Agent, n *yaml.Node) error {
		b, err := boolean(n)
		a.NoTools = !b
		return err
	}},
	{key: "tools", set: func(a *Agent, n *yaml.Node) (err error) { a.Tools, err = selector(n, "tool"); return }},
	{key: "skills", set: func(a *Agent, n *yaml.Node) (err error) { a.Skills, err = selector(n, "skill"); return }},
	{key: "inject_skills", set: func(a *Agent, n *yaml.Node) (err error) { a.InjectSkills, err = boolean(n); return }},
	{key: "inject_memory", set: setInjectMemory},
	{key: "delegates", set: setDelegates},
	{key: "extra", set: setExtra},

	{key: "avatar_url", idle: "Herald shows its own picture for all agents"},
	{key: "icon", idle: "Herald shows its own picture for all agents"},
	{key: "i18n", idle: "names and descriptions of agents are shown as they are, in every language"},
	{key: "provider_tools", refused: "tools that run at the provider would not pass the gate; take the setting out, and choose among Herald's own with tools"},
	{key: "mcp_servers", refused: "this version connects to no MCP servers; take the setting out, or move it below extra"},
}

// normal is a key as the table has it.
func normal(written string) string { return strings.ReplaceAll(written, "-", "_") }

func lookup(written string) (setting, bool) {
	k := normal(written)
	for _, s := range table {
		if s.key == k || slices.Contains(s.aliases, k) {
			return s, true
		}
	}
	return setting{}, false
}

// unknown says that a file has a key that there is not, with the nearest one.
func unknown(written string) string {
	text := fmt.Sprintf("there is no setting %q", short(written))
	if n := nearest(written); n != "" {
		return text + fmt.Sprintf("; did you mean %q?", n)
	}
	return text + "; take it out, or move it below extra, which Herald does not read"
}

// nearest is the key that a person most likely meant, or "".
func nearest(written string) string {
	w := []rune(strings.ToLower(normal(written)))
	best, at := "", 1<<30
	if len(w) > 40 {
		return best
	}
	for _, s := range table {
		if s.set == nil {
			continue
		}
		for _, k := range append([]string{s.key}, s.aliases...) {
			if d := distance(w, []rune(k)); d < at && d <= max(1, len(k)/2) {
				best, at = k, d
			}
		}
	}
	return best
}

// distance counts the letters to insert, remove or replace.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diag := row[0]
		row[0] = i + 1
		for j := range b {
			next := diag
			if a[i] != b[j] {
				next++
			}
			diag = row[j+1]
			row[j+1] = min(next, row[j]+1, diag+1)
		}
	}
	return row[len(b)]
}

func setType(a *Agent, n *yaml.Node) error {
	s, err := scalar(n)
	if err != nil {
		return err
	}
	if !slices.Contains(types, Type(s)) {
		return fmt.Errorf("%q is no type of agent; there are: chat, which people talk to, task, which others delegate to, and system", short(s))
	}
	a.Type = Type(s)
	return nil
}

func setModel(a *Agent, n *yaml.Node) error {
	s, err := line(n, 200)
	if err != nil {
		return err
	}
	if strings.EqualFold(s, "auto") {
		s = ""
	}
	a.Model = s
	return nil
}

func setStrength(a *Agent, n *yaml.Node) error {
	s, err := scalar(n)
	if err != nil {
		return err
	}
	if !slices.Contains(strengths[:], s) {
		return fmt.Errorf("%q is no strength; there are: %s", short(s), strings.Join(strengths[:], ", "))
	}
	a.Strength = s
	return nil
}

func setTemperature(a *Agent, n *yaml.Node) error {
	s, err := scalar(n)
	if err != nil {
		return err
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f >= 0 && f <= maxTemperature) {
		return fmt.Errorf("%q is no number from 0 to %d", short(s), maxTemperature)
	}
	a.Temperature = &f
	return nil
}

func setThinking(a *Agent, n *yaml.Node) error {
	t := 0
	if b, err := boolean(n); err == nil {
		if b {
			t = -1
		}
	} else if t, err = whole(n, 1, maxThinking); err != nil {
		return fmt.Errorf("it must be true, false or a number of tokens from 1 to %d", maxThinking)
	}
	a.Thinking = &t
	return nil
}

func setInjectMemory(a *Agent, n *yaml.Node) error {
	paths, err := list(n, "file")
	if err != nil {
		return err
	}
	for i, p := range paths {
		if err := checkMemoryPath(p); err != nil {
			return fmt.Errorf("entry %d: %w", i+1, err)
		}
	}
	a.InjectMemory = paths
	return nil
}

// checkMemoryPath reports whether a path of inject_memory stays where it may look.
func checkMemoryPath(p string) error {
	rest, ok := strings.CutPrefix(p, WorkDir+"/")
	if !ok && strings.Contains(p, "$") {
		return fmt.Errorf("%q: only %s/ may stand for a folder, and only at the beginning", short(p), WorkDir)
	}
	if !ok {
		rest = p
	}
	if strings.ContainsAny(rest, "\\\x00") || path.IsAbs(rest) || path.Clean(rest) != rest || rest == ".." || strings.HasPrefix(rest, "../") || rest == "." {
		return fmt.Errorf("%q is no plain path below user-memory/, shared-memory/, %s/ or the agents' folder", short(p), WorkDir)
	}
	return nil
}

func setDelegates(a *Agent, n *yaml.Node) error {
	ids, err := list(n, "agent")
	if err != nil {
		return err
	}
	names := map[string]string{}
	for _, id := range ids {
		switch {
		case CheckID(id) != nil:
			return CheckID(id)
		case id == a.ID:
			return errors.New("an agent cannot delegate to itself")
		case len(DelegateTool(id)) > 64:
			return fmt.Errorf("the id %q is too long: the tool %q would have more than the 64 characters that providers take", short(id), short(DelegateTool(id)))
		case names[Sanitize(id)] != "":
			return fmt.Errorf("%q and %q would have the same tool %q", names[Sanitize(id)], id, DelegateTool(id))
		}
		names[Sanitize(id)] = id
	}
	a.Delegates = ids
	return nil
}

// DelegateTool is the name of the tool that delegates to an agent.
func DelegateTool(id string) string { return "agent_" + Sanitize(id) }

func setExtra(a *Agent, n *yaml.Node) error {
	b, err := yaml.Marshal(n)
	if err != nil {
		return fmt.Errorf("it cannot be kept: %w", err)
	}
	a.Extra = strings.TrimSpace(string(b))
	return nil
}
