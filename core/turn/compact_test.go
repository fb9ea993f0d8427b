package turn_test

import (
	"fmt"
	"strings"
	"testing"

	"herald/core/conversation"
	"herald/core/model"
	"herald/core/model/modeltest"
	"herald/core/prompt"
	"herald/core/session"
	"herald/core/store"
)

// summarising reports whether a request asks for a summary.
func summarising(q *model.Request) bool { return strings.HasPrefix(q.System[0], "You summarise") }

// long is a rig whose main answers "answer N" and whose model has a context of size tokens; each answer says that its request had used tokens.
func long(t *testing.T, size int, summary modeltest.Reply, main func(q *model.Request) modeltest.Reply) (*rig, *[]model.Request) {
	t.Helper()
	var asked []model.Request
	r := newRig(t, func(q *model.Request) (modeltest.Reply, bool) {
		if !summarising(q) {
			return main(q), true
		}
		asked = append(asked, *q)
		return summary, true
	})
	r.opts.CompactAt, r.opts.ContextTokens = 0.7, func(prompt.Agent) int { return size }
	r.opts.Redact = func(s string) string { return strings.ReplaceAll(s, "hunter2", "[secret]") }
	return r, &asked
}

func TestALongHistoryIsSummarised(t *testing.T) {
	t.Parallel()
	var seen []string
	r, asked := long(t, 100, modeltest.Say("## Goal\nhunter2 it"), func(q *model.Request) modeltest.Reply {
		seen = append(seen, q.Messages[0].Text)
		return modeltest.Reply{Text: "fine", Usage: model.Usage{Input: 10 * len(q.Messages)}}
	})
	for i := range 5 {
		r.say(fmt.Sprint(i+1), "ann", fmt.Sprintf("message %d, password hunter2 ghp_0123456789abcdefghijABCDEF", i+1))
		r.work()
	}
	if len(*asked) != 1 {
		t.Fatalf("%d summaries were asked for", len(*asked))
	}
	q := (*asked)[0]
	if len(q.Tools) != 0 || strings.Contains(q.Messages[0].Text, "hunter2") || strings.Contains(q.Messages[0].Text, "ghp_") || !strings.Contains(q.Messages[0].Text, "PERSON: ann: message 1, password [secret]") {
		t.Errorf("asked %+v with %d tools", q.Messages, len(q.Tools))
	}
	if strings.Contains(q.Messages[0].Text, "message 2") {
		t.Errorf("what is recent was summarised too: %s", q.Messages[0].Text)
	}
	last := seen[len(seen)-1]
	if !strings.HasPrefix(last, "Summary of the conversation before this point:\n\n## Goal\n[secret] it") || !strings.Contains(last, "message 2") || strings.Contains(last, "message 1") {
		t.Errorf("the model sees %q", last)
	}
	var cur conversation.Current
	r.doc(conversation.CurrentKey, &cur)
	if cur.LogFrom <= 1 {
		t.Errorf("a turn loads from %d on", cur.LogFrom)
	}
	r.foldAgrees() // the log is kept whole
}

// A request that is too long for the model is made once more with a summary, and not a third time.
func TestAnOverflowIsSummarisedOnce(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		summary modeltest.Reply
		want    string
		asked   int
	}{
		{"and goes on", modeltest.Say("short"), "answer [6] fine", 1},
		{"and a summary that cannot be kept saves nothing", modeltest.Say(strings.Repeat("<", 1_000_000)), "answer [6] This conversation has become too long for the model. Begin a new one with `new` and say again what matters.", 1},
		{"and an empty summary saves nothing", modeltest.Say(" "), "answer [6] This conversation has become too long for the model. Begin a new one with `new` and say again what matters.", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r, asked := long(t, 0, tc.summary, func(q *model.Request) modeltest.Reply {
				if len(q.Messages) > 10 {
					return modeltest.Fail(&model.Error{Kind: model.ContextTooLong, Message: "too long"})
				}
				return modeltest.Say("fine")
			})
			for i := range 6 {
				r.say(fmt.Sprint(i+1), "ann", fmt.Sprintf("message %d", i+1))
				r.work()
			}
			got := r.said()
			if got[len(got)-1] != tc.want || len(*asked) != tc.asked {
				t.Errorf("said %q, %d summaries", got, len(*asked))
			}
			r.foldAgrees()
		})
	}
}

// A summary never parts a call from its result, and keeps what is recent.
func TestWhereAHistoryIsSplit(t *testing.T) {
	t.Parallel()
	said := func(seq int64) session.Event {
		return session.Event{Kind: session.UserSaid, Seq: seq, User: &session.Said{Turn: "t", MessageID: fmt.Sprint(seq), Text: fmt.Sprint("m", seq)}}
	}
	called := func(seq int64) []session.Event {
		id := fmt.Sprint("c", seq)
		return []session.Event{
			{Kind: session.ModelAnswered, Seq: seq, Model: &session.Answer{Calls: []session.Asked{{Call: model.Call{ID: id, Name: "x", Arguments: []byte(`{}`)}}}}},
			{Kind: session.CallFinished, Seq: seq + 1, Result: &session.Result{Call: id, Status: session.Done, Text: "r"}},
		}
	}
	for _, tc := range []struct {
		name   string
		events []session.Event
		from   int64
	}{
		{"one long turn", append([]session.Event{said(1)}, append(append(append(called(2), called(4)...), called(6)...), called(8)...)...), 0},
		{"too short", []session.Event{said(1), said(2)}, 0},
		{"at what a person said", append(append([]session.Event{said(1)}, called(2)...), append(append(append([]session.Event{said(4)}, called(5)...), called(7)...), called(9)...)...), 4},
	} {
		text, _, from, ok := session.NewHistory(tc.events).Older("root", strings.ToUpper)
		if from != tc.from || ok != (tc.from > 0) {
			t.Errorf("%s: splits at %d: %q", tc.name, from, text)
		}
	}
}

// On request a history is summarised at once where nothing runs, and before the next step where something does.
func TestCompactOnRequest(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		messages int
		beside   bool
		summary  modeltest.Reply
		want     string
		asked    int
	}{
		{"nothing was said", 0, false, modeltest.Say("short"), "There is nothing to summarise yet.", 0},
		{"little was said", 2, false, modeltest.Say("short"), "There is nothing to summarise yet.", 0},
		{"much was said", 6, false, modeltest.Say("short"), "The older part of this conversation is summarised now. What was said is kept, and I go on from the summary.", 1},
		{"much was said, and a turn begins", 6, true, modeltest.Say("short"), "I will summarise the older part of this conversation before my next step.", 1},
		{"the model gives none", 6, false, modeltest.Say(" "), "The older part of this conversation could not be summarised. Nothing has changed; try again in a little while.", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r, asked := long(t, 0, tc.summary, say("fine"))
			for i := range tc.messages {
				r.say(fmt.Sprint(i+1), "ann", "message")
				r.work()
			}
			c := conversation.Control{V: 1, Kind: conversation.Compact, ID: "c", Order: "8", By: "ann"}
			if tc.beside {
				r.say("9", "ann", "message")
			}
			r.commit(store.Put{Key: c.Key(), Value: conversation.Encode(c)})
			r.work()
			said := strings.Join(r.said(), "\n")
			if !strings.Contains(said, "notice [c] "+tc.want) || len(*asked) != tc.asked {
				t.Errorf("said\n%s\n%d summaries", said, len(*asked))
			}
			if tc.messages > 0 {
				r.foldAgrees()
			}
		})
	}
}
