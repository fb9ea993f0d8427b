package authored

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"herald/core/model"
	"herald/core/session"
	"herald/core/tool"
	"herald/core/tool/sandbox"
	"herald/skills"
	"herald/skills/internal/look"
)

// maxTools bounds what is kept.
const maxTools = 5000

// toolsDir is the folder of tools in an agent's folder, extension the end of a tool's file.
const (
	toolsDir  = "tools"
	extension = ".toml"
)

// Runner runs commands. [sandbox.Runner] is one.
type Runner interface {
	Run(ctx context.Context, c sandbox.Command) (sandbox.Result, error)
}

// Options say where the tools are and what they work with. All but Reserved are required.
type Options struct {
	// Shared is the operator's folder of tools, Agents the folder with the agents.
	Shared, Agents skills.Folder
	// Reserved reports whether a name belongs to a tool of Herald's own.
	Reserved func(name string) bool
	Runner   Runner
	// Transport sends requests.
	Transport http.RoundTripper
	// Secret is the value of an environment variable that a file names; its error, without the value, is shown to models.
	Secret func(variable string) (string, error)
	Clock  func() time.Time
	Log    *slog.Logger
}

// Info is one tool as its file describes it.
type Info struct {
	// ID is its name for models. Owner is the agent that alone has it, "" for a shared one; Short its name for that agent.
	ID, Owner, Short string
	Description      string
	// Source is the path of the file.
	Source string
}

// entry is a tool in force, or, without a spec, a name that a broken file holds.
type entry struct {
	Info
	spec *spec
	root string // its folder on this machine
	rel  string // of the folder below root
}

// Registry is the authors' tools as they stand now. It is a [tool.Source], safe for concurrent use.
type Registry struct {
	opts    Options
	client  *http.Client
	now     atomic.Pointer[snapshot]
	reading sync.Mutex
	pace    look.Pace
	cache   map[string]cached
}

type cached struct {
	at   look.Mark
	spec *spec
	err  error
}

// snapshot is one complete state. It is never changed.
type snapshot struct {
	shared   map[string]*entry            // by id
	owned    map[string]map[string]*entry // by owner and short name
	problems []skills.Problem
	seen     []look.Mark
}

