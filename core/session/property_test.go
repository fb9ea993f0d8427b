package session_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"herald/core/model"
	"herald/core/session"
)

// anyEvent draws an event that nothing has to make sense of: ids from a small alphabet, so that they collide.
func anyEvent(t *rapid.T, seq int64) session.Event {
	id := rapid.SampledFrom([]string{"a", "b", "c", "d", ""})
	frame := rapid.SampledFrom([]string{"root", "f1", "f2", ""})
	status := rapid.SampledFrom([]session.Status{session.Done, session.Errored, session.Unknown, ""})
	text := rapid.SampledFrom([]string{"", "hello", "</note>"})
	args := rapid.SampledFrom([]string{"", "{}", `{"x":1}`, "[]", "{", "null"})
	e := session.Event{ID: id.Draw(t, "id"), Frame: frame.Draw(t, "frame"), Seq: seq}
	e.Kind = rapid.SampledFrom([]session.Kind{
		session.Opened, session.UserSaid, session.UserSaid, session.ModelAnswered, session.ModelAnswered, session.CallStarted,
		session.CallFinished, session.CallFinished, session.FramePushed, session.FramePopped, session.WaitBegan, session.WaitEnded,
		session.Noted, session.Gated, session.Compacted, session.Cancelled, session.Failed, session.TurnAnswered, session.Closed, "of tomorrow",
	}).Draw(t, "kind")
	if rapid.IntRange(0, 9).Draw(t, "blank") == 0 {
		return e // blanked
	}
	switch e.Kind {
	case session.Opened:
		e.Open = &session.Open{Session: "s", Agent: "main"}
	case session.UserSaid:
		e.User = &session.Said{Turn: id.Draw(t, "turn"), MessageID: id.Draw(t, "m"), Name: text.Draw(t, "name"), Text: text.Draw(t, "text")}
	case session.ModelAnswered:
		a := &session.Answer{Text: text.Draw(t, "text"), Usage: model.Usage{Input: 1}}
		for range rapid.IntRange(0, 3).Draw(t, "calls") {
			a.Calls = append(a.Calls, session.Asked{
				Call: model.Call{ID: id.Draw(t, "call"), Name: text.Draw(t, "name"), Arguments: json.RawMessage(args.Draw(t, "args"))},
				Traits: session.Traits{
					ReadOnly: rapid.Bool().Draw(t, "ro"), Repeatable: rapid.Bool().Draw(t, "rep"), Delegates: rapid.Bool().Draw(t, "del"),
				},
			})
		}
		e.Model = a
	case session.CallStarted:
		e.Call = &session.CallRef{IDs: []string{id.Draw(t, "c1"), id.Draw(t, "c2")}}
	case session.CallFinished:
		e.Result = &session.Result{Call: id.Draw(t, "call"), Status: status.Draw(t, "status"), Text: text.Draw(t, "text")}
	case session.FramePushed:
		e.Push = &session.Push{Call: id.Draw(t, "call"), Agent: "x", Prompt: text.Draw(t, "text")}
	case session.FramePopped:
		e.Pop = &session.Pop{Status: status.Draw(t, "status"), Text: text.Draw(t, "text")}
	case session.WaitBegan:
		e.Wait = &session.Wait{ID: id.Draw(t, "wait"), Call: id.Draw(t, "call"), Kind: session.Question}
	case session.WaitEnded:
		e.Outcome = &session.Outcome{Wait: id.Draw(t, "wait"), Result: session.Approved, MessageID: id.Draw(t, "m"), By: "p"}
	case session.Noted:
		e.Note = &session.Note{Text: text.Draw(t, "text")}
	case session.Gated:
		e.Gate = &session.Gate{Call: id.Draw(t, "call"), Tool: "x", Answer: "allow", Rule: text.Draw(t, "rule")}
	case session.Compacted:
		e.Summary = &session.Summary{Text: text.Draw(t, "text"), From: int64(rapid.IntRange(0, 20).Draw(t, "from"))}
	case session.Cancelled:
		e.Cancel = &session.Cancel{By: "p", Covers: []session.Cover{{MessageID: id.Draw(t, "m")}}}
	case session.Failed:
		e.Failure = &session.Failure{Reason: "r", Ref: "x"}
	case session.TurnAnswered:
		e.Answered = &session.Answered{}
	default: // the others carry nothing
	}
	return e
}

