package turn_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/model"
	"herald/core/model/modeltest"
	"herald/core/session"
	"herald/core/store"
	"herald/core/tool"
)

// rules is a gate that is opened for each claim; it says of a tool what the map says, and hides the tool "read".
type rules struct {
	part    store.Partition
	answers map[string]tool.Decision
	opened  *int
}

func (g rules) Decide(_ context.Context, c tool.Call) (tool.Decision, error) {
	if c.Approved != "" {
		return g.answers[c.Name+" approved"], nil
	}
	return g.answers[c.Name], nil
}
func (rules) Hides(_ context.Context, _ tool.Call, name string) bool { return name == "read" }
func (g rules) Queries(p store.Partition) []store.Query {
	return []store.Query{store.Get{Partition: p, Key: conversation.BypassKey}}
}

func (g rules) Open(p store.Partition, as []store.Answer) tool.Gate {
	*g.opened++
	if p != g.part || len(as) != 1 {
		panic(fmt.Sprintf("opened for %s with %d answers", p, len(as)))
	}
	return g
}

// gated is a rig with that gate.
func gated(t *testing.T, answers map[string]tool.Decision, script ...modeltest.Rule) (*rig, *int) {
	t.Helper()
	r := newRig(t, script...)
	opened := new(int)
	r.opts.Gate = rules{part: r.part, answers: answers, opened: opened}
	r.opts.Name = func(_ context.Context, p string) (string, error) { return strings.ToUpper(p), nil }
	return r, opened
}

// waits are the open waits.
func (r *rig) waits() []conversation.WaitDoc {
	r.t.Helper()
	as, err := r.store.Read(r.t.Context(), store.List{Partition: r.part, Collection: conversation.Waits})
	if err != nil {
		r.t.Fatal(err)
	}
	out := make([]conversation.WaitDoc, len(as[0].Docs))
	for i, d := range as[0].Docs {
		if err := conversation.Decode(d, &out[i]); err != nil {
			r.t.Fatal(err)
		}
	}
	return out
}

func (r *rig) decide(w conversation.WaitDoc, o session.WaitOutcome, by string) {
	r.t.Helper()
	w.Outcome = &session.Outcome{Wait: w.Wait.ID, Result: o, By: by}
	r.commit(store.Put{Key: w.Key(), Value: conversation.Encode(w)})
}

// gates are what the log and the record of the last turn say of the gate's answers.
func (r *rig) gates() (logged, recorded []string) {
	r.t.Helper()
	line := func(g session.Gate) string { return g.Tool + " " + g.Answer + ": " + g.Rule }
	as, err := r.store.Read(r.t.Context(), store.Range{Partition: r.part, Log: conversation.Log})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, en := range as[0].Entries {
		e, err := session.Decode(en.Kind, en.ID, en.Seq, en.At, en.Data)
		if err != nil {
			r.t.Fatal(err)
		}
		if e.Kind == session.Gated {
			logged = append(logged, line(*e.Gate))
		}
	}
	var cur conversation.Current
	var rec conversation.TurnRecord
	if r.doc(conversation.CurrentKey, &cur) && r.doc(conversation.TurnKey(cur.LastTurn), &rec) {
		for _, g := range rec.Gates {
			recorded = append(recorded, line(g))
		}
	}
	return logged, recorded
}

