package skills

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"herald/skills/internal/look"
)

// Folder is a folder to look into.
type Folder struct {
	Path string
	// Setting is the name of the setting that names it, for messages.
	Setting string
	// MayBeMissing means that nobody asked for it by name: that it does not exist is then no problem.
	MayBeMissing bool
}

// Options say where skills are.
type Options struct {
	// Shared are the folders of shared skills, in order: the first one to have a name wins.
	Shared []Folder
	// Agents is the folder with the agents, each of which may own skills; an empty path for none.
	Agents Folder
	// Clock is the present; required.
	Clock func() time.Time
	// Log gets a line for each problem when it comes and when it is over. Required.
	Log *slog.Logger
}

// Registry is the set of skills as it stands now. It is safe for concurrent use.
type Registry struct {
	opts Options
	now  atomic.Pointer[snapshot]
	// reading holds off a second reader: while one looks at the folders, the others use what stands.
	reading sync.Mutex
	pace    look.Pace
	cache   map[string]cached
}

// cached is what one file came to.
type cached struct {
	at     look.Mark
	parsed parsed
	err    error
}

// snapshot is one complete state. It is never changed.
type snapshot struct {
	byID     map[string]*Skill // shared
	shared   []*Skill          // by id
	owned    map[string][]*Skill
	problems []Problem
	seen     []look.Mark
	// blocks keeps what Index made, by agent and selector: each round of each turn asks for it.
	blocks sync.Map
}

// Open reads the folders. It does not fail: what is wrong stands in Problems.
func Open(o Options) *Registry {
	r := &Registry{opts: o, cache: map[string]cached{}}
	r.now.Store(&snapshot{})
	r.reading.Lock()
	defer r.reading.Unlock()
	r.read()
	return r
}

// refresh returns the state, read anew when a folder looks different from the last time.
func (r *Registry) refresh() *snapshot {
	if !r.reading.TryLock() {
		return r.now.Load()
	}
	defer r.reading.Unlock()
	if r.pace.Changed(r.now.Load().seen, r.opts.Clock) {
		r.read()
	}
	return r.now.Load()
}

// read makes a new state. The caller holds r.reading.
func (r *Registry) read() {
	old := r.now.Load()
	var s search
	for _, f := range r.opts.Shared {
		s.shared(f)
	}
	if r.opts.Agents.Path != "" {
		s.agents(r.opts.Agents)
	}
	b := builder{old: old, cache: r.cache, next: &snapshot{byID: map[string]*Skill{}, owned: map[string][]*Skill{}, seen: s.seen, problems: s.problems}, keep: map[string]cached{}}
	for _, f := range s.files {
		b.add(f)
	}
	b.keepLost(s.lost)
	b.finish(r.opts.Shared)
	r.cache = b.keep
	r.now.Store(b.next)
	r.tell(old, b.next)
}

// builder makes a snapshot out of what was found.
type builder struct {
	old   *snapshot
	cache map[string]cached
	keep  map[string]cached
	next  *snapshot
	count int
	bytes int
}

func (b *builder) problem(level Level, f file, line int, kept bool, format string, args ...any) {
	b.next.problems = append(b.next.problems, Problem{
		Level: level, Owner: f.owner, Name: f.name, Path: f.path, Line: line, Text: fmt.Sprintf(format, args...), Kept: kept,
	})
}

// add takes one file in.
func (b *builder) add(f file) {
	c := b.parse(f)
	name, ok := b.nameOf(f, c.parsed.name)
	if !ok {
		return
	}
	k := c.parsed.skill
	if c.err != nil {
		prev := b.before(f.path)
		k = Skill{broken: true}
		if prev != nil {
			k = *prev
		}
		line := 0
		if flt, ok := errors.AsType[fault](c.err); ok {
			line = flt.line
		}
		b.problem(Lost, f, line, prev != nil, "%s", c.err)
	}
	k.ID, k.Owner, k.Short, k.Source, k.place, k.row = name, f.owner, name, f.path, f.place, ""
	if f.owner != "" {
		if k.ID = OwnedID(f.owner, name); f.whole {
			k.ID, k.Short = Sanitize(f.owner), f.owner
		}
	}
	if c.err == nil {
		for _, o := range c.parsed.odd {
			b.problem(Odd, f, o.line, false, "%s", o.text)
		}
		if k.Hidden {
			b.problem(Odd, f, 0, false, "its settings hide it from models (disable-model-invocation), so that no agent can use it")
		}
	}
	if b.count++; b.count > maxSkills {
		if b.count == maxSkills+1 {
			b.problem(Lost, f, 0, false, "there are more than %d skills; this one and those behind it are not read", maxSkills)
		}
		return
	}
	if b.bytes += len(k.Text); b.bytes > maxText {
		b.problem(Lost, f, 0, false, "all skills together have more than %d MiB of text; this one is not read", maxText>>20)
		k.broken, k.Text = true, ""
		b.bytes -= len(c.parsed.skill.Text)
	}
	b.put(f, &k)
}

