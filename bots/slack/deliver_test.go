package slack_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"herald/bots/bottest/slackfake"
	"herald/bots/slack"
	"herald/core/chat"
)

func refusal(t *testing.T, err error) *chat.Refused {
	t.Helper()
	no, ok := errors.AsType[*chat.Refused](err)
	if !ok {
		t.Fatalf("got %v, want a refusal", err)
	}
	return no
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		word string
		make func(s *slackfake.Server, p *chat.Post)
		say  string
	}{
		{"not_in_channel", func(s *slackfake.Server, _ *chat.Post) { s.Leave(slackfake.General, slackfake.BotUser) }, "/invite"},
		{"is_archived", func(s *slackfake.Server, _ *chat.Post) {
			s.SetChannel(slackfake.General, func(c *slackfake.Channel) { c.Archived = true })
		}, "archived"},
		{"restricted_action", func(s *slackfake.Server, _ *chat.Post) {
			s.SetChannel(slackfake.General, func(c *slackfake.Channel) { c.AdminsOnly = true })
		}, "admin"},
		{"restricted_action_non_threadable_channel", func(s *slackfake.Server, _ *chat.Post) {
			s.SetChannel(slackfake.General, func(c *slackfake.Channel) { c.NoThreads = true })
		}, "admin"},
		{"thread_not_found", func(_ *slackfake.Server, p *chat.Post) { p.Conversation.Thread = "1.000001" }, "deleted"},
		{"channel_not_found", func(_ *slackfake.Server, p *chat.Post) { p.Conversation.Channel = "C0NONE" }, "/invite"},
		{"user_disabled", func(s *slackfake.Server, p *chat.Post) {
			p.Conversation = chat.Conversation{Workspace: p.Conversation.Workspace, Channel: s.DM(slackfake.Bob, "")}
			s.SetUser(slackfake.Bob, func(u *slackfake.User) { u.Deactivated = true })
		}, "deactivated"},
		{"msg_too_long", func(_ *slackfake.Server, p *chat.Post) { p.Text = strings.Repeat("x", 13_000) }, "mistake"},
		{"no_text", func(_ *slackfake.Server, p *chat.Post) { p.Text = "" }, "mistake"},
	} {
		t.Run(tt.word, func(t *testing.T) {
			t.Parallel()
			s := world(t, slackfake.Options{})
			f := connect(t, s, options(t, s, &inbox{}))
			p := asked(t, s, f)
			p.Live = false
			tt.make(s, p)
			_, err := f.adapter.Send(within(t), p)
			if no := refusal(t, err); no.Code != tt.word || !strings.Contains(no.Reason, tt.say) {
				t.Errorf("got %+v, want the word %s and a remedy with %q", no, tt.word, tt.say)
			}
			if err := f.adapter.Ready(); err != nil {
				t.Errorf("one refusal made the whole adapter unready: %v", err)
			}
		})
	}
}

// A rate limit that names no pause is one all the same.
func TestLimitWithoutAPause(t *testing.T) {
	t.Parallel()
	for _, kind := range []slackfake.FaultKind{slackfake.RateLimit, slackfake.LimitBody} {
		s := world(t, slackfake.Options{})
		f := connect(t, s, options(t, s, &inbox{}))
		p := asked(t, s, f)
		p.Live = false
		s.Inject(slackfake.Fault{Method: "chat.postMessage", Kind: kind})
		_, err := f.adapter.Send(within(t), p)
		if o, ok := errors.AsType[*chat.Outage](err); !ok || !o.NotSent || o.RetryAfter < time.Second || o.Whole {
			t.Errorf("%s: got %+v, want an outage of one channel, certainly not sent, with a pause", kind, err)
		}
	}
}

// An answer that says neither yes nor no leaves it open whether the message stands.
func TestMuteAnswer(t *testing.T) {
	t.Parallel()
	for _, kind := range []slackfake.FaultKind{slackfake.Mute, slackfake.HTML, slackfake.ApplyError, slackfake.Reset} {
		s := world(t, slackfake.Options{})
		f := connect(t, s, options(t, s, &inbox{}))
		p := asked(t, s, f)
		p.Live = false
		s.Inject(slackfake.Fault{Method: "chat.postMessage", Kind: kind})
		_, err := f.adapter.Send(within(t), p)
		if o, ok := errors.AsType[*chat.Outage](err); !ok || o.NotSent || o.Dead {
			t.Errorf("%s: got %+v, want an outage whose outcome is unknown", kind, err)
		}
	}
}