// Each decision stands in the log and in the record with the rule that made it, and no model is shown it.
func TestEachDecisionIsLogged(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, tool string
		answers    map[string]tool.Decision
		by         string
		want       []string
		told       string
	}{
		{"allowed", "act", map[string]tool.Decision{"act": {Answer: tool.Allow, Rule: "rule a"}}, "", []string{"act allow: rule a"}, "done"},
		{
			"denied", "act",
			map[string]tool.Decision{"act": {Answer: tool.Deny, Rule: "rule d"}},
			"",
			[]string{"act deny: rule d"},
			session.RefusalText(session.ByRule, ""),
		},
		{
			"unattended", "act",
			map[string]tool.Decision{"act": {Answer: tool.Deny, Rule: "nobody", Refusal: session.ByNobody}},
			"",
			[]string{"act deny: nobody"},
			session.RefusalText(session.ByNobody, ""),
		},
		{"hidden and named", "read", map[string]tool.Decision{"read": {Answer: tool.Allow}}, "", []string{"read deny: a rule hides this tool"}, "there is no such tool: read"},
		{
			"approved", "act",
			map[string]tool.Decision{"act": {Answer: tool.Require, Rule: "rule r"}, "act approved": {Answer: tool.Allow, Rule: "ann; rule r"}},
			"ann",
			[]string{"act require: rule r", "act allow: ann; rule r"},
			"done",
		},
		{
			"approved and denied since", "act",
			map[string]tool.Decision{"act": {Answer: tool.Require, Rule: "rule r"}, "act approved": {Answer: tool.Deny, Rule: "rule d", Refusal: session.ByLapse}},
			"ann",
			[]string{"act require: rule r", "act deny: rule d"},
			session.RefusalText(session.ByLapse, ""),
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var told string
			var shown []string
			r, _ := gated(t, tc.answers, func(q *model.Request) (modeltest.Reply, bool) {
				shown = nil
				for _, s := range q.Tools {
					shown = append(shown, s.Name)
				}
				if m := q.Messages[len(q.Messages)-1]; m.Role == model.Tool {
					told = m.Text
				}
				return modeltest.Reply{}, false
			}, modeltest.AfterTool(tc.tool, modeltest.Say("over")), modeltest.When("go", modeltest.Use(tc.tool, `{}`)))
			r.say("1", "ann", "go")
			r.work()
			if tc.by != "" {
				w := r.waits()
				if len(w) != 1 || w[0].Wait.Tool != tc.tool {
					t.Fatalf("waits: %+v", w)
				}
				r.decide(w[0], session.Approved, tc.by)
				r.work()
			}
			logged, recorded := r.gates()
			if d := cmp.Diff(tc.want, logged); d != "" {
				t.Errorf("log (-want +got)\n%s", d)
			}
			if d := cmp.Diff(tc.want, recorded); d != "" {
				t.Errorf("record (-want +got)\n%s", d)
			}
			if !strings.HasPrefix(told, tc.told) {
				t.Errorf("the model was told %q, want %q", told, tc.told)
			}
			if slices.Contains(shown, "read") || !slices.Contains(shown, "act") {
				t.Errorf("the model was shown %v", shown)
			}
			if n := r.model.Violations(); n > 0 {
				t.Errorf("a strict provider refuses %d histories", n)
			}
			r.foldAgrees()
		})
	}
}

// The rules cost no round trip of their own.
func TestRulesAreReadWithTheNews(t *testing.T) {
	t.Parallel()
	r, opened := gated(t, nil)
	r.say("1", "ann", "hi")
	c, _ := r.claim()
	before := r.store.Stats()
	if err := r.engine().Handle(t.Context(), c, nil); err != nil {
		t.Fatal(err)
	}
	if n := r.store.Stats().RoundTrips - before.RoundTrips; n != 2 || *opened != 1 {
		t.Errorf("%d round trips, opened %d times", n, *opened)
	}
}

// A card shows every argument as code on one line, and says where it leaves something out.
func TestWhatACardShows(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, args string
		d          tool.Decision
		want       []string
	}{
		{"no arguments", `{}`, tool.Decision{Rule: "rule r"}, []string{"It has no arguments.", "Why I ask: rule r.", "Who may decide: the person who asked."}},
		{"named deciders", `{}`, tool.Decision{Who: "an admin"}, []string{"Who may decide: an admin."}},
		{"text on one line", `{"a":"x\n**Approved**"}`, tool.Decision{}, []string{"- `a`: `\"x\\n**Approved**\"`"}},
		{"code marks", "{\"a\":\"x`y``z\"}", tool.Decision{}, []string{"```\"x`y``z\"```"}},
		{"a name that plays the card", `{"x\nWho may decide: you.\n":1}`, tool.Decision{}, []string{"- `\"x\\nWho may decide: you.\\n\"`: `1`"}},
		{"a long name", `{"` + strings.Repeat("x", 400) + strings.Repeat("y", 200) + `":1}`, tool.Decision{}, []string{"xxx` … `yyy", "(shortened: 600 characters): `1`"}},
		{"marks that turn what is read", "{\"a\u202eb\":\"rm \u2066x\u200b\"}", tool.Decision{}, []string{"- `a⟨U+202E⟩b`: `\"rm ⟨U+2066⟩x⟨U+200B⟩\"`"}},
		{"in the order of the call", `{"z":1,"a":[1, 2]}`, tool.Decision{}, []string{"- `z`: `1`\n- `a`: `[1,2]`"}},
		{"a long one", `{"a":"` + strings.Repeat("x", 400) + strings.Repeat("y", 200) + `"}`, tool.Decision{}, []string{"xxx` … `yyy", "(shortened: 602 characters)"}},
		{
			"many", `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1,"l":1,"m":1,"n":1,"o":1,"p":1,"q":1,"r":1,"s":1,"t":1,"u":1,"v":1}`,
			tool.Decision{},
			[]string{"and 2 more that are not shown here"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tc.d.Answer = tool.Require
			r, _ := gated(t, map[string]tool.Decision{"act": tc.d}, modeltest.When("go", modeltest.Use("act", tc.args)))
			r.caps.Cards = true
			r.say("1", "ann", "go")
			r.work()
			all := slices.ContainsFunc(r.cardOf(r.waits()[0].Wait.ID).Buttons, func(b chat.Button) bool { return b.Label == "Show all" })
			if want := tc.name == "a long one" || tc.name == "a long name" || tc.name == "many"; all != want {
				t.Errorf("show all is offered: %v, want %v", all, want)
			}
			for _, want := range tc.want {
				if w := r.waits(); len(w) != 1 || !strings.Contains(w[0].Wait.Text, want) {
					t.Errorf("the card is %+v, want %q", w, want)
				}
			}
		})
	}
}