// Open reads the folders. It does not fail: what is wrong stands in Problems.
func Open(o Options) *Registry {
	r := &Registry{opts: o, cache: map[string]cached{}}
	r.client = &http.Client{
		Transport:     o.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	r.now.Store(&snapshot{})
	r.reading.Lock()
	defer r.reading.Unlock()
	r.read()
	return r
}

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

// builder makes a snapshot.
type builder struct {
	*snapshot
	opts  *Options
	old   *snapshot
	cache map[string]cached
	keep  map[string]cached
	count int
}

// read makes a new state. The caller holds r.reading.
func (r *Registry) read() {
	old := r.now.Load()
	b := builder{
		snapshot: &snapshot{shared: map[string]*entry{}, owned: map[string]map[string]*entry{}},
		opts:     &r.opts, old: old, cache: r.cache, keep: map[string]cached{},
	}
	b.folder(r.opts.Shared, func(root *os.Root) {
		b.files(root, r.opts.Shared.Path, ".", "")
	}, func(e *entry) bool { return e.Owner == "" })
	b.folder(r.opts.Agents, func(root *os.Root) {
		entries, err := fs.ReadDir(root.FS(), ".")
		if err != nil {
			b.problem(skills.Lost, "", "", r.opts.Agents.Path, "the folder cannot be read: %s; mend it, or correct %s", look.Cause(err), r.opts.Agents.Setting)
			return
		}
		for _, e := range entries {
			if owner := e.Name(); e.IsDir() && !strings.HasPrefix(owner, ".") && !strings.EqualFold(owner, "common") {
				b.seen = append(b.seen, look.Of(filepath.Join(r.opts.Agents.Path, owner, toolsDir)))
				b.files(root, r.opts.Agents.Path, path.Join(owner, toolsDir), owner)
			}
		}
	}, func(e *entry) bool { return e.Owner != "" })
	slices.SortStableFunc(b.problems, func(x, y skills.Problem) int { return strings.Compare(x.Path, y.Path) })
	r.cache = b.keep
	r.now.Store(b.snapshot)
	r.tell(old, b.snapshot)
}

func (b *builder) problem(level skills.Level, owner, name, path, format string, args ...any) {
	b.problems = append(b.problems, skills.Problem{Level: level, Owner: owner, Name: name, Path: path, Text: fmt.Sprintf(format, args...)})
}

// folder opens a folder for read. When it cannot be read, what came from it stays.
func (b *builder) folder(f skills.Folder, read func(*os.Root), stays func(*entry) bool) {
	if f.Path == "" {
		return
	}
	b.seen = append(b.seen, look.Of(f.Path))
	root, err := os.OpenRoot(f.Path)
	if err == nil {
		defer root.Close()
		read(root)
		return
	}
	if errors.Is(err, fs.ErrNotExist) && f.MayBeMissing {
		return
	}
	b.problem(skills.Lost, "", "", f.Path, "the folder cannot be read: %s; mend it, or correct %s", look.Cause(err), f.Setting)
	for _, e := range b.old.all() {
		if stays(e) {
			b.put(e)
		}
	}
}

func (s *snapshot) all() []*entry {
	var out []*entry
	for _, id := range slices.Sorted(maps.Keys(s.shared)) {
		out = append(out, s.shared[id])
	}
	for _, owner := range slices.Sorted(maps.Keys(s.owned)) {
		for _, n := range slices.Sorted(maps.Keys(s.owned[owner])) {
			out = append(out, s.owned[owner][n])
		}
	}
	return out
}

func (b *builder) put(e *entry) {
	if e.Owner == "" {
		b.shared[e.ID] = e
		return
	}
	if b.owned[e.Owner] == nil {
		b.owned[e.Owner] = map[string]*entry{}
	}
	b.owned[e.Owner][e.Short] = e
}

// nameForm is what the short name of a tool looks like.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9]+([_-][A-Za-z0-9]+)*$`)

// files reads the tools of one folder below root.
func (b *builder) files(root *os.Root, base, rel, owner string) {
	entries, err := fs.ReadDir(root.FS(), rel)
	at := filepath.Join(base, filepath.FromSlash(rel))
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			b.problem(skills.Lost, owner, "", at, "the folder cannot be read: %s; mend it", look.Cause(err))
		}
		return
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), extension)
		if !ok || strings.HasPrefix(e.Name(), ".") {
			if strings.EqualFold(path.Ext(e.Name()), extension) {
				b.problem(skills.Lost, owner, "", filepath.Join(at, e.Name()), "the end of the file's name must be %s, spelled like this; rename it", extension)
			}
			continue // scripts and the like
		}
		b.file(root, &entry{Info: Info{Owner: owner, Short: name, Source: filepath.Join(at, e.Name())}, root: base, rel: rel}, path.Join(rel, e.Name()))
	}
}

// file takes one file in.
func (b *builder) file(root *os.Root, e *entry, rel string) {
	mark := look.Of(e.Source)
	b.seen = append(b.seen, mark)
	if e.ID = e.Short; e.Owner != "" {
		e.ID = skills.OwnedID(e.Owner, e.Short)
	}
	switch {
	case !nameForm.MatchString(e.Short) || !tool.ValidName(e.ID):
		b.problem(skills.Lost, e.Owner, e.Short, e.Source, "%q is no name of a tool: use letters, digits, single '-' and '_'; with its owner in front at most 64", short(e.Short))
		return
	case strings.HasPrefix(e.Short, "agent_") || b.opts.Reserved != nil && b.opts.Reserved(e.Short):
		b.problem(skills.Lost, e.Owner, e.Short, e.Source, "the name %q belongs to a tool of Herald's own; rename the file", e.Short)
		return
	}
	if b.count++; b.count > maxTools {
		b.problem(skills.Lost, e.Owner, e.Short, e.Source, "there are more than %d tools; this one is not read", maxTools)
		return
	}
	c, ok := b.cache[e.Source]
	if !ok || !c.at.Equal(mark) {
		c = cached{at: mark}
		src, err := look.Text(root, rel, maxFile)
		if err == nil {
			c.spec, err = parse(e.Short, src)
		}
		c.err = err
	}
	b.keep[e.Source] = c
	e.spec = c.spec
	if c.err != nil {
		e.spec = nil
		for _, o := range b.old.all() {
			if o.Source == e.Source {
				e.spec = o.spec
			}
		}
		p := skills.Problem{Level: skills.Lost, Owner: e.Owner, Name: e.Short, Path: e.Source, Text: c.err.Error(), Kept: e.spec != nil}
		if f, ok := errors.AsType[fault](c.err); ok {
			p.Line = f.line
		}
		b.problems = append(b.problems, p)
	}
	if e.spec != nil {
		e.Description = e.spec.description
	}
	if _, shared := b.shared[e.Short]; shared && e.Owner != "" {
		b.problem(skills.Odd, e.Owner, e.Short, e.Source, "for the agent %q the name %q means this tool and not the shared one; rename one of both if that is not meant", e.Owner, e.Short)
	}
	b.put(e)
}

