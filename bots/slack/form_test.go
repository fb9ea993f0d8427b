package slack_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"herald/bots/bottest/slackfake"
	"herald/core/chat"
)

// forms is a receiver that lets forms be shown and judges what was typed by its text.
type forms struct{ inbox }

func (r *forms) Receive(ctx context.Context, in *chat.Inbound) (chat.Outcome, error) {
	out, err := r.inbox.Receive(ctx, in)
	switch {
	case err != nil || in.Kind != chat.Click:
		return out, err
	case in.Opens && in.Sender.Identity != "slack:T0LAB/U0ALICE":
		return chat.Kept, nil // it told them that they may not
	case in.Opens:
		return chat.Ready, nil
	case strings.TrimSpace(in.Value) == "":
		return "", &chat.Invalid{Text: "Write an answer."}
	}
	return chat.Kept, nil
}

// withForm posts a card with a button that asks for a text.
func withForm(t *testing.T, s *slackfake.Server, f *fixture) (*chat.Post, chat.Receipt) {
	t.Helper()
	p := asked(t, s, f)
	p.Live = false
	p.Card = &chat.Card{Title: "May I?", Buttons: []chat.Button{
		{Action: "wait:w1:approve", Label: "Approve"},
		{Action: "wait:w1:deny", Label: "Deny", Form: &chat.Form{Title: "Deny with a reason that is long", Label: "Reason", Submit: "Deny", Max: 500}},
	}}
	return p, send(t, f.adapter, p)
}

func press(t *testing.T, f *fixture, p *chat.Post, r chat.Receipt, user string) slackfake.Invoked {
	t.Helper()
	told, err := f.server.Click(slackfake.Click{User: user, Channel: p.Conversation.Channel, TS: r.MessageID, ActionID: "herald_1"})
	if err != nil {
		t.Fatal(err)
	}
	f.wait("the click is acknowledged", func(v slackfake.View) bool { return v.Event(told.ID).Acked })
	return told
}

func typed(text string) map[string]map[string]any {
	return map[string]map[string]any{"herald_text": {"herald_text": slackfake.Text(text)}}
}

func TestForm(t *testing.T) {
	t.Parallel()
	s := world(t, slackfake.Options{AckTimeout: 20 * time.Second, TriggerTTL: 20 * time.Second})
	r := &forms{}
	opt := options(t, s, r)
	opt.Sentence = func(err error) string { return "sentence: " + err.Error() }
	f := connect(t, s, opt)
	p, receipt := withForm(t, s, f)
	press(t, f, p, receipt, slackfake.Alice)
	var m slackfake.Modal
	f.wait("the form is shown", func(v slackfake.View) bool {
		all := v.Modals(slackfake.AppID, slackfake.Alice)
		if len(all) == 1 {
			m = all[0]
		}
		return len(all) == 1
	})
	if m.Submit != "Deny" || !strings.HasPrefix(m.Title, "Deny with a reason") || !strings.Contains(string(m.Blocks), "Reason") {
		t.Errorf("the form is %+v", m)
	}
	if in := r.last(chat.Click); !in.Opens || in.Action != "wait:w1:deny" || in.Value != "" {
		t.Errorf("received %+v, want the question whether the form may be shown", in)
	}
	// What will not do keeps the form open, with a word about it.
	if _, err := s.Submit(m.ID, slackfake.Alice, typed(" ")); err != nil {
		t.Fatal(err)
	}
	f.wait("the form says what is wrong", func(v slackfake.View) bool {
		all := v.Modals(slackfake.AppID, slackfake.Alice)
		return len(all) == 1 && strings.Contains(all[0].Errors["herald_text"], "Write an answer.")
	})
	if _, err := s.Submit(m.ID, slackfake.Alice, typed("not on a Friday")); err != nil {
		t.Fatal(err)
	}
	f.wait("the form is closed", func(v slackfake.View) bool { return len(v.Modals(slackfake.AppID, slackfake.Alice)) == 0 })
	in := r.last(chat.Click)
	if in.Opens || in.Action != "wait:w1:deny" || in.Value != "not on a Friday" || in.Conversation != p.Conversation || in.Sender.Identity != "slack:T0LAB/U0ALICE" {
		t.Errorf("received %+v", in)
	}
	s.Look(func(v slackfake.View) {
		for _, rec := range v.Journal() {
			if rec.Kind == slackfake.Refused {
				t.Errorf("Slack refused %s: %s", rec.Method, rec.Code)
			}
		}
	})
}

// Whoever may not decide is shown no form.
func TestFormIsNotShownToOthers(t *testing.T) {
	t.Parallel()
	s := world(t, slackfake.Options{AckTimeout: 20 * time.Second})
	r := &forms{}
	f := connect(t, s, options(t, s, r))
	p, receipt := withForm(t, s, f)
	press(t, f, p, receipt, slackfake.Bob)
	f.probe("a probe")
	s.Look(func(v slackfake.View) {
		for _, rec := range v.Journal() {
			if rec.Kind == slackfake.Called && rec.Method == "views.open" {
				t.Error("a form was shown")
			}
		}
	})
}

// A form that comes too late for Slack is not dropped in silence.
func TestFormTooLate(t *testing.T) {
	t.Parallel()
	s := world(t, slackfake.Options{AckTimeout: 20 * time.Second, TriggerTTL: time.Nanosecond})
	f := connect(t, s, options(t, s, &forms{}))
	p, receipt := withForm(t, s, f)
	press(t, f, p, receipt, slackfake.Alice)
	f.wait("the person is told", func(v slackfake.View) bool {
		all := v.Whispers(p.Conversation.Channel, slackfake.Alice)
		return len(all) == 1 && strings.Contains(all[0].Text, "could not show the form")
	})
}