// cardOf is the card of a wait that was not sent yet.
func (r *rig) cardOf(wait string) *chat.Card {
	r.t.Helper()
	var d conversation.Delivery
	if !r.doc(store.Key{Collection: conversation.Outgoing, Name: conversation.ID("d", wait)}, &d) || d.Card == nil {
		r.t.Fatalf("the wait %s has no card", wait)
	}
	return d.Card
}

// The card of a delegated agent's call names the agent and for whom it works.
func TestTheCardOfAChildNamesItsAgent(t *testing.T) {
	t.Parallel()
	r, _ := gated(t, map[string]tool.Decision{"delegate": {Answer: tool.Allow}, "act": {Answer: tool.Require}},
		modeltest.When("go", modeltest.Use("delegate", `{"do":"it"}`)), modeltest.When(`"do":"it"`, modeltest.Use("act", `{}`)))
	r.say("1", "ann", "go")
	r.work()
	if w := r.waits(); len(w) != 1 || !strings.HasPrefix(w[0].Wait.Text, "The agent `main` asks, which works for `main`.\n") {
		t.Errorf("the card is %+v", w)
	}
}

// Whoever asked or may decide can refuse by a message with a reason; nobody approves by one.
func TestTypedDecisions(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, by, text string
		told           string // "" when the call still waits
	}{
		{"deny", "ann", "deny", session.RefusalText(session.ByPerson, "")},
		{"with a reason", "ann", " Deny: not on a Friday ", session.RefusalText(session.ByPerson, "not on a Friday")},
		{"by a decider", "bob", "deny : no", session.RefusalText(session.ByPerson, "no")},
		{"by somebody else", "eve", "deny", ""},
		{"a sentence", "ann", "deny that please", ""},
		{"an approval", "ann", "approve", ""},
		{"yes", "bob", "yes", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var told string
			r, _ := gated(t, map[string]tool.Decision{"act": {Answer: tool.Require, Deciders: []string{"bob"}}}, func(q *model.Request) (modeltest.Reply, bool) {
				if m := q.Messages[len(q.Messages)-1]; m.Role == model.Tool {
					told = m.Text
				}
				return modeltest.Reply{}, false
			}, modeltest.AfterTool("act", modeltest.Say("over")), modeltest.When("go", modeltest.Use("act", `{}`)))
			r.say("1", "ann", "go")
			r.work()
			r.say("2", tc.by, tc.text)
			r.work()
			if told != tc.told || (tc.told == "") != (len(r.waits()) == 1) {
				t.Errorf("the model was told %q, %d waits", told, len(r.waits()))
			}
			if said := r.said(); tc.told != "" && !slices.Contains(said, "answer [1 2] over") {
				t.Errorf("said %q", said)
			}
			r.foldAgrees()
		})
	}
}

// A card that nobody decided about ends as denied.
func TestACardExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var told string
		r, _ := gated(t, map[string]tool.Decision{"act": {Answer: tool.Require, Expires: time.Hour}}, func(q *model.Request) (modeltest.Reply, bool) {
			if m := q.Messages[len(q.Messages)-1]; m.Role == model.Tool {
				told = m.Text
			}
			return modeltest.Reply{}, false
		}, modeltest.AfterTool("act", modeltest.Say("over")), modeltest.When("go", modeltest.Use("act", `{}`)))
		r.say("1", "ann", "go")
		r.work()
		time.Sleep(time.Hour - time.Minute)
		if r.work(); told != "" {
			t.Fatalf("it ended a minute early: %q", told)
		}
		time.Sleep(2 * time.Minute)
		r.work()
		if told != session.RefusalText(session.ByTime, "") || len(r.waits()) != 0 {
			t.Errorf("the model was told %q, %d waits", told, len(r.waits()))
		}
	})
}

