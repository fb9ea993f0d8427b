package intake_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/intake"
	"herald/core/people"
	"herald/core/session"
	"herald/core/store"
	"herald/core/store/memory"
)

var eve = chat.Sender{Identity: "test:w/eve", Name: "Eve"}

// clicked is a click on a button of wait w1; id names the click.
func clicked(id, choice string, by chat.Sender) *chat.Inbound {
	return &chat.Inbound{
		Kind: chat.Click, App: "A1", Conversation: place, MessageID: id, SentAt: start, Sender: by, Action: intake.WaitAction("w1", choice),
	}
}

func (r *rig) wait(w session.Wait) {
	r.t.Helper()
	w.ID = "w1"
	d := conversation.WaitDoc{V: conversation.Version, Session: "s1", Wait: w}
	r.put(d.Key(), d)
}

func (r *rig) outcome() *session.Outcome {
	r.t.Helper()
	for _, w := range list[conversation.WaitDoc](r, conversation.Waits) {
		return w.Outcome
	}
	return nil
}

func TestClickDecides(t *testing.T) {
	t.Parallel()
	approval := session.Wait{Kind: session.Approval, Person: personOf(ada)}
	question := session.Wait{Kind: session.Question, Person: personOf(ada), Choices: []string{"red", "green"}}
	for _, tc := range []struct {
		name   string
		wait   session.Wait
		choice string
		want   session.Outcome
	}{
		{"approve", approval, intake.Approve, session.Outcome{Wait: "w1", Result: session.Approved, By: personOf(ada)}},
		{"deny", approval, intake.Deny, session.Outcome{Wait: "w1", Result: session.Refused, By: personOf(ada)}},
		{"choose", question, "1", session.Outcome{Wait: "w1", Result: session.Replied, By: personOf(ada), Text: "green"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.wait(tc.wait)
			r.take(clicked("c1", tc.choice, ada), chat.Kept)
			r.take(clicked("c1", tc.choice, ada), chat.Duplicate)
			if diff := cmp.Diff(&tc.want, r.outcome()); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
			if len(r.notices()) != 0 {
				t.Errorf("the winner got a notice: %+v", r.notices())
			}
			if !r.due(store.Turns) {
				t.Error("the turn's holder was not woken")
			}
			answers, err := r.seen.Read(t.Context(), store.Range{Partition: r.part, Log: conversation.Audit})
			if err != nil {
				t.Fatal(err)
			}
			if a := answers[0].Entries; len(a) != 1 || a[0].Kind != "decide" || !strings.Contains(string(a[0].Data), `"wait":"w1"`) {
				t.Errorf("audit = %v, want the decision", a)
			}
		})
	}
}