// tell logs what the new state changes.
func (r *Registry) tell(old, next *snapshot) {
	for _, p := range next.problems {
		if !slices.Contains(old.problems, p) {
			r.opts.Log.Warn("tools: "+p.Text, "severity", string(p.Level), "tool", p.Name, "owner", p.Owner, "path", p.Path, "line", p.Line, "kept", p.Kept)
		}
	}
	for _, p := range old.problems {
		if !slices.ContainsFunc(next.problems, func(q skills.Problem) bool { return q.Path == p.Path }) {
			r.opts.Log.Info("tools: the problem is over", "tool", p.Name, "owner", p.Owner, "path", p.Path)
		}
	}
}

// Problems is what is wrong with the folders now, by path.
func (r *Registry) Problems() []skills.Problem { return slices.Clone(r.refresh().problems) }

// All is every tool with its owner, for the operator.
func (r *Registry) All() []Info {
	var out []Info
	for _, e := range r.refresh().all() {
		if e.spec != nil {
			out = append(out, e.Info)
		}
	}
	return out
}

// Resolve makes ids of the names by which an agent lists its tools: its own go first by their short names, also one whose file is broken,
// so that no other tool takes its place. A name that is none of an author's tools stays.
func (r *Registry) Resolve(agent string, names []string) []string {
	s := r.refresh()
	out := make([]string, 0, len(names))
	for _, n := range names {
		if e, ok := s.owned[agent][n]; ok && agent != "" {
			n = e.ID
		}
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// Unknown are the names by which an agent lists tools that name neither one of its own, a shared one, nor one of Herald's.
func (r *Registry) Unknown(agent string, names []string) []string {
	s := r.refresh()
	var out []string
	for _, n := range names {
		own, mine := s.owned[agent][n]
		if !mine {
			for _, e := range s.owned[agent] {
				if e.ID == n {
					own, mine = e, true
				}
			}
		}
		shared := s.shared[n]
		if mine && own.spec != nil || !mine && shared != nil && shared.spec != nil || r.opts.Reserved != nil && r.opts.Reserved(n) {
			continue
		}
		out = append(out, n)
	}
	return out
}

// Missing are the programs that commands begin with and that find does not find, each with the tools that need it.
func (r *Registry) Missing(find func(program string) (string, error)) map[string][]string {
	out := map[string][]string{}
	for _, e := range r.refresh().all() {
		if e.spec == nil || len(e.spec.command) == 0 || strings.HasPrefix(e.spec.command[0], "./") {
			continue
		}
		if p := e.spec.command[0]; func() bool { _, err := find(p); return err != nil }() {
			out[p] = append(out[p], e.ID)
		}
	}
	return out
}

// Tools implements [tool.Source]: the agent's own tools and the shared ones.
func (r *Registry) Tools(_ context.Context, of tool.Scope) ([]tool.Tool, error) {
	s := r.refresh()
	var out []tool.Tool
	if of.Agent != "" {
		own := s.owned[of.Agent]
		for _, n := range slices.Sorted(maps.Keys(own)) {
			if e := own[n]; e.spec != nil {
				out = append(out, r.tool(e))
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.shared)) {
		if e := s.shared[id]; e.spec != nil {
			out = append(out, r.tool(e))
		}
	}
	return out, nil
}

func (r *Registry) tool(e *entry) tool.Tool {
	return tool.Tool{
		Spec:   model.ToolSpec{Name: e.ID, Description: e.spec.description, Parameters: e.spec.parameters},
		Owned:  e.Owner != "",
		Traits: session.Traits{Repeatable: e.spec.repeatable},
		Run: func(ctx context.Context, c tool.Call) (tool.Result, error) {
			if e.Owner != "" && c.Agent != e.Owner {
				return tool.Result{}, tool.ErrUnknown
			}
			return r.run(ctx, e, c)
		},
	}
}
