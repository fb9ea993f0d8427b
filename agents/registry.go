package agents

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

//go:embed */AGENT.md */eval/*.yaml common/*.md
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

// A folder with more than large files to look at, which takes a millisecond and more, is looked at once in rest: a turn asks several times, and
// nobody writes a message sooner after saving a file.
const (
	large = 256
	rest  = 50 * time.Millisecond
)

// WorkDir stands in a path of inject_memory for the session's working folder.
const WorkDir = "$WD"

// Registry is the set of agents as it stands now. It is safe for concurrent use.
type Registry struct {
	opts    Options
	builtIn map[string]Agent
	now     atomic.Pointer[Set]
	// reading holds off a second reader: while one reads the folder, the others use what stands.
	reading sync.Mutex
	// looked is when the folder was last looked at; under reading.
	looked time.Time
}

// Set is one complete state of the agents. It never changes.
type Set struct {
	agents          map[string]Agent
	sorted          []Agent
	problems, notes []Problem
	// seen is how the folder looked before it was read, included how the files that prompts include did.
	seen, included signature
}

// Open reads the folder. It does not fail: what is wrong with the folder stands in Problems, and the built-in agents are
// there in any case.
func Open(opts Options) *Registry {
	r := &Registry{opts: opts, builtIn: builtIn()}
	first := &Set{agents: r.builtIn}
	first.finish()
	r.now.Store(first)
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
	return r.Now().Agent(id)
}

// List returns all agents, sorted by id.
func (r *Registry) List() []Agent { return slices.Clone(r.Now().sorted) }

// Problems returns what is wrong with the folder now, sorted by path.
func (r *Registry) Problems() []Problem { return slices.Clone(r.Now().problems) }

// Notes returns what a person should know of agents that are good: what was taken where a file says nothing, and what changes nothing.
func (r *Registry) Notes() []Problem { return slices.Clone(r.Now().notes) }

// Agent returns the agent id. Error: [ErrNotFound], with the reason where there is one.
func (s *Set) Agent(id string) (Agent, error) {
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

// List returns all agents, sorted by id. The caller must not change it.
func (s *Set) List() []Agent { return s.sorted }

// Now returns the state, read anew when the folder looks different from the last time.
func (r *Registry) Now() *Set {
	if r.opts.Dir == "" || !r.reading.TryLock() {
		return r.now.Load()
	}
	defer r.reading.Unlock()
	was := r.now.Load()
	if len(was.seen) > large && time.Since(r.looked) < rest {
		return was
	}
	if seen := look(r.opts.Dir); !seen.same(was.seen) || !was.included.stands() {
		r.read(seen)
	}
	r.looked = time.Now()
	return r.now.Load()
}

// read makes a new state. seen was taken before, so that a change during the reading is seen by the next look. The caller
// holds r.reading.
func (r *Registry) read(seen signature) {
	old := r.now.Load()
	found := readFolder(r.opts, old.agents)
	next := &Set{agents: maps.Clone(r.builtIn), problems: found.problems, notes: found.notes, included: found.included, seen: seen}
	maps.Copy(next.agents, found.agents)
	for i, p := range next.problems {
		if _, there := found.agents[p.Agent]; !there && r.has(p.Agent) {
			next.problems[i].Bare = true
			next.agents[p.Agent] = bare(r.builtIn[p.Agent])
		}
	}
	for id, a := range found.agents {
		if r.has(id) {
			next.notes = append(next.notes, Problem{Agent: id, Path: a.Source, Text: "it replaces the built-in agent of this id as a whole"})
		}
	}
	next.finish()
	r.now.Store(next)
	r.tell(old, next)
}

// bare is a built-in agent without what a file that cannot be read may have taken from it.
func bare(a Agent) Agent {
	a.NoTools, a.InjectSkills, a.Skills, a.Delegates = true, false, Selector{Chosen: true}, []string{}
	return a
}

// finish makes what follows from the agents.
func (s *Set) finish() {
	s.sorted = make([]Agent, 0, len(s.agents))
	for _, id := range slices.Sorted(maps.Keys(s.agents)) {
		a := s.agents[id]
		s.sorted = append(s.sorted, a)
		for _, d := range a.Delegates {
			if t, ok := s.agents[d]; !ok || t.Type != Task {
				text := fmt.Sprintf("it delegates to %q, which is no agent; write it, or take it out of delegates", d)
				if ok {
					text = fmt.Sprintf("it delegates to %q, which is a %s agent; only task agents can be delegated to", d, t.Type)
				}
				s.notes = append(s.notes, Problem{Agent: id, Path: a.Source, Text: text})
			}
		}
	}
	slices.SortStableFunc(s.notes, func(a, b Problem) int { return cmp.Or(cmp.Compare(a.Path, b.Path), a.Line-b.Line) })
}

// tell logs what the new state changes.
func (r *Registry) tell(old, next *Set) {
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
	for _, p := range next.notes {
		if !slices.Contains(old.notes, p) {
			r.opts.Log.Info("agents: "+p.Text, "agent", p.Agent, "path", p.Path, "line", p.Line)
		}
	}
	for id, a := range next.agents {
		if was, ok := old.agents[id]; !ok || was.Hash != a.Hash || was.Source != a.Source {
			r.opts.Log.Info("agents: read", "agent", id, "source", a.Source)
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
	list, err := fs.ReadDir(embedded, ".")
	if err != nil {
		panic(err)
	}
	s := source{fsys: embedded, shown: func(path string) string { return BuiltIn + " " + path }}
	r := s.read(list, func(string) (Agent, bool) { return Agent{}, false })
	for _, p := range append(r.problems, r.notes...) {
		panic(p.String())
	}
	for id, a := range r.agents {
		a.Source = BuiltIn
		r.agents[id] = a
	}
	return r.agents
}

// BuiltInFile is the file of a built-in agent as it is written.
func BuiltInFile(id string) ([]byte, error) { return embedded.ReadFile(id + "/" + fileName) }