func TestClickThatIsTurnedAway(t *testing.T) {
	t.Parallel()
	mine := session.Wait{Kind: session.Approval, Person: personOf(ada)}
	decided := func(by string, result session.WaitOutcome) func(*rig) {
		return func(r *rig) {
			w := mine
			w.ID = "w1"
			d := conversation.WaitDoc{V: 1, Wait: w, Outcome: &session.Outcome{Wait: "w1", Result: result, By: by}}
			r.put(d.Key(), d)
		}
	}
	// The turn went on: what is left of the wait stands elsewhere.
	wentOn := func(o *session.Outcome) func(*rig) {
		return func(r *rig) {
			w := mine
			w.ID = "w1"
			d := conversation.WaitDoc{V: 1, Wait: w, Outcome: o}
			r.put(d.EndedKey(), d)
		}
	}
	waits := func(w session.Wait) func(*rig) { return func(r *rig) { r.wait(w) } }
	for _, tc := range []struct {
		name, choice, says string
		before             func(*rig)
		why                intake.Reason
	}{
		{"no such wait", intake.Approve, "no longer open", func(*rig) {}, intake.TooLate},
		{"somebody else's", intake.Approve, "not yours", waits(session.Wait{Kind: session.Approval, Person: personOf(bob)}), intake.Forbidden},
		{
			"deciders are named and the asker is none", intake.Approve, "not yours",
			waits(session.Wait{Kind: session.Approval, Person: personOf(ada), Deciders: []string{personOf(bob)}}), intake.Forbidden,
		},
		{
			"admins are named and the clicker is none", intake.Approve, "not yours",
			waits(session.Wait{Kind: session.Approval, Deciders: []string{string(people.Admin)}}), intake.Forbidden,
		},
		{"decided by oneself", intake.Approve, "already: approved", decided(personOf(ada), session.Approved), intake.TooLate},
		{
			"decided by oneself, and the turn went on", intake.Deny, "already: approved",
			wentOn(&session.Outcome{Wait: "w1", Result: session.Approved, By: personOf(ada)}), intake.TooLate,
		},
		{
			"ended by time, and the turn went on", intake.Approve, "time to decide this is over",
			wentOn(&session.Outcome{Wait: "w1", Result: session.Expired}), intake.TooLate,
		},
		{"the turn went on without an outcome", intake.Approve, "no longer open", wentOn(nil), intake.TooLate},
		{"ended by time", intake.Approve, "time to decide this is over", decided("", session.Expired), intake.TooLate},
		{
			"its end has come", intake.Approve, "time to decide this is over",
			waits(session.Wait{Kind: session.Approval, Person: personOf(ada), End: start}), intake.TooLate,
		},
		{"a number for an approval", "0", "does not fit", waits(mine), intake.UnknownAction},
		{
			"an approval for a question", intake.Approve, "does not fit",
			waits(session.Wait{Kind: session.Question, Person: personOf(ada), Choices: []string{"a"}}), intake.UnknownAction,
		},
		{
			"a number beyond the choices", "1", "does not fit",
			waits(session.Wait{Kind: session.Question, Person: personOf(ada), Choices: []string{"a"}}), intake.UnknownAction,
		},
		{
			"a number below them", "-1", "does not fit",
			waits(session.Wait{Kind: session.Question, Person: personOf(ada), Choices: []string{"a"}}), intake.UnknownAction,
		},
		{"a timer", intake.Approve, "does not fit", waits(session.Wait{Kind: session.Timer, Person: personOf(ada)}), intake.UnknownAction},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			tc.before(r)
			before := r.outcome()
			r.take(clicked("c1", tc.choice, ada), chat.Kept)
			r.take(clicked("c1", tc.choice, ada), chat.Duplicate)
			if diff := cmp.Diff(before, r.outcome()); diff != "" {
				t.Errorf("the outcome changed (-before +after):\n%s", diff)
			}
			notices := r.notices()
			if len(notices) != 1 || !strings.Contains(notices[0].Text, tc.says) || notices[0].Only != ada.Identity || notices[0].Interaction != "c1" {
				t.Errorf("notices = %+v, want one for Ada alone that says %q", notices, tc.says)
			}
			if r.counted(tc.why) == 0 {
				t.Errorf("not counted as %s: %v", tc.why, r.counts)
			}
		})
	}
}

func TestButtonThatMeansNothing(t *testing.T) {
	t.Parallel()
	for _, action := range []string{"wait", "wait:", "wait:w1", "wait:w1:", "wait::approve", "again:", "show:", "display:w1", "{}"} {
		r := newRig(t)
		r.wait(session.Wait{Kind: session.Approval, Person: personOf(ada)})
		in := clicked("c1", "", ada)
		in.Action = action
		r.take(in, chat.Kept)
		if r.outcome() != nil || len(r.notices()) != 1 || r.counted(intake.UnknownAction) != 1 {
			t.Errorf("action %q: outcome %v, notices %v", action, r.outcome(), r.notices())
		}
	}
}

func TestAdminDecidesWhereAdminsAreNamed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if err := people.New(r.seen).SyncAdmins(t.Context(), "1", []chat.IdentityID{bob.Identity}); err != nil {
		t.Fatal(err)
	}
	r.wait(session.Wait{Kind: session.Approval, Person: personOf(ada), Deciders: []string{string(people.Admin)}})
	r.take(clicked("c1", intake.Deny, bob), chat.Kept)
	if o := r.outcome(); o == nil || o.Result != session.Refused || o.By != personOf(bob) {
		t.Errorf("outcome = %+v, want Bob's denial", o)
	}
}

// A card can be clicked days after it was posted, and a platform may give the card's time.
func TestClickOnAnOldCardDecides(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.wait(session.Wait{Kind: session.Approval, Person: personOf(ada)})
	in := clicked("c1", intake.Approve, ada)
	in.SentAt = start.Add(-3 * conversation.DedupeAge)
	r.take(in, chat.Kept)
	if o := r.outcome(); o == nil || o.Result != session.Approved {
		t.Errorf("outcome = %+v, want the approval", o)
	}
}

