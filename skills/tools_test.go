package skills_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"herald/core/tool"
	"herald/core/tool/sandbox"
	"herald/core/tool/sandbox/sandboxtest"
	"herald/skills"
)

// recorder is a runner that runs nothing.
type recorder struct {
	got     []sandbox.Command
	result  sandbox.Result
	err     error
	missing string
}

func (r *recorder) Find(program string) (string, error) {
	if program == r.missing {
		return "", fmt.Errorf("%q %w", program, sandbox.ErrNoProgram)
	}
	return "/usr/bin/" + program, nil
}

func (r *recorder) Run(_ context.Context, c sandbox.Command) (sandbox.Result, error) {
	if _, err := r.Find(c.Program[0]); err != nil {
		return sandbox.Result{}, err
	}
	r.got = append(r.got, c)
	return r.result, r.err
}

func use(r *skills.Registry, run skills.Runner, sel skills.Selector) skills.Use {
	return skills.Use{Registry: r, Runner: run, Selector: func(context.Context, string) (skills.Selector, error) { return sel, nil }}
}

// call runs a tool of the agent as the engine does: by the name that the model gave.
func call(t *testing.T, u skills.Use, agent, name, arguments string) (string, error) {
	t.Helper()
	s := tool.Scope{Agent: agent}
	list, err := u.Tools(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, tl := range list {
		if tl.Spec.Name == name {
			res, err := tl.Run(t.Context(), tool.Call{Scope: s, Name: name, Arguments: json.RawMessage(arguments)})
			return res.Text, err
		}
	}
	return "", tool.ErrUnknown
}

func TestToolsAreFitForProviders(t *testing.T) {
	t.Parallel()
	f := newTree(t)
	u := use(f.open(nil), &recorder{}, all)
	if list, err := u.Tools(t.Context(), tool.Scope{Agent: "main"}); err != nil || list != nil {
		t.Errorf("without a skill: %v, %v", list, err)
	}
	f.skill("skills/pdf", "d")
	list, err := u.Tools(t.Context(), tool.Scope{Agent: "main"})
	if err != nil || len(list) != 3 {
		t.Fatalf("%v, %v", list, err)
	}
	if _, err := tool.NewRegistry(list...); err != nil {
		t.Error(err)
	}
	for _, tl := range list {
		if !tl.Own || tl.Traits.Repeatable != (tl.Spec.Name != skills.ExecuteScript) {
			t.Errorf("%s: %+v", tl.Spec.Name, tl)
		}
	}
	if list, err := use(f.open(nil), &recorder{}, none).Tools(t.Context(), tool.Scope{Agent: "main"}); err != nil || list != nil {
		t.Errorf("with an empty list: %v, %v", list, err)
	}
	failing := u
	failing.Selector = func(context.Context, string) (skills.Selector, error) { return all, errors.New("no such agent") }
	if list, err := failing.Tools(t.Context(), tool.Scope{Agent: "main"}); err == nil || list != nil {
		t.Errorf("an agent that cannot be read: %v, %v", list, err)
	}
}

func TestLoadSkill(t *testing.T) {
	t.Parallel()
	f := newTree(t)
	f.skill("skills/pdf", "Reads files")
	f.skill("skills/cite", "Cites papers")
	f.skill("agents/writer/skills/style", "Style")
	f.write("skills/pdf/references/forms.md", "All about forms.")
	f.write("skills/pdf/references/deep/more.md", "More.")
	f.write("skills/pdf/assets/logo.png", "\x89PNG\xff")
	f.write("skills/pdf/scripts/extract.py", "print(1)")
	f.write("skills/pdf/top.sh", "echo 1")
	f.write("skills/pdf/notes.txt", "not offered")
	f.write("skills/pdf/.git/config", "not offered")
	if err := os.Symlink("/etc/passwd", filepath.Join(f.dir, "skills/pdf/references/link.md")); err != nil {
		t.Fatal(err)
	}
	r := f.open(nil)
	u := use(r, &recorder{}, all)
	tests := []struct{ name, tool, args, want, err string }{
		{
			"a skill", "load_skill", `{"skillId":"pdf"}`,
			`{"skillId":"pdf","instructions":"Text of Reads files.","references":["assets/logo.png","references/deep/more.md","references/forms.md"],"scripts":["scripts/extract.py","top.sh"]}`, "",
		},
		{"an unknown one", "load_skill", `{"skillId":"nope"}`, "", `there is no skill "nope"; there are: cite, pdf`},
		{"another agent's", "load_skill", `{"skillId":"writer--style"}`, "", `there is no skill "writer--style"; there are: cite, pdf`},
		{"search", "load_skill", `{"search":"READS files"}`, "- pdf: Reads files", ""},
		{"search for another agent's", "load_skill", `{"search":"style"}`, "No skill holds all of these words.", ""},
		{"no name", "load_skill", `{}`, "", `there is no skill ""; there are`},
		{"bad arguments", "load_skill", `{"skillId":1}`, "", "do not fit"},
		{"a reference", "load_skill_reference", `{"skillId":"pdf","reference":"references/forms.md"}`, "All about forms.", ""},
		{"by its last part", "load_skill_reference", `{"skillId":"pdf","reference":"more.md"}`, "More.", ""},
		{"no text", "load_skill_reference", `{"skillId":"pdf","reference":"logo.png"}`, "", "is no text"},
		{"a script is none", "load_skill_reference", `{"skillId":"pdf","reference":"scripts/extract.py"}`, "", `has no reference "scripts/extract.py"; it has: assets/logo.png`},
		{"not offered", "load_skill_reference", `{"skillId":"pdf","reference":"notes.txt"}`, "", "has no reference"},
		{"the skill's own file", "load_skill_reference", `{"skillId":"pdf","reference":"SKILL.md"}`, "", "has no reference"},
		{"out of it", "load_skill_reference", `{"skillId":"pdf","reference":"references/../../cite/SKILL.md"}`, "", "has no reference"},
		{"an absolute path", "load_skill_reference", `{"skillId":"pdf","reference":"/etc/passwd"}`, "", "has no reference"},
		{"a link", "load_skill_reference", `{"skillId":"pdf","reference":"references/link.md"}`, "", "has no reference"},
		{"one of a skill without", "load_skill_reference", `{"skillId":"cite","reference":"x"}`, "", "and no other"},
		{"one of another agent's skill", "load_skill_reference", `{"skillId":"writer--style","reference":"x"}`, "", `there is no skill "writer--style"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := call(t, u, "main", tt.tool, tt.args)
			if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("got %q, %v", got, err)
			}
			if strings.Contains(got, f.dir) || err != nil && (strings.Contains(err.Error(), f.dir) || strings.Contains(err.Error(), "writer--style;")) {
				t.Errorf("it says too much: %q, %v", got, err)
			}
		})
	}
	// Where the agent lists its skills, "not found" names none.
	if _, err := call(t, use(r, &recorder{}, names("pdf")), "main", "load_skill", `{"skillId":"cite"}`); err == nil || err.Error() != `there is no skill "cite"` {
		t.Errorf("got %v", err)
	}
}

func TestExecuteScript(t *testing.T) {
	t.Parallel()
	f := newTree(t)
	f.skill("skills/pdf", "Reads files")
	f.write("skills/pdf/scripts/extract.py", "print(1)")
	f.write("skills/pdf/scripts/bash.sh", "#!/usr/bin/env -S bash -e\necho 1")
	f.write("skills/pdf/scripts/plain", "#!/usr/bin/node\n1")
	f.write("skills/pdf/scripts/odd.rs", "fn main() {}")
	f.write("skills/pdf/scripts/x.rb", "puts 1")
	f.skill("agents/writer/skills/style", "Style")
	f.write("agents/writer/skills/style/scripts/s.py", "print(1)")
	long := strings.Repeat("x", 4097)
	tests := []struct {
		name, args string
		result     sandbox.Result
		err        error
		want, fail string
		program    string
	}{
		{"python", `{"skillId":"pdf","script":"scripts/extract.py","args":["a","b c"],"env":{"K":"v"},"timeoutMs":1500}`, sandbox.Result{Stdout: "out"}, nil, "out", "", "python3"},
		{"the first line decides", `{"skillId":"pdf","script":"bash.sh"}`, sandbox.Result{}, nil, "The script ended well and printed nothing.", "", "bash"},
		{"without an end", `{"skillId":"pdf","script":"plain"}`, sandbox.Result{Stdout: "1"}, nil, "1", "", "node"},
		{"nothing runs it", `{"skillId":"pdf","script":"odd.rs"}`, sandbox.Result{}, nil, "", "nothing says what runs it", ""},
		{"not installed", `{"skillId":"pdf","script":"x.rb"}`, sandbox.Result{}, nil, "", `was not run: "ruby" is not installed`, ""},
		{"exit code and stderr", `{"skillId":"pdf","script":"extract.py"}`, sandbox.Result{Stdout: "half", Stderr: "bad\n", Code: 2}, nil, "", "failed: it ended with exit code 2; stderr: bad", "python3"},
		{"too long", `{"skillId":"pdf","script":"extract.py","timeoutMs":2000}`, sandbox.Result{Ended: sandbox.TooLong, Code: 137}, nil, "", "it ran longer than 2s", "python3"},
		{"no sandbox", `{"skillId":"pdf","script":"extract.py"}`, sandbox.Result{}, sandbox.ErrNoSandbox, "", "cannot be run safely", "python3"},
		{"not a script", `{"skillId":"pdf","script":"SKILL.md"}`, sandbox.Result{}, nil, "", "has no script", ""},
		{"out of it", `{"skillId":"pdf","script":"scripts/../../../agents/writer/skills/style/scripts/s.py"}`, sandbox.Result{}, nil, "", "has no script", ""},
		{"another agent's", `{"skillId":"writer--style","script":"scripts/s.py"}`, sandbox.Result{}, nil, "", `there is no skill "writer--style"`, ""},
		{"a long argument", `{"skillId":"pdf","script":"extract.py","args":["` + long + `"]}`, sandbox.Result{}, nil, "", "argument 1 is longer", ""},
		{"many arguments", `{"skillId":"pdf","script":"extract.py","args":[` + strings.Repeat(`"x",`, 64) + `"x"]}`, sandbox.Result{}, nil, "", "65 arguments", ""},
		{"a variable of the linker", `{"skillId":"pdf","script":"extract.py","env":{"LD_PRELOAD":"x"}}`, sandbox.Result{}, nil, "", "cannot be set", ""},
		{"no name of a variable", `{"skillId":"pdf","script":"extract.py","env":{"A=B":"x"}}`, sandbox.Result{}, nil, "", "cannot be set", ""},
		{"longer than allowed", `{"skillId":"pdf","script":"extract.py","timeoutMs":300001}`, sandbox.Result{}, nil, "", "up to 300000", ""},
	}
	r := f.open(nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			run := &recorder{result: tt.result, err: tt.err, missing: "ruby"}
			got, err := call(t, use(r, run, all), "main", "execute_skill_script", tt.args)
			if got != tt.want || (err == nil) != (tt.fail == "") || err != nil && !strings.Contains(err.Error(), tt.fail) {
				t.Errorf("got %q, %v", got, err)
			}
			if tt.program == "" {
				if len(run.got) != 0 {
					t.Errorf("it ran %+v", run.got)
				}
				return
			}
			if len(run.got) != 1 || run.got[0].Program[0] != tt.program {
				t.Fatalf("it ran %+v, want %s", run.got, tt.program)
			}
			if c := run.got[0]; tt.name == "python" && (c.Script != "scripts/extract.py" || strings.Join(c.Args, "|") != "a|b c" || c.Env["K"] != "v" || c.Limits.Time != 1500*time.Millisecond) {
				t.Errorf("it ran %+v", c)
			}
		})
	}
	if m := use(r, &recorder{missing: "ruby"}, all).Missing(); fmt.Sprint(m) != "map[ruby:[pdf]]" {
		t.Errorf("missing: %v", m)
	}
}

// A script of a real skill runs in the real sandbox.
func TestExecuteScriptForReal(t *testing.T) {
	t.Parallel()
	run := sandboxtest.Runner(t, sandbox.Options{})
	f := newTree(t)
	f.skill("skills/sum", "Adds numbers")
	f.write("skills/sum/scripts/sum.sh", "n=0; for a in \"$@\"; do n=$((n + a)); done; echo $n; cat ../data.txt 2>/dev/null; cat \"$(dirname \"$0\")/../assets/unit.txt\"")
	f.write("skills/sum/assets/unit.txt", "apples\n")
	got, err := call(t, use(f.open(nil), run, all), "main", "execute_skill_script", `{"skillId":"sum","script":"sum.sh","args":["1","2","39"],"timeoutMs":120000}`)
	if got != "42\napples\n" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// Every caller at every seam with every selector: what belongs to another agent is nowhere, and cannot be told from what is not there.
func TestOwnershipMatrix(t *testing.T) {
	t.Parallel()
	owners := []string{"", "researcher", "writer", "a.b", "a_b"}
	f := newTree(t)
	dir := func(owner string) string {
		if owner == "" {
			return "skills/howto"
		}
		return "agents/" + owner + "/skills/howto-" + strings.NewReplacer(".", "dot", "_", "line").Replace(owner)
	}
	short := func(owner string) string { return filepath.Base(dir(owner)) }
	id := func(owner string) string {
		if owner == "" {
			return short(owner)
		}
		return skills.OwnedID(owner, short(owner))
	}
	for _, o := range owners {
		f.skill(dir(o), "canary-"+short(o))
		f.write(dir(o)+"/references/r.md", "canary-"+short(o))
		f.write(dir(o)+"/scripts/s.sh", "echo canary-"+short(o))
	}
	r := f.open(nil)
	selectors := []struct {
		name string
		of   func(owner string) skills.Selector
		// some: the selector chooses what it may choose.
		some bool
	}{
		{"absent", func(string) skills.Selector { return all }, true},
		{"empty", func(string) skills.Selector { return none }, false},
		{"the id", func(o string) skills.Selector { return names(id(o)) }, true},
		{"the short name", func(o string) skills.Selector { return names(short(o)) }, true},
		{"another name", func(string) skills.Selector { return names("nothing") }, false},
	}
	type seam struct {
		name string
		ask  func(u skills.Use, caller, owner string, sel skills.Selector) (string, error)
	}
	tools := func(name, more string) func(skills.Use, string, string, skills.Selector) (string, error) {
		return func(u skills.Use, caller, owner string, _ skills.Selector) (string, error) {
			return call(t, u, caller, name, fmt.Sprintf(`{"skillId":%q%s}`, id(owner), more))
		}
	}
	seams := []seam{
		{"list", func(u skills.Use, caller, _ string, sel skills.Selector) (string, error) {
			var b strings.Builder
			for _, k := range u.Registry.List(caller, sel) {
				b.WriteString(k.Description + " ")
			}
			return b.String(), nil
		}},
		{"prompt", func(u skills.Use, caller, _ string, sel skills.Selector) (string, error) {
			return u.Registry.Index(caller, sel), nil
		}},
		{"get", func(u skills.Use, caller, owner string, sel skills.Selector) (string, error) {
			k, err := u.Registry.Get(caller, sel, id(owner))
			return k.Text, err
		}},
		{"load", tools("load_skill", "")},
		{"search", func(u skills.Use, caller, owner string, _ skills.Selector) (string, error) {
			return call(t, u, caller, "load_skill", `{"search":"canary-`+short(owner)+`"}`)
		}},
		{"reference", tools("load_skill_reference", `,"reference":"references/r.md"`)},
		{"script", tools("execute_skill_script", `,"script":"scripts/s.sh"`)},
	}
	cells := 0
	for _, caller := range append(owners, "nobody-known") {
		for _, owner := range owners {
			for _, sel := range selectors {
				for _, sm := range seams {
					cells++
					selector := sel.of(owner)
					run := &recorder{result: sandbox.Result{Stdout: "canary-" + short(owner)}}
					got, err := sm.ask(use(r, run, selector), caller, owner, selector)
					all := got
					if err != nil {
						all += err.Error()
					}
					may := sel.some && (owner == "" || owner == caller)
					cell := fmt.Sprintf("caller %q, owner %q, selector %s, seam %s", caller, owner, sel.name, sm.name)
					if may != strings.Contains(got, "canary-"+short(owner)) {
						t.Errorf("%s: want %t, got %q, %v", cell, may, got, err)
					}
					for _, o := range owners {
						if o != "" && o != caller && o != owner && (strings.Contains(all, "canary-"+short(o)) || strings.Contains(all, short(o))) {
							t.Errorf("%s: %q of %q leaks: %q, %v", cell, short(o), o, got, err)
						}
					}
					if may || err == nil {
						continue
					}
					// What it may not see is as what is not there, but for the name that it gave itself.
					none, missing := sm.ask(use(r, run, selector), caller, "missing", selector)
					if sm.name != "get" && (none != got || strings.ReplaceAll(missing.Error(), skills.OwnedID("missing", "howto-missing"), id(owner)) != err.Error()) {
						t.Errorf("%s: %v differs from %v", cell, err, missing)
					}
				}
			}
		}
	}
	if cells != 6*5*5*7 {
		t.Errorf("%d cells", cells)
	}
}
