package agents

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Scenario is a task for an agent with a property of what it does that can be checked without judgement. It stands in ID/eval/NAME.yaml.
type Scenario struct {
	// Name is the file's, without ".yaml".
	Name string `yaml:"-"`
	// About says which property holds.
	About string `yaml:"about"`
	// Prompt is what the agent is asked.
	Prompt string `yaml:"prompt"`
	// Files are what its file tools find; Tools are the answers of other tools by their names.
	Files map[string]string `yaml:"files"`
	Tools map[string]string `yaml:"tools"`
	// Values are what directives in the agent's text become.
	Values map[string]string `yaml:"values"`
	Want   Want              `yaml:"want"`
	// Good is what a scripted model does that has the property, Bad one that has not: they prove the check itself.
	Good []Step `yaml:"good"`
	Bad  []Step `yaml:"bad"`
}

// Want is the property. All of it must hold.
type Want struct {
	// Answer and LastLine are expressions for the answer and for its last line that is not empty; Unlike must not match the answer.
	Answer   string `yaml:"answer"`
	LastLine string `yaml:"last_line"`
	Unlike   string `yaml:"unlike"`
	// Calls must each be made at least once, Never not at all.
	Calls []Match `yaml:"calls"`
	Never []Match `yaml:"never"`
}

// Match matches calls of tools: Tool is an expression for the whole name, Arguments one for any part of the arguments, "" for all.
type Match struct {
	Tool      string `yaml:"tool"`
	Arguments string `yaml:"arguments"`
}

// Step is one answer of a scripted model: words, or a call.
type Step struct {
	Say       string `yaml:"say"`
	Call      string `yaml:"call"`
	Arguments string `yaml:"arguments"`
}

// Called is a call that an agent made.
type Called struct{ Tool, Arguments string }

// ParseScenario reads a scenario and checks that it can be judged.
func ParseScenario(name string, src []byte) (Scenario, error) {
	s := Scenario{Name: name}
	dec := yaml.NewDecoder(bytes.NewReader(src))
	dec.KnownFields(true)
	if err := dec.Decode(&s); err != nil {
		return Scenario{}, fmt.Errorf("%s", short(strings.TrimPrefix(err.Error(), "yaml: ")))
	}
	w := s.Want
	switch {
	case s.About == "" || strings.TrimSpace(s.Prompt) == "":
		return Scenario{}, errors.New("a scenario needs about and prompt")
	case w.Answer == "" && w.LastLine == "" && w.Unlike == "" && len(w.Calls) == 0 && len(w.Never) == 0:
		return Scenario{}, errors.New("a scenario needs something to check below want")
	}
	exprs := []string{w.Answer, w.LastLine, w.Unlike}
	for _, m := range append(append([]Match{}, w.Calls...), w.Never...) {
		if m.Tool == "" {
			return Scenario{}, errors.New("a call to check needs a tool")
		}
		exprs = append(exprs, m.Tool, m.Arguments)
	}
	for _, e := range exprs {
		if _, err := regexp.Compile(e); err != nil {
			return Scenario{}, fmt.Errorf("%q is no expression: %w", short(e), err)
		}
	}
	return s, nil
}

// Judge is what is missing from the property, empty when it holds.
func (s Scenario) Judge(answer string, calls []Called) []string {
	var out []string
	match := func(expr, text string) bool { return regexp.MustCompile(expr).MatchString(text) }
	answer = strings.TrimSpace(answer)
	last := answer[strings.LastIndexByte(answer, '\n')+1:]
	if w := s.Want.Answer; w != "" && !match(w, answer) {
		out = append(out, fmt.Sprintf("the answer does not match %q", w))
	}
	if w := s.Want.LastLine; w != "" && !match(w, last) {
		out = append(out, fmt.Sprintf("the last line %q does not match %q", short(last), w))
	}
	if w := s.Want.Unlike; w != "" && match(w, answer) {
		out = append(out, fmt.Sprintf("the answer matches %q", w))
	}
	made := func(m Match) bool {
		for _, c := range calls {
			if match("^(?:"+m.Tool+")$", c.Tool) && match(m.Arguments, c.Arguments) {
				return true
			}
		}
		return false
	}
	for _, m := range s.Want.Calls {
		if !made(m) {
			out = append(out, strings.TrimSpace(fmt.Sprintf("there was no call of %s %s", m.Tool, m.Arguments)))
		}
	}
	for _, m := range s.Want.Never {
		if made(m) {
			out = append(out, strings.TrimSpace(fmt.Sprintf("there was a call of %s %s", m.Tool, m.Arguments)))
		}
	}
	return out
}

// Scenarios are those of an agent, from where the agent itself comes. An agent in one file has none.
func (r *Registry) Scenarios(a Agent) ([]Scenario, error) {
	if a.Layout == Flat {
		return nil, nil
	}
	var fsys fs.FS = embedded
	if a.Source != BuiltIn {
		root, err := os.OpenRoot(r.opts.Dir)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		fsys = root.FS()
	}
	files, err := fs.Glob(fsys, path.Join(a.ID, "eval", "*.yaml"))
	if err != nil {
		return nil, err
	}
	var out []Scenario
	for _, f := range files {
		src, err := source{fsys: fsys}.file(f, maxHeader)
		if err != nil {
			return nil, fmt.Errorf("%s: %s", f, cause(err))
		}
		s, err := ParseScenario(strings.TrimSuffix(path.Base(f), ".yaml"), src)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		out = append(out, s)
	}
	return out, nil
}
