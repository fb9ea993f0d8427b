package turn_test

import (
	"fmt"
	"slices"
	"testing"

	"herald/core/conversation"
	"herald/core/model"
	"herald/core/model/modeltest"
)

// Who asks another agent by name begins a session with it; a message that names none, or the same one, goes on with whom there is.
func TestAskAnotherAgent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	step := 0
	r.model.Rules = []modeltest.Rule{func(q *model.Request) (modeltest.Reply, bool) {
		step++
		if step == 1 { // it waits until the turn under way has ended, and so does what comes behind it
			r.ask("2", "ann", "other", "b")
			r.say("3", "ann", "c")
			return modeltest.Use("act", `{}`), true
		}
		return modeltest.Say(fmt.Sprintf("%d of %d", step, len(q.Messages))), true
	}}
	agent := func() string {
		t.Helper()
		var cur conversation.Current
		if !r.doc(conversation.CurrentKey, &cur) || cur.State.Root() == nil {
			t.Fatal("there is no session")
		}
		return cur.State.Session + " " + cur.State.Root().Agent
	}
	r.say("1", "ann", "a")
	r.work()
	second := agent()
	r.ask("4", "ann", "other", "d")
	r.work()
	same := agent()
	r.ask("5", "ann", "main", "e")
	r.say("6", "ann", "f")
	r.ask("7", "ann", "other", "g")
	r.work()
	want := []string{"answer [1] 2 of 3", "answer [2 3] 3 of 1", "answer [4] 4 of 3", "answer [5 6] 5 of 1", "answer [7] 6 of 1"}
	if got := r.said(); !slices.Equal(got, want) {
		t.Errorf("said %q, want %q", got, want)
	}
	if second != same || second == agent() {
		t.Errorf("the sessions were %s, %s and %s; only another agent begins one", second, same, agent())
	}
	r.foldAgrees()
}

// A question or an approval is not answered by what is meant for another agent.
func TestAskWhileAQuestionWaits(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	calls := 0
	r.model.Rules = []modeltest.Rule{func(*model.Request) (modeltest.Reply, bool) {
		if calls++; calls == 1 {
			return modeltest.Use("ask", `{}`), true
		}
		return modeltest.Say("ok"), true
	}}
	r.say("1", "ann", "a")
	r.work()
	r.ask("2", "ann", "other", "b")
	r.work()
	r.say("3", "ann", "tea")
	r.work()
	got := r.said()
	if !slices.Contains(got, "answer [1 3] ok") || !slices.Contains(got, "answer [2] ok") {
		t.Errorf("said %q", got)
	}
	r.foldAgrees()
}
