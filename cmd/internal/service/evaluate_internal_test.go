package service

import (
	"context"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"herald/agents"
	"herald/core/model"
)

// Every shipped scenario is played with its scripts: the good one uses only tools that the agent has and holds the property, the bad one does not.
func TestShippedScenarios(t *testing.T) {
	t.Parallel()
	reg := agents.Open(agents.Options{Log: slog.New(slog.DiscardHandler)})
	for _, a := range reg.List() {
		list, err := reg.Scenarios(a)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			good, err := Evaluate(t.Context(), reg, a, s, Script(s.Good))
			if err != nil || len(good.Missing) != 0 {
				t.Errorf("%s/%s: %v, %v", a.ID, s.Name, good.Missing, err)
			}
			bad, err := Evaluate(t.Context(), reg, a, s, Script(s.Bad))
			if err != nil || len(bad.Missing) == 0 {
				t.Errorf("%s/%s: the bad script passes; %v", a.ID, s.Name, err)
			}
			if len(good.Strangers) != 0 {
				t.Errorf("%s/%s: the good script calls what the agent does not have: %v", a.ID, s.Name, good.Strangers)
			}
		}
	}
}

// asked is a model that keeps what it was asked, and answers by step for ever.
type asked struct {
	step Script
	last *model.Request
}

func (m *asked) Generate(ctx context.Context, r *model.Request) iter.Seq2[model.Chunk, error] {
	*m.last = *r
	fresh := *r
	fresh.Messages = nil
	return m.step.Generate(ctx, &fresh)
}

// What a scenario cannot come to an end with is said, and the turn is a real one: the text is filled in, and the session's own tools do their work.
func TestEvaluateOnTheEngine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "kind.md"), []byte("---\ntype: task\ninject_memory: [\"$WD/a.md\"]\n---\nYou.\n- Subject: <!-- SUBJECT_PROFILE -->\n- Other: <!-- OTHER -->\n<!-- AGENTS_LIST -->"), 0o644); err != nil {
		t.Fatal(err)
	}
	reg := agents.Open(agents.Options{Dir: dir, Log: slog.New(slog.DiscardHandler)})
	a, err := reg.Now().Agent("kind")
	if err != nil {
		t.Fatal(err)
	}
	s := agents.Scenario{Prompt: "Go.", Files: map[string]string{"a.md": "Words."}, Values: map[string]string{"SUBJECT_PROFILE": "Bo, 12"}, Want: agents.Want{Answer: "fine"}}
	var r model.Request
	e, err := Evaluate(t.Context(), reg, a, s, &asked{Script{{Say: "fine"}}, &r})
	if err != nil || len(e.Missing) != 0 || e.Answer != "fine" {
		t.Errorf("%+v, %v", e, err)
	}
	system := strings.Join(r.System, "\n")
	for _, want := range []string{"You.\n- Subject: Bo, 12\n- **business-analyst** — ", "Words."} {
		if !strings.Contains(system, want) {
			t.Errorf("%q is missing in\n%s", want, system)
		}
	}
	if strings.Contains(system, "OTHER") || strings.Contains(system, "Other:") {
		t.Errorf("a value that nobody gives is not left out:\n%s", system)
	}
	e, err = Evaluate(t.Context(), reg, a, s, &asked{Script{{Call: "fly", Arguments: "{}"}}, &r})
	if err != nil || len(e.Missing) != 2 || !strings.Contains(e.Missing[1], "there is no answer") || len(e.Strangers) == 0 || e.Strangers[0] != "fly" {
		t.Errorf("an agent that comes to no end: %+v, %v", e, err)
	}
	if _, err = Evaluate(t.Context(), reg, a, s, Script{}); err == nil || !strings.Contains(err.Error(), "no further step") {
		t.Errorf("a model that fails: %v", err)
	}
	e, err = Evaluate(t.Context(), reg, a, s, Script{{Call: "update_scratchpad", Arguments: `{"key": "k", "value": "v"}`}, {Say: "fine"}})
	if err != nil || len(e.Missing) != 0 {
		t.Errorf("the scratchpad: %+v, %v", e, err)
	}
}
