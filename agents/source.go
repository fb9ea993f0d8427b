package agents

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// The names that a folder of agents knows.
const (
	fileName = "AGENT.md"
	metaName = "meta.json"
	common   = "common"
)

// source is one place where agents come from. All layouts and all sources are read by the same code.
type source struct {
	fsys fs.FS
	// shown is how a path of fsys is shown to people.
	shown func(path string) string
	// mark is how a file looks, nil where files never change.
	mark func(path string) mark
	// behind holds what includes find that fsys does not have; nil for nothing.
	behind fs.FS
}

// reading is what a source had.
type reading struct {
	agents map[string]Agent
	// problems are agents that could not be taken as they are; notes are what to know beside.
	problems, notes []Problem
	// included is how the files that prompts include looked before they were read.
	included signature
}

// ignored reports whether an entry of the folder is no agent: hidden ones (version control, the temporary files of editors)
// and what agents include.
func ignored(name string) bool { return strings.HasPrefix(name, ".") || name == common }

// texts are the files that people put beside agents.
var texts = []string{"README", "LICENSE", "LICENCE", "CHANGELOG", "CONTRIBUTING", "NOTICE"}

// entry is one agent as the listing of the folder shows it.
type entry struct {
	name, id string
	flat     bool
}

// path is the file with the prompt.
func (e entry) path() string {
	if e.flat {
		return e.name
	}
	return e.name + "/" + fileName
}

// entryOf tells what an entry of the folder is by its name alone; ok is false for what is no agent.
func entryOf(name string, dir bool) (e entry, ok bool) {
	if ignored(name) {
		return entry{}, false
	}
	if dir {
		return entry{name: name, id: name}, true
	}
	id, ok := strings.CutSuffix(name, ".md")
	if !ok || slices.Contains(texts, strings.ToUpper(id)) {
		return entry{}, false
	}
	return entry{name: name, id: id, flat: true}, true
}

// read reads every agent of the source. What cannot be read keeps the version that kept knows.
func (s source) read(list []fs.DirEntry, kept func(id string) (Agent, bool)) reading {
	r := reading{agents: map[string]Agent{}}
	claimed := map[string]string{} // sanitised id → path of the first that has it
	for _, d := range list {
		if ignored(d.Name()) {
			continue
		}
		info, err := fs.Stat(s.fsys, d.Name())
		e, ok := entryOf(d.Name(), err == nil && info.IsDir())
		if !ok {
			continue
		}
		fail := func(err error) {
			f := fault{text: err.Error()}
			if got, ok := errors.AsType[fault](err); ok {
				f = got
			}
			_, old := kept(e.id)
			r.problems = append(r.problems, Problem{Agent: e.id, Path: s.shown(cmp.Or(f.path, e.path())), Line: f.line, Text: f.text, Kept: old})
			if a, ok := kept(e.id); ok {
				r.agents[e.id] = a
			}
		}
		if err == nil {
			err = CheckID(e.id)
		} else {
			err = fmt.Errorf("it cannot be read: %s", cause(err))
		}
		if e.flat && (e.id == "AGENT" || e.id == "SKILL") {
			err = fmt.Errorf("a file %s belongs into a folder with the agent's id, or is called as the agent: researcher.md", e.name)
		}
		if err != nil {
			fail(err)
			continue
		}
		// Which of two is meant cannot be known: the first stays, as the folder lists them.
		if first, twice := claimed[Sanitize(e.id)]; twice {
			text := fmt.Sprintf("the agent %q stands in %s already, which stays; rename or remove one of both", e.id, first)
			if _, same := r.agents[e.id]; !same {
				text = fmt.Sprintf("the id %q and that of %s, which stays, are the same in names of tools (%s); rename one of both", e.id, first, Sanitize(e.id))
			}
			r.problems = append(r.problems, Problem{Agent: e.id, Path: s.shown(e.path()), Text: text})
			continue
		}
		claimed[Sanitize(e.id)] = s.shown(e.path())
		a, notes, err := s.agent(e, &r.included)
		if err != nil {
			fail(err)
			continue
		}
		r.agents[e.id] = a
		for _, n := range notes {
			r.notes = append(r.notes, Problem{Agent: e.id, Path: s.shown(cmp.Or(n.path, e.path())), Line: n.line, Text: n.text})
		}
	}
	return r
}

// agent reads one agent with its includes, and adds to included how they looked.
func (s source) agent(e entry, included *signature) (a Agent, notes []fault, err error) {
	w := written{id: e.id, layout: Flat}
	w.prompt, err = s.file(e.path(), maxHeader+maxPrompt+64)
	if !e.flat {
		w.layout = Folder
		meta, none := s.file(e.name+"/"+metaName, maxHeader+1)
		switch {
		case none == nil:
			w.meta, w.layout = meta, Meta
		case !errors.Is(none, fs.ErrNotExist):
			return Agent{}, nil, fault{path: e.name + "/" + metaName, text: "the file cannot be read: " + cause(none)}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return Agent{}, nil, faultf(0, "there is no file %s in the folder; write one, spelled like this, or move the folder away", fileName)
		}
	}
	if err != nil {
		return Agent{}, nil, faultf(0, "the file cannot be read: %s", cause(err))
	}
	if a, notes, err = parse(w); err != nil {
		return Agent{}, nil, err
	}
	a.Source = s.shown(e.path())
	hash := sha256.New()
	io.WriteString(hash, a.Hash)
	x := includer{open: func(path string) ([]byte, error) {
		if s.mark != nil {
			if m := s.mark(path); !slices.ContainsFunc(*included, func(o mark) bool { return o.path == m.path }) {
				*included = append(*included, m)
			}
		}
		src, err := s.file(path, maxPrompt)
		if errors.Is(err, fs.ErrNotExist) && s.behind != nil {
			src, err = fs.ReadFile(s.behind, path)
		}
		hash.Write(src)
		return src, err
	}}
	text, _ := plain(w.prompt)
	above := strings.Count(text[:strings.LastIndex(text, a.Prompt)], "\n")
	a.Prompt, err = x.expand(a.Prompt, e.path(), above, nil)
	if err == nil && x.n > 0 {
		a.Hash = hex.EncodeToString(hash.Sum(nil)[:8])
	}
	return a, notes, err
}

// file reads an ordinary file of at most limit bytes. What is none is not opened: a pipe would wait for a writer for ever.
func (s source) file(path string, limit int) ([]byte, error) {
	info, err := fs.Stat(s.fsys, path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not an ordinary file")
	}
	f, err := s.fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err == nil && len(src) > limit {
		err = fmt.Errorf("it has more than %d bytes", limit)
	}
	return src, err
}

// cause is what the system said, without the path, which stands beside it anyway.
func cause(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

// inFolder shows paths of the operator's folder.
func inFolder(dir string) func(string) string {
	return func(path string) string { return filepath.Join(dir, filepath.FromSlash(path)) }
}
