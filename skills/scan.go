package skills

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"herald/core/tool/sandbox"
	"herald/skills/internal/look"
)

// The names of a skill's files.
const (
	fileName  = "SKILL.md"
	otherName = "skill.md" // as some write it
	indexName = "index.md"
	ownDir    = "skills" // below an agent's folder
)

// Bounds of a search.
const (
	maxDepth = 5
	maxDirs  = 20_000
)

// place is where a skill's files are: a folder below a root that nothing leaves.
type place struct{ root, rel string }

// open opens the skill's own folder.
func (p place) open() (*os.Root, error) {
	root, err := os.OpenRoot(p.root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.OpenRoot(filepath.FromSlash(p.rel))
}

// ignored reports whether an entry is not looked into: hidden ones, and what other programs bring.
func ignored(name string) bool {
	return strings.HasPrefix(name, ".") || name == "node_modules" || name == "__pycache__"
}

// file is one SKILL.md that was found.
type file struct {
	owner string
	// name is what its folder is called; for the skill of an agent's own folder the agent's id.
	name  string
	whole bool // it is the skill of an agent's own folder
	place place
	path  string // of the file on this machine
	rel   string // of the file below the root
}

// search collects what folders hold.
type search struct {
	seen     []look.Mark
	files    []file
	problems []Problem
	dirs     int
	// lost are roots that could not be read: what stood below them before stays.
	lost []string
}

func (s *search) note(path string) { s.seen = append(s.seen, look.Of(path)) }

func (s *search) problem(level Level, owner, name, path, format string, args ...any) {
	s.problems = append(s.problems, Problem{Level: level, Owner: owner, Name: name, Path: path, Text: fmt.Sprintf(format, args...)})
}

// root opens a folder so that nothing outside of it can be read through it; nil when it cannot.
func (s *search) root(f Folder, setting string) *os.Root {
	s.note(f.Path)
	root, err := os.OpenRoot(f.Path)
	if err == nil {
		return root
	}
	if errors.Is(err, fs.ErrNotExist) && f.MayBeMissing {
		return nil
	}
	s.lost = append(s.lost, f.Path)
	s.problem(Lost, "", "", f.Path, "the folder cannot be read: %s; mend it, or correct %s", look.Cause(err), setting)
	return nil
}

// shared searches a folder of shared skills.
func (s *search) shared(f Folder) {
	root := s.root(f, f.Setting)
	if root == nil {
		return
	}
	defer root.Close()
	s.note(filepath.Join(f.Path, indexName))
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		s.lost = append(s.lost, f.Path)
		s.problem(Lost, "", "", f.Path, "the folder cannot be read: %s; mend it, or correct %s", look.Cause(err), f.Setting)
		return
	}
	for _, e := range entries {
		switch {
		case e.Name() == fileName:
			s.problem(Lost, "", "", filepath.Join(f.Path, fileName), "a skill has a folder of its own; move the file into %s/NAME/", f.Path)
		case !ignored(e.Name()) && s.isDir(root, e.Name(), e, f.Path, ""):
			s.top(root, f.Path, e.Name(), "")
		}
	}
}

// agents searches the agents' folders for what they own.
func (s *search) agents(f Folder) {
	root := s.root(f, f.Setting)
	if root == nil {
		return
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		s.lost = append(s.lost, f.Path)
		s.problem(Lost, "", "", f.Path, "the folder cannot be read: %s; mend it, or correct %s", look.Cause(err), f.Setting)
		return
	}
	for _, e := range entries {
		owner := e.Name()
		if ignored(owner) || strings.EqualFold(owner, "common") || !s.isDir(root, owner, e, f.Path, owner) {
			continue
		}
		whole := path.Join(owner, fileName)
		s.note(filepath.Join(f.Path, owner, fileName))
		if _, err := root.Lstat(whole); err == nil {
			s.files = append(s.files, file{
				owner: owner, name: owner, whole: true, place: place{f.Path, owner}, path: filepath.Join(f.Path, owner, fileName), rel: whole,
			})
		}
		own := path.Join(owner, ownDir)
		s.note(filepath.Join(f.Path, owner, ownDir))
		inner, err := fs.ReadDir(root.FS(), own)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			s.problem(Lost, owner, "", filepath.Join(f.Path, owner, ownDir), "the folder cannot be read: %s; mend it", look.Cause(err))
			continue
		}
		for _, e := range inner {
			rel := path.Join(own, e.Name())
			if !ignored(e.Name()) && s.isDir(root, rel, e, f.Path, owner) {
				s.top(root, f.Path, rel, owner)
			}
		}
	}
}

