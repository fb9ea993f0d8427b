package intake_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herald/core/chat"
	"herald/core/command"
	"herald/core/conversation"
	"herald/core/intake"
	"herald/core/people"
	"herald/core/store"
	"herald/core/store/memory"
)

func TestStopAndNewAreControls(t *testing.T) {
	t.Parallel()
	slash := func(n int, text string) *chat.Inbound {
		in := message(n, text)
		in.Kind = chat.Command
		return in
	}
	for _, tc := range []struct {
		name        string
		in          *chat.Inbound
		kind        conversation.ControlKind
		interaction string
	}{
		{"stop as a word", message(7, "stop"), conversation.Stop, ""},
		{"in any case, with blanks", message(7, "  STOP\n"), conversation.Stop, ""},
		{"behind a slash, with words too many", message(7, "/stop it please"), conversation.Stop, ""},
		{"behind the mark", message(7, "!herald stop"), conversation.Stop, ""},
		{"as the slash command", slash(7, "stop"), conversation.Stop, "m007"},
		{"new as a word", message(7, "New"), conversation.New, ""},
		{"new as the slash command", slash(7, "new"), conversation.New, "m007"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.take(tc.in, chat.Kept)
			r.take(tc.in, chat.Duplicate)
			want := []conversation.Control{{
				V: conversation.Version, Kind: tc.kind, ID: "m007", Order: "007", By: personOf(ada), Name: "Ada", Interaction: tc.interaction, At: start,
			}}
			if diff := cmp.Diff(want, r.controls()); diff != "" {
				t.Errorf("controls (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(conversation.Head{V: conversation.Version, StopOrder: "007", By: personOf(ada)}, r.head()); diff != "" {
				t.Errorf("head (-want +got):\n%s", diff)
			}
			if len(r.inbox())+len(r.notices()) != 0 {
				t.Error("the control was also a message, or was confirmed before it took hold")
			}
			if !r.due(store.Turns) {
				t.Error("the turn's holder was not woken")
			}
			answers, err := r.seen.Read(t.Context(), store.Range{Partition: r.part, Log: conversation.Audit})
			if err != nil {
				t.Fatal(err)
			}
			audit := answers[0].Entries
			if len(audit) != 1 || audit[0].Kind != string(tc.kind) || !strings.Contains(string(audit[0].Data), personOf(ada)) {
				t.Errorf("audit = %v, want one row of %s", audit, tc.kind)
			}
		})
	}
}

func TestTextThatOnlyBeginsLikeACommandGoesToTheAgent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	texts := []string{"stop doing that", "new plan", "help me", "status?", "why", "show", "herald stop", "!heraldstop", "what does /stop do"}
	for n, text := range texts {
		r.take(message(n, text), chat.Kept)
	}
	if got := len(r.inbox()); got != len(texts) {
		t.Errorf("%d of %d texts went to the agent", got, len(texts))
	}
}

// The head holds the newest stop, whatever order they arrive in, and a late older one leaves its version: it must refuse nobody's commit.
func TestHeadKeepsTheNewestStop(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	version := func() int64 {
		answers, err := r.seen.Read(t.Context(), store.Get{Partition: r.part, Key: conversation.HeadKey})
		if err != nil {
			t.Fatal(err)
		}
		doc, _ := answers[0].Doc()
		return doc.Version
	}
	r.take(message(5, "stop"), chat.Kept)
	first := version()
	r.take(message(3, "stop"), chat.Kept)
	if got := version(); got != first || r.head().StopOrder != "005" {
		t.Errorf("the older stop changed the head: %+v, version %d → %d", r.head(), first, got)
	}
	r.take(message(9, "new"), chat.Kept)
	if got := version(); got == first || r.head().StopOrder != "009" {
		t.Errorf("the newer one left the head: %+v, version %d", r.head(), got)
	}
	if n := len(r.controls()); n != 3 {
		t.Errorf("%d controls, want 3", n)
	}
}

// Another stop lands between read and commit: both stand, and the head is at the newer one, whichever it is.
func TestStopsThatRace(t *testing.T) {
	t.Parallel()
	for _, mine := range []int{7, 9} {
		var r *rig
		done := false
		r = newRig(t, withFaults(func(c memory.Call) memory.Effect {
			if c.Commit != nil && c.Commit.Partition == r.part && !done {
				done = true
				other, _ := r.replica()
				if _, err := other.Receive(t.Context(), message(8, "stop")); err != nil {
					t.Error(err)
				}
			}
			return memory.Effect{}
		}))
		r.take(message(mine, "stop"), chat.Kept)
		if got, want := r.head().StopOrder, fmt.Sprintf("%03d", max(mine, 8)); got != want || len(r.controls()) != 2 {
			t.Errorf("head %s with %d controls, want %s with 2", got, len(r.controls()), want)
		}
	}
}

