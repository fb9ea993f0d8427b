package intake_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/intake"
	"herald/core/people"
	"herald/core/store"
	"herald/core/store/memory"
)

func TestMalformedEndsAsARow(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 600)
	for _, tc := range []struct {
		name   string
		change func(*chat.Inbound)
		// system: the row stands in the system's partition, for the conversation is what is wrong.
		system bool
	}{
		{"nothing but a text", func(in *chat.Inbound) { *in = chat.Inbound{Text: "hello"} }, true},
		{"no workspace", func(in *chat.Inbound) { in.Conversation.Workspace = "" }, true},
		{"no channel", func(in *chat.Inbound) { in.Conversation.Channel = "" }, true},
		{"a thread with a control character", func(in *chat.Inbound) { in.Conversation.Thread = "T\n1" }, true},
		{"a channel that is no text", func(in *chat.Inbound) { in.Conversation.Channel = "C\xff" }, true},
		{"a conversation without end", func(in *chat.Inbound) { in.Conversation.Thread = long }, true},
		{"a channel that grows when it is escaped", func(in *chat.Inbound) { in.Conversation.Channel = strings.Repeat("%", 100) }, true},
		{"no kind", func(in *chat.Inbound) { in.Kind = "" }, false},
		{"a kind of its own", func(in *chat.Inbound) { in.Kind = "reaction" }, false},
		{"no app", func(in *chat.Inbound) { in.App = "" }, false},
		{"no message id", func(in *chat.Inbound) { in.MessageID = "" }, false},
		{"no order", func(in *chat.Inbound) { in.Order = "" }, false},
		{"no sender", func(in *chat.Inbound) { in.Sender = chat.Sender{} }, false},
		{"an id without end", func(in *chat.Inbound) { in.MessageID = long }, false},
		{"an id with a zero", func(in *chat.Inbound) { in.MessageID = "m\x00" }, false},
		{"an id that is no text", func(in *chat.Inbound) { in.MessageID = "m\xc3" }, false},
		{"an id with a separator", func(in *chat.Inbound) { in.MessageID = "m|1" }, false},
		{"an order with a separator", func(in *chat.Inbound) { in.Order = "1~2" }, false},
		{"a sender with a line break", func(in *chat.Inbound) { in.Sender.Identity = "test:w/a\nda" }, false},
		{"files without end", func(in *chat.Inbound) { in.Files = make([]chat.File, 101) }, false},
		{"a year without end", func(in *chat.Inbound) { in.MessageID, in.SentAt = "", time.Date(123456, 1, 1, 0, 0, 0, 0, time.UTC) }, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			in := message(1, "a secret")
			tc.change(in)
			r.take(in, chat.Kept)
			r.take(in, chat.Kept)
			letters := r.letters()
			if len(letters) != 1 {
				t.Fatalf("%d rows, want 1", len(letters))
			}
			want := conversation.Partition(in.Conversation)
			if tc.system {
				want = people.System
			}
			if letters[0].Partition != want || !strings.Contains(string(letters[0].Note), `"malformed"`) || strings.Contains(string(letters[0].Note), "secret") {
				t.Errorf("row in %s: %s", letters[0].Partition, letters[0].Note)
			}
			if len(r.inbox()) != 0 {
				t.Error("the malformed event was run")
			}
		})
	}
}

func TestMalformedInteractionSaysSo(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, in := range []*chat.Inbound{nil, {Kind: chat.Command}, {Kind: chat.Click, Conversation: place, App: "A", MessageID: "c", Sender: ada}} {
		_, err := r.Receive(t.Context(), in)
		if !errors.Is(err, intake.ErrMalformed) || !strings.Contains(intake.Sentence(err), "could not understand") {
			t.Errorf("Receive(%+v): %v", in, err)
		}
	}
	if n := len(r.letters()); n != 2 {
		t.Errorf("%d rows, want one for each that is an event", n)
	}
}