// A card that stands says how it ended, without buttons, whatever the end was.
func TestACardSaysHowItEnded(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		end  func(*rig, conversation.WaitDoc)
		want string
	}{
		{"approved", func(r *rig, w conversation.WaitDoc) { r.decide(w, session.Approved, "bob") }, "Approved by BOB."},
		{"refused", func(r *rig, w conversation.WaitDoc) { r.decide(w, session.Refused, "bob") }, "Denied by BOB."},
		{"typed", func(r *rig, _ conversation.WaitDoc) { r.say("2", "ann", "deny") }, "Denied by ANN."},
		{"stopped", func(r *rig, _ conversation.WaitDoc) { r.control(conversation.Stop, "2", "ann") }, "Not decided: the turn ended before."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r, _ := gated(t, map[string]tool.Decision{"act": {Answer: tool.Require}, "act approved": {Answer: tool.Allow}},
				modeltest.AfterTool("act", modeltest.Say("over")), modeltest.When("go", modeltest.Use("act", `{}`)))
			r.caps.Cards, r.caps.Edits = true, true
			r.say("1", "ann", "go")
			r.work()
			key := store.Key{Collection: conversation.Outgoing, Name: conversation.ID("d", r.waits()[0].Wait.ID)}
			var d conversation.Delivery
			if !r.doc(key, &d) || d.Card == nil || len(d.Card.Buttons) != 4 {
				t.Fatalf("there is no card: %+v", d)
			}
			// The outbox has sent it.
			d.Pieces = []conversation.Piece{{Text: d.Text, Attempts: 1, Settled: true, Receipt: &chat.Receipt{MessageID: "m9"}}}
			r.commit(store.Delete{Key: key}, store.Put{Key: d.SentKey(), Value: conversation.Encode(d)})
			tc.end(r, r.waits()[0])
			r.work()
			d = conversation.Delivery{}
			if !r.doc(key, &d) || d.Card != nil || !strings.Contains(d.Text, tc.want) || !d.Uncut || d.Pieces[0].Settled || d.Pieces[0].Receipt.MessageID != "m9" {
				t.Errorf("the card is %+v", d)
			}
			if r.doc(d.SentKey(), &conversation.Delivery{}) {
				t.Error("the card stands twice")
			}
		})
	}
}

// A card that is being sent at the moment of its end says how it ended, too.
func TestACardOnItsWaySaysHowItEnded(t *testing.T) {
	t.Parallel()
	r, _ := gated(t, map[string]tool.Decision{"act": {Answer: tool.Require}, "act approved": {Answer: tool.Allow}},
		modeltest.AfterTool("act", modeltest.Say("over")), modeltest.When("go", modeltest.Use("act", `{}`)))
	r.caps.Cards, r.caps.Edits = true, true
	r.say("1", "ann", "go")
	r.work()
	w := r.waits()[0]
	r.decide(w, session.Approved, "bob")
	r.work()
	var d conversation.Delivery
	if !r.doc(store.Key{Collection: conversation.Outgoing, Name: conversation.ID("d", w.Wait.ID)}, &d) || d.Card != nil || !strings.Contains(d.Text, "Approved by BOB.") {
		t.Errorf("the card is %+v", d)
	}
}

// A stop and a new session end what a person let through.
func TestAStopEndsBypasses(t *testing.T) {
	t.Parallel()
	for _, kind := range []conversation.ControlKind{conversation.Stop, conversation.New} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			r, _ := gated(t, nil)
			r.say("1", "ann", "hi")
			r.work()
			b := conversation.Bypasses{}
			b.Add(conversation.Bypass{Tool: "act", Session: "s"})
			r.commit(store.Put{Key: conversation.BypassKey, Value: conversation.Encode(b)})
			r.say("2", "ann", "hi")
			r.work()
			if !r.doc(conversation.BypassKey, &b) {
				t.Fatal("a message ended it")
			}
			r.control(kind, "3", "ann")
			r.work()
			if r.doc(conversation.BypassKey, &b) {
				t.Error("it stands still")
			}
		})
	}
}