// After a token has died there is no further call.
func TestDeadTokenIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := world(t, slackfake.Options{})
	f := connect(t, s, options(t, s, &inbox{}))
	p := asked(t, s, f)
	p.Live = false
	s.Kill(slackfake.BotToken, "account_inactive")
	calls := 0
	for range 3 {
		_, err := f.adapter.Send(within(t), p)
		if o, ok := errors.AsType[*chat.Outage](err); !ok || !o.Dead || !o.NotSent || !strings.Contains(o.Reason, "account_inactive") {
			t.Errorf("got %v", err)
		}
	}
	for _, r := range s.Journal() {
		if r.Kind == slackfake.Called && r.Method == "chat.postMessage" {
			calls++
		}
	}
	if calls != 1 {
		t.Errorf("a dead token was tried %d times", calls)
	}
	if err := f.adapter.Ready(); err == nil || !strings.Contains(err.Error(), "account_inactive") {
		t.Errorf("ready says %v", err)
	}
}

// An answer of 200,000 characters arrives whole, in order, and each piece is taken.
func TestHugeAnswer(t *testing.T) {
	t.Parallel()
	for _, size := range []int{12_000, 14_000, 40_000, 200_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			s := world(t, slackfake.Options{})
			f := connect(t, s, options(t, s, &inbox{}))
			p := asked(t, s, f)
			p.Live = false
			var text strings.Builder
			for i := 0; text.Len() < size; i++ {
				if i%50 == 20 {
					fmt.Fprintf(&text, "\n```go\nvar x%d = 1\n```\n\n", i)
				}
				fmt.Fprintf(&text, "Sentence number %d of a long answer to <@U0ALICE> & <!here>. ", i)
			}
			pieces := f.adapter.Cut(p.Conversation, text.String())
			for i, piece := range pieces {
				p.Piece, p.Text = i, piece
				send(t, f.adapter, p)
			}
			var got strings.Builder
			s.Look(func(v slackfake.View) {
				for _, m := range v.Said(p.Conversation.Channel, p.Conversation.Thread) {
					if n := utf8.RuneCountInString(m.Text); n > 12_000 {
						t.Errorf("a piece has %d characters", n)
					}
					if !m.NoUnfurl {
						t.Error("links would be unfurled")
					}
					got.WriteString(m.Text)
				}
			})
			at := 0
			for i := 0; strings.Contains(text.String(), fmt.Sprintf("number %d of", i)); i++ {
				n := strings.Index(got.String()[at:], fmt.Sprintf("number %d of", i))
				if n < 0 {
					t.Fatalf("sentence %d is missing or out of order", i)
				}
				at += n
			}
			if strings.Contains(got.String(), "<@U0ALICE>") || strings.Contains(got.String(), "<!here>") {
				t.Error("a live mention stands in the answer")
			}
		})
	}
}

