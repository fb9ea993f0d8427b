package hostile_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"herald/bots/bottest/wire"
	"herald/core/model/modeltest"
)

// event is a good message as a line, changed by f.
func event(t *testing.T, n int, f func(*wire.Event)) string {
	t.Helper()
	e := wire.Event{
		ID: fmt.Sprint("e", n), Attempt: 1, Kind: wire.KindMessage, Channel: "c", Thread: fmt.Sprint("t", n), Message: fmt.Sprint(1000 + n), At: time.Now(),
		User: "alice", Name: "Alice", Text: fmt.Sprint("good ", n), Mention: true,
	}
	if f != nil {
		f(&e)
	}
	b, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return string(b) + "\n"
}

// Events of every bad kind come in between good ones. The good ones are answered, each once; of the bad ones those that can be read are
// acknowledged, so that no platform sends them for ever, and end as rows.
func TestHostileEvents(t *testing.T) {
	t.Parallel()
	const unread, acked = false, true
	bad := []struct {
		name string
		line func(n int) string
		ack  bool
	}{
		{"an empty line", func(int) string { return "\n" }, unread},
		{"no JSON", func(int) string { return "hello\n" }, unread},
		{"bytes", func(int) string { return "\x00\xff\xfe\x01\n" }, unread},
		{"null", func(int) string { return "null\n" }, unread},
		{"a list", func(int) string { return "[{}]\n" }, unread},
		{"a truncated event", func(n int) string { return event(t, n, nil)[:60] + "\n" }, unread},
		{"deep JSON", func(int) string { return strings.Repeat(`{"a":`, 20000) + "\n" }, unread},
		{"other types", func(n int) string { return fmt.Sprintf(`{"id":"e%d","kind":7,"text":{},"at":"never"}`+"\n", n) }, unread},
		{"an unknown kind", func(n int) string { return event(t, n, func(e *wire.Event) { e.Kind = "reaction" }) }, unread},
		{"no id", func(n int) string { return event(t, n, func(e *wire.Event) { e.ID = "" }) }, unread},
		{"no channel", func(n int) string { return event(t, n, func(e *wire.Event) { e.Channel = "" }) }, unread},
		{"no user", func(n int) string { return event(t, n, func(e *wire.Event) { e.User = "" }) }, unread},
		{"a message that is no number", func(n int) string { return event(t, n, func(e *wire.Event) { e.Message = "-1|~\n" }) }, unread},
		{"a number without end", func(n int) string { return event(t, n, func(e *wire.Event) { e.Message = strings.Repeat("9", 1000) }) }, unread},

		{"a channel of control characters", func(n int) string { return event(t, n, func(e *wire.Event) { e.Channel = "c\n\x00\x1b[2J" }) }, acked},
		{"a channel of half a megabyte", func(n int) string { return event(t, n, func(e *wire.Event) { e.Channel = strings.Repeat("c", 1<<19) }) }, acked},
		{"a thread that climbs", func(n int) string { return event(t, n, func(e *wire.Event) { e.Thread = "../../../etc/passwd\x00" }) }, acked},
		{"a user without end", func(n int) string { return event(t, n, func(e *wire.Event) { e.User = strings.Repeat("u", 1<<20) }) }, acked},
		{"a user with a line end", func(n int) string { return event(t, n, func(e *wire.Event) { e.User = "a\r\nb" }) }, acked},
		{"a name of a megabyte", func(n int) string {
			return event(t, n, func(e *wire.Event) { e.Name, e.Text = strings.Repeat("n\x00", 1<<19), "odd" })
		}, acked},
		{"a text of a megabyte", func(n int) string {
			return event(t, n, func(e *wire.Event) { e.Text = strings.Repeat("word ", 1<<20/5) })
		}, acked},
		{"a text of three megabytes", func(n int) string {
			return event(t, n, func(e *wire.Event) { e.Text = strings.Repeat("\x00", 500_000) })
		}, acked},
		{"a text that is no UTF-8", func(n int) string {
			return strings.Replace(event(t, n, func(e *wire.Event) { e.Text = "MARK" }), "MARK", "a\xff\xfe\xc3(b", 1)
		}, acked},
		{"a text of control characters", func(n int) string {
			return event(t, n, func(e *wire.Event) { e.Text = "\x00\x07\x1b]0;x\x07\u202e\u200b\ufeff" })
		}, acked},
		{"a text of nothing", func(n int) string { return event(t, n, func(e *wire.Event) { e.Text = " \n\t " }) }, acked},
		{"a message of the next century", func(n int) string {
			return event(t, n, func(e *wire.Event) { e.At, e.Text = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), "odd" })
		}, acked},
		{"a message of long ago", func(n int) string { return event(t, n, func(e *wire.Event) { e.At = time.Time{}.Add(time.Hour) }) }, acked},
		{"an edit of nothing", func(n int) string {
			return event(t, n, func(e *wire.Event) { e.Kind, e.Revision = wire.KindEdit, fmt.Sprint(5000+n) })
		}, acked},
		{"a deletion of nothing", func(n int) string {
			return event(t, n, func(e *wire.Event) { e.Kind, e.Revision, e.Text = wire.KindDelete, fmt.Sprint(5000+n), "" })
		}, acked},
		{"a click on nothing", func(n int) string {
			return event(t, n, func(e *wire.Event) { e.Kind, e.Action, e.Value = wire.KindClick, "w|approve|x", "v" })
		}, acked},
		{"a click with a zero", func(n int) string {
			return event(t, n, func(e *wire.Event) { e.Kind, e.Action = wire.KindClick, "w|approve|\x00" })
		}, unread},
		{"a click without an action", func(n int) string { return event(t, n, func(e *wire.Event) { e.Kind = wire.KindClick }) }, unread},
		{"a command that is none", func(n int) string {
			return event(t, n, func(e *wire.Event) { e.Kind, e.Text = wire.KindCommand, "frobnicate `all` @everyone" })
		}, acked},
		{"a command of a megabyte", func(n int) string {
			return event(t, n, func(e *wire.Event) { e.Kind, e.Text = wire.KindCommand, strings.Repeat("why ", 1<<18) })
		}, acked},
		{"a command with arguments that are none", func(n int) string {
			return event(t, n, func(e *wire.Event) { e.Kind, e.Text = wire.KindCommand, "why ../../x\x00 %s%n ${a}" })
		}, acked},
		{"our own message", func(n int) string { return event(t, n, func(e *wire.Event) { e.App, e.Bot = "app", true }) }, acked},
		{"everybody, and nobody", func(n int) string { return event(t, n, func(e *wire.Event) { e.Mass, e.Mention = true, false }) }, acked},
		{"a preview", func(n int) string { return event(t, n, func(e *wire.Event) { e.Unfurl = true }) }, acked},
	}
	w := startWild(t)
	r := begin(t, setup{url: w.url(), rules: []modeltest.Rule{modeltest.Whenever("good", modeltest.Say("well answered")), modeltest.Always(modeltest.Say("read"))}})
	w.wait(t, r, "stream", func() bool { return w.opened > 0 })
	for i, b := range bad {
		w.line(b.line(2 * i))
		w.line(event(t, 2*i+1, nil))
	}
	said := func(thread, text string) int {
		n := 0
		for _, s := range w.said {
			if s.Thread == thread && s.Text == text {
				n++
			}
		}
		return n
	}
	answers := func(thread string) int { return said(thread, "well answered") }
	for i, b := range bad {
		good := fmt.Sprint("t", 2*i+1)
		w.wait(t, r, "answer beside "+b.name, func() bool { return answers(good) == 1 && w.acked[fmt.Sprint("e", 2*i+1)] == 1 })
		if b.ack {
			w.wait(t, r, "acknowledgement of "+b.name, func() bool { return w.acked[fmt.Sprint("e", 2*i)] == 1 })
		}
	}
	// What is odd and can be read is read.
	odd := map[string]bool{
		"a name of a megabyte": true, "a message of the next century": true, "a text that is no UTF-8": true, "a text of control characters": true,
	}
	for i, b := range bad {
		if odd[b.name] {
			w.wait(t, r, "answer to "+b.name, func() bool { return said(fmt.Sprint("t", 2*i), "read") == 1 })
			delete(odd, b.name)
		}
	}
	if len(odd) > 0 {
		t.Errorf("no case is named %v", odd)
	}
	w.wait(t, r, "look", func() bool {
		for i, b := range bad {
			if !b.ack && w.acked[fmt.Sprint("e", 2*i)] > 0 {
				t.Errorf("%s was acknowledged as if it had been read", b.name)
			}
			if n := answers(fmt.Sprint("t", 2*i)); n != 0 {
				t.Errorf("%s was answered %d times as if it were good", b.name, n)
			}
		}
		if w.opened != 1 {
			t.Errorf("the stream was opened %d times", w.opened)
		}
		for _, s := range w.said {
			if len([]rune(s.Text)) > 2000 || strings.ContainsAny(s.Text, "\x00\x1b") {
				t.Errorf("said %.200q", s.Text)
			}
		}
		return true
	})

	// A line that is longer than the stream allows ends the stream, and nothing else.
	w.line(strings.Repeat("x", wire.MaxLine+1) + "\n")
	w.wait(t, r, "second stream", func() bool { return w.opened > 1 })
	w.line(event(t, 999, nil))
	w.wait(t, r, "answer after the long line", func() bool { return answers("t999") == 1 })
	w.cut()
	w.wait(t, r, "third stream", func() bool { return w.opened > 2 })
	w.line(event(t, 999, nil)) // sent again: it is known
	w.line(event(t, 1001, nil))
	w.wait(t, r, "answer on the third stream", func() bool { return answers("t1001") == 1 })
	if n := answers("t999"); n != 1 {
		t.Errorf("a message that was sent again after a broken stream has %d answers", n)
	}
	for name, want := range map[string]string{
		`herald_events_total{kind="message",outcome="kept",reason="too_long"}`:        "2",
		`herald_events_total{kind="message",outcome="kept",reason="empty"}`:           "1",
		`herald_events_total{kind="command",outcome="kept",reason="unknown_command"}`: "3",
	} {
		if got := r.metric(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if malformed := r.metric(`herald_events_total{kind="message",outcome="kept",reason="malformed"}`); malformed != "5" {
		t.Errorf("%s malformed messages, want 5", malformed)
	}
	r.up()
}