func TestMalformedIsNotAckedDuringAnOutage(t *testing.T) {
	t.Parallel()
	r := newRig(t, withFaults(func(memory.Call) memory.Effect { return memory.Effect{Before: memory.Unavailable("away")} }))
	if _, err := r.Receive(t.Context(), &chat.Inbound{Kind: chat.Message}); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("Receive = %v, want the outage: no row stands", err)
	}
}

// What people wrote is kept whatever bytes it has; only what is no text at all in it is marked.
func TestTextIsKept(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"broken \xff\xfe bytes":           "broken \uFFFD bytes",
		"zero \x00 and escape \x1b[31m":   "zero \x00 and escape \x1b[31m",
		"\u202ebidi and <@everyone> \r\n": "\u202ebidi and <@everyone> \r\n",
		`{"v":99,"text":"json"}`:          `{"v":99,"text":"json"}`,
	} {
		r := newRig(t)
		in := message(1, text)
		in.Sender.Name = strings.Repeat("n", 5000) + "\x00"
		in.Files = []chat.File{{ID: "f", Name: "a\nb" + strings.Repeat("x", 5000)}}
		r.take(in, chat.Kept)
		m := r.inbox()[0]
		if m.Text != want || utf8.RuneCountInString(m.Sender.Name) > 200 || strings.Contains(m.Files[0].Name, "\n") {
			t.Errorf("text %q became %q from %d letters, file %q", text, m.Text, len(m.Sender.Name), m.Files[0].Name)
		}
	}
}

// The largest text that a policy can allow, of the bytes that grow most in JSON, still fits into a value of the store.
func TestLargestTextFits(t *testing.T) {
	t.Parallel()
	r := newRig(t, withPolicy(intake.Policy{Text: 1 << 30}))
	r.take(message(1, strings.Repeat("\x01", intake.MaxText)), chat.Kept)
	r.take(message(2, strings.Repeat("x", intake.MaxText+1)), chat.Kept)
	r.take(message(3, strings.Repeat("x", 1<<20)), chat.Kept)
	if len(r.inbox()) != 1 || len(r.notices()) != 2 || len(r.letters()) != 0 {
		t.Errorf("%d messages, %d notices, %d rows; want 1, 2, 0", len(r.inbox()), len(r.notices()), len(r.letters()))
	}
}

// What the store will never take ends as a row, or it would be redelivered for ever.
func TestWhatTheStoreRefusesEndsAsARow(t *testing.T) {
	t.Parallel()
	r := newRig(t, withFaults(func(c memory.Call) memory.Effect {
		if c.Commit != nil && strings.HasPrefix(c.Commit.ID, "intake.message/") {
			return memory.Effect{Before: fmt.Errorf("a value: %w", store.ErrTooLarge)}
		}
		return memory.Effect{}
	}))
	r.take(message(1, "text"), chat.Kept)
	if n := len(r.letters()); n != 1 {
		t.Errorf("%d rows, want 1", n)
	}
}

// What was written by a newer version is left to a newer replica: an error, and so no acknowledgement.
func TestNewerDocumentIsLeftAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	head := conversation.Head{V: conversation.Version + 1, StopOrder: "001"}
	r.put(conversation.HeadKey, head)
	if _, err := r.Receive(t.Context(), message(2, "stop")); !errors.Is(err, conversation.ErrNewer) {
		t.Errorf("Receive = %v, want ErrNewer", err)
	}
	if len(r.controls()) != 0 {
		t.Error("the stop was written all the same")
	}
}

