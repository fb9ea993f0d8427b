package intake_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/intake"
	notes "herald/core/memory"
	"herald/core/people"
	"herald/core/store"
	"herald/core/store/memory"
)

func TestMessageIsKept(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	in := message(1, "hello")
	in.Direct = true
	in.Files = []chat.File{{ID: "f1", Name: "a.txt", Size: 3}}
	r.take(in, chat.Kept)
	want := []conversation.Message{{
		V: conversation.Version, MessageID: "m001", Order: "001", SentAt: start, Person: personOf(ada), Sender: ada, Text: "hello",
		Files: in.Files, Direct: true, NoNotes: true,
	}}
	if diff := cmp.Diff(want, r.inbox()); diff != "" {
		t.Errorf("inbox (-want +got):\n%s", diff)
	}
	if !r.due(store.Turns) {
		t.Error("the message woke no turn")
	}
}

// A message says whether there are notes to look for, with no round trip for it.
func TestMessageKnowsOfNotes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		root  notes.Root
		place notes.Place // of a note
		none  bool
	}{
		{"none", "", "", true},
		{"the person's", notes.User, notes.Of(personOf(ada)), false},
		{"another person's", notes.User, notes.Of(personOf(bob)), true},
		{"the channel's", notes.Channel, notes.OfChannel(place), false},
		{"the workspace's", notes.Shared, notes.OfWorkspace(place.Workspace), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			if tt.place != "" {
				if _, err := notes.New(r.seen, nil).Remember(t.Context(), tt.root, tt.place, notes.Writer{Person: "p", Name: "P", Call: "c"}, "A fact."); err != nil {
					t.Fatal(err)
				}
			}
			before := r.used.Stats().RoundTrips
			r.take(message(1, "hello"), chat.Kept)
			trips := r.used.Stats().RoundTrips - before
			if got := r.inbox(); len(got) != 1 || got[0].NoNotes != tt.none {
				t.Errorf("%+v", got)
			}
			plain := newRig(t)
			before = plain.used.Stats().RoundTrips
			plain.take(message(1, "hello"), chat.Kept)
			if n := plain.used.Stats().RoundTrips - before; n != trips {
				t.Errorf("%d round trips, and %d without notes", trips, n)
			}
		})
	}
}

func TestMessagesListInThePlatformsOrder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, n := range []int{3, 1, 2} {
		r.take(message(n, "text"), chat.Kept)
	}
	var got []string
	for _, m := range r.inbox() {
		got = append(got, m.MessageID)
	}
	if diff := cmp.Diff([]string{"m001", "m002", "m003"}, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

// A turn's holder takes the message out of the inbox; a redelivery at any time wakes and adds nothing.
func TestRedeliveryWakesAndAddsNothing(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		later time.Duration
	}{
		{"at once, while the store remembers the commit", 0},
		{"after the store forgot the commit's id", 11 * time.Minute},
		{"just before the event is too old", conversation.DedupeAge},
		{"when it is too old and its key still stands", conversation.DedupeAge + time.Minute},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.take(message(1, "hello"), chat.Kept)
			r.due(store.Turns)
			m := r.inbox()[0]
			if _, err := r.seen.Commit(t.Context(), store.Commit{ID: "taken", Partition: r.part, Ops: []store.Op{store.Delete{Key: m.Key()}}}); err != nil {
				t.Fatal(err)
			}
			r.clock.advance(tc.later)
			// Another message trims what is too old.
			next := message(2, "bye")
			next.SentAt = r.clock.now()
			r.take(next, chat.Kept)
			r.due(store.Turns)
			r.take(message(1, "hello"), chat.Duplicate)
			if n := len(r.inbox()); n != 1 {
				t.Errorf("%d messages wait, want the other one alone", n)
			}
			if !r.due(store.Turns) || !r.due(store.Outbox) {
				t.Error("the redelivery did not wake turn and outbox")
			}
			if l := r.letters(); len(l) != 0 {
				t.Errorf("the redelivery made a row: %s", l[0].Note)
			}
		})
	}
}

