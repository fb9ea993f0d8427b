package slack

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herald/core/chat"
)

type nobody struct{}

func (nobody) Receive(context.Context, *chat.Inbound) (chat.Outcome, error) { return chat.Kept, nil }

func bare(t *testing.T, opt Options) *Adapter {
	t.Helper()
	opt.BotToken, opt.AppToken, opt.Receiver = "xoxb-1", "xapp-1", nobody{}
	a, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	a.who.Store(&self{workspace: "slack:T1", team: "T1", user: "UBOT", bot: "BBOT", name: "herald"})
	return a
}

func body(event string) *outer {
	return &outer{Type: "event_callback", App: "A1", TeamID: "T9", Event: json.RawMessage(event), Authorizations: []struct {
		TeamID string `json:"team_id"`
		UserID string `json:"user_id"`
	}{{TeamID: "T1"}}}
}

func TestRead(t *testing.T) {
	t.Parallel()
	in := func(kind chat.Kind, thread string, change func(*chat.Inbound)) *chat.Inbound {
		out := &chat.Inbound{
			Kind: kind, App: "A1", Conversation: chat.Conversation{Workspace: "slack:T1", Channel: "C1", Thread: thread}, MessageID: "1700000000.000100",
			Order: "01700000000.000100", SentAt: time.Unix(1700000000, 100_000).UTC(), Sender: chat.Sender{Identity: "slack:T1/U1"}, Text: "hi",
		}
		change(out)
		return out
	}
	same := func(*chat.Inbound) {}
	for _, tt := range []struct {
		name, event string
		want        *chat.Inbound
		asks        bool
		what        string
	}{
		{
			name: "a channel message opens its own thread", event: `{"type":"message","channel":"C1","channel_type":"channel","user":"U1","text":"hi","ts":"1700000000.000100","team":"T1"}`,
			want: in(chat.Message, "1700000000.000100", same),
		},
		{
			name: "mention", event: `{"type":"app_mention","channel":"C1","user":"U1","text":"<@UBOT> hi","ts":"1700000000.000100"}`,
			want: in(chat.Message, "1700000000.000100", func(i *chat.Inbound) { i.Mentioned, i.Addressed = true, true }),
		},
		{
			name: "the same mention as a message", event: `{"type":"message","channel":"C1","channel_type":"channel","user":"U1","text":"<@UBOT>, hi","ts":"1700000000.000100"}`,
			want: in(chat.Message, "1700000000.000100", func(i *chat.Inbound) { i.Mentioned, i.Addressed = true, true }),
		},
		{
			name: "an app_mention without a mention is none", event: `{"type":"app_mention","channel":"C1","user":"U1","text":"hi","ts":"1700000000.000100","thread_ts":"1600000000.000001"}`,
			want: in(chat.Message, "1600000000.000001", same), asks: true,
		},
		{
			name: "a reply asks whether Herald takes part", event: `{"type":"message","channel":"C1","channel_type":"group","user":"U1","text":"hi","ts":"1700000000.000100","thread_ts":"1600000000.000001"}`,
			want: in(chat.Message, "1600000000.000001", same), asks: true,
		},
		{
			name: "a reply to somebody else", event: `{"type":"message","channel":"C1","channel_type":"channel","user":"U1","text":"hi <@U2>","ts":"1700000000.000100","thread_ts":"1600000000.000001"}`,
			want: in(chat.Message, "1600000000.000001", func(i *chat.Inbound) { i.Text = "hi @U2" }),
		},
		{
			name: "plain direct message", event: `{"type":"message","channel":"D1","channel_type":"im","user":"U1","text":"hi","ts":"1700000000.000100"}`,
			want: in(chat.Message, "", func(i *chat.Inbound) { i.Conversation.Channel, i.Direct, i.Addressed = "D1", true, true }),
		},
		{
			name: "direct message on the surface for AI apps", event: `{"type":"message","channel":"D1","channel_type":"im","user":"U1","text":"hi","ts":"1700000000.000100","app_context":{"entities":[]}}`,
			want: in(chat.Message, "1700000000.000100", func(i *chat.Inbound) { i.Conversation.Channel, i.Direct, i.Addressed = "D1", true, true }),
		},
		{
			name: "everybody", event: `{"type":"message","channel":"C1","channel_type":"channel","user":"U1","text":"<!here> hi","ts":"1700000000.000100"}`,
			want: in(chat.Message, "1700000000.000100", func(i *chat.Inbound) { i.MassMention, i.Text = true, "@here hi" }),
		},
		{
			name: "own post without a subtype", event: `{"type":"message","channel":"C1","channel_type":"channel","user":"UBOT","bot_id":"BBOT","text":"hi","ts":"1700000000.000100"}`,
			want: in(chat.Message, "1700000000.000100", func(i *chat.Inbound) { i.Sender = chat.Sender{Identity: "slack:T1/UBOT", Bot: true, Self: true} }),
		},
		{
			name: "another bot", event: `{"type":"message","subtype":"bot_message","channel":"C1","channel_type":"channel","bot_id":"B2","username":"ci","text":"hi","ts":"1700000000.000100"}`,
			want: in(chat.Message, "1700000000.000100", func(i *chat.Inbound) { i.Sender = chat.Sender{Identity: "slack:T1/B2", Name: "ci", Bot: true} }),
		},
		{
			name: "a person of another workspace in a shared channel", event: `{"type":"message","channel":"C1","channel_type":"channel","user":"U1","user_team":"T7","team":"T7","text":"hi","ts":"1700000000.000100"}`,
			want: in(chat.Message, "1700000000.000100", func(i *chat.Inbound) { i.Sender.Identity = "slack:T7/U1" }),
		},
		{
			name: "malformed blocks do not cost the text", event: `{"type":"message","channel":"C1","channel_type":"channel","user":"U1","text":"hi","blocks":{"no":"list"},"attachments":7,"files":"x","edited":false,"ts":"1700000000.000100"}`,
			want: in(chat.Message, "1700000000.000100", same),
		},
		{
			name: "a malformed file does not cost the others", event: `{"type":"message","subtype":"file_share","channel":"C1","channel_type":"channel","user":"U1","text":"hi","files":[{"id":7},{"id":"F1","name":"a.txt","mimetype":"text/plain","size":3}],"ts":"1700000000.000100"}`,
			want: in(chat.Message, "1700000000.000100", func(i *chat.Inbound) {
				i.Files = []chat.File{{ID: "F1", Name: "a.txt", MIME: "text/plain", Size: 3}}
			}),
		},
		{
			name: "edit", event: `{"type":"message","subtype":"message_changed","channel":"C1","channel_type":"channel","event_ts":"1700000009.000100","message":{"user":"U1","text":"hi","ts":"1700000000.000100","edited":{"ts":"1700000008.000000"}},"previous_message":{"text":"ho"}}`,
			want: in(chat.Edit, "1700000000.000100", func(i *chat.Inbound) {
				i.Order, i.SentAt = "01700000008.000000", time.Unix(1700000008, 0).UTC()
			}),
		},
		{
			name: "preview", event: `{"type":"message","subtype":"message_changed","channel":"C1","channel_type":"channel","event_ts":"1700000009.000100","message":{"user":"U1","text":"hi","ts":"1700000000.000100"},"previous_message":{"text":"hi"}}`,
			want: in(chat.Edit, "1700000000.000100", func(i *chat.Inbound) {
				i.Order, i.SentAt, i.Unfurl = "01700000009.000100", time.Unix(1700000009, 100_000).UTC(), true
			}),
		},
		{
			name: "deletion", event: `{"type":"message","subtype":"message_deleted","channel":"C1","channel_type":"channel","event_ts":"1700000009.000100","deleted_ts":"1700000000.000100","previous_message":{"user":"U1","text":"hi","thread_ts":"1600000000.000001"}}`,
			want: in(chat.Delete, "1600000000.000001", func(i *chat.Inbound) {
				i.Text, i.Order, i.SentAt = "", "01700000009.000100", time.Unix(1700000009, 100_000).UTC()
			}), asks: true,
		},
		{name: "unknown event", event: `{"type":"star_added"}`, what: "unknown_event"},
		{name: "unknown subtype", event: `{"type":"message","subtype":"channel_join","channel":"C1"}`, what: "subtype_channel_join"},
		{name: "a subtype that is no word", event: `{"type":"message","subtype":"\"};drop","channel":"C1"}`, what: "subtype_unknown"},
		{name: "no event", event: `7`, what: "malformed"},
		{name: "no timestamp", event: `{"type":"message","channel":"C1","user":"U1","text":"hi","ts":"soon"}`, what: "malformed"},
		{name: "Slackbot's own", event: `{"type":"message","channel":"C1","user":"USLACKBOT","text":"hi","ts":"1700000000.000100"}`, what: "no_sender"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := bare(t, Options{})
			got := a.read(a.who.Load(), body(tt.event))
			if diff := cmp.Diff(tt.want, got.in, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
			if got.asks != tt.asks || got.what != tt.what {
				t.Errorf("asks %v, counted as %q; want %v, %q", got.asks, got.what, tt.asks, tt.what)
			}
			if got.in != nil && got.in.Kind == chat.Message && got.in.DedupeKey() != "A1|message|"+got.in.Conversation.ChannelKey()+"|1700000000.000100" {
				t.Errorf("dedupe key %q", got.in.DedupeKey())
			}
		})
	}
}

