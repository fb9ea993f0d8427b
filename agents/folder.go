package agents

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

const fileName = "AGENT.md"

// idForm is what an id may look like: it is a folder's name on every system, and safe in a log line, a command and a key.
var idForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)

// signature is how the folder looked: enough to see that a file in it was written, replaced, added or removed.
type signature []mark

// mark is one path with what stat says of it.
type mark struct {
	path string
	at   time.Time
	size int64
	mode fs.FileMode
	err  string
}

func (s signature) same(o signature) bool { return slices.EqualFunc(s, o, mark.equal) }

func (m mark) equal(o mark) bool {
	return m.path == o.path && m.size == o.size && m.mode == o.mode && m.err == o.err && m.at.Equal(o.at)
}

func markOf(path string) mark {
	info, err := os.Stat(path)
	if err != nil {
		return mark{path: path, err: cause(err)}
	}
	return mark{path: path, at: info.ModTime(), size: info.Size(), mode: info.Mode()}
}

// look takes the folder's signature: its entries and the state of the file in each.
func look(dir string) signature {
	s := signature{markOf(dir)}
	entries, err := os.ReadDir(dir)
	if err != nil {
		s[0].err = cause(err)
		return s
	}
	for _, e := range entries[:min(len(entries), maxAgents)] {
		if !ignored(e.Name()) {
			s = append(s, markOf(filepath.Join(dir, e.Name(), fileName)))
		}
	}
	return s
}

// ignored reports whether an entry of the folder is no agent: hidden ones (version control, the temporary files of editors)
// and what agents include.
func ignored(name string) bool { return strings.HasPrefix(name, ".") || name == "common" }

// readFolder reads every agent of the folder. What cannot be read keeps its version in old that came from this folder.
func readFolder(opts Options, old map[string]Agent) (map[string]Agent, []Problem) {
	kept := func(id string) (Agent, bool) {
		a, ok := old[id]
		return a, ok && a.Source != BuiltIn
	}
	root, entries, err := openFolder(opts.Dir)
	if err != nil {
		if opts.MayBeMissing && errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		all := map[string]Agent{}
		for id := range old {
			if a, ok := kept(id); ok {
				all[id] = a
			}
		}
		return all, []Problem{{Path: opts.Dir, Text: folderText(err)}}
	}
	defer root.Close()

	found := map[string]Agent{}
	var problems []Problem
	for _, name := range entries {
		path := filepath.Join(opts.Dir, name, fileName)
		a, err := readAgent(root, name)
		if errors.Is(err, errNoAgent) {
			continue
		}
		if err == nil {
			a.Source = path
			found[name] = a
			continue
		}
		p := Problem{Agent: name, Path: path, Text: err.Error()}
		if f, ok := errors.AsType[fault](err); ok {
			p.Line = f.line
		}
		problems = append(problems, p)
		if a, ok := kept(name); ok {
			found[name] = a
		}
	}
	return found, problems
}

// openFolder opens the folder so that nothing outside of it can be read through it, and lists what may be agents.
func openFolder(dir string) (*os.Root, []string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	entries, err := fs.ReadDir(root.FS(), ".")
	if err == nil && len(entries) > maxAgents {
		err = fmt.Errorf("it has %d entries, at most %d", len(entries), maxAgents)
	}
	if err != nil {
		_ = root.Close()
		return nil, nil, err
	}
	var names []string
	for _, e := range entries {
		if !ignored(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return root, names, nil
}

func folderText(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "the agents' folder does not exist; make it, or correct agents.dir"
	case errors.Is(err, fs.ErrPermission):
		return "the agents' folder cannot be read: this account has no rights on it; give it the right to read and to enter, or correct agents.dir"
	default:
		return "the agents' folder cannot be read: " + cause(err) + "; mend it, or correct agents.dir"
	}
}

// errNoAgent: the entry is no agent and no mistake either.
var errNoAgent = errors.New("no agent")

// readAgent reads the agent of one entry of the folder.
func readAgent(root *os.Root, name string) (Agent, error) {
	info, err := root.Stat(name)
	if err == nil && !info.IsDir() {
		return Agent{}, errNoAgent // a README beside the agents
	}
	if err != nil {
		return Agent{}, fmt.Errorf("the folder cannot be read: %s", cause(err))
	}
	if !idForm.MatchString(name) {
		return Agent{}, fmt.Errorf("%q cannot be an agent's id: use small letters, digits and '-', at most 64, beginning with a letter or digit", short(name))
	}
	path := name + "/" + fileName
	// What is no ordinary file is not opened: a pipe would wait for a writer for ever.
	info, err = root.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Agent{}, fmt.Errorf("there is no file %s in the folder; write one, spelled like this, or move the folder away", fileName)
	case err != nil:
		return Agent{}, fmt.Errorf("the file cannot be read: %s", cause(err))
	case !info.Mode().IsRegular():
		return Agent{}, errors.New("it is not an ordinary file")
	}
	f, err := root.Open(path)
	if err != nil {
		return Agent{}, fmt.Errorf("the file cannot be read: %s", cause(err))
	}
	defer f.Close()
	const limit = maxHeader + maxPrompt + 64
	src, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return Agent{}, fmt.Errorf("the file cannot be read: %s", cause(err))
	}
	if len(src) > limit {
		return Agent{}, fmt.Errorf("the file has more than %d bytes", limit)
	}
	return parse(name, src)
}

// cause is what the system said, without the path, which stands beside it anyway.
func cause(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}