// Whatever single call of the store fails, before or after it took effect, the event is not acknowledged, and its redelivery makes one entry.
func TestLostRepliesAndOutages(t *testing.T) {
	t.Parallel()
	kinds := map[string]func() *chat.Inbound{
		"message": func() *chat.Inbound { return message(1, "hello") },
		"stop":    func() *chat.Inbound { return message(1, "stop") },
		"help":    func() *chat.Inbound { return message(1, "help") },
		"edit":    func() *chat.Inbound { return edit(1, "002", "hello again") },
		"empty":   func() *chat.Inbound { return message(1, " ") },
		"old": func() *chat.Inbound {
			in := message(1, "hello")
			in.SentAt = start.Add(-48 * time.Hour)
			return in
		},
		"bot": func() *chat.Inbound {
			in := from(message(1, "hello"), robot)
			in.Mentioned = true
			return in
		},
	}
	for name, event := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dry := newRig(t, withPolicy(intake.Policy{Bots: intake.BotsMentioned}))
			dry.take(event(), chat.Kept)
			stats := dry.used.Stats()
			if stats.RoundTrips < 2 {
				t.Fatalf("%d calls reach the store, at least a read and a commit were expected", stats.RoundTrips)
			}
			for at := int64(1); at <= stats.RoundTrips; at++ {
				for _, effect := range []memory.Effect{{Before: memory.Unavailable("before")}, {After: memory.Unavailable("after")}, {Twice: true}} {
					r := newRig(t, withPolicy(intake.Policy{Bots: intake.BotsMentioned}), withFaults(func(c memory.Call) memory.Effect {
						if c.N == at {
							return effect
						}
						return memory.Effect{}
					}))
					out, err := r.Receive(t.Context(), event())
					if effect.Twice {
						if err != nil {
							t.Fatalf("call %d twice: %v", at, err)
						}
					} else if !errors.Is(err, store.ErrUnavailable) {
						t.Fatalf("call %d, %+v: Receive = %q, %v; want the outage", at, effect, out, err)
					}
					for range 2 {
						if _, err := r.Receive(t.Context(), event()); err != nil {
							t.Fatalf("call %d, %+v: redelivery: %v", at, effect, err)
						}
					}
					entries := len(r.inbox()) + len(r.controls()) + len(r.notices()) + len(r.letters())
					if entries != 1 {
						t.Errorf("call %d, %+v: %d entries, want 1", at, effect, entries)
					}
				}
			}
		})
	}
}

func TestIgnored(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		why    intake.Reason
		change func(*chat.Inbound)
	}{
		{"own message", intake.Own, func(in *chat.Inbound) { in.Sender.Self = true }},
		{"own edit, as after an update of a live message", intake.Own, func(in *chat.Inbound) { in.Sender.Self, in.Kind = true, chat.Edit }},
		{"bot by default", intake.Bot, func(in *chat.Inbound) { in.Sender, in.Mentioned = robot, true }},
		{"mass mention alone", intake.MassMention, func(in *chat.Inbound) { in.MassMention = true }},
		{"unfurl", intake.Unfurl, func(in *chat.Inbound) { in.Unfurl = true }},
		{"unfurl as an edit", intake.Unfurl, func(in *chat.Inbound) { in.Unfurl, in.Kind = true, chat.Edit }},
		{"other people's talk", intake.Unaddressed, func(in *chat.Inbound) { in.Addressed = false }},
		{"an edit of other people's talk", intake.Unknown, func(in *chat.Inbound) { in.Addressed, in.Kind = false, chat.Edit }},
		{"a deletion of other people's talk", intake.Unknown, func(in *chat.Inbound) { in.Addressed, in.Kind = false, chat.Delete }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			in := message(1, "hello")
			tc.change(in)
			r.take(in, chat.Ignored)
			if n := r.seen.Stats().Commits + r.used.Stats().Commits; n != 0 {
				t.Errorf("an ignored event made %d commits", n)
			}
			if r.counted(tc.why) != 1 {
				t.Errorf("it was not counted as %s: %v", tc.why, r.counts)
			}
		})
	}
}

func TestMassMentionWithAMentionIsTaken(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	in := message(1, "everybody, and Herald: hello")
	in.MassMention, in.Mentioned = true, true
	r.take(in, chat.Kept)
	if len(r.inbox()) != 1 {
		t.Error("the message is not in the inbox")
	}
}

func TestNotices(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text, says string
		why              intake.Reason
	}{
		{"nothing", "", "nothing in your message", intake.Empty},
		{"blanks", " \n\t", "nothing in your message", intake.Empty},
		{"too long", strings.Repeat("x", intake.DefaultText+1), "101 kB, and I read at most 100 kB", intake.TooLong},
		{"unknown command", "/stpo", "Did you mean `stop`?", intake.UnknownCommand},
		{"unknown command behind the mark", "!herald dance now", "`dance` is not a command", intake.UnknownCommand},
		{"wrong arguments", "/why a b", "why [REF]", intake.UnknownCommand},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.take(message(1, tc.text), chat.Kept)
			r.take(message(1, tc.text), chat.Duplicate)
			if n := len(r.inbox()); n != 0 {
				t.Errorf("%d messages went to the agent", n)
			}
			notices := r.notices()
			if len(notices) != 1 {
				t.Fatalf("%d notices, want 1", len(notices))
			}
			d := notices[0]
			if !strings.Contains(d.Text, tc.says) || d.ReplyTo != "m001" || d.Kind != conversation.Notice || len(d.Covers) != 1 || d.Covers[0].MessageID != "m001" {
				t.Errorf("notice = %+v, want one that says %q and answers m001", d, tc.says)
			}
			if !r.due(store.Outbox) {
				t.Error("the outbox was not woken")
			}
			if r.counted(tc.why) == 0 {
				t.Errorf("not counted as %s: %v", tc.why, r.counts)
			}
		})
	}
}

