package hostile_test

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"herald/bots/bottest/platform"
	"herald/core/model"
	"herald/core/model/modeltest"
)

// selection is how an agent lists its skills and tools; choose says of whom it takes what there is for it.
type selection struct {
	name   string
	list   func(caller string) string
	choose func(owner string) bool
}

var selections = []selection{
	{"absent", func(string) string { return "" }, func(string) bool { return true }},
	{"true", func(string) string { return "true" }, func(string) bool { return true }},
	{"empty", func(string) string { return "[]" }, func(string) bool { return false }},
	{"shared", func(string) string { return "[common-kit]" }, func(o string) bool { return o == "shared" }},
	{"short", func(string) string { return "[own-kit]" }, func(o string) bool { return o == "self" }},
	{"id", func(c string) string { return "[" + c + "--own-kit]" }, func(o string) bool { return o == "self" }},
	{"foreign-short", func(string) string { return "[far-kit]" }, func(string) bool { return false }},
	{"foreign-id", func(string) string { return "[other--far-kit]" }, func(string) bool { return false }},
}

// matrix is a service with callers of every selection, each once with a skill and a tool of its own and once without.
type matrix struct {
	*rig
	mu sync.Mutex
	// last is the last request of each caller: it shows what the caller sees, and what came of all that it tried.
	last map[string]*model.Request
	hits map[string]int
}

type caller struct {
	id   string
	owns bool
	sel  selection
}

func callers() []caller {
	var out []caller
	for _, s := range selections {
		out = append(out, caller{"owner-" + s.name, true, s}, caller{"bare-" + s.name, false, s})
	}
	return out
}

// kit is the name by which a model calls what an owner has.
func kit(owner, c string) string {
	return map[string]string{"shared": "common-kit", "self": c + "--own-kit", "other": "other--far-kit"}[owner]
}

// seams are the ways to what somebody owns. Each gives what a caller tried there came to; the prompt and the tools are looked at, not tried.
var seams = []string{"prompt", "listed", "loaded", "referenced", "script", "shown", "run", "run by its short name"}

// attempts are what a caller tries, by seam.
func attempts(owner, c string) map[string]ordered {
	id := kit(owner, c)
	short := id[strings.LastIndex(id, "--")+1:]
	short = strings.TrimPrefix(short, "-")
	return map[string]ordered{
		"listed":                {"load_skill", fmt.Sprintf(`{"search":"about-%s"}`, owner)},
		"loaded":                {"load_skill", fmt.Sprintf(`{"skillId":%q}`, id)},
		"referenced":            {"load_skill_reference", fmt.Sprintf(`{"skillId":%q,"reference":"references/r.md"}`, id)},
		"script":                {"execute_skill_script", fmt.Sprintf(`{"skillId":%q,"script":"scripts/s.sh"}`, id)},
		"run":                   {id, fmt.Sprintf(`{"by":"id-%s-%s"}`, owner, c)},
		"run by its short name": {short, fmt.Sprintf(`{"by":"short-%s-%s"}`, owner, c)},
	}
}

// newMatrix makes the service and lets every caller try everything.
func newMatrix(t *testing.T, rules ...string) *matrix {
	t.Helper()
	x := &matrix{last: map[string]*model.Request{}, hits: map[string]int{}}
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.hits[r.URL.Query().Get("by")]++
		fmt.Fprint(w, "ran-"+strings.Trim(r.URL.Path, "/"))
	}))
	t.Cleanup(door.Close)
	dir := shortDir(t)
	file := func(path, text string) {
		path = filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	give := func(below, name, owner string) {
		file(below+"skills/"+name+"/SKILL.md", "---\ndescription: about-"+owner+"\n---\ntext-"+owner+"\n")
		file(below+"skills/"+name+"/references/r.md", "reference-"+owner)
		file(below+"skills/"+name+"/scripts/s.sh", "echo script-"+owner+"\n")
		file(below+"tools/"+name+".toml", "description = \"tool-"+owner+"\"\n[http]\nmethod = \"GET\"\nurl = \""+door.URL+"/"+owner+"\"\nquery = { by = \"{by}\" }\n[parameters.properties.by]\ntype = \"string\"\n")
	}
	agent := func(id, head string) {
		file("agents/"+id+"/AGENT.md", "---\nname: "+id+"\ndescription: for tests\n"+head+"---\nYou are "+id+".\n")
	}
	agent("main", "type: chat\ntools: true\n")
	agent("other", "type: task\n")
	give("", "common-kit", "shared")
	give("agents/other/", "far-kit", "other")
	for _, c := range callers() {
		head := "type: task\n"
		if l := c.sel.list(c.id); l != "" {
			head += "skills: " + l + "\ntools: " + l + "\n"
		}
		agent(c.id, head)
		if c.owns {
			give("agents/"+c.id+"/", "own-kit", "self")
		}
	}
	x.rig = begin(t, setup{
		dir: dir, rules: []modeltest.Rule{x.note, obey},
		env: append([]string{"HERALD_TURN__MAX_ROUNDS=200", "HERALD_SKILLS__UNSANDBOXED=true"}, rules...),
	})
	for _, c := range callers() {
		var all []string
		for _, o := range []string{"shared", "self", "other"} {
			a := attempts(o, c.id)
			for _, s := range seams {
				if o, ok := a[s]; ok {
					all = append(all, "CALL("+o.name+" "+o.arguments+")")
				}
			}
		}
		told := x.chat.Post(platform.Say{Channel: "c", Thread: c.id, Mention: true, Text: fmt.Sprintf(`CALL(execute_task {"mode":"sync","agent_id":%q,"prompt":%q})`, c.id, strings.Join(all, " "))})
		if got := x.answer(told, c.id); !strings.HasPrefix(got, "DONE") {
			t.Fatalf("%s: %s", c.id, got)
		}
	}
	return x
}

