package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"herald/agents"
	"herald/core/memory"
	"herald/core/people"
	"herald/core/prompt"
	"herald/core/session"
	"herald/core/tool"
	"herald/core/tool/builtin"
	"herald/core/tool/stack"
)

// maxInjected is how many bytes of one file stand in a prompt.
const maxInjected = 64 << 10

// agentSource gives the engine agents as the registry has them, their texts filled in for whoever asks.
type agentSource struct {
	registry *agents.Registry
	// clean takes secrets out of what an author wrote into a prompt.
	clean func(string) string
	// authors gives the index of skills and the ids of authors' tools.
	authors *authors
	// desk has the notes, folder is the working folder of a scope and dir the agents' folder: what inject_memory may name.
	desk   *builtin.Desk
	folder func(context.Context, tool.Call) (string, error)
	dir    string
	// value is what a directive of an agent's text becomes, beside those that the engine fills in; nil for nothing.
	value func(ctx context.Context, of tool.Scope, key string) (string, error)
}

func (s *Service) agentSource() agentSource {
	return agentSource{registry: s.agents, clean: s.opts.Secrets.Clean, authors: s.authors, desk: s.desk(), folder: s.folder, dir: s.cfg.Agents.Dir, value: s.value}
}

// value is what the service fills into an agent's text. USER_PROFILE is what is known of the person who asks, where nobody else reads: so far how
// they are called.
func (s *Service) value(ctx context.Context, of tool.Scope, key string) (string, error) {
	if key != "USER_PROFILE" || !of.Direct || of.Person == "" || len(of.Askers) > 1 {
		return "", nil
	}
	name, err := people.New(s.store).Name(ctx, of.Person)
	if err != nil || name == of.Person {
		return "", err // nothing is known but the id
	}
	return "Name: " + session.Unmarked(strings.Join(strings.Fields(name), " ")), nil
}

// Agent is the agent of a frame as its files stand now.
func (s agentSource) Agent(ctx context.Context, of tool.Scope) (prompt.Agent, error) {
	if err := ctx.Err(); err != nil {
		return prompt.Agent{}, err
	}
	set := s.registry.Now()
	a, err := set.Agent(of.Agent)
	if err != nil {
		return prompt.Agent{}, err
	}
	out := s.describe(set, a)
	blocks, err := s.memory(ctx, of, a.InjectMemory)
	if err != nil {
		return prompt.Agent{}, fmt.Errorf("agent %q: inject_memory: %w", a.ID, err)
	}
	for i, path := range a.InjectMemory {
		if blocks[i] != "" {
			out.Sections = append(out.Sections, prompt.Section{Name: path, Text: s.clean(blocks[i])})
		}
	}
	return out, s.fill(ctx, of, &out)
}

// fill gives the values of the directives in an agent's text.
func (s agentSource) fill(ctx context.Context, of tool.Scope, a *prompt.Agent) error {
	if s.value == nil {
		return nil
	}
	for _, key := range prompt.Keys(a.Text) {
		if key == prompt.AgentsList {
			continue
		}
		v, err := s.value(ctx, of, key)
		if err != nil {
			return fmt.Errorf("agent %q: fill in %s: %w", a.ID, key, err)
		}
		if v = strings.TrimSpace(v); v != "" {
			if a.Values == nil {
				a.Values = make(map[string]string)
			}
			a.Values[key] = s.clean(v)
		}
	}
	return nil
}

// describe is an agent without what inject_memory adds.
func (s agentSource) describe(set *agents.Set, a agents.Agent) prompt.Agent {
	out := prompt.Agent{
		ID: a.ID, Name: a.Name, Description: s.clean(a.Description), Instructions: s.clean(a.Instructions), Type: string(a.Type), Model: a.Model, Strength: a.Strength, Scope: a.Scope,
		Temperature: a.Temperature, Thinking: a.Thinking, MaxRounds: a.MaxSteps, AllTools: a.Tools.All, NoTools: a.NoTools, Delegates: a.Delegates,
		NoCompaction: a.Compaction != nil && !*a.Compaction,
	}
	if a.Tools.Chosen {
		out.Tools = s.authors.names(a.ID, append([]string{}, a.Tools.Names...))
	}
	out.Text = s.clean(a.Prompt)
	if slices.Contains(prompt.Keys(out.Text), prompt.AgentsList) {
		out.Agents = delegates(set, a)
		for i := range out.Agents {
			out.Agents[i].Description = s.clean(out.Agents[i].Description)
		}
	}
	if block := s.authors.index(a); block != "" {
		out.Sections = append(out.Sections, prompt.Section{Name: "skills", Text: s.clean(block)})
	}
	return out
}

