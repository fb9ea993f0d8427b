package agents

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

//go:embed all:main
var embedded embed.FS

// BuiltIn is what [Agent.Source] says of an agent that is part of the program.
const BuiltIn = "built-in"

// Options say where the operator's agents are.
type Options struct {
	// Dir is the operator's folder; "" for the built-in agents alone.
	Dir string
	// MayBeMissing means that nobody asked for Dir by name: that it does not exist is then no problem.
	MayBeMissing bool
	// Log gets a line for each problem when it comes and when it is over. Required.
	Log *slog.Logger
}

// Registry is the set of agents as it stands now. It is safe for concurrent use.
type Registry struct {
	opts    Options
	builtIn map[string]Agent
	now     atomic.Pointer[snapshot]
	// reading holds off a second reader: while one reads the folder, the others use what stands.
	reading sync.Mutex
}

// snapshot is one complete state. It is never changed.
type snapshot struct {
	agents   map[string]Agent
	problems []Problem
	seen     signature
}

// Open reads the folder. It does not fail: what is wrong with the folder stands in Problems, and the built-in agents are
// there in any case.
func Open(opts Options) *Registry {
	r := &Registry{opts: opts, builtIn: builtIn()}
	r.now.Store(&snapshot{agents: r.builtIn})
	if opts.Dir != "" {
		r.reading.Lock()
		defer r.reading.Unlock()
		r.read(look(opts.Dir))
	}
	return r
}

// Agent returns the agent id as its file stands now. Errors: [ErrNotFound], and that of ctx. A folder that cannot be read is
// no error while an earlier version or a built-in agent of this id exists.
func (r *Registry) Agent(ctx context.Context, id string) (Agent, error) {
	if err := ctx.Err(); err != nil {
		return Agent{}, err
	}
	s := r.refresh()
	a, ok := s.agents[id]
	if !ok {
		for _, p := range s.problems {
			if p.Agent == id {
				return Agent{}, fmt.Errorf("agent %q: %s: %w", short(id), p, ErrNotFound)
			}
		}
		return Agent{}, fmt.Errorf("agent %q: %w", short(id), ErrNotFound)
	}
	return a, nil
}

// List returns all agents, sorted by id.
func (r *Registry) List() []Agent {
	s := r.refresh()
	out := make([]Agent, 0, len(s.agents))
	for _, id := range slices.Sorted(maps.Keys(s.agents)) {
		out = append(out, s.agents[id])
	}
	return out
}

// Problems returns what is wrong with the folder now, sorted by path.
func (r *Registry) Problems() []Problem { return slices.Clone(r.refresh().problems) }

// refresh returns the state, read anew when the folder looks different from the last time.
func (r *Registry) refresh() *snapshot {
	if r.opts.Dir == "" || !r.reading.TryLock() {
		return r.now.Load()
	}
	defer r.reading.Unlock()
	if seen := look(r.opts.Dir); !seen.same(r.now.Load().seen) {
		r.read(seen)
	}
	return r.now.Load()
}

// read makes a new state. seen was taken before, so that a change during the reading is seen by the next look. The caller
// holds r.reading.
func (r *Registry) read(seen signature) {
	old := r.now.Load()
	found, problems := readFolder(r.opts, old.agents)
	next := &snapshot{agents: maps.Clone(r.builtIn), problems: problems, seen: seen}
	maps.Copy(next.agents, found)
	for i, p := range next.problems {
		_, next.problems[i].Kept = next.agents[p.Agent]
	}
	r.now.Store(next)
	r.tell(old, next)
}

// tell logs what the new state changes.
func (r *Registry) tell(old, next *snapshot) {
	for _, p := range next.problems {
		if !slices.Contains(old.problems, p) {
			r.opts.Log.Warn("agents: "+p.Text, "agent", p.Agent, "path", p.Path, "line", p.Line, "kept", p.Kept)
		}
	}
	for _, p := range old.problems {
		still := func(q Problem) bool { return q.Agent == p.Agent && q.Path == p.Path }
		if !slices.ContainsFunc(next.problems, still) {
			r.opts.Log.Info("agents: the problem is over", "agent", p.Agent, "path", p.Path)
		}
	}
	for id, a := range next.agents {
		if was, ok := old.agents[id]; !ok || was.Hash != a.Hash || was.Source != a.Source {
			r.opts.Log.Info("agents: read", "agent", id, "source", a.Source, "replaces_built_in", a.Source != BuiltIn && r.has(id))
		}
	}
	for id := range old.agents {
		if _, ok := next.agents[id]; !ok {
			r.opts.Log.Info("agents: removed", "agent", id)
		}
	}
}

func (r *Registry) has(id string) bool { _, ok := r.builtIn[id]; return ok }

// builtIn parses the embedded agents. They are part of the program: a test parses each of them, so an error is a defect.
func builtIn() map[string]Agent {
	out := map[string]Agent{}
	files, err := fs.Glob(embedded, "*/"+fileName)
	if err != nil {
		panic(err)
	}
	for _, f := range files {
		src, err := embedded.ReadFile(f)
		if err != nil {
			panic(err)
		}
		id := f[:len(f)-len("/"+fileName)]
		a, err := parse(id, src)
		if err != nil {
			panic(fmt.Sprintf("built-in agent %s: %v", id, err))
		}
		a.Source = BuiltIn
		out[id] = a
	}
	return out
}
