package agents

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestParse(t *testing.T) {
	t.Parallel()
	warm := 0.3
	tests := []struct {
		name, src string
		want      Agent
	}{
		{
			"least", "---\ntype: chat\n---\nHello.\n",
			Agent{ID: "a", Name: "a", Type: Chat, Prompt: "Hello."},
		},
		{
			"all settings", "---\nname: Ada\ndescription: >\n  Knows\n  numbers.\ntype: chat\nmodel: fast\nstrength: very_high\ntemperature: 0.3\nmax_steps: 7\ntools: [recall, current_time, recall]\n---\n\nHello.\n\nMore.\n\n",
			Agent{
				ID: "a", Name: "Ada", Description: "Knows numbers.", Type: Chat, Model: "fast", Strength: "very_high", Temperature: &warm, MaxSteps: 7,
				Tools: Selector{Chosen: true, Names: []string{"recall", "current_time"}}, Prompt: "Hello.\n\nMore.",
			},
		},
		{
			"settings of a specialist", "---\nfriendly-description: Finds things.\ninstructions: Name the question.\ntype: task\nscope: general\nthinking: 2000\nallow-tools: false\nskills: [cite]\ninject_skills: false\ninject-memory: [\"$WD/HERALD.md\", user-memory/index.md]\ndelegates: [a.b, c, a.b]\ncompaction_enabled: false\nextra:\n  ui: {color: red}\n---\nHello.",
			Agent{
				ID: "a", Name: "a", FriendlyDescription: "Finds things.", Instructions: "Name the question.", Type: Task, Scope: "general", Thinking: new(2000), NoTools: true,
				Skills: Selector{Chosen: true, Names: []string{"cite"}}, InjectMemory: []string{"$WD/HERALD.md", "user-memory/index.md"}, Delegates: []string{"a.b", "c"},
				Compaction: new(false), Extra: "ui: {color: red}", Prompt: "Hello.",
			},
		},
		{"no type", "---\nname: Ada\n---\nHello.", Agent{ID: "a", Name: "Ada", Type: Task, TypeTaken: true, Prompt: "Hello."}},
		{"no type, with delegates", "---\ndelegates: [b]\n---\nHello.", Agent{ID: "a", Name: "a", Type: Chat, TypeTaken: true, Delegates: []string{"b"}, Prompt: "Hello."}},
		{"no type, forbidden to delegate", "---\ndelegates: []\n---\nHello.", Agent{ID: "a", Name: "a", Type: Task, TypeTaken: true, Delegates: []string{}, Prompt: "Hello."}},
		{"nothing between the fences", "---\n---\nHello.", Agent{ID: "a", Name: "a", Type: Task, TypeTaken: true, Prompt: "Hello."}},
		{"null is nothing", "---\ntype: system\nclient: null\nstrength: ~\n---\nHello.", Agent{ID: "a", Name: "a", Type: System, Prompt: "Hello."}},
		{"thinking as much as it takes", "---\ntype: chat\nthinking: true\n---\nHello.", Agent{ID: "a", Name: "a", Type: Chat, Thinking: new(-1), Prompt: "Hello."}},
		{
			"other spellings", "---\ntype: chat\nclient: fast\nmax-steps: 3\ntools: true\n---\nHello.",
			Agent{ID: "a", Name: "a", Type: Chat, Model: "fast", MaxSteps: 3, Tools: Selector{All: true}, Prompt: "Hello."},
		},
		{
			"auto is no model", "---\ntype: chat\nmodel: AUTO\n---\nHello.",
			Agent{ID: "a", Name: "a", Type: Chat, Prompt: "Hello."},
		},
		{
			"no tools", "---\ntype: chat\ntools: false\n---\nHello.",
			Agent{ID: "a", Name: "a", Type: Chat, Tools: Selector{Chosen: true}, Prompt: "Hello."},
		},
		{
			"empty list of tools", "---\ntype: chat\ntools: []\n---\nHello.",
			Agent{ID: "a", Name: "a", Type: Chat, Tools: Selector{Chosen: true}, Prompt: "Hello."},
		},
		{
			"byte order mark and CRLF", "\ufeff---\r\ntype: chat\r\n---\r\nHello.\r\nMore.\r\n",
			Agent{ID: "a", Name: "a", Type: Chat, Prompt: "Hello.\nMore."},
		},
		{
			"a rule in the prompt is no fence", "---\ntype: chat\n---\nHello.\n\n---\n\nMore.",
			Agent{ID: "a", Name: "a", Type: Chat, Prompt: "Hello.\n\n---\n\nMore."},
		},
		{
			"a number as name keeps its text", "---\nname: 007\ntype: chat\n---\nHello.",
			Agent{ID: "a", Name: "007", Type: Chat, Prompt: "Hello."},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, _, err := parse(written{id: "a", prompt: []byte(tt.src), layout: Folder})
			if err != nil {
				t.Fatal(err)
			}
			if got.Hash == "" {
				t.Error("no hash")
			}
			tt.want.Layout, tt.want.InjectSkills = Folder, !strings.Contains(tt.src, "inject_skills: false")
			if d := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(Agent{}, "Hash")); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestParseFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, src string
		line      int
		want      string
	}{
		{"empty", "", 1, `must begin with a line "---"`},
		{"no settings", "Hello.\n", 1, `must begin with a line "---"`},
		{"no end of the settings", "---\ntype: chat\nHello.\n", 1, "have no end"},
		{"fence with a blank", "--- \ntype: chat\n---\nHello.", 1, "must begin"},
		{"no prompt", "---\ntype: chat\n---\n \n", 0, "no prompt"},
		{"unknown key", "---\ntype: chat\ntemprature: 1\n---\nHello.", 3, `there is no setting "temprature"; did you mean "temperature"?`},
		{"unknown key, nothing near", "---\nzzzzzzzzzz: 1\ntype: chat\n---\nHello.", 2, `there is no setting "zzzzzzzzzz"`},
		{"twice", "---\ntype: chat\nmax_steps: 1\nmax-steps: 2\n---\nHello.", 4, `"max_steps" stands twice`},
		{"twice by its other name", "---\ntype: chat\nmodel: a\nclient: b\n---\nHello.", 4, `"model" stands twice`},
		{"another type", "---\ntype: tusk\n---\nHello.", 2, "chat, which people talk to, task"},
		{"allow tools", "---\ntype: chat\nallow_tools: yes\n---\nHello.", 3, "neither true nor false"},
		{"thinking", "---\ntype: chat\nthinking: 0\n---\nHello.", 3, "true, false or a number of tokens"},
		{"itself", "---\ntype: chat\ndelegates: [a]\n---\nHello.", 3, "to itself"},
		{"unsafe delegate", "---\ntype: chat\ndelegates: [../b]\n---\nHello.", 3, "cannot be an agent's id"},
		{"delegate too long for a tool", "---\ntype: chat\ndelegates: [" + strings.Repeat("x", 59) + "]\n---\nHello.", 3, "too long"},
		{"delegates with one tool", "---\ntype: chat\ndelegates: [b.c, b_c]\n---\nHello.", 3, `the same tool "agent_b_c"`},
		{"all tools and delegates", "---\ntype: chat\ntools: true\ndelegates: [b]\n---\nHello.", 0, "exclude each other"},
		{"provider's tools", "---\ntype: chat\nprovider-tools: [web]\n---\nHello.", 3, "would not pass the gate"},
		{"servers", "---\nmcp-servers: [x]\n---\nHello.", 2, "no MCP servers"},
		{"memory outside", "---\ninject_memory: [user-memory/index.md, ../x]\n---\nHello.", 2, `entry 2: "../x" is no plain path`},
		{"memory from the root", "---\ninject_memory: [/etc/passwd]\n---\nHello.", 2, "no plain path"},
		{"memory from another folder", "---\ninject_memory: [$HOME/x]\n---\nHello.", 2, "only $WD/ may stand"},
		{"memory outside of the working folder", "---\ninject_memory: [$WD/../x]\n---\nHello.", 2, "no plain path"},
		{"number in a list", "---\nskills: [cite, 7]\n---\nHello.", 2, "entry 2"},
		{"strength", "---\ntype: chat\nstrength: medium\n---\nHello.", 3, "very_low, low, average, high, very_high"},
		{"temperature too high", "---\ntype: chat\ntemperature: 2.5\n---\nHello.", 3, "from 0 to 2"},
		{"temperature is no number", "---\ntype: chat\ntemperature: .nan\n---\nHello.", 3, "from 0 to 2"},
		{"temperature NaN", "---\ntype: chat\ntemperature: NaN\n---\nHello.", 3, "from 0 to 2"},
		{"steps", "---\ntype: chat\nmax_steps: 0\n---\nHello.", 3, "from 1 to 200"},
		{"tools by name alone", "---\ntype: chat\ntools: recall\n---\nHello.", 3, "must be a list of tools, true"},
		{"a map of tools", "---\ntype: chat\ntools: {recall: true}\n---\nHello.", 3, "list of tools"},
		{"empty tool", "---\ntype: chat\ntools: [recall, \"\"]\n---\nHello.", 3, "entry 2"},
		{"no value", "---\ntype: chat\nname:\n---\nHello.", 3, "no value"},
		{"an alias", "---\ntype: chat\nname: &n Ada\ndescription: *n\n---\nHello.", 4, "one value"},
		{"a list where a text belongs", "---\ntype: chat\nname: [a]\n---\nHello.", 3, "one value"},
		{"name too long", "---\ntype: chat\nname: " + strings.Repeat("x", 81) + "\n---\nHello.", 3, "at most 80"},
		{"not YAML", "---\ntype: chat\nname: a: b\n---\nHello.", 3, "not valid YAML"},
		{"a tab", "---\ntype: chat\n\tname: a\n---\nHello.", 3, "not valid YAML"},
		{"a list of settings", "---\n- type\n---\nHello.", 2, "key: value"},
		{"not UTF-8", "---\ntype: chat\n---\n\xff", 0, "UTF-8"},
		{"settings too long", "---\ntype: chat\n" + strings.Repeat("# x\n", maxHeader/4) + "---\nHello.", 0, "more than"},
		{"prompt too long", "---\ntype: chat\n---\n" + strings.Repeat("x", maxPrompt+1), 0, "at most"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, _, err := parse(written{id: "a", prompt: []byte(tt.src), layout: Folder})
			f, ok := errors.AsType[fault](err)
			if !ok {
				t.Fatalf("got %v, want a fault", err)
			}
			if f.line != tt.line || !strings.Contains(f.text, tt.want) {
				t.Errorf("got line %d, %q; want line %d, %q", f.line, f.text, tt.line, tt.want)
			}
		})
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"Tools": "tools", "tool": "tools", "allowed-tools": "allow_tools", "inject_skill": "inject_skills", "delegate": "delegates", "desc": "", "descripton": "description", "max-step": "max_steps", "clint": "client",
		strings.Repeat("x", 10_000): "",
	}
	for in, want := range tests {
		if got := nearest(in); got != want {
			t.Errorf("nearest(%.20q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"---\ntype: chat\n---\nHello.", "---\nname: &a [*a]\n---\nx", "---\n? [a]\n: b\n---\nx", "---\n!!binary x: y\n---\nx", "---\r\n---\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		a, _, err := parse(written{id: "a", prompt: src, layout: Folder})
		if err != nil {
			got, ok := errors.AsType[fault](err)
			if !ok || got.text == "" {
				t.Fatalf("%v (%T) is no fault with a text", err, err)
			}
			if n := strings.Count(lineEnds.Replace(string(src)), "\n") + 1; got.line < 0 || got.line > n {
				t.Fatalf("line %d of a file with %d", got.line, n)
			}
			return
		}
		if a.Type == "" || a.TypeTaken && a.Type == System || a.Prompt == "" || a.Name == "" || strings.ContainsAny(a.Name, "\n\r") {
			t.Fatalf("accepted as %+v", a)
		}
	})
}

