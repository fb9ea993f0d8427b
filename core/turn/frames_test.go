package turn_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herald/core/conversation"
	"herald/core/model"
	"herald/core/model/modeltest"
)

// Children run side by side; one that waits for a person parks the turn only when no other can go on, and each result comes back to the
// call that pushed its frame.
func TestChildrenSideBySide(t *testing.T) {
	t.Parallel()
	r := newRig(t,
		modeltest.AfterTool("ask", modeltest.Say("they want tea")),
		modeltest.AfterTool("act", modeltest.Say("it is done")),
		func(q *model.Request) (modeltest.Reply, bool) {
			switch last := modeltest.LastUser(q); {
			case strings.Contains(last, `"find out"`):
				return modeltest.Use("ask", `{}`), true
			case strings.Contains(last, `"do it"`):
				return modeltest.Use("act", `{}`), true
			case len(q.Messages) == 1:
				return modeltest.Reply{Calls: []modeltest.Call{{Name: "delegate", Arguments: `{"task":"find out"}`}, {Name: "delegate", Arguments: `{"task":"do it"}`}}}, true
			}
			var got []string
			for _, m := range q.Messages {
				if m.Role == model.Tool {
					got = append(got, m.Text)
				}
			}
			return modeltest.Say(strings.Join(got, " and ")), true
		})
	r.say("1", "ann", "go")
	r.work()
	var cur conversation.Current
	r.doc(conversation.CurrentKey, &cur)
	if len(cur.State.Frames) != 2 || len(cur.State.Waits) != 1 {
		t.Fatalf("frames %+v, waits %+v: want the child that waits, and the other one ended", cur.State.Frames, cur.State.Waits)
	}
	r.say("2", "ann", "tea")
	r.work()
	got := r.said()
	if len(got) != 2 || got[1] != "answer [1 2] they want tea and it is done" {
		t.Errorf("said %q", got)
	}
	r.foldAgrees()
	if n := r.model.Violations(); n > 0 {
		t.Errorf("a strict provider refuses %d histories", n)
	}
}

// An agent that delegates to itself for ever comes to the limit of the depth, and goes on from there.
func TestDepthIsLimited(t *testing.T) {
	t.Parallel()
	deepest := 0
	r := newRig(t, func(q *model.Request) (modeltest.Reply, bool) {
		last := q.Messages[len(q.Messages)-1]
		if last.Role == model.Tool {
			if strings.Contains(last.Text, "deep and no deeper") {
				deepest++
			}
			return modeltest.Say("enough"), true
		}
		return modeltest.Use("delegate", `{}`), true
	})
	r.say("1", "ann", "go")
	r.work()
	if d := cmp.Diff([]string{"answer [1] enough"}, r.said()); d != "" || deepest != 1 {
		t.Errorf("said (-want +got)\n%s\nthe limit was met %d times", d, deepest)
	}
}

// Two children that ask at the same time are answered one after the other: the second question is put when the first has its answer.
func TestQuestionsAreAskedOneAfterTheOther(t *testing.T) {
	t.Parallel()
	r := newRig(t,
		modeltest.AfterTool("ask", modeltest.Say("they want {result}")),
		func(q *model.Request) (modeltest.Reply, bool) {
			switch last := modeltest.LastUser(q); {
			case strings.Contains(last, `"task"`):
				return modeltest.Use("ask", `{}`), true
			case len(q.Messages) == 1:
				return modeltest.Reply{Calls: []modeltest.Call{{Name: "delegate", Arguments: `{"task":1}`}, {Name: "delegate", Arguments: `{"task":2}`}}}, true
			}
			var got []string
			for _, m := range q.Messages {
				if m.Role == model.Tool {
					got = append(got, m.Text)
				}
			}
			return modeltest.Say(strings.Join(got, " and ")), true
		})
	r.say("1", "ann", "go")
	r.work()
	if got := r.said(); len(got) != 1 {
		t.Fatalf("asked %q, want one question", got)
	}
	r.say("2", "ann", "tea")
	r.work()
	if got := r.said(); len(got) != 2 {
		t.Fatalf("asked %q after the first answer, want the second question", got)
	}
	r.say("3", "ann", "coffee")
	r.work()
	got := r.said()
	if len(got) != 3 || !strings.HasPrefix(got[2], "answer [1 2 3] they want ") || !strings.Contains(got[2], "tea") || !strings.Contains(got[2], "coffee") {
		t.Errorf("said %q", got)
	}
	r.foldAgrees()
}