func TestAFileAloneIsAMessage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	in := message(1, "")
	in.Files = []chat.File{{ID: "f", Name: "plan.pdf"}}
	r.take(in, chat.Kept)
	if len(r.inbox()) != 1 {
		t.Error("the file is not in the inbox")
	}
}

func TestFullInbox(t *testing.T) {
	t.Parallel()
	r := newRig(t, withPolicy(intake.Policy{Inbox: 2, Notices: 1}))
	for n := 1; n <= 4; n++ {
		r.take(message(n, "text"), chat.Kept)
		r.take(message(n, "text"), chat.Duplicate)
	}
	if n := len(r.inbox()); n != 2 {
		t.Errorf("%d messages wait, want 2", n)
	}
	notices := r.notices()
	if len(notices) != 1 || notices[0].ReplyTo != "m003" || !strings.Contains(notices[0].Text, "2 messages are waiting") {
		t.Errorf("notices = %+v, want one that answers m003", notices)
	}
	letters := r.letters()
	if len(letters) != 1 || !strings.Contains(string(letters[0].Note), `"m004"`) {
		t.Errorf("rows = %v, want one about m004, which found the outbox crowded too", letters)
	}
	if got := r.counted(intake.Full); got != 2 {
		t.Errorf("counted %d full inboxes, want 2", got)
	}
}

func TestTooOldEndsAsARow(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	in := message(1, "a secret of long ago")
	in.SentAt = start.Add(-conversation.DedupeAge - time.Millisecond)
	r.take(in, chat.Kept)
	r.take(in, chat.Duplicate)
	if len(r.inbox()) != 0 || r.due(store.Turns) != true { // the redelivery wakes, for nothing
		t.Error("the old message was run")
	}
	letters := r.letters()
	if len(letters) != 1 {
		t.Fatalf("%d rows, want 1", len(letters))
	}
	note := string(letters[0].Note)
	if !strings.Contains(note, `"kind":"event","reason":"it was sent at 2026-02-28T11:59:59Z, more than 24h0m0s ago"`) || !strings.Contains(note, `"message_id":"m001"`) || strings.Contains(note, "secret") {
		t.Errorf("row = %s", note)
	}
}

func TestYoungEnoughIsRun(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	in := message(1, "text")
	in.SentAt = start.Add(-conversation.DedupeAge)
	r.take(in, chat.Kept)
	if len(r.inbox()) != 1 {
		t.Error("the message was not run")
	}
}

// The first message of a person costs more; from then on a message is one read and one commit.
func TestBudget(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.take(message(1, "text"), chat.Kept)
	for n := 2; n < 5; n++ {
		before := r.used.Stats()
		r.take(message(n, "text"), chat.Kept)
		after := r.used.Stats()
		if trips, commits := after.RoundTrips-before.RoundTrips, after.Commits-before.Commits; trips != 2 || commits != 1 {
			t.Errorf("message %d cost %d round trips and %d commits, want 2 and 1", n, trips, commits)
		}
	}
	r.clock.advance(people.NoteEvery)
	before := r.used.Stats()
	r.take(message(6, "text"), chat.Kept)
	if commits := r.used.Stats().Commits - before.Commits; commits != 2 {
		t.Errorf("the first message after an hour made %d commits, want one more for the footprint", commits)
	}
}

// The footprint stands before the words do: with the words' commit refused it is there.
func TestFootprintComesFirst(t *testing.T) {
	t.Parallel()
	r := newRig(t, withFaults(func(c memory.Call) memory.Effect {
		if c.Commit != nil && c.Commit.Partition == conversation.Partition(place) {
			return memory.Effect{Before: memory.Unavailable("words")}
		}
		return memory.Effect{}
	}))
	if _, err := r.Receive(t.Context(), message(1, "text")); !errors.Is(err, store.ErrUnavailable) {
		t.Fatalf("Receive: %v, want the outage", err)
	}
	answers, err := r.seen.Read(t.Context(), store.ScoreOf{Partition: people.PersonPartition(personOf(ada)), Index: people.Footprint, Member: string(r.part)})
	if err != nil {
		t.Fatal(err)
	}
	if len(answers[0].Scored) != 1 {
		t.Error("no footprint stands")
	}
}

func TestReceiveStopsWithItsContext(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Receive(ctx, message(1, "text")); !errors.Is(err, context.Canceled) {
		t.Errorf("Receive = %v, want the context's error", err)
	}
}