// chats are the agents that a person can ask by name.
func (s *Service) chats() []string {
	var ids []string
	for _, a := range s.agents.Now().List() {
		if a.Type == agents.Chat {
			ids = append(ids, a.ID)
		}
	}
	return ids
}

// AgentsList is the agents that a may delegate to where no rule and no depth forbids it, "" when there are none.
func AgentsList(set *agents.Set, a agents.Agent) string {
	if a.NoTools {
		return ""
	}
	var lines []string
	for _, d := range delegates(set, a) {
		lines = append(lines, prompt.AgentLine(d.ID, d.Description))
	}
	return strings.Join(lines, "\n")
}

// delegates are the agents that a may give tasks to by its file, with the tool for it.
func delegates(set *agents.Set, a agents.Agent) []prompt.Delegate {
	var out []prompt.Delegate
	for _, t := range set.List() {
		d := prompt.Delegate{ID: t.ID, Description: t.Description}
		switch {
		case t.Type != agents.Task || t.ID == a.ID || a.Delegates != nil && !slices.Contains(a.Delegates, t.ID):
			continue
		case a.Delegates != nil:
			d.Tool = stack.DelegateName(t.ID)
		}
		out = append(out, d)
	}
	return out
}

// memory is the blocks of the paths of inject_memory, "" for one that is closed to this scope: what a turn may read is what every reader of the
// conversation may see.
func (s agentSource) memory(ctx context.Context, of tool.Scope, paths []string) ([]string, error) {
	out := make([]string, len(paths))
	var refs []memory.Ref
	var at []int
	var room *memory.Room
	for i, path := range paths {
		root, name, ok := memory.Split(path)
		if !ok {
			var err error
			if out[i], err = s.file(ctx, of, path); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			continue
		}
		if room == nil {
			room = &memory.Room{Conversation: of.Conversation, Direct: of.Direct, Person: of.Person, Askers: of.Askers}
			if !of.NoNotes { // else nothing is shown but that there are none
				*room = s.desk.Room(ctx, tool.Call{Scope: of})
			}
		}
		place, err := room.Open(root)
		switch {
		case err != nil: // closed to this scope
		case of.NoNotes:
			out[i] = prompt.MemoryFile(path, "", false)
		default:
			refs, at = append(refs, memory.Ref{Place: place, Name: name}), append(at, i)
		}
	}
	notes, err := s.desk.Notes.ReadAll(ctx, refs...)
	for i, n := range notes {
		out[at[i]] = prompt.MemoryFile(paths[at[i]], cut(n.Text), n.Text != "")
	}
	return out, err
}

// file is the block of a file of the working folder or of the agents' folder.
func (s agentSource) file(ctx context.Context, of tool.Scope, path string) (string, error) {
	dir, name := s.dir, path
	if rest, ok := strings.CutPrefix(path, agents.WorkDir+"/"); ok {
		name = rest
		var err error
		if dir, err = s.folder(ctx, tool.Call{Scope: of}); err != nil {
			if ctx.Err() != nil {
				return "", context.Cause(ctx)
			}
			return prompt.MemoryFile(name, "", false), nil //nolint:nilerr // there is no working folder here
		}
	}
	text, err := readWithin(dir, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return prompt.MemoryFile(name, text, err == nil), nil
}

// readWithin reads an ordinary file below dir, and nothing outside of it.
func readWithin(dir, name string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	info, err := root.Stat(name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("it is no ordinary file")
	}
	f, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxInjected+1))
	return cut(strings.ToValidUTF8(string(b), "\uFFFD")), err
}

// cut shortens a text that is too long for a prompt, and says so.
func cut(s string) string {
	if len(s) <= maxInjected {
		return s
	}
	return strings.ToValidUTF8(s[:maxInjected], "") + "\n[cut: the file is longer]"
}