func TestEditAndDelete(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.take(message(1, "hello"), chat.Kept)
	r.due(store.Turns)
	// A channel's edit names Herald no more, and a deletion has no text; both concern a message that was taken in.
	e := edit(1, "002", "hello again")
	e.Addressed = false
	r.take(e, chat.Kept)
	r.take(e, chat.Duplicate)
	d := message(1, "")
	d.Kind, d.Addressed = chat.Delete, false
	r.take(d, chat.Kept)
	r.take(d, chat.Duplicate)
	key := message(1, "").DedupeKey()
	want := []conversation.Control{
		{V: 1, Kind: conversation.Delete, ID: "m001/delete", Order: "001", By: personOf(ada), Name: "Ada", Target: "m001", TargetKey: key, At: start},
		{V: 1, Kind: conversation.Edit, ID: "m001/edit", Order: "002", By: personOf(ada), Name: "Ada", Target: "m001", TargetKey: key, Text: "hello again", At: start},
	}
	if diff := cmp.Diff(want, r.controls()); diff != "" {
		t.Errorf("controls (-want +got):\n%s", diff)
	}
	if msgs := r.inbox(); len(msgs) != 1 || msgs[0].Text != "hello" {
		t.Errorf("inbox = %+v, want the message as it was", msgs)
	}
	if !r.due(store.Turns) {
		t.Error("the turn's holder was not woken")
	}
}

func TestEditBeforeItsMessageSwallowsNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.take(edit(1, "002", "hello again"), chat.Kept)
	r.take(edit(1, "003", "hello once more"), chat.Kept)
	r.take(message(1, "hello"), chat.Kept)
	if len(r.inbox()) != 1 || len(r.controls()) != 2 {
		t.Errorf("%d messages and %d edits, want 1 and 2", len(r.inbox()), len(r.controls()))
	}
}

// A stop that is deleted afterwards stays: the deletion has an entry of its own.
func TestDeletingAStopLeavesIt(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.take(message(1, "stop"), chat.Kept)
	d := message(1, "")
	d.Kind = chat.Delete
	r.take(d, chat.Kept)
	var kinds []conversation.ControlKind
	for _, c := range r.controls() {
		kinds = append(kinds, c.Kind)
	}
	if diff := cmp.Diff([]conversation.ControlKind{conversation.Stop, conversation.Delete}, kinds); diff != "" {
		t.Errorf("controls (-want +got):\n%s", diff)
	}
}

func TestEditThatIsTooLong(t *testing.T) {
	t.Parallel()
	r := newRig(t, withPolicy(intake.Policy{Text: 3000}))
	r.take(message(1, "hello"), chat.Kept)
	r.take(edit(1, "002", strings.Repeat("x", 3001)), chat.Kept)
	other := edit(2, "003", strings.Repeat("x", 3001))
	other.Addressed = false
	r.take(other, chat.Ignored)
	if len(r.controls()) != 0 || len(r.notices()) != 1 || r.notices()[0].ReplyTo != "m001" {
		t.Errorf("controls %v, notices %v; want one notice about m001", r.controls(), r.notices())
	}
}

func TestCommandsThatReadAreAnsweredOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	in := message(1, "status")
	r.take(in, chat.Kept)
	r.take(message(2, "a question"), chat.Kept)
	r.clock.advance(11 * time.Minute)
	// Now status would say something else; the repeat shows what it said first.
	r.take(in, chat.Duplicate)
	notices := r.notices()
	if len(notices) != 1 || !strings.Contains(notices[0].Text, "Nothing is running here") {
		t.Errorf("notices = %+v, want the first answer", notices)
	}
}

func TestSlashCommandIsNeverAMessage(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"":            "These words are commands",
		"help":        "These words are commands",
		"tell a joke": "`tell` is not a command",
		"why":         "no finished answer",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			in := message(1, text)
			in.Kind, in.Addressed, in.MessageID = chat.Command, false, "i1"
			r.take(in, chat.Kept)
			notices := r.notices()
			if len(r.inbox()) != 0 || len(notices) != 1 || notices[0].Interaction != "i1" || notices[0].ReplyTo != "" || !strings.Contains(notices[0].Text, says) {
				t.Errorf("notices = %+v, want one that answers i1 and says %q", notices, says)
			}
		})
	}
}

// Rights are those of now: a person who became an admin since the last message may, one who was one may not.
func TestCommandNeedsItsRoleNow(t *testing.T) {
	t.Parallel()
	table, err := command.NewTable(
		command.Spec{Name: command.Help, Least: people.Restricted},
		command.Spec{Name: command.Stop, Whole: true, Least: people.Admin},
	)
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, func(_ *memory.Options, o *intake.Options) { o.Commands = table })
	admins := people.New(r.seen)
	for n, ids := range [][]chat.IdentityID{nil, {ada.Identity}, {bob.Identity}} {
		if err := admins.SyncAdmins(t.Context(), fmt.Sprint(n), ids); err != nil {
			t.Fatal(err)
		}
		r.take(message(n, "stop"), chat.Kept)
	}
	if got := r.controls(); len(got) != 1 || got[0].Order != "001" {
		t.Errorf("controls = %+v, want the one of the admin", got)
	}
	if got := r.notices(); len(got) != 2 || !strings.Contains(got[0].Text, "needs the role `admin`") {
		t.Errorf("notices = %+v, want two refusals", got)
	}
}
