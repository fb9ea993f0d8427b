package intake_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/intake"
	"herald/core/people"
	"herald/core/session"
	"herald/core/store"
)

func pressed(id, action string, by chat.Sender) *chat.Inbound {
	in := clicked(id, "", by)
	in.Action = action
	return in
}

// failedTurn is a turn of Ada's that failed, in a session that Bob opened.
func (r *rig) failedTurn(f *session.Failure) {
	r.t.Helper()
	rec := conversation.TurnRecord{V: 1, ID: "t1", Session: "s1", Person: personOf(ada), Covers: []session.Cover{{MessageID: "m1", Person: personOf(ada)}}, Failure: f}
	r.put(rec.Key(), rec)
	r.put(conversation.CurrentKey, conversation.Current{V: 1, State: session.State{Session: "s1", Opener: personOf(bob)}})
}

func TestTryAgain(t *testing.T) {
	t.Parallel()
	failure := &session.Failure{Kind: "model", Reason: "It broke off.", Ref: "R"}
	for _, tc := range []struct {
		name    string
		by      chat.Sender
		admin   bool
		failure *session.Failure
		action  string
		says    string // "" when the turn is started over
	}{
		{"who asked", ada, false, failure, "again:t1", ""},
		{"who opened the conversation", bob, false, failure, "again:t1", ""},
		{"an admin", eve, true, failure, "again:t1", ""},
		{"somebody else", eve, false, failure, "again:t1", "Only who wrote"},
		{"a turn that did not fail", ada, false, nil, "again:t1", "cannot be tried again"},
		{"a turn that does not exist", ada, false, failure, "again:t2", "cannot be tried again"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			if tc.admin {
				if err := people.New(r.seen).SyncAdmins(t.Context(), "1", []chat.IdentityID{tc.by.Identity}); err != nil {
					t.Fatal(err)
				}
			}
			r.failedTurn(tc.failure)
			r.take(pressed("c1", tc.action, tc.by), chat.Kept)
			r.take(pressed("c1", tc.action, tc.by), chat.Duplicate)
			cs, notices := r.controls(), r.notices()
			if tc.says != "" {
				if len(cs) != 0 || len(notices) != 1 || notices[0].Only != tc.by.Identity || !strings.Contains(notices[0].Text, tc.says) {
					t.Errorf("controls %+v, notices %+v, want %q for the clicker alone", cs, notices, tc.says)
				}
				return
			}
			if len(cs) != 1 || cs[0].Kind != conversation.Retry || cs[0].Target != "t1" || cs[0].By != personOf(tc.by) || len(notices) != 0 {
				t.Fatalf("controls %+v, notices %+v, want one retry", cs, notices)
			}
			// However often and by whom it is clicked, it happens once.
			r.take(pressed("c2", tc.action, tc.by), chat.Kept)
			r.take(pressed("c3", tc.action, other(tc.by)), chat.Kept)
			if n := r.notices(); len(r.controls()) != 1 || len(n) != 2 || !says(n, "You have tried this again already.") || !says(n, tc.by.Name+" has tried this again already.") {
				t.Errorf("after further clicks: controls %+v, notices %+v", r.controls(), n)
			}
		})
	}
}

// other is one of the two who may try again and is not s.
func other(s chat.Sender) chat.Sender {
	if s == ada {
		return bob
	}
	return ada
}

func says(ds []conversation.Delivery, text string) bool {
	for _, d := range ds {
		if d.Text == text {
			return true
		}
	}
	return false
}

func TestShow(t *testing.T) {
	t.Parallel()
	piece := []conversation.Piece{{Text: "a line", Settled: true, Attempts: 1, Receipt: &chat.Receipt{MessageID: "p1"}}}
	for _, tc := range []struct {
		name string
		d    conversation.Delivery
		says string // "" when it is shown
	}{
		{"an old answer", conversation.Delivery{Replaced: "all of it"}, ""},
		{"one for the clicker alone", conversation.Delivery{Replaced: "all of it", Only: ada.Identity}, ""},
		{"one for somebody else", conversation.Delivery{Replaced: "all of it", Only: bob.Identity}, "nothing more to show"},
		{"one that was shown", conversation.Delivery{Text: "all of it", Revealed: true}, "stands here already"},
		{"one that was never replaced", conversation.Delivery{Text: "all of it"}, "nothing more to show"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			d := tc.d
			d.V, d.ID, d.Kind, d.Pieces = 1, "d1", conversation.Answer, piece
			d.Card = &chat.Card{Buttons: []chat.Button{{Action: conversation.ShowMark + d.ID, Label: "Show"}}}
			d.MadeAt = start.Add(-time.Hour)
			r.put(d.SentKey(), d)
			r.take(pressed("c1", "show:d1", ada), chat.Kept)
			out := r.notices()
			if len(out) != 1 {
				t.Fatalf("deliveries %+v, want one", out)
			}
			if tc.says != "" {
				if !strings.Contains(out[0].Text, tc.says) || out[0].Only != ada.Identity {
					t.Errorf("said %+v, want %q", out[0], tc.says)
				}
				return
			}
			if g := out[0]; g.ID != "d1" || g.Text != "all of it" || g.Card != nil || !g.Uncut || g.Pieces[0].Receipt == nil || g.Pieces[0].Settled || g.MadeAt.Before(start) {
				t.Errorf("it says %+v", g)
			}
			if len(list[conversation.Delivery](r, conversation.Sent)) != 0 {
				t.Error("the delivery stands twice")
			}
			// A second click comes before the first one's text stands.
			r.take(pressed("c2", "show:d1", ada), chat.Kept)
			if out := r.notices(); len(out) != 2 || !says(out, "The whole text stands here already, or is on its way.") {
				t.Errorf("after a second click: %+v", out)
			}
			if r.counted(intake.Shown) != 1 {
				t.Errorf("counted %v", r.counts)
			}
		})
	}
}

