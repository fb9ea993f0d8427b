package skills

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"herald/core/model"
	"herald/core/session"
	"herald/core/tool"
	"herald/core/tool/sandbox"
	"herald/skills/internal/look"
)

// The names of the tools.
const (
	LoadSkill     = "load_skill"
	LoadReference = "load_skill_reference"
	ExecuteScript = "execute_skill_script"
)

// ToolNames are the names of all of them.
func ToolNames() []string { return []string{LoadSkill, LoadReference, ExecuteScript} }

// Limits of calls.
const (
	maxReference  = 1 << 20
	scriptTime    = 60 * time.Second
	maxScriptTime = 300 * time.Second
	maxArgs       = 64
	maxArg        = 4096
	maxArgBytes   = 64 << 10
	maxEnv        = 64
	maxNames      = 100 // in a message
)

// Runner runs scripts. [sandbox.Runner] is one.
type Runner interface {
	Find(program string) (string, error)
	Run(ctx context.Context, c sandbox.Command) (sandbox.Result, error)
}

// Use is how agents use skills; it is a [tool.Source].
type Use struct {
	Registry *Registry
	Runner   Runner
	// Selector is what an agent's file says of skills; it is asked at each call.
	Selector func(ctx context.Context, agent string) (Selector, error)
}

// Tools implements [tool.Source]: there are none when there is no skill for the agent.
func (u Use) Tools(ctx context.Context, s tool.Scope) ([]tool.Tool, error) {
	sel, err := u.Selector(ctx, s.Agent)
	if err != nil {
		return nil, err
	}
	if !u.Registry.refresh().any(s.Agent, sel) {
		return nil, nil
	}
	return []tool.Tool{u.loadSkill(), u.loadReference(), u.executeScript()}, nil
}

// find resolves a skill for the agent of a call. What is not found names only what the agent may use, and where it lists its skills by
// name, nothing at all.
func (u Use) find(ctx context.Context, c tool.Call, name string) (*Skill, error) {
	sel, err := u.Selector(ctx, c.Agent)
	if err != nil {
		return nil, err
	}
	s := u.Registry.refresh()
	if k, ok := s.use(c.Agent, sel, name); ok {
		return k, nil
	}
	if sel.Chosen {
		return nil, fmt.Errorf("there is no skill %q", short(name))
	}
	list := s.chosen(c.Agent, sel)
	if len(list) == 0 {
		return nil, fmt.Errorf("there is no skill %q, and no other", short(name))
	}
	return nil, fmt.Errorf("there is no skill %q; there are: %s", short(name), names(list))
}

func names(list []*Skill) string {
	var out []string
	for _, k := range list[:min(len(list), maxNames)] {
		out = append(out, k.ID)
	}
	s := strings.Join(out, ", ")
	if n := len(list) - maxNames; n > 0 {
		s += fmt.Sprintf(" and %d more, which `search` of load_skill finds", n)
	}
	return s
}

