package command_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"herald/core/chat"
	"herald/core/command"
	"herald/core/conversation"
	"herald/core/model"
	"herald/core/people"
	"herald/core/session"
	"herald/core/store"
	"herald/core/store/memory"
)

const where = store.Partition("conversation/test:w/C1/T1")

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world is a conversation as the engine would have written it.
type world struct {
	t   *testing.T
	st  *memory.Store
	now time.Time
	n   int
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, now: start}
	w.st = memory.New(memory.Options{Clock: func() time.Time { return w.now }})
	return w
}

func (w *world) write(ops ...store.Op) {
	w.t.Helper()
	w.n++
	if _, err := w.st.Commit(w.t.Context(), store.Commit{ID: fmt.Sprint(w.n), Partition: where, Ops: ops}); err != nil {
		w.t.Fatal(err)
	}
}

func put(k store.Key, v any) store.Op { return store.Put{Key: k, Value: conversation.Encode(v)} }

func failed(t *testing.T, f session.Failure) store.Op {
	t.Helper()
	data, err := session.Encode(session.Event{Kind: session.Failed, ID: "e", Failure: &f}, session.EventVersion)
	if err != nil {
		t.Fatal(err)
	}
	return store.Append{Log: conversation.Log, ID: "e", Kind: string(session.Failed), Data: data}
}

func (w *world) run(text string, role people.Role) string {
	w.t.Helper()
	p := command.Default().Parse(text, true)
	out, err := p.Spec.Run(w.t.Context(), command.Call{
		Read: w.st, Where: where, Args: p.Args, Person: people.Person{ID: "p1", Identity: "test:w/ada", Role: role},
	})
	if err != nil {
		w.t.Fatalf("%s: %v", text, err)
	}
	return out
}

func contains(t *testing.T, what, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("%s: no %q in\n%s", what, want, text)
		}
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if got := w.run("status", people.Member); got != "Nothing is running here." {
		t.Errorf("of nothing: %q", got)
	}
	m := conversation.Message{V: 1, MessageID: "m1", Order: "1"}
	w.write(put(m.Key(), m))
	contains(t, "a message waits", w.run("status", people.Member), "about to begin", "Waiting in the queue: 1 message.")

	d := conversation.Delivery{V: 1, ID: "d1"}
	cur := conversation.Current{V: 1, BeganAt: start.Add(-90 * time.Second), State: session.State{
		Agent: "main", Turn: &session.Turn{ID: "t1", Rounds: 3},
		Waits: []session.Wait{
			{ID: "w1", Kind: session.Approval, Title: "Delete the file?", End: start.Add(time.Hour)},
			{ID: "w2", Kind: session.Question, Text: "Which colour?"},
			{ID: "w3", Kind: session.Timer},
		},
	}}
	other := conversation.Message{V: 1, MessageID: "m2", Order: "2"}
	w.write(put(conversation.CurrentKey, cur), put(d.Key(), d), put(other.Key(), other),
		failed(t, session.Failure{Kind: "auth", Reason: "an older one", Ref: "f0"}),
		failed(t, session.Failure{Kind: "auth", Reason: "The model refused the key.", Detail: "HTTP 401", Ref: "f1"}))
	w.now = start.Add(5 * time.Minute)
	got := w.run("status", people.Member)
	contains(t, "a turn waits", got,
		"running since 2026-03-01 11:58:30 UTC (round 3, 6 min 30 s ago)",
		"- a decision: Delete the file? (until 2026-03-01 13:00:00 UTC)", "- an answer to: Which colour?", "- a timer",
		"Agent: `main`", "Waiting in the queue: 2 messages.", "Not delivered yet: 1 text.",
		"Last failure, 5 min 0 s ago: The model refused the key. (`/why f1`)")
	if strings.Contains(got, "401") || strings.Contains(got, "older one") {
		t.Errorf("it tells too much:\n%s", got)
	}
}