func TestHears(t *testing.T) {
	t.Parallel()
	a := bare(t, Options{Threads: ThreadsMention, ChannelThreads: map[string]Threads{"C2": ThreadsAlways}})
	for _, tt := range []struct {
		name, channel string
		part          Part
		want          bool
	}{
		{"as configured for all", "C1", Part{In: true}, false},
		{"as configured for the channel", "C2", Part{In: true}, true},
		{"as people chose, against all", "C1", Part{In: true, Threads: ThreadsAlways}, true},
		{"as people chose, against the channel", "C2", Part{In: true, Threads: ThreadsMention}, false},
		{"a thread of others", "C2", Part{Threads: ThreadsAlways}, false},
	} {
		if got := a.hears(tt.part, tt.channel); got != tt.want {
			t.Errorf("%s: %t, want %t", tt.name, got, tt.want)
		}
	}
}

func TestReadRemoval(t *testing.T) {
	t.Parallel()
	other := body(`{"type":"app_uninstalled"}`)
	other.Authorizations[0].TeamID = "T2"
	for _, tt := range []struct {
		name string
		body *outer
		dead bool
	}{
		{"uninstalled", body(`{"type":"app_uninstalled"}`), true},
		{"bot token revoked", body(`{"type":"tokens_revoked","tokens":{"bot":["UBOT"]}}`), true},
		{"a person's token revoked", body(`{"type":"tokens_revoked","tokens":{"oauth":["U1"]}}`), false},
		{"uninstalled elsewhere", other, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := bare(t, Options{})
			a.state.set(nil)
			if got := a.read(a.who.Load(), tt.body); got.in != nil || got.what == "" {
				t.Errorf("got %+v", got)
			}
			if ready := a.Ready() == nil; ready == tt.dead {
				t.Errorf("ready is %v", ready)
			}
			if !tt.dead {
				return
			}
			_, err := a.Send(t.Context(), &chat.Post{Conversation: chat.Conversation{Workspace: "slack:T1", Channel: "C1"}, DeliveryID: "d", Text: "x"})
			if o, ok := err.(*chat.Outage); !ok || !o.Dead || !o.NotSent { //nolint:errorlint // the adapter's own value
				t.Errorf("a send after the removal: %v", err)
			}
		})
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	for ts, want := range map[string]string{
		"1700000000.000100": "01700000000.000100", "999999999.999999": "00999999999.999999", "1700000000": "01700000000.000000",
		"": "", "x": "", "1.2.3": "", "-1.0": "", "123456789012.0": "",
	} {
		if got := order(ts); got != want {
			t.Errorf("order(%q) = %q, want %q", ts, got, want)
		}
	}
	now := time.Unix(1700000000, 42_000).UTC()
	if got := at(stamp(now)); !got.Equal(now) {
		t.Errorf("%s became %s", now, got)
	}
}

func TestSettled(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "word": "", "one two": "one ", "one two ": "one two ", "line\nnext wo": "line\nnext ", "line\nsome **bo": "line\nsome ", "a `co": "a ", "done\n": "done\n",
		"**bold** and more": "**bold** and ", "see [a link": "see ", "a | b | c": "", "2 \\* 3 is": "2 \\* 3 ", "line\n_x y": "line\n",
	} {
		if got := settled(text); got != want {
			t.Errorf("settled(%q) = %q, want %q", text, got, want)
		}
	}
}