// Any prefix of any log folds, to a state that survives its own materialisation, with a history that a strict provider takes.
func TestAnyPrefixOfAnyLogFolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var s session.State
		h := &session.History{}
		var log []session.Event
		for i := range rapid.IntRange(1, 40).Draw(t, "events") {
			e := anyEvent(t, int64(i+1))
			log = append(log, e)
			s.Apply(e)
			h.Add(e)
			b, err := json.Marshal(&s)
			if err != nil {
				t.Fatalf("after %+v: %v", e, err)
			}
			var back session.State
			if err := json.Unmarshal(b, &back); err != nil {
				t.Fatal(err)
			}
			b2, _ := json.Marshal(&back)
			if string(b) != string(b2) {
				t.Fatalf("the state changes when it is read back:\n%s\n%s", b, b2)
			}
			for _, f := range []string{"root", "f1", "f2"} {
				if err := strict(h.Visible(f)); err != nil {
					t.Fatalf("frame %s after %+v: %v", f, e, err)
				}
			}
			session.Next(&s, session.Options{})
			session.Recover(&s)
		}
		if d := cmp.Diff(session.Fold(log), s); d != "" {
			t.Fatalf("folding the log and applying its events differ:\n%s", d)
		}
	})
}

// driver performs decisions as an engine would, over a model that asks for whatever the draw says.
type driver struct {
	t     *rapid.T
	log   []session.Event
	state session.State
	hist  *session.History
	begun map[string]int
	n     int
}

func (d *driver) commit(es ...session.Event) {
	for _, e := range es {
		e.Seq = int64(len(d.log) + 1)
		b, err := session.Encode(e, session.EventVersion)
		if err != nil {
			d.t.Fatal(err)
		}
		back, err := session.Decode(string(e.Kind), e.ID, e.Seq, time.Time{}, b)
		if err != nil {
			d.t.Fatal(err)
		}
		d.log = append(d.log, back)
		d.state.Apply(back)
		d.hist.Add(back)
	}
}

func (d *driver) id(p string) string { d.n++; return fmt.Sprintf("%s%d", p, d.n) }

func (d *driver) perform(x session.Decision) {
	t := d.t
	switch x.Do {
	case session.CallModel:
		if err := strict(d.hist.Visible(x.Frame)); err != nil {
			t.Fatalf("the model of %s would be shown an invalid history: %v", x.Frame, err)
		}
		a := &session.Answer{Text: "text", Finish: model.FinishStop}
		depth := d.state.Frame(x.Frame).Depth
		kind := rapid.IntRange(0, 4).Draw(t, "answer")
		for range rapid.IntRange(0, 3).Draw(t, "calls") {
			tr := session.Traits{ReadOnly: kind == 1, Delegates: kind == 2 && depth < 2, Repeatable: rapid.Bool().Draw(t, "rep")}
			a.Calls = append(a.Calls, session.Asked{Call: model.Call{ID: d.id("c"), Name: "tool", Arguments: []byte("{}")}, Traits: tr})
		}
		d.commit(session.Event{Kind: session.ModelAnswered, ID: x.ID, Frame: x.Frame, Model: a})
	case session.Refuse:
		d.commit(session.Finish(x.Frame, x.Call, session.Errored, x.Text))
	case session.RunCall:
		_, c := d.state.Call(x.Call)
		if c.Delegates {
			d.commit(session.Event{Kind: session.FramePushed, ID: d.id("e"), Frame: d.id("f"), Push: &session.Push{Call: x.Call, Agent: "x", Prompt: "p"}})
			return
		}
		d.begun[x.Call]++
		if d.begun[x.Call] > 1 && !c.Repeatable {
			t.Fatalf("call %s begins a second time", x.Call)
		}
		if c.Approved == "" && rapid.IntRange(0, 5).Draw(t, "waits") == 0 {
			d.begun[x.Call]--
			d.commit(session.Event{Kind: session.WaitBegan, ID: d.id("e"), Frame: x.Frame, Wait: &session.Wait{ID: d.id("w"), Call: x.Call, Kind: session.Approval}})
			return
		}
		d.commit(session.Event{Kind: session.CallStarted, ID: d.id("e"), Frame: x.Frame, Call: &session.CallRef{IDs: []string{x.Call}}})
		if rapid.IntRange(0, 4).Draw(t, "crash") == 0 {
			es, again := session.Recover(&d.state)
			d.commit(es...)
			if !again[x.Call] {
				return
			}
			d.begun[x.Call]++
		}
		d.commit(session.Finish(x.Frame, x.Call, session.Done, "result"))
	case session.PopFrame:
		d.commit(session.Event{Kind: session.FramePopped, ID: x.ID, Frame: x.Frame, Pop: &session.Pop{Status: x.Status, Text: x.Text}})
	case session.Park:
		out := rapid.SampledFrom([]session.WaitOutcome{session.Approved, session.Refused, session.Expired}).Draw(t, "outcome")
		d.commit(session.EndWait(&d.state, session.Outcome{Wait: d.state.Waits[0].ID, Result: out, By: "p"})...)
	case session.Fail:
		d.commit(session.Event{Kind: session.Failed, ID: "x", Failure: &session.Failure{Reason: x.Text, Ref: "r"}})
	case session.Say:
		d.commit(session.Event{Kind: session.TurnAnswered, ID: x.ID, Answered: &session.Answered{Turn: d.state.Turn.ID, Covers: d.state.Turn.Covers}})
	}
}