func TestCardAndClick(t *testing.T) {
	t.Parallel()
	s := world(t, slackfake.Options{})
	r := &inbox{}
	f := connect(t, s, options(t, s, r))
	p := asked(t, s, f)
	p.Live, p.Text = false, "May I <run> this?"
	p.Card = &chat.Card{
		Title: "Run *execute_cmd*?", Fields: []chat.Field{{Name: "command", Value: "rm <!here> & more"}},
		Buttons: []chat.Button{{Action: "wait:w1:approve", Label: strings.Repeat("Approve ", 20)}, {Action: "wait:w1:deny", Label: "Deny", Danger: true}},
	}
	receipt := send(t, f.adapter, p)
	s.Look(func(v slackfake.View) {
		m := v.Message(p.Conversation.Channel, receipt.MessageID)
		if strings.Contains(string(m.Blocks), "<!here>") || !strings.Contains(string(m.Blocks), "danger") {
			t.Errorf("blocks %s", m.Blocks)
		}
		if m.Text == "" {
			t.Error("a notification would be empty")
		}
	})
	told, err := s.Click(slackfake.Click{User: slackfake.Bob, Channel: p.Conversation.Channel, TS: receipt.MessageID, ActionID: "herald_1"})
	if err != nil {
		t.Fatal(err)
	}
	f.wait("the click is acknowledged", func(v slackfake.View) bool { return v.Event(told.ID).Acked })
	in := r.last(chat.Click)
	if in.Kind != chat.Click || in.Action != "wait:w1:deny" || in.Conversation != p.Conversation || in.Sender.Identity != "slack:T0LAB/U0BOB" {
		t.Errorf("received %+v", in)
	}
	// What only the clicker is told uses the click's own address, five times; then, and in another process, it is an ephemeral message.
	for i := range 6 {
		_, err := f.adapter.Send(within(t), &chat.Post{Conversation: p.Conversation, DeliveryID: fmt.Sprint("n", i), Text: "Too **late** & <!here>", Interaction: in.MessageID, Only: in.Sender.Identity})
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err = f.adapter.Send(within(t), &chat.Post{Conversation: p.Conversation, DeliveryID: "n", Text: "x", Interaction: "Ev1"})
	if no := refusal(t, err); !no.Gone {
		t.Errorf("an interaction of nobody: %+v, want a refusal that says gone", no)
	}
	s.Look(func(v slackfake.View) {
		all := v.Whispers(p.Conversation.Channel, slackfake.Bob)
		if len(all) != 6 || strings.Contains(all[0].Text, "<!here>") || !strings.Contains(all[0].Text, "*late*") {
			t.Errorf("the clicker was told %d times: %q", len(all), all[0].Text)
		}
		if n := len(v.Said(p.Conversation.Channel, p.Conversation.Thread)); n != 1 {
			t.Errorf("%d messages stand for everybody", n)
		}
	})
}

func TestEphemeral(t *testing.T) {
	t.Parallel()
	s := world(t, slackfake.Options{})
	f := connect(t, s, options(t, s, &inbox{}))
	p := asked(t, s, f)
	p.Live, p.Only = false, "slack:T0LAB/U0BOB"
	r := send(t, f.adapter, p)
	s.Look(func(v slackfake.View) {
		if got := v.Whispers(p.Conversation.Channel, slackfake.Bob); len(got) != 1 || got[0].Thread != p.Conversation.Thread {
			t.Errorf("Bob sees %+v", got)
		}
		if n := len(v.Said(p.Conversation.Channel, p.Conversation.Thread)); n != 0 {
			t.Errorf("%d messages stand for everybody", n)
		}
	})
	if no := refusal(t, f.adapter.Edit(within(t), p, r, true)); !no.Gone {
		t.Errorf("an edit of what one person saw: %+v", no)
	}
	if _, ok, err := f.adapter.Find(within(t), p); ok || err != nil {
		t.Errorf("found %v, %v; what one person saw has no place in the history", ok, err)
	}
}

// A look goes through many messages, and a malformed block among them costs nothing.
func TestFindAmongMany(t *testing.T) {
	t.Parallel()
	s := world(t, slackfake.Options{Silent: true})
	f := connect(t, s, options(t, s, &inbox{}))
	p := asked(t, s, f)
	p.Live, p.DeliveryID = false, "first"
	want := send(t, f.adapter, p)
	s.Say(slackfake.Say{Channel: p.Conversation.Channel, Thread: p.Conversation.Thread, Text: "odd", Blocks: []byte(`[{"type":"rich_text","elements":"none"}]`), Held: true})
	for i := range 450 {
		s.Say(slackfake.Say{Channel: p.Conversation.Channel, Thread: p.Conversation.Thread, Text: fmt.Sprint(i), Held: true})
	}
	p.DeliveryID = "last"
	last := send(t, f.adapter, p)
	for id, r := range map[string]chat.Receipt{"first": want, "last": last} {
		p.DeliveryID = id
		got, ok, err := f.adapter.Find(within(t), p)
		if err != nil || !ok || got.MessageID != r.MessageID {
			t.Errorf("%s: found %+v, %v, %v; want %s", id, got, ok, err, r.MessageID)
		}
	}
	p.DeliveryID = "first"
	p.After = time.Now().Add(time.Hour)
	if _, ok, err := f.adapter.Find(within(t), p); ok || err != nil {
		t.Errorf("what cannot stand before an instant was looked for before it: %v, %v", ok, err)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	full := slack.Options{BotToken: "xoxb-1", AppToken: "xapp-1", SigningSecret: "s", Receiver: &inbox{}}
	for name, change := range map[string]func(*slack.Options){
		"no receiver":       func(o *slack.Options) { o.Receiver = nil },
		"no bot token":      func(o *slack.Options) { o.BotToken = "" },
		"no app token":      func(o *slack.Options) { o.AppToken = "" },
		"no signing secret": func(o *slack.Options) { o.Mode, o.SigningSecret = slack.HTTP, "" },
		"mode":              func(o *slack.Options) { o.Mode = "rtm" },
	} {
		o := full
		change(&o)
		if _, err := slack.New(o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	a, err := slack.New(full)
	if err != nil {
		t.Fatal(err)
	}
	if a.Ready() == nil {
		t.Error("an adapter that never was connected says that all is well")
	}
}