// parse reads a file, or remembers what it came to.
func (b *builder) parse(f file) cached {
	at := look.Of(f.path)
	c, ok := b.cache[f.path]
	if !ok || !c.at.Equal(at) {
		c = cached{at: at}
		src, err := f.read()
		if err == nil {
			c.parsed, err = parse(src)
		}
		c.err = err
	}
	b.keep[f.path] = c
	return c
}

// nameOf is the name that a skill is registered under: its folder's, or, when that is none, what the file says.
func (b *builder) nameOf(f file, written string) (string, bool) {
	if f.whole {
		return f.name, true
	}
	if ValidName(f.name) {
		if written != "" && written != f.name {
			b.problem(Odd, f, 0, false, "it calls itself %q and its folder %q, which is its name; make both the same", short(written), f.name)
		}
		return f.name, true
	}
	if ValidName(written) {
		b.problem(Odd, f, 0, false, "the folder's name %q is no name of a skill, so that it is called %q as the file says; rename the folder", short(f.name), written)
		return written, true
	}
	b.problem(Lost, f, 0, false, "%q is no name of a skill: use small letters, digits and single '-', at most 64, and name the folder so", short(f.name))
	return "", false
}

// before is the usable version that the file had.
func (b *builder) before(path string) *Skill {
	for _, list := range b.old.owned {
		for _, k := range list {
			if k.Source == path && !k.broken {
				return k
			}
		}
	}
	for _, k := range b.old.shared {
		if k.Source == path && !k.broken {
			return k
		}
	}
	return nil
}

// put registers a skill, unless its name is taken.
func (b *builder) put(f file, k *Skill) {
	if k.Owner != "" {
		for _, o := range b.next.owned[k.Owner] {
			if o.ID == k.ID || o.Short == k.Short {
				b.problem(Lost, f, 0, false, "the agent %q has this skill already, from %s; rename one of both", k.Owner, o.Source)
				return
			}
		}
		b.next.owned[k.Owner] = append(b.next.owned[k.Owner], k)
		return
	}
	if o, ok := b.next.byID[k.ID]; ok {
		b.problem(Lost, f, 0, false, "the skill %q stands in %s already, which is the first of both; rename one of them", k.ID, o.Source)
		return
	}
	b.next.byID[k.ID] = k
	b.next.shared = append(b.next.shared, k)
}

// keepLost keeps what stood below folders that cannot be read.
func (b *builder) keepLost(roots []string) {
	stays := func(k *Skill) bool { return slices.Contains(roots, k.place.root) }
	for _, k := range b.old.shared {
		if _, taken := b.next.byID[k.ID]; stays(k) && !taken {
			b.next.byID[k.ID] = k
			b.next.shared = append(b.next.shared, k)
		}
	}
	for owner, list := range b.old.owned {
		for _, k := range list {
			if stays(k) {
				b.next.owned[owner] = append(b.next.owned[owner], k)
			}
		}
	}
}

// finish sorts, takes the index in and names what shadows what.
func (b *builder) finish(shared []Folder) {
	byID := func(a, c *Skill) int { return strings.Compare(a.ID, c.ID) }
	slices.SortFunc(b.next.shared, byID)
	for owner, list := range b.next.owned {
		slices.SortFunc(list, byID)
		for _, k := range list {
			if o, ok := b.next.byID[k.Short]; ok {
				b.next.problems = append(b.next.problems, Problem{
					Level: Odd, Owner: owner, Name: k.Short, Path: k.Source,
					Text: fmt.Sprintf("for the agent %q it stands before the shared skill %s; rename one of both if that is not meant", owner, o.Source),
				})
			}
		}
	}
	for _, f := range shared {
		b.index(f)
	}
	slices.SortStableFunc(b.next.problems, func(a, c Problem) int { return strings.Compare(a.Path, c.Path) })
}