// Whatever the model asks for and wherever the process dies, a turn comes to its end, no call that must not be repeated begins
// twice, and the history stays valid.
func TestEveryTurnEnds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := &driver{t: t, hist: &session.History{}, begun: map[string]int{}}
		d.commit(session.Event{Kind: session.Opened, ID: "o", Open: &session.Open{Session: "s", Agent: "main"}})
		for turn := range rapid.IntRange(1, 3).Draw(t, "turns") {
			id := fmt.Sprintf("m%d", turn)
			d.commit(session.Event{Kind: session.UserSaid, ID: id, User: &session.Said{Turn: "t" + id, MessageID: id, Text: "hi"}})
			for steps := 0; d.state.Turn != nil; steps++ {
				if steps > 5000 {
					t.Fatalf("the turn does not end; state %+v", d.state)
				}
				ds := session.Next(&d.state, session.Options{MaxRounds: 5})
				if len(ds) == 0 {
					t.Fatalf("nothing to do, but the turn is open: %+v", d.state)
				}
				d.perform(ds[rapid.IntRange(0, len(ds)-1).Draw(t, "which")])
				if rapid.IntRange(0, 30).Draw(t, "stop") == 0 && d.state.Turn != nil && d.state.Turn.Cancel == nil {
					d.commit(session.Event{Kind: session.Cancelled, ID: "x", Cancel: &session.Cancel{By: "p"}})
				}
			}
		}
		if d := cmp.Diff(session.Fold(d.log), d.state); d != "" {
			t.Fatalf("folding the log and applying its events differ:\n%s", d)
		}
	})
}

// A log that is read from the last summary on shows the model the same as the whole log.
func TestHistorySinceTheSummaryIsWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var log []session.Event
		add := func(e session.Event) { e.Seq = int64(len(log) + 1); log = append(log, e) }
		add(session.Event{Kind: session.Opened, Open: &session.Open{Session: "s", Agent: "main"}})
		say := func() {
			n := len(log)
			add(session.Event{Kind: session.UserSaid, User: &session.Said{Turn: "t", MessageID: fmt.Sprint(n), Text: fmt.Sprint("q", n)}})
			add(session.Event{Kind: session.ModelAnswered, Frame: "root", Model: &session.Answer{Text: fmt.Sprint("a", n)}})
			add(session.Event{Kind: session.TurnAnswered, Answered: &session.Answered{}})
		}
		for range rapid.IntRange(1, 5).Draw(t, "before") {
			say()
		}
		from := int64(len(log) + 1 - 3*rapid.IntRange(0, 1).Draw(t, "kept"))
		add(session.Event{Kind: session.Compacted, Frame: "root", Summary: &session.Summary{Text: "sum", From: from}})
		for range rapid.IntRange(0, 3).Draw(t, "after") {
			say()
		}
		if d := cmp.Diff(session.NewHistory(log).Visible("root"), session.NewHistory(log[from-1:]).Visible("root")); d != "" {
			t.Fatalf("the two differ:\n%s", d)
		}
	})
}