func TestParseMeta(t *testing.T) {
	t.Parallel()
	const least = `"name":"Ada","description":"Counts.","type":"task"`
	tests := []struct {
		name, meta, prompt string
		want               Agent
	}{
		{"least", `{` + least + `}`, "Hello.", Agent{Name: "Ada", Description: "Counts.", Type: Task, InjectSkills: true, Prompt: "Hello."}},
		{
			"the whole schema", `{` + least + `,
  "friendly_description": "For \u00fcs", "instructions": "Ask.", "inject_memory": ["$WD/SKALD.md"], "client": "fast", "scope": "coding", "strength": "high",
  "inject_skills": false, "allow_tools": true, "max_steps": 7, "tools": ["read_file"], "extra": {"unknown": [1, {"type": "x"}]}}`, "Hello.",
			Agent{
				Name: "Ada", Description: "Counts.", Type: Task, FriendlyDescription: "For üs", Instructions: "Ask.", InjectMemory: []string{"$WD/SKALD.md"}, Model: "fast",
				Scope: "coding", Strength: "high", MaxSteps: 7, Tools: Selector{Chosen: true, Names: []string{"read_file"}}, Extra: "unknown:\n    - 1\n    - type: x", Prompt: "Hello.",
			},
		},
		{
			"null as the schema allows it", `{` + least + `, "client": null, "strength": null, "friendly_description": null}`, "Hello.",
			Agent{Name: "Ada", Description: "Counts.", Type: Task, InjectSkills: true, Prompt: "Hello."},
		},
		{
			"a prompt that begins with a rule", `{` + least + `}`, "---\nHello, all.\n\n---\nMore.",
			Agent{Name: "Ada", Description: "Counts.", Type: Task, InjectSkills: true, Prompt: "---\nHello, all.\n\n---\nMore."},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, notes, err := parse(written{id: "a", prompt: []byte(tt.prompt), meta: []byte(tt.meta), layout: Meta})
			if err != nil || len(notes) != 0 {
				t.Fatal(err, notes)
			}
			tt.want.ID, tt.want.Layout = "a", Meta
			if d := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(Agent{}, "Hash")); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestParseMetaFaults(t *testing.T) {
	t.Parallel()
	const good = `{"name":"Ada","description":"Counts.","type":"task"}`
	tests := []struct {
		name, meta, prompt, path string
		line                     int
		want                     string
	}{
		{"settings twice", good, "---\nname: Ada\n---\nHello.", "", 1, "settings twice, here and in meta.json"},
		{"no type", `{"name":"Ada","description":"x"}`, "Hello.", "a/meta.json", 1, `add "type": "task"`},
		{"no name", `{"type":"task","description":"x"}`, "Hello.", "a/meta.json", 1, "have no name"},
		{"no description", `{"type":"task","name":"x"}`, "Hello.", "a/meta.json", 1, "have no description"},
		{"empty", ``, "Hello.", "a/meta.json", 1, "ends too early"},
		{"half", "{\n\"name\": \"Ada\",\n", "Hello.", "a/meta.json", 2, "ends too early"},
		{"no JSON", "{\n\"name\": Ada}", "Hello.", "a/meta.json", 2, "not valid JSON: invalid character 'A'"},
		{"two of them", good + "\n{}", "Hello.", "a/meta.json", 2, "one JSON object"},
		{"a list", "\n[]", "Hello.", "a/meta.json", 2, "one JSON object"},
		{"unknown strength", "{\"type\":\"task\",\n\"strength\": \"medium\"}", "Hello.", "a/meta.json", 2, "very_low, low, average, high, very_high"},
		{"unknown key", "{\"type\":\"task\",\n\n\"sterngth\": \"high\"}", "Hello.", "a/meta.json", 3, `did you mean "strength"?`},
		{"twice", "{\"type\":\"task\",\n\"type\": \"chat\"}", "Hello.", "a/meta.json", 2, "stands twice"},
		{"too deep", `{"extra":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`, "Hello.", "a/meta.json", 1, "deep"},
		{"too long", strings.Repeat(" ", maxHeader) + good, "Hello.", "a/meta.json", 0, "more than"},
		{"not UTF-8", "\xff", "Hello.", "a/meta.json", 0, "UTF-8"},
		{"no prompt", good, " \n", "", 0, "no prompt"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, _, err := parse(written{id: "a", prompt: []byte(tt.prompt), meta: []byte(tt.meta), layout: Meta})
			f, ok := errors.AsType[fault](err)
			if !ok {
				t.Fatalf("got %v, want a fault", err)
			}
			if f.path != tt.path || f.line != tt.line || !strings.Contains(f.text, tt.want) {
				t.Errorf("got %s line %d, %q; want %s line %d, %q", f.path, f.line, f.text, tt.path, tt.line, tt.want)
			}
		})
	}
}

func FuzzParseMeta(f *testing.F) {
	for _, s := range []string{`{"name":"Ada","description":"x","type":"task"}`, `{"extra":{"a":[null,true,1.5]}}`, "{\n}", "[", `{"a":1}{`, "\"\\ud800\""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		a, _, err := parse(written{id: "a", prompt: []byte("Hello."), meta: append([]byte{}, src...), layout: Meta})
		if err == nil {
			if a.Type == "" || a.Name == "" || a.Description == "" {
				t.Fatalf("accepted as %+v", a)
			}
			return
		}
		got, ok := errors.AsType[fault](err)
		if !ok || got.text == "" {
			t.Fatalf("%v (%T) is no fault with a text", err, err)
		}
		if n := strings.Count(string(src), "\n") + 1; got.line < 0 || got.line > n {
			t.Fatalf("line %d of a file with %d", got.line, n)
		}
	})
}
