package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"herald/core/model"
	"herald/core/model/modeltest"
)

// laidOut is a request in the order in which a provider caches it: system prompt, tools, history.
func laidOut(t *testing.T, r *model.Request) string {
	t.Helper()
	b := strings.Join(r.System, "\n\n")
	for _, part := range []any{r.Tools, r.Messages} {
		j, err := json.Marshal(part)
		if err != nil {
			t.Fatal(err)
		}
		b += string(j)
	}
	return b
}

// What a turn shows a model begins with what the turn before showed it, byte for byte, but for the volatile end, also when an agent, a skill or a note
// comes in between: it is told at the end.
func TestThePromptIsAStablePrefix(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "hp")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	server := &modeltest.Server{Record: true, Rules: []modeltest.Rule{func(r *model.Request) (modeltest.Reply, bool) {
		if last := r.Messages[len(r.Messages)-1]; last.Role == model.User && strings.Contains(last.Text, "Question 16:") {
			return modeltest.Use("remember", `{"text":"The person counts to twenty."}`), true
		}
		return modeltest.Say(strings.Repeat("The answer has a few sentences. ", 8)), true
	}}}
	url, stop, err := server.Start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	program, err := exec.LookPath("herald")
	if err != nil {
		t.Fatal(err)
	}
	env := []string{
		"HOME=" + dir, "PATH=" + filepath.Dir(program) + ":/usr/local/bin:/usr/bin:/bin", "HERALD_HTTP__LISTEN=off", "HERALD_DATA_DIR=" + filepath.Join(dir, "data"),
		"OPENAI_API_KEY=good-key", "HERALD_PROVIDERS__MAIN__BASE_URL=" + url,
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	herald := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Args[0], cmd.Dir, cmd.Env = "herald", dir, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("herald %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	put := func(path, text string) {
		t.Helper()
		full := filepath.Join(dir, "data", filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	changes := map[int]func(){
		8:  func() { herald("agents", "new", "quick", "--description", "Answers at once") },
		12: func() { put("skills/tidy/SKILL.md", "---\nname: tidy\ndescription: Tidies a list.\n---\nSort it.\n") },
	}
	if err := os.WriteFile(filepath.Join(dir, "herald.toml"), []byte("[providers.main]\napi_key_env = \"OPENAI_API_KEY\"\n[models.main]\nprovider = \"main\"\nmodel = \"any\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	put("skills/first/SKILL.md", "---\nname: first\ndescription: Is there from the beginning.\n---\nDo it.\n")
	defer background(t, ctx, dir, env, "herald run")()

	var before, said string
	shared, all := 0, 0
	for turn := range 20 {
		if change := changes[turn]; change != nil {
			change()
		}
		herald("chat", "--once", fmt.Sprintf("Question %d: what about %s?", turn, strings.Repeat("this ", 20)))
		records := server.Records()
		now := laidOut(t, records[len(records)-1].Request)
		same := 0
		for same < min(len(before), len(now)) && before[same] == now[same] {
			same++
		}
		share := 100 * float64(same) / float64(max(1, len(before)))
		said += fmt.Sprintf("turn %2d: %6d bytes, %5.1f %% of the turn before unchanged\n", turn+1, len(now), share)
		if turn >= 2 {
			shared, all = shared+same, all+len(before)
			if share < 95 {
				t.Errorf("turn %d: only %.1f %% of the prompt before is its beginning", turn+1, share)
			}
		}
		for from, added := range map[int]string{8: "- **quick** — Answers at once", 12: "| tidy | Tidies a list. |", 17: ".md — The person counts to twenty."} {
			if told := strings.Contains(now, added); told != (turn >= from) {
				t.Errorf("turn %d tells of %q: %v", turn+1, added, told)
			}
		}
		before = now
	}
	t.Logf("after the second turn %.1f %% of the prompts were the beginning of the next one\n%s", 100*float64(shared)/float64(all), said)
}