func object(properties string, required string) json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{` + properties + `},"required":[` + required + `],"additionalProperties":false}`)
}

const skillProperty = `"skillId":{"type":"string","description":"the skill's name, as the list of skills has it"}`

func (u Use) loadSkill() tool.Tool {
	return tool.Tool{
		Spec: model.ToolSpec{
			Name: LoadSkill, Description: "Reads a skill: its instructions and the names of its references and scripts. With search instead of skillId it lists the skills whose name or description holds all words.",
			Parameters: object(skillProperty+`,"search":{"type":"string","description":"words to look for instead"}`, ``),
		},
		Own:    true,
		Traits: session.Traits{ReadOnly: true, Repeatable: true},
		Run: func(ctx context.Context, c tool.Call) (tool.Result, error) {
			var a struct {
				SkillID string `json:"skillId"`
				Search  string `json:"search"`
			}
			if err := c.Decode(&a); err != nil {
				return tool.Result{}, err
			}
			if a.SkillID == "" && strings.TrimSpace(a.Search) != "" {
				return u.search(ctx, c, a.Search)
			}
			k, err := u.find(ctx, c, a.SkillID)
			if err != nil {
				return tool.Result{}, err
			}
			root, err := k.place.open()
			if err != nil {
				return tool.Result{}, fmt.Errorf("the folder of the skill %q cannot be read: %s", k.ID, look.Cause(err))
			}
			defer root.Close()
			refs, scripts, err := resources(root)
			if err != nil {
				return tool.Result{}, fmt.Errorf("the files of the skill %q cannot be listed: %s", k.ID, look.Cause(err))
			}
			return answer(struct {
				SkillID      string   `json:"skillId"`
				Instructions string   `json:"instructions"`
				References   []string `json:"references"`
				Scripts      []string `json:"scripts"`
			}{k.ID, k.Text, some(refs), some(scripts)})
		},
	}
}

func some(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// answer is a result as JSON that people can read too.
func answer(v any) (tool.Result, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return tool.Result{}, err
	}
	return tool.Result{Text: strings.TrimSuffix(b.String(), "\n")}, nil
}

// search lists the skills that hold all words.
func (u Use) search(ctx context.Context, c tool.Call, words string) (tool.Result, error) {
	sel, err := u.Selector(ctx, c.Agent)
	if err != nil {
		return tool.Result{}, err
	}
	var found []*Skill
	for _, k := range u.Registry.refresh().chosen(c.Agent, sel) {
		text := strings.ToLower(k.ID + " " + k.row + " " + k.Description)
		if !slices.ContainsFunc(strings.Fields(strings.ToLower(words)), func(w string) bool { return !strings.Contains(text, w) }) {
			found = append(found, k)
		}
	}
	if len(found) == 0 {
		return tool.Result{Text: "No skill holds all of these words."}, nil
	}
	var b strings.Builder
	for _, k := range found[:min(len(found), maxNames)] {
		fmt.Fprintf(&b, "- %s: %s\n", k.ID, brief(k.Description))
	}
	if n := len(found) - maxNames; n > 0 {
		fmt.Fprintf(&b, "%d more; use more words.\n", n)
	}
	return tool.Result{Text: strings.TrimSuffix(b.String(), "\n")}, nil
}

func (u Use) loadReference() tool.Tool {
	return tool.Tool{
		Spec: model.ToolSpec{
			Name: LoadReference, Description: "Reads a reference of a skill, one of those that load_skill names.",
			Parameters: object(skillProperty+`,"reference":{"type":"string","description":"the file as load_skill names it, such as references/forms.md"}`, `"skillId","reference"`),
		},
		Own:    true,
		Traits: session.Traits{ReadOnly: true, Repeatable: true},
		Run: func(ctx context.Context, c tool.Call) (tool.Result, error) {
			var a struct {
				SkillID   string `json:"skillId"`
				Reference string `json:"reference"`
			}
			if err := c.Decode(&a); err != nil {
				return tool.Result{}, err
			}
			k, err := u.find(ctx, c, a.SkillID)
			if err != nil {
				return tool.Result{}, err
			}
			root, file, err := offered(k, a.Reference, "reference", func(refs, _ []string) []string { return refs })
			if err != nil {
				return tool.Result{}, err
			}
			defer root.Close()
			src, err := look.Text(root, file, maxReference)
			if err != nil {
				return tool.Result{}, fmt.Errorf("%s of the skill %q: %w", file, k.ID, err)
			}
			if !utf8.Valid(src) {
				return tool.Result{}, fmt.Errorf("%s of the skill %q is no text (%d bytes); a script can work with it", file, k.ID, len(src))
			}
			return tool.Result{Text: string(src)}, nil
		},
	}
}

// offered finds a file among those that the skill offers, also by its last part where that is the only one of the name. The caller closes
// the root.
func offered(k *Skill, name, kind string, pick func(refs, scripts []string) []string) (*os.Root, string, error) {
	root, err := k.place.open()
	if err != nil {
		return nil, "", fmt.Errorf("the folder of the skill %q cannot be read: %s", k.ID, look.Cause(err))
	}
	refs, scripts, err := resources(root)
	if err != nil {
		_ = root.Close()
		return nil, "", fmt.Errorf("the files of the skill %q cannot be listed: %s", k.ID, look.Cause(err))
	}
	list := pick(refs, scripts)
	if slices.Contains(list, name) {
		return root, name, nil
	}
	var same []string
	for _, f := range list {
		if path.Base(f) == name {
			same = append(same, f)
		}
	}
	if len(same) == 1 {
		return root, same[0], nil
	}
	_ = root.Close()
	if len(list) == 0 {
		return nil, "", fmt.Errorf("the skill %q has no %s %q, and no other", k.ID, kind, short(name))
	}
	return nil, "", fmt.Errorf("the skill %q has no %s %q; it has: %s", k.ID, kind, short(name), strings.Join(list[:min(len(list), maxNames)], ", "))
}

// scriptCall is what a model asks for.
type scriptCall struct {
	SkillID   string            `json:"skillId"`
	Script    string            `json:"script"`
	Args      []string          `json:"args"`
	Env       map[string]string `json:"env"`
	TimeoutMs int64             `json:"timeoutMs"`
}

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)

// check says what is wrong with a call before anything runs.
func (a *scriptCall) check() error {
	total := 0
	for i, s := range a.Args {
		if total += len(s); len(s) > maxArg || strings.ContainsRune(s, 0) {
			return fmt.Errorf("argument %d is longer than %d bytes or holds a zero byte", i+1, maxArg)
		}
	}
	switch {
	case len(a.Args) > maxArgs:
		return fmt.Errorf("there are %d arguments, at most %d", len(a.Args), maxArgs)
	case total > maxArgBytes:
		return fmt.Errorf("the arguments have %d bytes together, at most %d", total, maxArgBytes)
	case len(a.Env) > maxEnv:
		return fmt.Errorf("there are %d environment variables, at most %d", len(a.Env), maxEnv)
	case a.TimeoutMs < 0 || a.TimeoutMs > maxScriptTime.Milliseconds():
		return fmt.Errorf("timeoutMs is %d; it can be up to %d", a.TimeoutMs, maxScriptTime.Milliseconds())
	}
	for k, v := range a.Env {
		if total += len(v); !envName.MatchString(k) || strings.HasPrefix(k, "LD_") || len(v) > maxArg || total > 2*maxArgBytes || strings.ContainsRune(v, 0) {
			return fmt.Errorf("the environment variable %q cannot be set: its name or its value (at most %d bytes) is not allowed", short(k), maxArg)
		}
	}
	return nil
}

func (u Use) executeScript() tool.Tool {
	return tool.Tool{
		Spec: model.ToolSpec{
			Name:        ExecuteScript,
			Description: "Runs a script of a skill, one of those that load_skill names, without a network, in an empty folder of its own that is gone afterwards. Its output is the result.",
			Parameters: object(skillProperty+`,"script":{"type":"string","description":"the file as load_skill names it, such as scripts/extract.py"},`+
				`"args":{"type":"array","items":{"type":"string"},"description":"arguments, each passed on as it is: no shell reads them"},`+
				`"env":{"type":"object","additionalProperties":{"type":"string"},"description":"environment variables"},`+
				`"timeoutMs":{"type":"integer","description":"how long it may run, 60000 unless given, at most 300000"}`, `"skillId","script"`),
		},
		Own: true,
		Run: func(ctx context.Context, c tool.Call) (tool.Result, error) {
			var a scriptCall
			if err := c.Decode(&a); err != nil {
				return tool.Result{}, err
			}
			k, err := u.find(ctx, c, a.SkillID)
			if err != nil {
				return tool.Result{}, err
			}
			if err := a.check(); err != nil {
				return tool.Result{}, err
			}
			root, file, err := offered(k, a.Script, "script", func(_, scripts []string) []string { return scripts })
			if err != nil {
				return tool.Result{}, err
			}
			defer root.Close()
			return u.run(ctx, k, root, file, a)
		},
	}
}

// run runs a script. Its output is the result; how it failed and what it said of that is the error.
func (u Use) run(ctx context.Context, k *Skill, root *os.Root, file string, a scriptCall) (tool.Result, error) {
	program, err := sandbox.Interpreter(root.FS(), file)
	if err != nil {
		return tool.Result{}, fmt.Errorf("%s of the skill %q cannot be run: %w", file, k.ID, err)
	}
	l := sandbox.Limits{Time: scriptTime}
	if a.TimeoutMs > 0 {
		l.Time = time.Duration(a.TimeoutMs) * time.Millisecond
	}
	res, err := u.Runner.Run(ctx, sandbox.Command{Program: []string{program}, Script: file, Args: a.Args, Files: root.FS(), Env: a.Env, Limits: l})
	if err != nil {
		return tool.Result{}, fmt.Errorf("%s of the skill %q was not run: %w", file, k.ID, err)
	}
	if f := res.Failure(l); f != "" {
		return tool.Result{}, fmt.Errorf("%s of the skill %q failed: %s", file, k.ID, f)
	}
	if res.Stdout == "" {
		return tool.Result{Text: "The script ended well and printed nothing."}, nil
	}
	return tool.Result{Text: res.Stdout}, nil
}

// Missing are the interpreters that scripts of the skills need and that the runner does not find, each with the skills that need it.
func (u Use) Missing() map[string][]string {
	out := map[string][]string{}
	for _, k := range u.Registry.All() {
		root, err := k.place.open()
		if err != nil {
			continue // a problem of the folder, named elsewhere
		}
		_, scripts, _ := resources(root)
		for _, s := range scripts {
			p, err := sandbox.Interpreter(root.FS(), s)
			if err != nil {
				continue
			}
			if _, err := u.Runner.Find(p); err != nil && !slices.Contains(out[p], k.ID) {
				out[p] = append(out[p], k.ID)
			}
		}
		_ = root.Close()
	}
	return out
}
