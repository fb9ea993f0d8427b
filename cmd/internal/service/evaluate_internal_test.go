package service

import (
	"log/slog"
	"slices"
	"testing"

	"herald/agents"
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
			source := agentSource{registry: reg, clean: func(s string) string { return s }}
			of := source.describe(reg.Now(), a)
			tools, err := evalTools(t.Context(), source, of, scopeOf(a))
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tl := range tools {
				names = append(names, tl.Spec.Name)
			}
			for _, c := range good.Calls {
				if !slices.Contains(names, c.Tool) {
					t.Errorf("%s/%s: the good script calls %s, which the agent does not have: %v", a.ID, s.Name, c.Tool, names)
				}
			}
		}
	}
}
