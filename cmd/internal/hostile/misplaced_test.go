package hostile_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"herald/bots/bottest/platform"
	"herald/cmd/internal/service"
	"herald/core/model"
	"herald/core/model/modeltest"
	"herald/core/tool"
)

// A secret that stands in the wrong place is a mistake that people make. What says so must not repeat it.
func TestMisplacedSecrets(t *testing.T) {
	t.Parallel()
	all := newSecrets("misplaced secret")
	s := all[0]
	const provider = "[providers.p]\nbase_url = \"http://127.0.0.1:1/v1\"\ndefault_model = \"m\"\n"
	for _, tc := range []struct {
		name, file string
		env        []string
		// want is the exit code of config check, which must speak of words.
		want  int
		words string
	}{
		{name: "as the key itself", file: provider + "api_key = " + inJSON(s.value()), want: 3, words: "api_key"},
		{name: "as the name of a variable", file: provider + "api_key_env = " + inJSON(s.core), want: 3, words: "api_key_env"},
		{name: "as the name of a file", file: provider + "api_key_file = " + inJSON(s.value()), want: 3, words: "api_key_file"},
		{name: "as an unknown variable", file: provider, env: []string{"HERALD_PROVIDERS__P__API_KEY=" + s.value()}, want: 3, words: "API_KEY"},
		{name: "in the address of a provider", file: strings.Replace(provider, "http://", "http://me:"+s.core+"@", 1), want: 3, words: "base_url"},
		{name: "as a password of a file store", file: "[store]\nurl = \"sqlite://" + s.core + "@h/x.db\"", want: 3, words: "store.url"},
		{name: "as an option of the store", file: "[store]\nurl = \"redis://h/0?password=" + s.core + "\"", want: 3, words: "store.url"},
		{name: "as a port", file: "[store]\nurl = \"redis://h:" + s.core + "\"", want: 3, words: "store.url"},
		{name: "as the name of a section", file: "[" + s.core + "]\nx = 1", want: 3},
		{name: "with an end of line in it", file: provider + "api_key_env = \"K\"", env: []string{"K=" + s.value() + "\n" + s.core}, want: 3, words: "api_key_env"},
		{name: "without end", file: provider + "api_key_env = \"K\"", env: []string{"K=" + strings.Repeat(s.value(), 1000)}, want: 3, words: "16 KiB"},
		{name: "in a broken line", file: "api_key = \"" + s.core + "\nx", want: 3},
		{name: "in the store's address, where it may be", file: "[store]\nurl = \"redis://me:" + s.core + "@127.0.0.1:1\"", want: 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, tc.env...)
			h.write("herald.toml", tc.file+"\n")
			for i, args := range [][]string{{"config", "check"}, {"config", "explain"}, {"doctor"}, {"run"}, {"store", "create"}, {"chat", "--once", "hello"}} {
				if tc.want == 3 && i > 3 {
					break // they end where the first ones did
				}
				r := h.do("", args...)
				said := r.out + r.err
				// An unknown name is what the message is about.
				if tc.name != "as the name of a section" {
					hunt(t, all, "herald "+strings.Join(args, " "), []byte(said))
				}
				if i == 0 && (r.code != tc.want || !strings.Contains(said, tc.words)) {
					t.Errorf("config check: code %d, %s; want %d and %q", r.code, said, tc.want, tc.words)
				}
				if strings.Contains(said, "panic") || strings.Contains(said, "goroutine") {
					t.Errorf("herald %s: %s", strings.Join(args, " "), said)
				}
			}
		})
	}
}

// The questions of init, answered with a secret at every place, and a provider that echoes it.
func TestInitKeepsSecrets(t *testing.T) {
	t.Parallel()
	all := newSecrets("key of a variable")
	fake := &modeltest.Server{Rules: []modeltest.Rule{modeltest.Always(modeltest.Reply{Wire: modeltest.Wire{Status: 401, Body: `{"error":"key {key}"}`}})}}
	h := newHome(t, "KEY="+all[0].value())
	url := startModel(t, fake)
	for name, r := range map[string]result{
		"with flags":     h.do("", "init", "--yes", "--base-url", url, "--api-key-env", "KEY", "--model", "m"),
		"with questions": h.do(url+"\nKEY\nm\ne\n", "init", "--output", "two.toml"),
		"kept":           h.do(url+"\nKEY\nm\nk\nsqlite:"+filepath.Join(h.dir, "x.db")+"\n", "init", "--output", "three.toml"),
		"as a name":      h.do("", "init", "--yes", "--base-url", url, "--api-key-env", all[0].core, "--model", "m", "--output", "four.toml"),
	} {
		hunt(t, all, "init "+name, []byte(r.out+r.err))
		if (r.code == 0) != (name == "kept") {
			t.Errorf("init %s: code %d: %s", name, r.code, r.err)
		}
	}
	if fake.Calls() == 0 {
		t.Error("the key was not tried")
	}
	if files := huntFiles(t, all, h.dir); !strings.Contains(string(files), "KEY") {
		t.Error("no configuration was written: nothing was looked through")
	}
}

