package config

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Load finds, reads and checks the configuration. The error is of type
// [Problems] and holds everything that is wrong; then there is no
// configuration.
func Load(opts Options) (*Config, error) {
	l := newLoader(opts)
	where, bad := l.opts.locate(l.env)
	if bad != nil {
		return nil, Problems{*bad}
	}
	l.place = where
	complete := true
	blank := saysNothing(where.data)
	if where.shown != "" {
		if blank && l.opts.refuseBlank {
			return nil, Problems{{File: where.shown, Text: "the file holds no setting any more", Hint: "finish writing it"}}
		}
		l.files = []string{where.path}
		complete = l.readFile(where.data)
	}
	l.readEnv()
	l.checkNames()
	if !complete {
		// Lines are missing: what depends on several keys cannot be judged.
		return nil, l.problems.sorted()
	}
	cfg := l.build()
	l.check(cfg)
	if len(l.problems) > 0 {
		return nil, l.problems.sorted()
	}
	cfg.files, cfg.digests, cfg.blank = l.files, l.digests, blank
	return cfg, nil
}

// saysNothing reports whether a file has no setting: blanks and comments alone, as the
// beginning of a file that is still being written may.
func saysNothing(data []byte) bool {
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}

// loader holds the state of one Load.
type loader struct {
	opts  Options
	env   map[string]string
	table table
	place place

	given    map[string]given    // concrete key → what file or environment say
	names    map[string][]string // "providers" and "models" → names in order of mention
	mention  map[string]Source   // "providers.x" → where it was first named
	spoiled  map[string]bool     // keys whose value was refused
	problems Problems
	files    []string                     // absolute paths of what was read
	digests  map[string][sha256.Size]byte // of their contents
}

// given is one value that somebody set.
type given struct {
	setting setting
	value   any // decoded
	source  Source
}

func newLoader(opts Options) *loader {
	opts = opts.withDefaults()
	l := &loader{
		opts: opts, env: opts.environment(), table: newTable(),
		given: map[string]given{}, names: map[string][]string{},
		mention: map[string]Source{}, spoiled: map[string]bool{},
		digests: map[string][sha256.Size]byte{},
	}
	read := opts.ReadFile
	l.opts.ReadFile = func(path string) ([]byte, error) {
		data, err := read(path)
		if err == nil {
			l.digests[path] = sha256.Sum256(data)
		}
		return data, err
	}
	return l
}

func (l *loader) report(p Problem) { l.problems = append(l.problems, p) }

// mostProblems is how many are told at once: more than anybody mends in one go, and an end for a file that is none.
const mostProblems = 200

// readFile takes the file's entries in. It reports whether the whole document
// could be understood.
func (l *loader) readFile(data []byte) bool {
	entries, faults, complete := scan(data)
	first := map[string]int{} // key → line
	var refused [][]string    // sections that were reported; their keys are not, again
	for _, e := range numberRules(entries) {
		if len(l.problems) >= mostProblems {
			l.report(l.inFile(e.line, e.col).problem("", faultf("there may be more problems from here on").withHint("mend the ones above first")))
			return false
		}
		if slices.ContainsFunc(refused, func(r []string) bool { return below(e.path, r) }) {
			continue
		}
		if line, again := first[e.key()]; again && !e.array {
			l.report(l.inFile(e.line, e.col).problem(e.key(), faultf("is given twice, the first time in line %d", line).
				withHint("leave one of them out")))
		}
		first[e.key()] = e.line
		if !l.take(e) && e.table {
			refused = append(refused, e.path)
		}
	}
	for _, f := range faults {
		// What was found above is told with more knowledge than here.
		known := slices.ContainsFunc(l.problems, func(p Problem) bool { return p.Line == f.line })
		if !known || !complete {
			l.report(l.inFile(f.line, f.col).problem(f.key, &f.fault))
		}
	}
	return complete
}

// inFile is the source of what stands at that place of the file.
func (l *loader) inFile(line, col int) Source {
	return Source{Kind: FromFile, File: l.place.shown, Line: line, Column: col}
}