// What is being sent at this moment may be what the person reads already.
func TestStatusLeavesOutWhatIsOnItsWay(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		d    conversation.Delivery
		late bool
	}{
		"just written":         {conversation.Delivery{MadeAt: start}, false},
		"a live message":       {conversation.Delivery{Live: true}, false},
		"written long ago":     {conversation.Delivery{MadeAt: start.Add(-time.Minute)}, true},
		"refused once":         {conversation.Delivery{MadeAt: start, Refusals: 1}, true},
		"put off by an outage": {conversation.Delivery{MadeAt: start, NotBefore: start.Add(time.Second)}, true},
	} {
		w := newWorld(t)
		tc.d.V, tc.d.ID = 1, "d1"
		w.write(put(tc.d.Key(), tc.d))
		if got := w.run("status", people.Member); strings.Contains(got, "Not delivered yet: 1 text.") != tc.late {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestStatusOfBlankedLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(failed(t, session.Failure{Reason: "gone", Ref: "f1"}))
	w.write(store.Blank{Log: conversation.Log, Seq: 1})
	if got := w.run("status", people.Member); got != "Nothing is running here." {
		t.Errorf("status = %q", got)
	}
}

func TestWhy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if got := w.run("why", people.Member); !strings.Contains(got, "no finished answer") {
		t.Errorf("of nothing: %q", got)
	}
	w.write(put(conversation.CurrentKey, conversation.Current{V: 1}))
	if got := w.run("why", people.Member); !strings.Contains(got, "no finished answer") {
		t.Errorf("before the first answer: %q", got)
	}

	cost := 0.0123
	turns := []conversation.TurnRecord{
		{
			V: 1, ID: "t1", Agent: "main", Models: []string{"small", "big"}, Tools: []string{"recall"}, Rounds: 2,
			Gates: []session.Gate{{Call: "c", Tool: "recall", Answer: "allow", Rule: "rule seed-recall (no effect outside of the session)"}},
			Usage: model.Usage{Input: 1200, Cached: 1000, Output: 34}, Cost: &cost, Covers: []session.Cover{{MessageID: "m1"}},
			BeganAt: start, EndedAt: start.Add(12 * time.Second),
		},
		{V: 1, ID: "t2", Agent: "main", Failure: &session.Failure{Reason: "No model answered.", Detail: "connection refused", Ref: "f9"}, BeganAt: start, EndedAt: start},
		{V: 1, ID: "t3", Agent: "main", Models: []string{"small"}, Rounds: 1, Usage: model.Usage{Input: 5, Output: 1}, Broken: &model.Usage{Input: 70, Output: 9}, Stopped: true},
	}
	for _, rec := range turns {
		w.write(put(rec.Key(), rec))
	}
	sent := conversation.Delivery{V: 1, ID: "d1", Turn: "t1"}
	private := conversation.Delivery{V: 1, ID: "d2", Turn: "t1", Only: "test:w/eve"}
	w.write(put(sent.SentKey(), sent), put(private.Key(), private), put(conversation.CurrentKey, conversation.Current{V: 1, LastTurn: "t3"}))

	first := []string{
		"Turn `t1`, 2026-03-01 12:00:00 UTC, took 12 s", "Agent: `main`", "Model: `small`, `big`", "Tools: `recall`", "Call of `recall`: allow (rule seed-recall (no effect outside of the session))",
		"Tokens: 1200 in (1000 of them cached), 34 out, in 2 rounds", "Cost: 0.0123",
	}
	for _, ref := range []string{"t1", "d1", "m1"} {
		contains(t, "why "+ref, w.run("why "+ref, people.Member), first...)
	}
	contains(t, "why", w.run("why", people.Member), "Turn `t3`", "It was stopped", "Broken off: about 70 tokens in, 9 out (an estimate;", "Tools: none", "in 1 round", "Cost: unknown")
	member, admin := w.run("why f9", people.Member), w.run("why f9", people.Admin)
	contains(t, "why f9", member, "It failed: No model answered. (reference `f9`)", "Model: none gave an answer", "Tokens and cost: none counted")
	contains(t, "why f9 of an admin", admin, "connection refused")
	if strings.Contains(member, "refused") {
		t.Errorf("a member sees what is the operator's:\n%s", member)
	}
	for _, ref := range []string{"nothing", "d2"} {
		contains(t, "why "+ref, w.run("why "+ref, people.Member), "`"+ref+"` names no answer")
	}
}

func TestWhyNeverCallsAnUnknownCostZero(t *testing.T) {
	t.Parallel()
	zero, tiny := 0.0, 0.0000004
	for name, tc := range map[string]struct {
		cost *float64
		want string
	}{
		"unknown": {nil, "Cost: unknown"},
		"free":    {&zero, "Cost: 0.00"},
		"tiny":    {&tiny, "Cost: less than 0.000001"},
	} {
		w := newWorld(t)
		rec := conversation.TurnRecord{V: 1, ID: "t1", Rounds: 1, Cost: tc.cost}
		w.write(put(rec.Key(), rec))
		contains(t, name, w.run("why t1", people.Member), tc.want)
	}
}