func TestShowAllArguments(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		by   chat.Sender
		call string
		says string
	}{
		{"a decider", bob, "c1", "All arguments of `pay`:\n\n`````\nto:\ne⟨U+202E⟩ve ```` **Approved**\nreally\n`````\n\n```\nsum:\n12\n```"},
		{"who asked and may not decide", ada, "c1", "This decision is not yours to make."},
		{"after its end", bob, "c2", "This question is no longer open."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.wait(session.Wait{Kind: session.Approval, Call: tc.call, Person: personOf(ada), Deciders: []string{personOf(bob)}})
			r.put(conversation.CurrentKey, conversation.Current{V: 1, State: session.State{Frames: []session.Frame{{ID: "root", Calls: []session.CallState{
				{ID: "c1", Name: "pay", Arguments: json.RawMessage("{\"to\":\"e\u202eve ```` **Approved**\\nreally\",\"sum\":12}")},
				{ID: "c2", Name: "pay", Status: session.Done},
			}}}}})
			r.take(pressed("k1", "all:w1", tc.by), chat.Kept)
			if n := r.notices(); len(n) != 1 || n[0].Only != tc.by.Identity || n[0].Text != tc.says {
				t.Errorf("said %+v, want %q", n, tc.says)
			}
			if r.outcome() != nil {
				t.Error("it was decided")
			}
		})
	}
}

// A click on a copy of a card decides where the wait stands; who may not is told in the place of the copy.
func TestClickOnACopy(t *testing.T) {
	t.Parallel()
	dm := chat.Conversation{Workspace: "test:w", Channel: "D1"}
	in := func(id, choice string, by chat.Sender) *chat.Inbound {
		c := clicked(id, choice, by)
		c.Conversation = dm
		return c
	}
	said := func(r *rig) []conversation.Delivery {
		at := &rig{t: t, seen: r.seen, part: conversation.Partition(dm)}
		return at.notices()
	}
	r := newRig(t)
	r.wait(session.Wait{Kind: session.Approval, Tool: "pay", Person: personOf(ada), Deciders: []string{personOf(bob)}})
	_, err := r.seen.Commit(t.Context(), store.Commit{ID: "copy", Partition: conversation.Partition(dm), Ops: []store.Op{store.Put{
		Key: conversation.CopiedKey("w1"), Value: conversation.Encode(conversation.Copied{V: 1, Origin: r.part, Delivery: "d1"}),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	r.take(in("c1", intake.Approve, eve), chat.Kept)
	if n := said(r); len(n) != 1 || n[0].Only != eve.Identity || !strings.Contains(n[0].Text, "not yours") || r.outcome() != nil {
		t.Fatalf("Eve was told %+v, outcome %+v", n, r.outcome())
	}
	r.take(in("c2", intake.ApproveMinutes, bob), chat.Kept)
	r.take(in("c2", intake.ApproveMinutes, bob), chat.Duplicate)
	if o := r.outcome(); o == nil || o.Result != session.Approved || o.By != personOf(bob) {
		t.Errorf("outcome %+v", o)
	}
	if !r.due(store.Turns) {
		t.Error("the turn's holder was not woken")
	}
	as, err := r.seen.Read(t.Context(), store.Get{Partition: r.part, Key: conversation.BypassKey}, store.Range{Partition: r.part, Log: conversation.Audit})
	if err != nil || len(as[0].Docs) != 1 || len(as[1].Entries) != 1 {
		t.Errorf("bypass and audit row stand elsewhere: %+v %v", as, err)
	}
	// The card in the conversation is decided, too.
	r.take(clicked("c3", intake.Deny, bob), chat.Kept)
	if n := r.notices(); len(n) != 1 || !strings.Contains(n[0].Text, "already: approved") {
		t.Errorf("a second decision: %+v", n)
	}
}