// note keeps the last request of each caller.
func (x *matrix) note(q *model.Request) (modeltest.Reply, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, c := range callers() {
		if strings.Contains(q.System[0], "You are "+c.id+".") {
			x.last[c.id] = q
		}
	}
	return modeltest.Reply{}, false
}

// met is what a caller met at a seam.
func (x *matrix) met(owner, c, seam string) string {
	q := x.last[c]
	if q == nil {
		x.t.Fatalf("%s was never asked", c)
	}
	switch seam {
	case "prompt":
		return strings.Join(q.System, "\n")
	case "shown":
		for _, t := range q.Tools {
			if t.Name == kit(owner, c) {
				return t.Description
			}
		}
		return ""
	}
	want := attempts(owner, c)[seam]
	for _, m := range q.Messages {
		for _, call := range m.Calls {
			if string(call.Arguments) != want.arguments {
				continue
			}
			for _, r := range q.Messages {
				if r.Role == model.Tool && r.CallID == call.ID {
					return r.Text
				}
			}
		}
	}
	x.t.Errorf("%s did not try %v", c, want)
	return ""
}

// marks are what stands where a seam gives something away.
var marks = map[string]string{
	"prompt": "about-", "listed": "about-", "loaded": "text-", "referenced": "reference-", "script": "script-", "shown": "tool-", "run": "ran-", "run by its short name": "ran-",
}

// Who sees, loads and runs what: callers with and without something of their own, by every selection, through the real engine.
func TestOwnershipThroughTheEngine(t *testing.T) {
	t.Parallel()
	x := newMatrix(t, "HERALD_RULES__1__TOOL=*", "HERALD_RULES__1__ACTION=allow", "HERALD_RULES__1__PRIORITY=-1")
	cells, open := 0, 0
	for _, c := range callers() {
		for _, owner := range []string{"shared", "self", "other"} {
			for _, seam := range seams {
				cells++
				may := c.sel.choose(owner) && (owner == "shared" || owner == "self" && c.owns)
				if seam == "run by its short name" {
					may = may && owner == "shared" // a model calls tools by the names that it is shown
				}
				got := x.met(owner, c.id, seam)
				cell := fmt.Sprintf("caller %s, owner %s, seam %s", c.id, owner, seam)
				if has := strings.Contains(got, marks[seam]+owner); has != may {
					t.Errorf("%s: reached %t, want %t: %.600q", cell, has, may, got)
				}
				for _, m := range marks {
					if strings.Contains(got, m+"other") && seam != "listed" {
						t.Errorf("%s: what another one owns shows: %.600q", cell, got)
					}
				}
				if may {
					open++
				}
			}
		}
		for _, how := range []string{"id", "short"} {
			for _, owner := range []string{"shared", "self", "other"} {
				may := c.sel.choose(owner) && (owner == "shared" || owner == "self" && c.owns && how == "id")
				if n := x.hits[how+"-"+owner+"-"+c.id]; n != map[bool]int{true: 1}[may] {
					t.Errorf("caller %s ran the tool of %s by its %s %d times", c.id, owner, how, n)
				}
			}
		}
	}
	if cells != 16*3*8 || open == 0 {
		t.Errorf("%d cells, %d of them open", cells, open)
	}
	x.up()
}

