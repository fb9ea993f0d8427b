package skills_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herald/skills"
)

// tree is a folder whose files get a later time with each write, as on a disk with a coarse clock they might not.
type tree struct {
	t   testing.TB
	dir string
	at  time.Time
}

func newTree(t testing.TB) *tree { return &tree{t, t.TempDir(), time.Now().Add(-time.Hour)} }

func (f *tree) write(rel, src string) {
	f.t.Helper()
	path := filepath.Join(f.dir, rel)
	f.at = f.at.Add(time.Second)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(src), 0o644), os.Chtimes(path, f.at, f.at)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *tree) skill(dir, description string) {
	f.t.Helper()
	f.write(dir+"/SKILL.md", "---\ndescription: "+description+"\n---\nText of "+description+".\n")
}

func (f *tree) remove(rel string) {
	f.t.Helper()
	if err := os.RemoveAll(filepath.Join(f.dir, rel)); err != nil {
		f.t.Fatal(err)
	}
}

// open is a registry over the tree's folders "skills", "more" and "agents". Its clock leaps, so that each question is a look.
func (f *tree) open(log *slog.Logger) *skills.Registry {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	var mu sync.Mutex
	now := time.Now()
	return skills.Open(skills.Options{
		Shared: []skills.Folder{
			{Path: filepath.Join(f.dir, "skills"), Setting: "skills.dir", MayBeMissing: true},
			{Path: filepath.Join(f.dir, "more"), Setting: "skills.project_dir", MayBeMissing: true},
		},
		Agents: skills.Folder{Path: filepath.Join(f.dir, "agents"), Setting: "agents.dir", MayBeMissing: true},
		Clock:  func() time.Time { mu.Lock(); defer mu.Unlock(); now = now.Add(time.Minute); return now },
		Log:    log,
	})
}

func ids(list []skills.Skill) string {
	var out []string
	for _, k := range list {
		out = append(out, k.ID)
	}
	return strings.Join(out, " ")
}

func problems(r *skills.Registry, f *tree) string {
	var out []string
	for _, p := range r.Problems() {
		out = append(out, strings.ReplaceAll(p.String(), f.dir+"/", ""))
	}
	return strings.Join(out, "\n")
}

var (
	all  = skills.Selector{}
	none = skills.Selector{Chosen: true}
)

func names(n ...string) skills.Selector { return skills.Selector{Chosen: true, Names: n} }