// isDir reports whether an entry is a folder, also by a link that does not leave the root.
func (s *search) isDir(root *os.Root, rel string, e fs.DirEntry, base, owner string) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.IsDir()
	}
	info, err := root.Stat(filepath.FromSlash(rel))
	if err != nil {
		s.problem(Lost, owner, e.Name(), filepath.Join(base, filepath.FromSlash(rel)), "the link cannot be followed: %s; put the folder itself there", look.Cause(err))
		return false
	}
	return info.IsDir()
}

// top searches an entry of a skills' folder, and says so when nothing is in it.
func (s *search) top(root *os.Root, base, rel, owner string) {
	before, worse := len(s.files), len(s.problems)
	s.walk(root, base, rel, owner, 1)
	if len(s.files) == before && len(s.problems) == worse {
		s.problem(Lost, owner, path.Base(rel), filepath.Join(base, filepath.FromSlash(rel)), "there is no file %s in the folder; write one, spelled like this, or move the folder away", fileName)
	}
}

// walk finds the skills at and below a folder. Below a skill there is none.
func (s *search) walk(root *os.Root, base, rel, owner string, depth int) {
	if s.dirs++; s.dirs > maxDirs {
		if s.dirs == maxDirs+1 {
			s.problem(Lost, "", "", base, "there are more than %d folders; the rest is not looked at", maxDirs)
		}
		return
	}
	at := filepath.Join(base, filepath.FromSlash(rel))
	entries, err := fs.ReadDir(root.FS(), rel)
	if err != nil {
		s.note(at)
		s.problem(Lost, owner, path.Base(rel), at, "the folder cannot be read: %s; mend it, or move it away", look.Cause(err))
		return
	}
	for _, name := range []string{fileName, otherName} {
		if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name }) {
			p := filepath.Join(at, name)
			s.note(p)
			s.files = append(s.files, file{owner: owner, name: path.Base(rel), place: place{base, rel}, path: p, rel: path.Join(rel, name)})
			return
		}
	}
	s.note(at)
	for _, e := range entries {
		low := strings.ToLower(e.Name())
		switch sub := path.Join(rel, e.Name()); {
		case low == "skill.md" || low == "skills.md" || low == "skill.txt" || low == "skill.markdown":
			s.problem(Lost, owner, path.Base(rel), filepath.Join(at, e.Name()), "the file must be called %s, spelled like this; rename it", fileName)
		case ignored(e.Name()) || !s.isDir(root, sub, e, base, owner):
		case depth == maxDepth:
			s.problem(Lost, owner, e.Name(), filepath.Join(base, filepath.FromSlash(sub)), "it lies more than %d folders deep and is not looked at; move it up", maxDepth)
		default:
			s.walk(root, base, sub, owner, depth+1)
		}
	}
}

// read reads one found file.
func (f file) read() ([]byte, error) {
	root, err := os.OpenRoot(f.place.root)
	if err != nil {
		return nil, faultf(0, "the file cannot be read: %s", look.Cause(err))
	}
	defer root.Close()
	return look.Text(root, f.rel, maxFile)
}

// Kinds of files beside a SKILL.md.
var referenceDirs = []string{"references", "resources", "assets"}

// maxListed is how many files of a kind a model is told of.
const maxListed = 256

// resources are the files that a skill offers: references and the like, and scripts, as paths within the skill. Links are none.
func resources(root *os.Root) (references, scripts []string, err error) {
	list := func(dir string, into *[]string) error {
		err := fs.WalkDir(root.FS(), dir, func(p string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				if p == dir && errors.Is(err, fs.ErrNotExist) {
					return fs.SkipAll
				}
				return err
			case p != dir && ignored(d.Name()), strings.Count(p, "/") > 4:
				if d.IsDir() {
					return fs.SkipDir
				}
			case d.Type().IsRegular() && len(*into) < maxListed:
				*into = append(*into, p)
			}
			return nil
		})
		return err
	}
	for _, d := range referenceDirs {
		if err := list(d, &references); err != nil {
			return nil, nil, err
		}
	}
	if err := list("scripts", &scripts); err != nil {
		return nil, nil, err
	}
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		if sandbox.IsScript(e.Name()) && e.Type().IsRegular() && !ignored(e.Name()) && len(scripts) < maxListed {
			scripts = append(scripts, e.Name())
		}
	}
	slices.Sort(references)
	slices.Sort(scripts)
	return references, scripts, nil
}