// The terminal has transcripts of its own.
func TestTerminalKeepsSecrets(t *testing.T) {
	t.Parallel()
	all := newSecrets("key of a variable", "key of a file")
	fake := &modeltest.Server{Key: all[0].value(), Rules: leaking(all)}
	h := newHome(t, "CANARY_KEY="+all[0].value(), "HERALD_PROVIDERS__ONE__API_KEY_ENV=CANARY_KEY", "HERALD_PROVIDERS__ONE__DEFAULT_MODEL=m",
		"HERALD_PROVIDERS__ONE__BASE_URL="+startModel(t, fake), "HERALD_PROVIDERS__TWO__API_KEY_FILE=key.txt", "HERALD_PROVIDERS__TWO__BASE_URL=http://127.0.0.1:1/v1",
		"HERALD_LOG__LEVEL=debug")
	h.write("key.txt", all[1].value())
	svc := h.start("run")
	for i := range leaks(all) {
		r := h.do("", "chat", "--once", fmt.Sprint("leak ", i), "--json")
		hunt(t, all, fmt.Sprint("the answer to leak ", i), []byte(r.out+r.err))
		if !strings.Contains(r.out, `"answer"`) {
			t.Errorf("leak %d is not answered: %s%s", i, r.out, r.err)
		}
	}
	for _, args := range [][]string{{"chat", "--once", "/why"}, {"chat", "--once", "/status"}, {"doctor", "--ask"}, {"doctor", "--json"}, {"config", "explain"}} {
		r := h.do("", args...)
		hunt(t, all, strings.Join(args, " "), []byte(r.out+r.err))
	}
	svc.stop()
	hunt(t, all, "the log", []byte(svc.log.String()+svc.out.String()))
	if files := huntFiles(t, all, filepath.Join(h.dir, "data")); !strings.Contains(string(files), "[redacted]") {
		t.Error("the transcript holds nothing that was redacted: nothing was looked through")
	}
}

// What a tool reads, refuses or dies of is cleaned like what a model says.
func TestToolsKeepSecrets(t *testing.T) {
	t.Parallel()
	all := newSecrets("key of a variable")
	value := all[0].value()
	named := func(name string, run func() (tool.Result, error)) tool.Tool {
		return tool.Tool{
			Spec: model.ToolSpec{Name: name, Parameters: []byte(`{"type":"object"}`)},
			Run:  func(context.Context, tool.Call) (tool.Result, error) { return run() },
		}
	}
	tools := []tool.Tool{
		named("reads", func() (tool.Result, error) { return tool.Result{Text: "KEY=" + value}, nil }),
		named("refuses", func() (tool.Result, error) {
			return tool.Result{}, fmt.Errorf("dial %s: %w", value, errors.ErrUnsupported)
		}),
		named("dies", func() (tool.Result, error) { panic("I hold " + value) }),
		named("dies_of_an_error", func() (tool.Result, error) { panic(errors.New(value)) }),
	}
	var rules []modeltest.Rule
	for _, tt := range tools {
		rules = append(rules, modeltest.AfterTool(tt.Spec.Name, modeltest.Say("It says: {result}")), modeltest.When("use "+tt.Spec.Name+".", modeltest.Use(tt.Spec.Name, "{}")))
	}
	r := begin(t, setup{
		rules: rules, env: []string{"HERALD_PROVIDERS__FAKE__API_KEY_ENV=KEY", "KEY=" + value, "HERALD_LOG__LEVEL=debug"},
		change: func(o *service.Options) {
			o.Tools = tools
			for _, tt := range tools {
				o.Allow = append(o.Allow, tt.Spec.Name)
			}
		},
	})
	for _, tt := range tools {
		got := r.answer(r.say(tt.Spec.Name, "use "+tt.Spec.Name+"."), tt.Spec.Name)
		hunt(t, all, tt.Spec.Name, []byte(got))
		if !strings.HasPrefix(got, "It says: ") {
			t.Errorf("%s: %q", tt.Spec.Name, got)
		}
	}
	for _, rec := range r.model.Records() {
		hunt(t, all, "a prompt", rec.Body)
	}
	log := r.log.String()
	hunt(t, all, "the log", []byte(log))
	if strings.Count(log, "a tool panicked") != 2 || !strings.Contains(log, "misplaced_test.go") {
		t.Errorf("the panics are not in the log with their stacks:\n%s", r.tail())
	}
	r.chat.Look(func(v platform.View) {
		if n := v.Counts().Sent; n != len(tools) {
			t.Errorf("%d messages, want %d", n, len(tools))
		}
	})
}