func TestShow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, d := range []conversation.Delivery{
		{V: 1, ID: "d1", Text: "one line", Replaced: "the whole text"},
		{V: 1, ID: "d2", Text: "an ordinary text"},
		{V: 1, ID: "d3", Replaced: "for Eve", Only: "test:w/eve"},
		{V: 1, ID: "d4", Replaced: "for Ada", Only: "test:w/ada"},
	} {
		w.write(put(d.SentKey(), d))
	}
	waiting := conversation.Delivery{V: 1, ID: "d5", Replaced: "not sent yet"}
	w.write(put(waiting.Key(), waiting))
	for text, want := range map[string]string{
		"show":    "Say which",
		"show d1": "the whole text",
		"show d2": "`d2` names no replaced text",
		"show d3": "`d3` names no replaced text",
		"show d4": "for Ada",
		"show d5": "not sent yet",
		"show d6": "`d6` names no replaced text",
	} {
		contains(t, text, w.run(text, people.Admin), want)
	}
}

// An outage and what cannot be read are errors: the command is asked again, and no answer is made up.
func TestHandlersPassErrorsOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, k := range []store.Key{conversation.CurrentKey, conversation.TurnKey("x"), {Collection: conversation.Sent, Name: "y"}} {
		w.write(store.Put{Key: k, Value: []byte(`{"v":99}`)})
	}
	away := w.st.Attach(memory.Options{Faults: memory.FaultFunc(func(memory.Call) memory.Effect { return memory.Effect{Before: memory.Unavailable("away")} })})
	for _, text := range []string{"status", "why", "why x", "why y", "show y"} {
		p := command.Default().Parse(text, true)
		for from, want := range map[command.Reader]error{w.st: conversation.ErrNewer, away: store.ErrUnavailable} {
			out, err := p.Spec.Run(context.Background(), command.Call{Read: from, Where: where, Args: p.Args, Person: people.Person{Identity: chat.IdentityID("i")}})
			if !errors.Is(err, want) {
				t.Errorf("%s = %q, %v; want %v", text, out, err, want)
			}
		}
	}
}

// Where a command cannot say which conversation it means, the caller's others are looked through, and answers name commands as they are written there.
func TestCommandsFindTheConversationThatTheyMean(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rec := conversation.TurnRecord{V: 1, ID: "t1", Agent: "main", Failure: &session.Failure{Reason: "No model answered.", Ref: "F1"}}
	late := conversation.Delivery{V: 1, ID: "d1", Turn: "t1", Replaced: "the whole text"}
	w.write(put(rec.Key(), rec), put(late.SentKey(), late), put(conversation.CurrentKey, conversation.Current{V: 1, LastTurn: "t1", State: session.State{Turn: &session.Turn{ID: "t2"}}}))
	const channel, empty = store.Partition("conversation/test:w/C1"), store.Partition("conversation/test:w/C1/T0")
	run := func(text string, nearby ...store.Partition) string {
		t.Helper()
		p := command.Default().Parse(text, true)
		out, err := p.Spec.Run(t.Context(), command.Call{
			Read: w.st, Where: channel, Nearby: nearby, Mark: "/herald ", Args: p.Args, Person: people.Person{ID: "p1", Identity: "test:w/ada", Role: people.Member},
		})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return out
	}
	for text, want := range map[string]string{
		"why": "Turn `t1`", "why F1": "Turn `t1`", "why t1": "Turn `t1`", "why d1": "Turn `t1`", "why f2": "names no answer",
		"show d1": "the whole text", "show": "`/herald show REF`", "status": "In threads of this channel a turn runs; `/herald stop` lists them.",
		"help": "commands behind `/herald`:",
	} {
		contains(t, text, run(text, empty, where), want)
	}
	for text, want := range map[string]string{"why": "no finished answer", "why F1": "names no answer", "show d1": "names no replaced text", "status": "Nothing is running here."} {
		if got := run(text, empty); !strings.Contains(got, want) || strings.Contains(got, "threads") {
			t.Errorf("%s away from it: %q", text, got)
		}
	}
}