func below(path, parent []string) bool {
	return len(path) >= len(parent) && slices.Equal(path[:len(parent)], parent)
}

// take judges one entry and reports whether it was accepted.
func (l *loader) take(e entry) bool {
	src := l.inFile(e.line, e.col)
	refuse := func(f *fault) bool {
		l.report(src.problem(e.key(), f))
		return false
	}
	s, name, isSetting := l.table.find(e.path)
	section, named := l.table.isSection(e.path)
	switch {
	case e.path[0] == rulesKey && !e.listed:
		return refuse(faultf("rules are a list").withHint("write [[rules]] before the keys of each rule"))
	case e.array:
		return refuse(faultf("[[ ]] makes a list, and nothing here is a list of sections").withHint("write [%s]", e.key()))
	case isSetting && e.table:
		return refuse(faultf("is a setting, not a section").withHint("write %s = VALUE in section [%s]", s.leaf(), s.concreteSection(name)))
	case isSetting:
		l.give(s, name, e.value, src)
		return true
	case section && !e.table:
		hint := fmt.Sprintf("write [%s] and the keys below it", e.key())
		return refuse(faultf("is a section, not a setting").withHint("%s", hint))
	case section:
		if named {
			l.mentionName(e.path[0], e.path[1], src)
		}
		return true
	}
	if above, ok := l.table.settingAbove(e.path); ok {
		return refuse(faultf("%s is a setting and has no keys below it", above))
	}
	if base, ok := l.table.literalSecret(e.path); ok {
		l.mentionParent(e.path, src)
		return refuse(faultf("a secret must not stand in the file").withHint("%s", base.literalHint(e.key())))
	}
	if e.table {
		f := faultf("unknown section")
		if near := nearest(e.path[0], l.table.sections()); near != "" && near != e.path[0] {
			f.hint = fmt.Sprintf("did you mean [%s]?", keyText(append([]string{near}, e.path[1:]...)))
		} else {
			f.hint = "the sections are " + strings.Join(l.table.sections(), ", ")
		}
		return refuse(f)
	}
	l.mentionParent(e.path, src)
	return refuse(faultf("unknown key").withHint("%s", l.table.suggestion(e.path)))
}

// give decodes a value and keeps it, replacing one that was given earlier.
func (l *loader) give(s setting, name string, value any, src Source) {
	key := s.concrete(name)
	if name != "" {
		section, _, _ := strings.Cut(s.key, ".")
		l.mentionName(section, name, src)
	}
	v, f := s.decode(value, src.Kind == FromEnv)
	if f != nil {
		l.spoiled[key] = true
		l.report(src.problem(key, f))
		return
	}
	delete(l.spoiled, key)
	l.given[key] = given{setting: s, value: v, source: src}
}

// mentionParent notes a provider or model of which only a wrong key is given,
// so that nobody is told in addition that it does not exist.
func (l *loader) mentionParent(path []string, src Source) {
	if len(path) < 3 {
		return
	}
	if _, named := l.table.isSection(path[:2]); named {
		l.mentionName(path[0], path[1], src)
	}
}

func (l *loader) mentionName(section, name string, src Source) {
	if key := under(section, name); l.mention[key] == (Source{}) {
		l.mention[key] = src
		l.names[section] = append(l.names[section], name)
	}
}

// checkNames judges the names of providers and models.
func (l *loader) checkNames() {
	for _, section := range named() {
		folded := map[string]string{}
		for _, name := range l.names[section] {
			key := under(section, name)
			src := l.mention[key]
			if f := checkName(section, name); f != nil {
				l.report(src.problem(key, f))
				continue
			}
			if other, taken := folded[foldName(name)]; taken {
				l.report(src.problem(key, faultf("differs from %q only in case or separators, so that no environment variable can tell them apart", other).
					withHint("rename one of them")))
				continue
			}
			folded[foldName(name)] = name
		}
	}
}

// base is the folder that relative paths of a source are relative to.
func (l *loader) base(src Source) string {
	if src.Kind == FromFile {
		return filepath.Dir(l.place.path)
	}
	return l.opts.Dir
}
