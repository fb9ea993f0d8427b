package turn_test

import (
	"fmt"
	"strings"
	"testing"

	"herald/core/model"
	"herald/core/model/modeltest"
	"herald/core/prompt"
	"herald/core/session"
)

// Whatever a model says and asks for at once, the conversation goes on: what the store would not take is not begun, and the model is told.
func TestLargeCalls(t *testing.T) {
	t.Parallel()
	marks := `{"x":"` + strings.Repeat("<", 490_000) + `"}` // what JSON writes six times as long
	for _, tc := range []struct {
		name  string
		reply modeltest.Reply
		ends  bool // nothing is run
	}{
		{"a long answer with a call", modeltest.Reply{Text: strings.Repeat("a", 1_400_000), Calls: []modeltest.Call{{Name: "act", Arguments: `{"x":"y"}`}}}, false},
		{"a call", modeltest.Use("act", `{"x":"`+strings.Repeat("y", 400_000)+`"}`), false},
		{"a call full of marks", modeltest.Use("act", marks), true},
		{"a long answer with a call full of marks", modeltest.Reply{Text: strings.Repeat("a", 1_400_000), Calls: []modeltest.Call{{Name: "act", Arguments: marks}}}, true},
		{"a call with a huge name", modeltest.Use(strings.Repeat("n", 3_000_000), `{}`), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, modeltest.When("go", tc.reply), func(q *model.Request) (modeltest.Reply, bool) {
				return modeltest.Say("told: " + results(q)[0]), true
			})
			r.say("1", "ann", "go")
			r.work()
			said := strings.Join(r.said(), " ")
			if ends := strings.Contains(said, "too large"); ends != tc.ends || !strings.Contains(said, "told: ") {
				t.Errorf("said %.300s", said)
			}
		})
	}
}

// Agents that work side by side hold no more together than the store takes: calls that wait for a person keep their arguments.
func TestLargeCallsSideBySide(t *testing.T) {
	t.Parallel()
	agents := map[string]prompt.Agent{"main": {Type: "chat", Delegates: []string{"helper"}}, "helper": {Type: "task"}}
	var calls []modeltest.Call
	for i := range session.MaxTasks - 1 {
		calls = append(calls, modeltest.Call{Name: "agent_helper", Arguments: fmt.Sprintf(`{"input":"%d%s"}`, i, strings.Repeat("p", 60_000))})
	}
	tm := newTeam(t, agents, as("main", once(calls...)), as("helper", once(modeltest.Call{Name: "danger", Arguments: `{"x":"` + strings.Repeat("<", 40_000) + strings.Repeat("y", 250_000) + `"}`})))
	tm.say("1", "ann", "go")
	tm.work()
	waits := tm.waits()
	if n := len(waits); n == 0 || n == session.MaxParallel {
		t.Fatalf("%d calls wait", len(waits))
	}
	for len(waits) > 0 {
		tm.decide(waits[0], session.Refused, "ann")
		tm.work()
		waits = tm.waits()
	}
	if said := strings.Join(tm.said(), " "); !strings.Contains(said, "answer [1]") || !strings.Contains(said, "too large") {
		t.Errorf("said %.500s", said)
	}
	tm.foldAgrees()
}
