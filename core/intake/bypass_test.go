package intake_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/intake"
	"herald/core/session"
	"herald/core/store"
	"herald/core/store/memory"
)

// bypasses are those that stand in the conversation.
func (r *rig) bypasses() []conversation.Bypass {
	r.t.Helper()
	answers, err := r.seen.Read(r.t.Context(), store.Get{Partition: r.part, Key: conversation.BypassKey})
	if err != nil {
		r.t.Fatal(err)
	}
	var b conversation.Bypasses
	if doc, ok := answers[0].Doc(); ok {
		if err := conversation.Decode(doc, &b); err != nil {
			r.t.Fatal(err)
		}
	}
	return b.List
}

func TestAChoiceCanLetFurtherCallsThrough(t *testing.T) {
	t.Parallel()
	send := session.Wait{Kind: session.Approval, Tool: "send", Person: personOf(ada), Deciders: []string{personOf(bob)}}
	question := session.Wait{Kind: session.Question, Tool: "send", Person: personOf(bob), Choices: []string{"red"}}
	for _, tc := range []struct {
		name, choice, audit string
		wait                session.Wait
		want                []conversation.Bypass
		result              session.WaitOutcome
	}{
		{"once", intake.Approve, "approved", send, nil, session.Approved},
		{
			"for some minutes", intake.ApproveMinutes, "approve_minutes", send,
			[]conversation.Bypass{{Tool: "send", Session: "s1", Person: personOf(ada), By: personOf(bob), At: start, Until: start.Add(15 * time.Minute)}},
			session.Approved,
		},
		{
			"for the session", intake.ApproveSession, "approve_session", send,
			[]conversation.Bypass{{Tool: "send", Session: "s1", Person: personOf(ada), By: personOf(bob), At: start}},
			session.Approved,
		},
		{"a denial", intake.Deny, "refused", send, nil, session.Refused},
		{"a question is no approval", intake.ApproveSession, "", question, nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.wait(tc.wait)
			r.take(clicked("c1", tc.choice, bob), chat.Kept)
			if d := cmp.Diff(tc.want, r.bypasses()); d != "" {
				t.Errorf("bypasses (-want +got)\n%s", d)
			}
			if o := r.outcome(); tc.result == "" && o != nil || tc.result != "" && (o == nil || o.Result != tc.result) {
				t.Errorf("outcome %+v, want %q", o, tc.result)
			}
			answers, err := r.seen.Read(t.Context(), store.Range{Partition: r.part, Log: conversation.Audit})
			if err != nil {
				t.Fatal(err)
			}
			if tc.audit != "" && (len(answers[0].Entries) != 1 || !strings.Contains(string(answers[0].Entries[0].Data), `"result":"`+tc.audit+`"`)) {
				t.Errorf("audit %v, want %q", answers[0].Entries, tc.audit)
			}
		})
	}
}

// Two decisions at once both keep their bypass.
func TestBypassesOfTwoDecisionsBothStand(t *testing.T) {
	t.Parallel()
	var r *rig
	done := false
	r = newRig(t, withFaults(func(c memory.Call) memory.Effect {
		if c.Commit != nil && c.Commit.Partition == r.part && !done {
			done = true
			b := conversation.Bypasses{}
			b.Add(conversation.Bypass{Tool: "other", Session: "s1", Person: personOf(ada), By: personOf(ada), At: start})
			r.put(conversation.BypassKey, b)
		}
		return memory.Effect{}
	}))
	r.wait(session.Wait{Kind: session.Approval, Tool: "send", Person: personOf(ada)})
	done = false
	r.take(clicked("c1", intake.ApproveSession, ada), chat.Kept)
	if b := r.bypasses(); len(b) != 2 {
		t.Errorf("%+v, want both", b)
	}
}

func TestWhoIsBarredDoesNotDecide(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.wait(session.Wait{Kind: session.Approval, Person: personOf(ada), Deciders: []string{personOf(ada), personOf(bob)}, Barred: []string{personOf(ada)}})
	r.take(clicked("c1", intake.Approve, ada), chat.Kept)
	if o := r.outcome(); o != nil {
		t.Fatalf("who asked decided: %+v", o)
	}
	if n := r.notices(); len(n) != 1 || n[0].Only != ada.Identity || !strings.Contains(n[0].Text, "not yours") {
		t.Errorf("notices %+v", n)
	}
	r.take(clicked("c2", intake.Approve, bob), chat.Kept)
	if o := r.outcome(); o == nil || o.By != personOf(bob) {
		t.Errorf("outcome %+v, want Bob's", o)
	}
}

// What stands beside a button, such as the text of a form, is the reason of a refusal, cut to a sane length.
func TestARefusalHasAReason(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.wait(session.Wait{Kind: session.Approval, Person: personOf(ada)})
	in := clicked("c1", intake.Deny, ada)
	in.Value = " not\nbefore noon" + strings.Repeat("x", 600) + " "
	r.take(in, chat.Kept)
	if o := r.outcome(); o == nil || !strings.HasPrefix(o.Text, "not before noonxxx") || len(o.Text) > 500 {
		t.Errorf("outcome %+v", o)
	}
}
