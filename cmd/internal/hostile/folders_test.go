package hostile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"herald/core/model/modeltest"
)

// An agents' folder that somebody filled with all that a file system can hold neither stops the service nor slows it down; each bad
// agent is named, and nothing from outside of the folder is read.
func TestHostileAgents(t *testing.T) {
	t.Parallel()
	fake := &modeltest.Server{Record: true}
	h := newHome(t, "HERALD_PROVIDERS__P__DEFAULT_MODEL=m", "HERALD_PROVIDERS__P__BASE_URL="+startModel(t, fake))
	h.write("outside.md", "---\ntype: chat\n---\nThe treasure is buried here.")
	agent := func(id, text string) { h.write(filepath.Join("data", "agents", id, "AGENT.md"), text) }
	at := func(parts ...string) string {
		return filepath.Join(append([]string{h.dir, "data", "agents"}, parts...)...)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	link := func(to, id string) {
		must(os.MkdirAll(at(id), 0o700))
		must(os.Symlink(to, at(id, "AGENT.md")))
	}
	agent("good", "---\ntype: chat\n---\nBe good.")
	agent("large-head", "---\n# "+strings.Repeat("x", 70<<10)+"\ntype: chat\n---\nx")
	agent("endless-head", "---\ntype: chat\n"+strings.Repeat("#\n", 100_000))
	agent("bomb", "---\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ntype: *f\n---\nx")
	agent("deep-head", "---\ntype: "+strings.Repeat("[", 20_000)+"\n---\nx")
	agent("bytes", "---\ntype: chat\n---\n\xff\xfe\x00")
	agent("tagged", "---\ntype: !!binary aGk=\ntools: !!python/object:os.system [rm]\n---\nx")
	agent("empty", "")
	agent("no-end", "---\ntype: chat\n")
	agent("no-prompt", "---\ntype: chat\n---\n")
	agent("..", "---\ntype: chat\n---\nx") // a file beside the folders
	agent("UPPER case", "---\ntype: chat\n---\nx")
	agent("line\nend", "---\ntype: chat\n---\nx")
	must(os.MkdirAll(at("a-folder", "AGENT.md"), 0o700))
	link("/dev/zero", "a-device")
	link(filepath.Join(h.dir, "outside.md"), "a-link-out")
	link("AGENT.md", "a-loop")
	link("../good/AGENT.md", "a-link-in")
	must(os.Symlink(h.dir, at("a-way-out")))
	must(os.Symlink(at(), at("itself")))
	must(os.MkdirAll(at("a-pipe"), 0o700))
	must(syscall.Mkfifo(at("a-pipe", "AGENT.md"), 0o600))
	must(os.MkdirAll(at("a-giant"), 0o700))
	must(os.WriteFile(at("a-giant", "AGENT.md"), []byte("---\ntype: chat\n---\n"), 0o600))
	must(os.Truncate(at("a-giant", "AGENT.md"), 8<<30))

	began := time.Now()
	r := h.do("", "config", "check")
	if r.code != 3 {
		t.Errorf("config check: code %d: %s%s", r.code, r.out, r.err)
	}
	for _, bad := range []string{
		"large-head", "endless-head", "bomb", "deep-head", "bytes", "tagged", "empty", "no-end", "no-prompt", "UPPER case", "a-folder", "a-device",
		"a-link-out", "a-loop", "a-pipe", "a-giant",
	} {
		if !strings.Contains(r.err, bad) {
			t.Errorf("config check does not name %s", bad)
		}
	}
	if strings.Contains(r.out+r.err, "treasure") || strings.Contains(r.out+r.err, "panic") || strings.Count(r.err, "\n") > 200 {
		t.Errorf("config check says %.4000s", r.out+r.err)
	}
	svc := h.start("run")
	if got := h.do("", "chat", "--once", "hello"); got.out != "You said: hello\n" && !strings.HasPrefix(got.out, "You said: hello") {
		t.Errorf("the built-in agent does not answer: %+v", got)
	}
	if d := h.do("", "doctor"); !strings.Contains(d.out, "fail  agents") {
		t.Errorf("doctor: %s", d.out)
	}
	if log := svc.log.String(); strings.Contains(log, "panic") || !strings.Contains(log, "a-link-out") {
		t.Errorf("the log does not name what is wrong: %.3000s", log)
	}
	svc.stop()
	for i := range 4200 {
		agent(fmt.Sprint("many-", i), "---\ntype: chat\n---\nx")
	}
	if r := h.do("", "config", "check"); r.code != 3 || !strings.Contains(r.err, "at most 4096") {
		t.Errorf("config check of too many: code %d: %s", r.code, r.err)
	}
	if d := time.Since(began); d > 20*time.Second {
		t.Errorf("it took %s", d)
	}
	for _, rec := range fake.Records() {
		if strings.Contains(string(rec.Body), "treasure") {
			t.Error("a model was shown a file from outside of the folder")
		}
	}
}

// Whatever stands where the configuration should be, the commands end soon with words.
func TestHostileConfiguration(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, file string
		make       func(path string) error
	}{
		{"bytes", "\x00\xff\xfe", nil},
		{"a megabyte of unknown keys", strings.Repeat("k = 1\n", 1<<20/6), nil},
		{"a value without end", "[log]\nlevel = \"" + strings.Repeat("x", 10<<20) + "\"", nil},
		{"deep lists", "a = " + strings.Repeat("[", 100_000), nil},
		{"deep sections", "[" + strings.Repeat("a.", 50_000) + "b]\nx=1", nil},
		{"tables in tables", "a = " + strings.Repeat("{a=", 100_000), nil},
		{"a thousand providers that are none", func() string {
			var b strings.Builder
			for i := range 1000 {
				fmt.Fprintf(&b, "[providers.p%d]\nbase_url = \"nonsense\"\n", i)
			}
			return b.String()
		}(), nil},
		{"control characters in a name", "[\"a\\u001b[2Jb\"]\nx = 1", nil},
		{"a folder", "", func(path string) error { return os.Mkdir(path, 0o700) }},
		{"a device", "", func(path string) error { return os.Symlink("/dev/zero", path) }},
		{"a link to itself", "", func(path string) error { return os.Symlink(path, path) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			if tc.make == nil {
				h.write("herald.toml", tc.file)
			} else if err := tc.make(filepath.Join(h.dir, "herald.toml")); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"config", "check"}, {"run"}, {"doctor"}} {
				began := time.Now()
				r := h.do("", args...)
				said := r.out + r.err
				if r.code != 3 || !strings.Contains(said, "herald.toml") || strings.Contains(said, "goroutine ") || strings.Contains(said, "\x1b") {
					t.Errorf("herald %s: code %d: %.1000q", strings.Join(args, " "), r.code, said)
				}
				if len(said) > 1<<20 {
					t.Errorf("herald %s says %d bytes", strings.Join(args, " "), len(said))
				}
				if d := time.Since(began); d > 10*time.Second {
					t.Errorf("herald %s took %s", strings.Join(args, " "), d)
				}
			}
		})
	}
}