// Another decider's click on another replica lands between the read and the commit: one outcome, one notice, and it says by name who was faster.
func TestTwoClickers(t *testing.T) {
	t.Parallel()
	var r *rig
	done := false
	r = newRig(t, withFaults(func(c memory.Call) memory.Effect {
		if c.Commit != nil && c.Commit.Partition == r.part && !done {
			done = true
			other, _ := r.replica()
			if _, err := other.Receive(t.Context(), clicked("c2", intake.Deny, bob)); err != nil {
				t.Error(err)
			}
		}
		return memory.Effect{}
	}))
	r.wait(session.Wait{Kind: session.Approval, Deciders: []string{personOf(ada), personOf(bob)}})
	r.take(clicked("c1", intake.Approve, ada), chat.Kept)
	if o := r.outcome(); o == nil || o.By != personOf(bob) || o.Result != session.Refused {
		t.Errorf("outcome = %+v, want Bob's", o)
	}
	if n := r.notices(); len(n) != 1 || n[0].Text != "Bob was faster: refused." || n[0].Only != ada.Identity {
		t.Errorf("notices = %+v, want one for Ada that names Bob", n)
	}
}

// Somebody who may not decide learns nothing of what was decided.
func TestStrangerLearnsNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	w := session.Wait{ID: "w1", Kind: session.Approval, Person: personOf(ada)}
	d := conversation.WaitDoc{V: 1, Wait: w, Outcome: &session.Outcome{Wait: "w1", Result: session.Approved, By: personOf(ada)}}
	r.put(d.Key(), d)
	r.take(clicked("c1", intake.Approve, eve), chat.Kept)
	if n := r.notices(); len(n) != 1 || strings.Contains(n[0].Text, "approved") || !strings.Contains(n[0].Text, "not yours") {
		t.Errorf("notices = %+v", n)
	}
}

// An interaction waits for the store no longer than it may, and its error has a sentence for the person.
func TestInteractionWaitsNoLongerThanItMay(t *testing.T) {
	t.Parallel()
	r := newRig(t, withFaults(func(memory.Call) memory.Effect { return memory.Effect{Delay: time.Hour} }),
		func(_ *memory.Options, o *intake.Options) { o.InteractionWait = time.Millisecond })
	r.wait(session.Wait{Kind: session.Approval, Person: personOf(ada)})
	out, err := r.Receive(t.Context(), clicked("c1", intake.Approve, ada))
	if err == nil {
		t.Fatalf("Receive = %q, want an error", out)
	}
	if got := intake.Sentence(err); !strings.Contains(got, "may not have been done") || strings.Contains(got, "store") {
		t.Errorf("the sentence is %q", got)
	}
}

// Before a form is shown it is asked whether its text would count: nothing is decided by that.
func TestClickThatOpensAForm(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		by   chat.Sender
		want chat.Outcome
		says string
	}{
		{"who may decide", ada, chat.Ready, ""},
		{"who may not", bob, chat.Kept, "not yours"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.wait(session.Wait{Kind: session.Approval, Person: personOf(ada)})
			in := clicked("c1", intake.Deny, tc.by)
			in.Opens = true
			r.take(in, tc.want)
			if r.outcome() != nil {
				t.Errorf("it was decided: %+v", r.outcome())
			}
			if n := r.notices(); (tc.says == "") != (len(n) == 0) || tc.says != "" && (!strings.Contains(n[0].Text, tc.says) || n[0].Only != tc.by.Identity) {
				t.Errorf("notices %+v, want %q", n, tc.says)
			}
		})
	}
}

func TestAnswerInOnesOwnWords(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, typed, want, wrong string
	}{
		{"words", "  neither of them \n", "neither of them", ""},
		{"nothing", " \n", "", "Write an answer."},
		{"too many", strings.Repeat("ä", conversation.MaxFreeText+1), "", "Your answer has 3001 characters; write at most 3000."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.wait(session.Wait{Kind: session.Question, Person: personOf(ada), Choices: []string{"red", "green"}})
			in := clicked("c1", conversation.FreeText, ada)
			in.Value = tc.typed
			_, err := r.Receive(t.Context(), in)
			if tc.wrong != "" {
				if invalid, ok := errors.AsType[*chat.Invalid](err); !ok || invalid.Text != tc.wrong || intake.Sentence(err) != tc.wrong || r.outcome() != nil {
					t.Fatalf("got %v, outcome %+v", err, r.outcome())
				}
				// They may type again, in the same form.
				in.Value = "blue"
				r.take(in, chat.Kept)
				return
			}
			if o := r.outcome(); err != nil || o == nil || o.Result != session.Replied || o.Text != tc.want {
				t.Errorf("outcome %+v, %v", o, err)
			}
		})
	}
}
