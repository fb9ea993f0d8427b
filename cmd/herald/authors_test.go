package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"herald/core/model"
	"herald/core/model/modeltest"
	"herald/core/tool/sandbox"
	"herald/core/tool/sandbox/sandboxtest"
)

// fence is one code block of the guide: its language, what stands behind it, and its text.
var fence = regexp.MustCompile("(?ms)^```([a-z]+)(?: ([^\n]*))?\n(.*?)^```$")

// offers reports whether a request shows the tool.
func offers(r *model.Request, name string) bool {
	for _, t := range r.Tools {
		if t.Name == name {
			return true
		}
	}
	return false
}

// results are the answers of tools that stand behind the last words of a person.
func results(r *model.Request) []string {
	var out []string
	for _, m := range r.Messages {
		switch m.Role {
		case model.User:
			out = nil
		case model.Tool:
			out = append(out, m.Text)
		}
	}
	return out
}

// bookseller plays both agents of the guide: the one of the conversation hands the question on, the other uses what it is shown, and
// nothing else.
func bookseller(r *model.Request) (modeltest.Reply, bool) {
	system, done := strings.Join(r.System, "\n"), results(r)
	if !strings.Contains(system, "You sell books") {
		switch {
		case len(done) > 0:
			return modeltest.Say("The bookseller says: " + done[len(done)-1]), true
		case !strings.Contains(system, "bookseller--") && offers(r, "execute_task"):
			return modeltest.Use("execute_task", `{"mode":"sync","title":"Bees","agent_id":"bookseller","prompt":"A book about bees, please."}`), true
		}
		return modeltest.Say("I see skills or tools of another agent, or cannot hand the question on."), true
	}
	switch {
	case !strings.Contains(system, "<skills_index>") || !strings.Contains(system, "bookseller--recommend"):
		return modeltest.Say("I have no advice about books."), true
	case len(done) == 0:
		return modeltest.Use("load_skill", `{"skillId":"recommend"}`), true
	case len(done) == 1 && strings.Contains(done[0], "references/shelf.md"):
		return modeltest.Use("load_skill_reference", `{"skillId":"recommend","reference":"references/shelf.md"}`), true
	case len(done) == 2 && !offers(r, "bookseller--stock"):
		return modeltest.Say("I have read: " + strings.Split(done[1], ":")[0]), true
	case len(done) == 2:
		return modeltest.Use("bookseller--stock", `{"title":"The Beekeeper's Year"}`), true
	}
	return modeltest.Say("We have " + done[len(done)-1]), true
}

// The guide for authors does what it says, by its own files and commands, with one service that is never started again.
func TestTheGuideForAuthors(t *testing.T) {
	t.Parallel()
	sandboxtest.Runner(t, sandbox.Options{})
	guide, err := os.ReadFile("../../docs/authors.md")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "hd") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	url, stop, err := (&modeltest.Server{Rules: []modeltest.Rule{bookseller}}).Start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	program, err := exec.LookPath("herald")
	if err != nil {
		t.Fatal(err)
	}
	env := []string{
		"HOME=" + dir, "PATH=" + filepath.Dir(program) + ":/usr/local/bin:/usr/bin:/bin", "HERALD_HTTP__LISTEN=off",
		"OPENAI_API_KEY=good-key", "WEATHER_TOKEN=x", "HERALD_PROVIDERS__MAIN__BASE_URL=" + url,
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	shell := func(line string) (string, error) {
		cmd := exec.CommandContext(ctx, "sh", "-e", "-c", line)
		cmd.Dir, cmd.Env = dir, env
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Run()
		return out.String(), err
	}

	wants := []string{"I have no advice about books.", "I have read: - The Beekeeper's Year", "We have 3 copies of The Beekeeper's Year"}
	asked := 0
	for _, m := range fence.FindAllStringSubmatch(string(guide), -1) {
		lang, info, text := m[1], m[2], m[3]
		name, isFile := strings.CutPrefix(info, "file=")
		switch {
		case isFile:
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		case lang != "sh":
			t.Errorf("a block of %s is neither a file nor a command: nobody tries it", lang)
		case info == "background":
			defer background(t, ctx, dir, env, strings.TrimSpace(text))()
		default:
			out, err := shell(text)
			if err != nil {
				t.Fatalf("%s\n%v\n%s", text, err, out)
			}
			if info != "ask" {
				continue
			}
			if asked == len(wants) || !strings.Contains(out, wants[asked]) {
				t.Fatalf("question %d: %s", asked+1, out)
			}
			asked++
		}
	}
	if asked != len(wants) {
		t.Errorf("%d questions asked, want %d", asked, len(wants))
	}
	// What was written last is in force as well, and all of it is well.
	for command, want := range map[string]string{
		"herald tools list":                     "weather .*all agents",
		"herald skills list":                    "bookseller--recommend .*only bookseller",
		"herald skills list --agent bookseller": "opening-hours",
		"herald skills check --strict":          "2 skills in force, 0 problems",
	} {
		if out, err := shell(command); err != nil || !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
	}
}

// background starts a command of the guide that runs on, waits until the service answers, and returns what ends it.
func background(t *testing.T, ctx context.Context, dir string, env []string, line string) func() {
	t.Helper()
	words := strings.Fields(line)
	program, err := exec.LookPath(words[0])
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, program, words[1:]...)
	cmd.Args[0] = words[0]
	cmd.Dir, cmd.Env = dir, env
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		if _, err := os.Stat(filepath.Join(dir, "data", "herald.sock")); err == nil {
			break
		}
		select {
		case err := <-done:
			t.Fatalf("%s ended: %v\n%s", line, err, &log)
		case <-ctx.Done():
			t.Fatalf("%s never answered", line)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := <-done; err != nil || t.Failed() {
			fmt.Printf("%s: %v\n%s", line, err, &log)
			if err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
}