// index takes over the rows of a folder's index.md and names where it differs from what is there.
func (b *builder) index(f Folder) {
	ix, ok, err := readIndex(f.Path)
	at := filepath.Join(f.Path, indexName)
	if err != nil {
		b.next.problems = append(b.next.problems, Problem{Level: Odd, Path: at, Text: err.Error()})
		return
	}
	if !ok {
		return
	}
	here := map[string]bool{}
	for _, k := range b.next.shared {
		if k.place.root != f.Path {
			continue
		}
		here[k.ID] = true
		row, ok := ix.row(k.ID)
		if k.row = row; !ok && !k.broken && !k.Hidden {
			b.next.problems = append(b.next.problems, Problem{
				Level: Odd, Name: k.ID, Path: at, Text: fmt.Sprintf("it has no row for the skill %q; run herald skills index, or add one", k.ID),
			})
		}
	}
	for _, r := range ix.rows {
		if !here[r.name] {
			b.next.problems = append(b.next.problems, Problem{
				Level: Odd, Name: r.name, Path: at, Line: r.line, Text: fmt.Sprintf("it has a row for the skill %q, which is not in this folder; run herald skills index, or remove it", r.name),
			})
		}
	}
}

// tell logs what the new state changes.
func (r *Registry) tell(old, next *snapshot) {
	for _, p := range next.problems {
		if !slices.Contains(old.problems, p) {
			r.opts.Log.Warn("skills: "+p.Text, "severity", string(p.Level), "skill", p.Name, "owner", p.Owner, "path", p.Path, "line", p.Line, "kept", p.Kept)
		}
	}
	for _, p := range old.problems {
		if !slices.Contains(next.problems, p) && !slices.ContainsFunc(next.problems, func(q Problem) bool { return q.Path == p.Path }) {
			r.opts.Log.Info("skills: the problem is over", "skill", p.Name, "owner", p.Owner, "path", p.Path)
		}
	}
	if a, b := old.count(), next.count(); a != b {
		r.opts.Log.Info("skills: read", "skills", b, "before", a)
	}
}

func (s *snapshot) count() int {
	n := len(s.shared)
	for _, l := range s.owned {
		n += len(l)
	}
	return n
}

// List is what an agent may use now, its own first; "" asks for nobody and gets the shared ones.
func (r *Registry) List(agent string, sel Selector) []Skill {
	return values(r.refresh().chosen(agent, sel))
}

// All is every skill with its owner, for the operator: shared ones first.
func (r *Registry) All() []Skill {
	s := r.refresh()
	out := values(s.shared)
	owners := make([]string, 0, len(s.owned))
	for o := range s.owned {
		owners = append(owners, o)
	}
	slices.Sort(owners)
	for _, o := range owners {
		out = append(out, values(s.owned[o])...)
	}
	return out
}

func values(list []*Skill) []Skill {
	out := make([]Skill, 0, len(list))
	for _, k := range list {
		if !k.broken {
			out = append(out, *k)
		}
	}
	return out
}

// Get is the skill of this name for an agent. Error: [ErrNotFound].
func (r *Registry) Get(agent string, sel Selector, name string) (Skill, error) {
	if k, ok := r.refresh().use(agent, sel, name); ok {
		return *k, nil
	}
	return Skill{}, fmt.Errorf("%q: %w", short(name), ErrNotFound)
}

// Problems is what is wrong with the folders now, by path.
func (r *Registry) Problems() []Problem { return slices.Clone(r.refresh().problems) }

// Unknown are the names of a selector that name nothing for the agent.
func (r *Registry) Unknown(agent string, sel Selector) []string {
	s := r.refresh()
	var out []string
	for _, n := range sel.Names {
		if _, ok := s.find(agent, n); !ok {
			out = append(out, n)
		}
	}
	return out
}
