package terminal

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"herald/bots/console/proto"

	tea "charm.land/bubbletea/v2"
)

func newTestUI(t *testing.T) *ui {
	t.Helper()
	m := newUI(&calls{ctx: t.Context()}, newRenderer(false), &history{}, -1)
	m.Update(tea.WindowSizeMsg{Width: 40, Height: 8})
	m.Update(recordMsg{&proto.Record{Kind: proto.Ready}})
	return m
}

// TestPrintsWhatFits: more lines at once than the screen has would be lost above its edge.
func TestPrintsWhatFits(t *testing.T) {
	t.Parallel()
	m := newTestUI(t)
	m.print(strings.Repeat("x\n", 99) + "x")
	for left := 96; left >= 0; left -= 4 {
		if cmd := m.flush(); cmd == nil || len(m.unread) != left {
			t.Fatalf("%d lines wait, want %d", len(m.unread), left)
		}
		if m.flush() != nil {
			t.Fatal("a second block began before the first was written")
		}
		m.writing = false
	}
	if m.flush() != nil {
		t.Error("nothing is left, but something is printed")
	}
}

// TestViewFits: a live answer longer than the screen shows its end, and the prompt stays in sight.
func TestViewFits(t *testing.T) {
	t.Parallel()
	m := newTestUI(t)
	var text strings.Builder
	for i := range 50 {
		fmt.Fprintf(&text, "- line %d\n", i)
	}
	m.Update(recordMsg{&proto.Record{Kind: proto.Post, ID: "1", Live: true, Text: text.String()}})
	lines := strings.Split(m.View().Content, "\n")
	if len(lines) > m.height {
		t.Errorf("the view has %d lines, the screen %d", len(lines), m.height)
	}
	if all := strings.Join(lines, "|"); !strings.Contains(all, "line 49") || strings.Contains(all, "line 10") || !strings.Contains(lines[len(lines)-1], "›") {
		t.Errorf("the view is %q", all)
	}
}

func TestState(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(*ui)
		want string
	}{
		"idle":          {func(*ui) {}, ""},
		"one waits":     {func(m *ui) { m.talk.said("1") }, "working · Ctrl-C stops"},
		"two wait":      {func(m *ui) { m.talk.said("1"); m.talk.said("2") }, "working, 2 messages wait · Ctrl-C stops"},
		"away":          {func(m *ui) { m.Update(linkMsg{errors.New("gone")}) }, "the service is away; waiting for it"},
		"back":          {func(m *ui) { m.Update(linkMsg{errors.New("gone")}); m.Update(linkMsg{nil}) }, ""},
		"stopping":      {func(m *ui) { m.talk.said("1"); m.interrupt() }, "stopping … Ctrl-C again leaves"},
		"about to go":   {func(m *ui) { m.interrupt() }, "Ctrl-C again leaves"},
		"not yet taken": {func(m *ui) { m.queue = []string{"a"} }, "working · Ctrl-C stops"},
		"stopped": {func(m *ui) {
			m.talk.said("1")
			m.interrupt()
			m.Update(recordMsg{&proto.Record{Kind: proto.Post, ID: "3", ReplyTo: "2", Text: "Stopped."}})
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newTestUI(t)
			c.do(m)
			if got := m.state(); got != c.want {
				t.Errorf("state %q, want %q", got, c.want)
			}
		})
	}
}

// TestWithdraw: Ctrl-C while the service is away takes back what it never got.
func TestWithdraw(t *testing.T) {
	t.Parallel()
	m := newTestUI(t)
	m.input.SetValue("one")
	m.enter()
	m.input.SetValue("two")
	m.enter()
	m.interrupt()
	m.said(saidMsg{text: "one", err: context.Canceled})
	if len(m.queue) != 0 || m.running() || m.cancel != nil {
		t.Errorf("still on their way: %q", m.queue)
	}
	if all := strings.Join(m.unread, "|"); !strings.Contains(all, "not sent: one") || !strings.Contains(all, "not sent: two") {
		t.Errorf("the person is told %q", all)
	}
}

func TestRecall(t *testing.T) {
	t.Parallel()
	m := newTestUI(t)
	m.hist.entries = []string{"a", "b\nc"}
	m.at = 2
	m.input.SetValue("draft")
	for i, step := range []struct {
		by   int
		want string
	}{{+1, "draft"}, {-1, "b\nc"}, {-1, "a"}, {-1, "a"}, {+1, "b\nc"}, {+1, "draft"}} {
		m.recall(step.by)
		if got := m.input.Value(); got != step.want {
			t.Errorf("step %d shows %q, want %q", i, got, step.want)
		}
	}
}