// A rule that denies everything but the delegation closes every seam that acts, whoever owns what.
func TestTheGateClosesWhatOwnershipOpens(t *testing.T) {
	t.Parallel()
	x := newMatrix(t, "HERALD_RULES__1__TOOL=execute_task", "HERALD_RULES__1__ACTION=allow", "HERALD_RULES__1__PRIORITY=-2",
		"HERALD_RULES__2__TOOL=*", "HERALD_RULES__2__ACTION=deny", "HERALD_RULES__2__PRIORITY=-1")
	for _, c := range callers() {
		for _, owner := range []string{"shared", "self", "other"} {
			for _, seam := range seams {
				if got := x.met(owner, c.id, seam); seam != "prompt" && strings.Contains(got, marks[seam]) && !strings.Contains(got, "no such tool") {
					t.Errorf("caller %s, owner %s, seam %s: %.600q", c.id, owner, seam, got)
				}
			}
		}
	}
	if len(x.hits) > 0 {
		t.Errorf("tools ran: %v", x.hits)
	}
	x.up()
}

// Whom an agent may give work to is what its file says, shown or named.
func TestDelegationThroughTheEngine(t *testing.T) {
	t.Parallel()
	type try struct{ name, agent string }
	tries := []try{{"agent_near", "near"}, {"agent_far", "far"}, {"execute_subtask", "near"}, {"execute_subtask", "far"}, {"execute_task", "far"}, {"agent_main", "main"}, {"execute_subtask", "main"}}
	for _, tc := range []struct {
		name, head, shown string
		may               []try
	}{
		{"absent", "", "execute_subtask", []try{{"execute_subtask", "near"}, {"execute_subtask", "far"}}},
		{"a list", "delegates: [near]\n", "agent_near", []try{{"agent_near", "near"}}},
		{"a list with a chat agent", "delegates: [near, main]\n", "agent_main agent_near", []try{{"agent_near", "near"}}},
		{"empty", "delegates: []\n", "", nil},
		{"no tools", "allow_tools: false\n", "", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := shortDir(t)
			for id, head := range map[string]string{"main": "type: chat\n", "lead": "type: task\n" + tc.head, "near": "type: task\n", "far": "type: task\n"} {
				path := filepath.Join(dir, "agents", id, "AGENT.md")
				if err := cmp.Or(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("---\nname: "+id+"\ndescription: for tests\n"+head+"---\nYou are "+id+".\n"), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			var mu sync.Mutex
			var shown string
			reached := map[string]bool{}
			r := begin(t, setup{dir: dir, rules: []modeltest.Rule{func(q *model.Request) (modeltest.Reply, bool) {
				mu.Lock()
				defer mu.Unlock()
				if strings.Contains(q.System[0], "You are lead.") {
					var names []string
					for _, t := range q.Tools {
						if strings.HasPrefix(t.Name, "agent_") || strings.HasPrefix(t.Name, "execute_") && strings.HasSuffix(t.Name, "task") {
							names = append(names, t.Name)
						}
					}
					shown = strings.Join(names, " ")
				}
				for _, y := range tries {
					if strings.Contains(modeltest.LastUser(q), "work-"+y.name+"-"+y.agent) && !strings.Contains(q.System[0], "You are lead.") && !strings.Contains(q.System[0], "You are main.") {
						reached[y.name+" "+y.agent] = true
					}
				}
				return modeltest.Reply{}, false
			}, obey}, env: []string{"HERALD_RULES__1__TOOL=*", "HERALD_RULES__1__ACTION=allow"}})
			var all []string
			for _, y := range tries {
				all = append(all, fmt.Sprintf(`CALL(%s {"agent_id":%q,"mode":"sync","prompt":"work-%[1]s-%[2]s","input":"work-%[1]s-%[2]s"})`, y.name, y.agent))
			}
			r.answer(r.say("t", fmt.Sprintf(`CALL(execute_task {"mode":"sync","agent_id":"lead","prompt":%q})`, strings.Join(all, " "))), tc.name)
			if shown != tc.shown {
				t.Errorf("shown %q, want %q", shown, tc.shown)
			}
			for _, y := range tries {
				if got, want := reached[y.name+" "+y.agent], slices.Contains(tc.may, y); got != want {
					t.Errorf("%s reached %s: %t, want %t", y.name, y.agent, got, want)
				}
			}
			r.up()
		})
	}
}
