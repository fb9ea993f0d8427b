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
				Tools: Tools{Chosen: true, Names: []string{"recall", "current_time"}}, Prompt: "Hello.\n\nMore.",
			},
		},
		{
			"other spellings", "---\ntype: chat\nclient: fast\nmax-steps: 3\ntools: true\n---\nHello.",
			Agent{ID: "a", Name: "a", Type: Chat, Model: "fast", MaxSteps: 3, Tools: Tools{All: true}, Prompt: "Hello."},
		},
		{
			"auto is no model", "---\ntype: chat\nmodel: AUTO\n---\nHello.",
			Agent{ID: "a", Name: "a", Type: Chat, Prompt: "Hello."},
		},
		{
			"no tools", "---\ntype: chat\ntools: false\n---\nHello.",
			Agent{ID: "a", Name: "a", Type: Chat, Tools: Tools{Chosen: true}, Prompt: "Hello."},
		},
		{
			"empty list of tools", "---\ntype: chat\ntools: []\n---\nHello.",
			Agent{ID: "a", Name: "a", Type: Chat, Tools: Tools{Chosen: true}, Prompt: "Hello."},
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
			got, err := parse("a", []byte(tt.src))
			if err != nil {
				t.Fatal(err)
			}
			if got.Hash == "" {
				t.Error("no hash")
			}
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
		{"no type", "---\nname: Ada\n---\nHello.", 1, "type: chat"},
		{"no settings between the fences", "---\n---\nHello.", 1, "type: chat"},
		{"no prompt", "---\ntype: chat\n---\n \n", 0, "no prompt"},
		{"unknown key", "---\ntype: chat\ntemprature: 1\n---\nHello.", 3, `there is no setting "temprature"; did you mean "temperature"?`},
		{"unknown key, nothing near", "---\nzzzzzzzzzz: 1\ntype: chat\n---\nHello.", 2, `there is no setting "zzzzzzzzzz"`},
		{"twice", "---\ntype: chat\nmax_steps: 1\nmax-steps: 2\n---\nHello.", 4, `"max_steps" stands twice`},
		{"twice by its other name", "---\ntype: chat\nmodel: a\nclient: b\n---\nHello.", 4, `"model" stands twice`},
		{"another type", "---\ntype: task\n---\nHello.", 2, "chat"},
		{"strength", "---\ntype: chat\nstrength: medium\n---\nHello.", 3, "very_low, low, average, high, very_high"},
		{"temperature too high", "---\ntype: chat\ntemperature: 2.5\n---\nHello.", 3, "from 0 to 2"},
		{"temperature is no number", "---\ntype: chat\ntemperature: .nan\n---\nHello.", 3, "from 0 to 2"},
		{"temperature NaN", "---\ntype: chat\ntemperature: NaN\n---\nHello.", 3, "from 0 to 2"},
		{"steps", "---\ntype: chat\nmax_steps: 0\n---\nHello.", 3, "from 1 to 200"},
		{"tools by name alone", "---\ntype: chat\ntools: recall\n---\nHello.", 3, "neither a list"},
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
			_, err := parse("a", []byte(tt.src))
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
		"Tools": "tools", "tool": "tools", "desc": "", "descripton": "description", "max-step": "max_steps", "clint": "client",
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
		a, err := parse("a", src)
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
		if a.Type == "" || a.Prompt == "" || a.Name == "" || strings.ContainsAny(a.Name, "\n\r") {
			t.Fatalf("accepted as %+v", a)
		}
	})
}