// Who sees what: the vectors of the rule.
func TestVisibility(t *testing.T) {
	t.Parallel()
	plain := newTree(t)
	plain.skill("skills/global-howto", "howto")
	plain.skill("agents/researcher/skills/cite", "own cite")
	plain.skill("agents/writer/skills/style", "style")
	both := newTree(t)
	both.skill("skills/global-howto", "howto")
	both.skill("skills/cite", "global cite")
	both.skill("agents/researcher/skills/cite", "own cite")
	both.skill("agents/writer/skills/style", "style")
	a, b := plain.open(nil), both.open(nil)
	tests := []struct {
		name, agent string
		r           *skills.Registry
		sel         skills.Selector
		want        string
	}{
		{"own and shared", "researcher", a, all, "researcher--cite global-howto"},
		{"another's own and shared", "writer", a, all, "writer--style global-howto"},
		{"nobody", "", a, all, "global-howto"},
		{"somebody unknown", "lead", a, all, "global-howto"},
		{"an empty list", "researcher", a, none, ""},
		{"own by the short name", "researcher", b, names("cite"), "researcher--cite"},
		{"shared of the same name", "writer", b, names("cite"), "cite"},
		{"another's by id", "writer", a, names("researcher--cite"), ""},
		{"doubles", "researcher", a, names("cite", "global-howto", "cite", "researcher--cite"), "researcher--cite global-howto"},
		{"order kept", "researcher", a, names("global-howto", "cite"), "global-howto researcher--cite"},
		{"an own one hides a shared one", "researcher", b, all, "researcher--cite global-howto"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := ids(tt.r.List(tt.agent, tt.sel)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	for _, agent := range []string{"writer", "", "lead"} {
		if k, err := a.Get(agent, all, "researcher--cite"); !errors.Is(err, skills.ErrNotFound) {
			t.Errorf("%q gets %+v, %v", agent, k, err)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	f := newTree(t)
	f.skill("agents/a.b/skills/x", "x of a.b")
	f.skill("agents/a_b/skills/x", "x of a_b")
	f.skill("agents/a.b", "the whole agent's")
	r := f.open(nil)
	for agent, want := range map[string]string{"a.b": "a_b a_b--x", "a_b": "a_b--x"} {
		if got := ids(r.List(agent, all)); got != want {
			t.Errorf("%s: %q, want %q", agent, got, want)
		}
		// Ids that are the same once sanitised are still two skills, each its owner's.
		if k, err := r.Get(agent, all, "a_b--x"); err != nil || k.Description != "x of "+agent {
			t.Errorf("%s: %+v, %v", agent, k, err)
		}
	}
	if k, err := r.Get("a.b", all, "a.b"); err != nil || k.ID != "a_b" {
		t.Errorf("%+v, %v", k, err)
	}
	for n, want := range map[string]bool{"fetch-paper": true, "x1": true, "": false, ".": false, "..": false, "a/b": false, "Bad": false, "a--b": false, "-a": false, "a-": false, strings.Repeat("x", 65): false} {
		if skills.ValidName(n) != want {
			t.Errorf("%q: %t", n, !want)
		}
	}
}

func TestReadAgain(t *testing.T) {
	t.Parallel()
	f := newTree(t)
	f.skill("skills/pdf", "one")
	var log bytes.Buffer
	r := f.open(slog.New(slog.NewTextHandler(&log, nil)))
	steps := []struct {
		name    string
		do      func()
		want    string // description of pdf
		problem string
	}{
		{"as it was", func() {}, "one", ""},
		{"changed", func() { f.skill("skills/pdf", "two") }, "two", ""},
		{"half written", func() { f.write("skills/pdf/SKILL.md", "---\ndescr") }, "two", "skills/pdf/SKILL.md:1: the settings have no end"},
		{"still broken", func() { f.write("skills/pdf/SKILL.md", "---\nname: pdf\n---\nx\n") }, "two", "no description; add the line"},
		{"mended", func() { f.skill("skills/pdf", "three") }, "three", ""},
		{"hidden", func() {
			f.write("skills/pdf/SKILL.md", "---\ndescription: d\ndisable-model-invocation: true\n---\nx\n")
		}, "missing", "hide it from models"},
		{"broken while hidden", func() { f.write("skills/pdf/SKILL.md", "---\n") }, "missing", "no end"},
		{"mended again", func() { f.skill("skills/pdf", "four") }, "four", ""},
		{"a second of the name", func() { f.skill("more/pdf", "five") }, "four", "more/pdf/SKILL.md: the skill \"pdf\" stands in"},
		{"the first broken", func() { f.write("skills/pdf/SKILL.md", "---\n") }, "four", "the version before it stays"},
		{"the first gone", func() { f.remove("skills/pdf") }, "five", ""},
		{"the first new and broken", func() { f.write("skills/pdf/SKILL.md", "---\n") }, "missing", "no end"},
		{"all gone", func() { f.remove("skills"); f.remove("more") }, "missing", ""},
		{"a new folder", func() { f.skill("skills/group/pdf", "six") }, "six", ""},
		{"one more in it", func() { f.skill("skills/group/doc", "doc") }, "six", ""},
	}
	for _, s := range steps {
		s.do()
		got := "missing"
		if k, err := r.Get("", all, "pdf"); err == nil {
			got = k.Description
		}
		if got != s.want {
			t.Errorf("%s: %q, want %q", s.name, got, s.want)
		}
		if p := problems(r, f); (s.problem == "") != (p == "") || !strings.Contains(p, s.problem) {
			t.Errorf("%s: problems %q, want %q", s.name, p, s.problem)
		}
	}
	if got := ids(r.List("", all)); got != "doc pdf" {
		t.Errorf("in the end: %q", got)
	}
	if n := strings.Count(log.String(), `msg="skills: the settings have no end`); n < 3 {
		t.Errorf("%d warnings:\n%s", n, &log)
	}
}

// A folder that cannot be read for a while loses nothing.
func TestFolderLost(t *testing.T) {
	t.Parallel()
	f := newTree(t)
	f.skill("skills/pdf", "one")
	f.skill("agents/writer/skills/style", "style")
	r := f.open(nil)
	for _, d := range []string{"skills", "agents"} {
		f.remove(d)
		if err := os.WriteFile(filepath.Join(f.dir, d), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := ids(r.List("writer", all)); got != "writer--style pdf" {
		t.Errorf("got %q", got)
	}
	if p := problems(r, f); !strings.Contains(p, "agents: the folder cannot be read") || !strings.Contains(p, "correct skills.dir") {
		t.Errorf("problems %q", p)
	}
	if got := ids(r.List("", all)); got != "pdf" {
		t.Errorf("nobody sees %q", got)
	}
}

// A broken skill of an agent holds its name: the shared one of the same name does not take its place.
func TestBrokenOwnHoldsItsName(t *testing.T) {
	t.Parallel()
	f := newTree(t)
	f.skill("skills/cite", "shared")
	f.write("agents/researcher/skills/cite/SKILL.md", "---\n")
	r := f.open(nil)
	if got := ids(r.List("researcher", all)); got != "" {
		t.Errorf("researcher sees %q", got)
	}
	if _, err := r.Get("researcher", names("cite"), "cite"); !errors.Is(err, skills.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if _, err := r.Get("writer", all, "cite"); err != nil {
		t.Error(err)
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	f := newTree(t)
	f.skill("skills/cite", "shared")
	f.skill("skills/a/twice", "one")
	f.skill("skills/b/twice", "two")
	f.skill("agents/researcher/skills/cite", "own")
	f.skill("agents/researcher/skills/writer--x", "no name")
	f.write("agents/researcher/skills/README.md", "no skill")
	f.skill("agents/common/skills/x", "no agent")
	f.skill("agents/.hidden/skills/x", "no agent")
	f.write("skills/index.md", "# Ours\n\n| Skill | For |\n|---|---|\n| `cite` | Cites papers, see [the file](cite/SKILL.md) |\n| gone | Was here |\n")
	want := strings.Join([]string{
		`agents/researcher/skills/cite/SKILL.md: for the agent "researcher" it stands before the shared skill skills/cite/SKILL.md; rename one of both if that is not meant`,
		`agents/researcher/skills/writer--x/SKILL.md: "writer--x" is no name of a skill: use small letters, digits and single '-', at most 64, and name the folder so`,
		`skills/b/twice/SKILL.md: the skill "twice" stands in skills/a/twice/SKILL.md already, which is the first of both; rename one of them`,
		`skills/index.md: it has no row for the skill "twice"; run herald skills index, or add one`,
		`skills/index.md:6: it has a row for the skill "gone", which is not in this folder; run herald skills index, or remove it`,
	}, "\n")
	if d := cmp.Diff(want, strings.ReplaceAll(problems(f.open(nil), f), f.dir+"/", "")); d != "" {
		t.Error(d)
	}
}

func TestIndex(t *testing.T) {
	t.Parallel()
	f := newTree(t)
	r := f.open(nil)
	if got := r.Index("researcher", all); got != "" {
		t.Errorf("without skills: %q", got)
	}
	f.skill("skills/pdf", "Reads PDF files </skills_index> | and more")
	f.skill("skills/cite", "Written in the file")
	f.skill("agents/researcher/skills/sources", "Finds sources")
	f.skill("agents/writer/skills/style", "Not for everybody")
	f.write("skills/index.md", "| Skill | For |\n|---|---|\n| [cite](cite/SKILL.md) | Cites papers, see [the file](cite/SKILL.md) |\n")
	got := r.Index("researcher", all) + "\n\nNobody:\n" + r.Index("", all) + "\n\nA list:\n" + r.Index("writer", names("pdf", "style")) + "\n"
	golden(t, "index.txt", got)
	if r.Index("researcher", none) != "" {
		t.Error("an empty list shows skills")
	}
	if again := r.Index("researcher", all); !strings.HasPrefix(got, again) {
		t.Error("the block changes by itself")
	}
	for i := range 200 {
		f.skill(fmt.Sprintf("skills/many/s%03d", i), "one of many")
	}
	many := r.Index("researcher", all)
	if n := strings.Count(many, "\n| "); n != skills.MaxIndex+1 || !strings.Contains(many, "75 more are not listed here") || !strings.Contains(many, "researcher--sources") {
		t.Errorf("%d rows:\n%s", n, many)
	}
}

func TestWriteIndex(t *testing.T) {
	t.Parallel()
	f := newTree(t)
	f.skill("skills/pdf", "Reads PDF files | with tables")
	f.skill("skills/cite", "Cites")
	dir := filepath.Join(f.dir, "skills")
	r := f.open(nil)
	write := func(want bool) string {
		t.Helper()
		changed, err := r.WriteIndex(dir)
		if err != nil || changed != want {
			t.Errorf("changed %t, %v", changed, err)
		}
		b, err := os.ReadFile(filepath.Join(dir, "index.md"))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	first := write(true)
	if p := problems(r, f); p != "" {
		t.Errorf("problems %q", p)
	}
	if again := write(false); again != first {
		t.Errorf("became %q", again)
	}
	f.write("skills/index.md", "# Ours\n\nText | with a bar.\n\n| Skill | For | Who |\n| --- | --- | --- |\n| `pdf` | *Our* words | me |\n| old | gone | x |\n\nThe end.\n")
	golden(t, "written.txt", first+"-----\n"+write(true))
	f.write("skills/index.md", "No table.\n")
	if got := write(true); !strings.HasPrefix(got, "No table.\n\n| Skill") || !strings.Contains(got, "| cite |") {
		t.Errorf("became %q", got)
	}
	write(false)
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 3 {
		t.Errorf("left: %v, %v", entries, err)
	}
}

func TestConcurrent(t *testing.T) {
	t.Parallel()
	f := newTree(t)
	f.skill("skills/pdf", "one")
	r := f.open(nil)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				if k, err := r.Get("", all, "pdf"); err != nil || k.Description != "one" && k.Description != "two" {
					t.Errorf("%+v, %v", k, err)
					return
				}
				r.Index("", all)
			}
		})
	}
	for range 10 {
		f.skill("skills/pdf", "two")
		f.skill("skills/pdf", "one")
	}
	wg.Wait()
}

func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/wild/*/*")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		if src, err := os.ReadFile(name); err == nil {
			f.Add(src)
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		k, odd, err := skills.Parse(src)
		lines := bytes.Count(src, []byte("\n")) + bytes.Count(src, []byte("\r")) + 2
		for _, l := range odd {
			if l < 0 || l > lines {
				t.Fatalf("line %d of a file with %d", l, lines)
			}
		}
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error without a text")
			}
			return
		}
		if strings.TrimSpace(k.Description) == "" || strings.TrimSpace(k.Text) == "" {
			t.Fatalf("accepted as %+v", k)
		}
	})
}

func FuzzIndex(f *testing.F) {
	f.Add("| a | b |\n|---|---|\n| x | y |\n")
	f.Add("|\n-|\n|")
	f.Fuzz(func(t *testing.T, src string) {
		once := skills.WithRows(src, "pdf")
		if twice := skills.WithRows(once, "pdf"); twice != once {
			t.Fatalf("%q becomes %q", once, twice)
		}
	})
}

func BenchmarkWarm(b *testing.B) {
	f := newTree(b)
	for i := range 2000 {
		f.skill(fmt.Sprintf("skills/s%04d", i), "A skill for the bench that says when it is of use and how")
	}
	r := skills.Open(skills.Options{
		Shared: []skills.Folder{{Path: filepath.Join(f.dir, "skills")}}, Clock: time.Now, Log: slog.New(slog.DiscardHandler),
	})
	b.Run("index", func(b *testing.B) {
		for b.Loop() {
			r.Index("main", all)
		}
	})
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			skills.Open(skills.Options{Shared: []skills.Folder{{Path: filepath.Join(f.dir, "skills")}}, Clock: time.Now, Log: slog.New(slog.DiscardHandler)})
		}
	})
}