func TestLogHoldsNoText(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	r := newRig(t, func(_ *memory.Options, o *intake.Options) {
		o.Log = slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	own := message(4, "canary")
	own.Sender.Self = true
	for _, in := range []*chat.Inbound{message(1, "canary"), message(2, "/canary"), edit(1, "003", "canary"), own} {
		if _, err := r.Receive(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = r.Receive(t.Context(), &chat.Inbound{Kind: chat.Command, Text: "canary"})
	log := out.String()
	if strings.Contains(log, "canary") {
		t.Errorf("the log holds what was written:\n%s", log)
	}
	if n := strings.Count(log, "inbound event"); n != 5 {
		t.Errorf("%d lines for 5 events:\n%s", n, log)
	}
	for _, want := range []string{"message=m001", "reason=own", "outcome=kept", "level=WARN", "conversation=test:w/C1/T1"} {
		if !strings.Contains(log, want) {
			t.Errorf("no %s in the log:\n%s", want, log)
		}
	}
}

func TestNewNeedsItsParts(t *testing.T) {
	t.Parallel()
	if _, err := intake.New(intake.Options{NewID: func() string { return "" }}); err == nil {
		t.Error("an intake without a store was made")
	}
	if _, err := intake.New(intake.Options{Store: memory.New(memory.Options{})}); err == nil {
		t.Error("an intake without ids was made")
	}
}

// Whatever an adapter hands on, intake does not panic, and a well-behaved store takes all of it: kept, ignored or duplicate; an error is
// only for an interaction that cannot be understood. A second delivery adds nothing.
func FuzzReceive(f *testing.F) {
	kinds := []chat.Kind{chat.Message, chat.Edit, chat.Delete, chat.Command, chat.Click, "", "other"}
	f.Add(uint8(0), "A1", "C1", "T1", "m1", "001", "test:w/ada", "hello", "", int64(0), uint16(1))
	f.Add(uint8(1), "A1", "C1", "", "m1", "002", "test:w/ada", "hello again", "", int64(0), uint16(1))
	f.Add(uint8(3), "A1", "C1", "", "i1", "003", "test:w/ada", "why \x00ref", "", int64(0), uint16(1))
	f.Add(uint8(4), "A1", "C1", "", "i1", "", "test:w/ada", "", "wait:w1:approve", int64(0), uint16(0))
	f.Add(uint8(0), "", "\xff", "\n", "|", "~", "#", "/\x00", "::", int64(1)<<62, uint16(0xffff))
	f.Add(uint8(0), "A1", "C1", "", "m1", "001", "test:w/bot", "!herald show "+strings.Repeat("x", 600), "", int64(-1)<<62, uint16(3))
	f.Fuzz(func(t *testing.T, kind uint8, app, channel, thread, id, order, sender, text, action string, sent int64, flags uint16) {
		r := newRig(t, withPolicy(intake.Policy{Bots: intake.BotsMentioned, Text: 2000}))
		flag := func(n int) bool { return flags>>n&1 == 1 }
		in := func() *chat.Inbound {
			return &chat.Inbound{
				Kind: kinds[int(kind)%len(kinds)], App: app, Conversation: chat.Conversation{Workspace: "test:w", Channel: channel, Thread: thread},
				MessageID: id, Order: order, SentAt: time.UnixMilli(sent),
				Sender: chat.Sender{Identity: chat.IdentityID(sender), Name: text, Bot: flag(5), Self: flag(6)},
				Text:   text, Action: action, Value: text, Addressed: flag(0), Mentioned: flag(1), Direct: flag(2), MassMention: flag(3), Unfurl: flag(4),
				Files: slices.Repeat([]chat.File{{ID: id, Name: text}}, int(flags>>8)),
			}
		}
		out, err := r.Receive(t.Context(), in())
		if err != nil {
			if !errors.Is(err, intake.ErrMalformed) || !in().Kind.Interaction() {
				t.Fatalf("Receive: %v", err)
			}
			return
		}
		before := dump(t, r.seen)
		again, err := r.Receive(t.Context(), in())
		if err != nil {
			t.Fatalf("second delivery: %v", err)
		}
		if out == chat.Ignored != (again == chat.Ignored) {
			t.Fatalf("first %s, then %s", out, again)
		}
		if after := dump(t, r.seen); after != before {
			t.Fatalf("a second delivery changed the store\nbefore:\n%s\nafter:\n%s", before, after)
		}
	})
}

// dump is everything a store holds but for its memory of commits and its agendas: a repeated event wakes.
func dump(t *testing.T, s *memory.Store) string {
	var b bytes.Buffer
	if err := s.Dump(&b); err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(b.String()) {
		if !strings.HasPrefix(line, "agenda ") && !strings.Contains(line, " repeat ") && !strings.Contains(line, " revision ") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "")
}
