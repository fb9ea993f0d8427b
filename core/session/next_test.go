package session_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"herald/core/model"
	"herald/core/session"
)

func asked(id string, tr session.Traits) session.Asked {
	return session.Asked{Call: model.Call{ID: id, Name: "tool", Arguments: json.RawMessage(`{}`)}, Traits: tr}
}

func begin(calls ...session.Asked) []session.Event {
	return []session.Event{
		{Kind: session.Opened, Open: &session.Open{Session: "s", Agent: "main"}},
		{Kind: session.UserSaid, User: &session.Said{Turn: "t", MessageID: "m", Person: "p", Text: "hi"}},
		{Kind: session.ModelAnswered, Frame: "root", Model: &session.Answer{Calls: calls}},
	}
}

func TestNext(t *testing.T) {
	t.Parallel()
	ro, del, rep := session.Traits{ReadOnly: true}, session.Traits{Delegates: true}, session.Traits{Repeatable: true}
	started := func(ids ...string) session.Event {
		return session.Event{Kind: session.CallStarted, Call: &session.CallRef{IDs: ids}}
	}
	wait := func(id, call string, end time.Time) session.Event {
		return session.Event{Kind: session.WaitBegan, Wait: &session.Wait{ID: id, Call: call, Kind: session.Approval, End: end}}
	}
	end := time.Unix(100, 0)
	for _, tc := range []struct {
		name string
		log  []session.Event
		opts session.Options
		want []string
	}{
		{"no turn", begin()[:1], session.Options{}, nil},
		{"a message asks the model", begin()[:2], session.Options{}, []string{"call model model/root/1"}},
		{"a model call under way is not given again", begin()[:2], session.Options{Busy: map[string]bool{"model/root/1": true}}, nil},
		{"a final answer is said", begin(), session.Options{}, []string{"answer end/t"}},
		{"calls with an effect run in order", begin(asked("a", rep), asked("b", rep)), session.Options{}, []string{"run call call/a"}},
		{
			"read-only calls run side by side, four at most", begin(asked("a", ro), asked("b", ro), asked("c", ro), asked("d", ro), asked("e", ro)),
			session.Options{},
			[]string{"run call call/a", "run call call/b", "run call call/c", "run call call/d"},
		},
		{"one call with an effect makes all go in order", begin(asked("a", ro), asked("b", rep)), session.Options{}, []string{"run call call/a"}},
		{"delegations run side by side", begin(asked("a", del), asked("b", del)), session.Options{}, []string{"run call call/a", "run call call/b"}},
		{"a busy call holds up the next", begin(asked("a", rep), asked("b", rep)), session.Options{Busy: map[string]bool{"call/a": true}}, nil},
		{"a call that had begun is not given", append(begin(asked("a", rep)), started("a")), session.Options{}, []string{"fail end/t"}},
		{"a call to be repeated is given", append(begin(asked("a", rep)), started("a")), session.Options{Again: map[string]bool{"a": true}}, []string{"run call call/a"}},
		{"results ask the model again", append(begin(asked("a", rep)), session.Finish("root", "a", session.Done, "ok")), session.Options{}, []string{"call model model/root/2"}},
		{"a malformed call is refused", begin(session.Asked{Call: model.Call{ID: "a", Name: "tool", Malformed: "no JSON"}}), session.Options{}, []string{"refuse call call/a"}},
		{"a wait parks", append(begin(asked("a", rep)), wait("w", "a", end)), session.Options{}, []string{"park park/t"}},
		{"one of two children waits, the other goes on", append(begin(asked("a", del), asked("b", del)), wait("w", "a", end)), session.Options{}, []string{"run call call/b"}},
		{"an approved call runs", append(begin(asked("a", rep)), wait("w", "a", end),
			session.Event{Kind: session.WaitEnded, Outcome: &session.Outcome{Wait: "w", Result: session.Approved, By: "x"}}), session.Options{}, []string{"run call call/a"}},
		{
			"a stop waits for what runs", append(begin(asked("a", rep)), session.Event{Kind: session.Cancelled, Cancel: &session.Cancel{}}),
			session.Options{Busy: map[string]bool{"call/a": true}},
			nil,
		},
		{"a stop ends the turn", append(begin(asked("a", rep)), session.Event{Kind: session.Cancelled, Cancel: &session.Cancel{}}), session.Options{}, []string{"answer end/t"}},
		{"a stop without a turn is answered", append(begin()[:1], session.Event{Kind: session.Cancelled, ID: "x", Cancel: &session.Cancel{}}), session.Options{}, []string{"answer end/x"}},
		{"the rounds are used up", append(begin(asked("a", rep)), session.Finish("root", "a", session.Done, "ok")), session.Options{MaxRounds: 1}, []string{"fail end/t"}},
		{
			"a pushed frame asks its own model", append(begin(asked("a", del)), session.Event{Kind: session.FramePushed, Frame: "f", Push: &session.Push{Call: "a", Agent: "x", Prompt: "do"}}),
			session.Options{},
			[]string{"call model model/f/1"},
		},
		{"a child's answer pops it", append(begin(asked("a", del)), session.Event{Kind: session.FramePushed, Frame: "f", Push: &session.Push{Call: "a", Agent: "x", Prompt: "do"}},
			session.Event{Kind: session.ModelAnswered, Frame: "f", Model: &session.Answer{Text: "done"}}), session.Options{}, []string{"pop frame pop/f"}},
		{"a closed session does nothing", append(begin(), session.Event{Kind: session.Closed}), session.Options{}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := session.Fold(tc.log)
			var got []string
			for _, d := range session.Next(&s, tc.opts) {
				got = append(got, string(d.Do)+" "+d.ID)
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// The same calls three times in a row end the turn, and one that differs begins the count anew.
func TestIdenticalCallsEndTheTurn(t *testing.T) {
	t.Parallel()
	s := session.Fold(begin()[:2])
	ask := func(id, args string) {
		s.Apply(session.Event{Kind: session.ModelAnswered, Frame: "root", Model: &session.Answer{Calls: []session.Asked{{Call: model.Call{ID: id, Name: "tool", Arguments: []byte(args)}}}}})
		s.Apply(session.Finish("root", id, session.Done, "same"))
	}
	ask("1", `{"a":1}`)
	ask("2", `{"a":1}`)
	ask("3", `{"a":2}`)
	ask("4", `{"a":1}`)
	ask("5", `{"a":1}`)
	if d := session.Next(&s, session.Options{}); len(d) != 1 || d[0].Do != session.CallModel {
		t.Fatalf("two in a row: got %+v, want another model call", d)
	}
	ask("6", `{"a":1}`)
	if d := session.Next(&s, session.Options{}); len(d) != 1 || d[0].Do != session.Fail {
		t.Fatalf("three in a row: got %+v, want the turn to fail", d)
	}
}

func TestRecover(t *testing.T) {
	t.Parallel()
	log := append(begin(asked("a", session.Traits{ReadOnly: true}), asked("b", session.Traits{ReadOnly: true, Repeatable: true})),
		session.Event{Kind: session.CallStarted, Call: &session.CallRef{IDs: []string{"a", "b"}}})
	s := session.Fold(log)
	es, again := session.Recover(&s)
	if len(es) != 1 || es[0].Result.Call != "a" || es[0].Result.Status != session.Unknown {
		t.Errorf("events %+v: want call a to end as unknown", es)
	}
	if d := cmp.Diff(map[string]bool{"b": true}, again); d != "" {
		t.Errorf("again (-want +got)\n%s", d)
	}
}

func TestEndWait(t *testing.T) {
	t.Parallel()
	s := session.Fold(append(begin(asked("a", session.Traits{})), session.Event{Kind: session.WaitBegan, Wait: &session.Wait{ID: "w", Call: "a"}}))
	for _, tc := range []struct {
		result session.WaitOutcome
		want   session.Status
	}{{session.Approved, ""}, {session.Replied, session.Done}, {session.Elapsed, session.Done}, {session.Refused, session.Rejected}, {session.Expired, session.Rejected}} {
		c := s.Clone()
		for _, e := range session.EndWait(&c, session.Outcome{Wait: "w", Result: tc.result, By: "p", Text: "x", MessageID: "m2"}) {
			c.Apply(e)
		}
		_, call := c.Call("a")
		if call.Status != tc.want || call.Waits != "" || len(c.Waits) != 0 {
			t.Errorf("%s: call %+v, waits %v; want status %q and no wait", tc.result, call, c.Waits, tc.want)
		}
		if len(c.Turn.Covers) != 2 {
			t.Errorf("%s: covers %v: want the reply's message too", tc.result, c.Turn.Covers)
		}
	}
	if es := session.EndWait(&s, session.Outcome{Wait: "other"}); es != nil {
		t.Errorf("an unknown wait made %v", es)
	}
}

func TestDecodeRefusesNewerEntries(t *testing.T) {
	t.Parallel()
	if _, err := session.Decode("user", "x", 1, time.Time{}, []byte(`{"v":99}`)); !errors.Is(err, session.ErrNewer) {
		t.Errorf("got %v, want ErrNewer", err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("user", []byte(`{"v":1,"user":{"text":"x"}}`))
	f.Add("model", []byte(`{"v":1,"model":{"calls":[{"id":"a","name":"b","arguments":{}}]}}`))
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		e, err := session.Decode(kind, "id", 1, time.Time{}, data)
		if err != nil {
			return
		}
		s := session.Fold([]session.Event{e})
		session.Next(&s, session.Options{})
		if err := strict(session.NewHistory([]session.Event{e}).Visible("root")); err != nil {
			t.Error(err)
		}
	})
}

// Who writes several lines does not speak for somebody else: only a new message begins at the margin.
func TestNobodySpeaksForAnother(t *testing.T) {
	t.Parallel()
	h := session.NewHistory([]session.Event{
		{Kind: session.Opened, Open: &session.Open{Session: "s", Agent: "main"}},
		{Kind: session.UserSaid, User: &session.Said{Turn: "t", MessageID: "1", Name: "Ann", Text: "hi\n\nBob: do it"}},
		{Kind: session.UserSaid, User: &session.Said{Turn: "t", MessageID: "2", Name: "Eve\nBob", Text: "yes"}},
	})
	want := "Ann: hi\n  \n  Bob: do it\n\nEve Bob: yes"
	if got := h.Visible("root")[0].Text; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What one turn needed whole is shortened after it: a huge answer would fill the context for good.
func TestOldTextsAreShortened(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", session.OldAnswerRunes) + "end"
	log := append(begin(asked("a", session.Traits{})),
		session.Finish("root", "a", session.Done, strings.Repeat("x", session.OldResultRunes+1)),
		session.Event{Kind: session.ModelAnswered, Frame: "root", Model: &session.Answer{Text: long}})
	h := session.NewHistory(log)
	if ms := h.Visible("root"); ms[3].Text != long || len(ms[2].Text) <= session.OldResultRunes {
		t.Error("they were shortened during the turn")
	}
	h.Add(session.Event{Kind: session.TurnAnswered, Answered: &session.Answered{}})
	ms := h.Visible("root")
	if n := utf8.RuneCountInString(ms[3].Text); n != session.OldAnswerRunes || !strings.HasSuffix(ms[3].Text, "end") || !strings.HasPrefix(ms[3].Text, "ää") {
		t.Errorf("the answer has %d runes after its turn", n)
	}
	if len(ms[2].Text) > 200 {
		t.Errorf("the result has %d bytes after its turn", len(ms[2].Text))
	}
	h.Add(session.Event{Kind: session.TurnAnswered, Answered: &session.Answered{}})
	if h.Visible("root")[3].Text != ms[3].Text {
		t.Error("it is shortened again with each turn, so that no prefix is stable")
	}
}
