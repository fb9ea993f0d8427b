package main

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"herald/bots/bottest/platform"
	"herald/bots/bottest/slackfake"
	"herald/bots/markup"
	"herald/bots/slack"
	"herald/cmd/internal/failpoint"
	"herald/cmd/internal/service"
	"herald/core/chat"
	"herald/core/intake"
	"herald/core/store"
)

// onSlack is the kind of platform that is the fake Slack, with the adapter that ships.
const onSlack = "slack"

// slackWorld is the fake Slack of a scene. Its methods belong to the goroutine that plays the story.
type slackWorld struct {
	*slackfake.Server
	roots map[string]string // thread of the story → timestamp of its first message
	lost  map[string]bool   // events that Slack never delivers
	// Of a load: the tokens of messages by their timestamps, and events that are kept back until the next message.
	tokens map[string]string
	late   []string
}

// toApp begins what is said to the app.
const toApp = "<@" + slackfake.BotUser + "> "

// openSlack starts a fake Slack that waits for an acknowledgement as long as a call may take: under a load, more impatience than that would
// only drown a busy machine in copies.
func openSlack(ctx context.Context, timeout time.Duration) (*slackWorld, error) {
	o := slackfake.Options{AckTimeout: timeout, Patient: true, Notice: 200 * time.Millisecond, ShareDelay: time.Millisecond}
	for range maxLives {
		o.RetryAfter = append(o.RetryAfter, redeliver)
	}
	s, err := slackfake.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	return &slackWorld{Server: s, roots: map[string]string{}, lost: map[string]bool{}, tokens: map[string]string{}}, nil
}

// say makes Alice mention the app: the first message of a thread is its root.
func (w *slackWorld) say(thread, text string, held bool, copies int) slackfake.Told {
	told := w.Say(slackfake.Say{Thread: w.roots[thread], Text: toApp + text, Held: held, Copies: copies})
	if w.roots[thread] == "" {
		w.roots[thread] = told.TS
	}
	return told
}

// view is what stands now, in the words of the test platform.
func (w *slackWorld) view(v slackfake.View) board {
	var why []string
	unacked := 0
	for _, r := range v.Journal() {
		switch {
		case r.Kind == slackfake.Happened:
			// An interaction that nobody took is given up: it never comes again.
			if e := v.Event(r.Event); !e.Acked && !e.GaveUp && !w.lost[r.Event] {
				unacked++
			}
		case r.Kind == slackfake.Refused && !allowed(r):
			why = append(why, r.Method+": "+r.Code)
		}
	}
	return board{
		unacked: unacked, refused: len(why), why: why,
		messages: func(thread string) []*platform.Message {
			var out []*platform.Message
			root := w.roots[thread]
			// What stands in no thread is among those of each thread that nobody has begun.
			for _, m := range v.Said(slackfake.General, root) {
				out = append(out, inWords(m))
			}
			return out
		},
	}
}

// allowed reports whether a refusal belongs to the adapter's ways: it learns from it that a stream is another life's, or that it has ended.
func allowed(r slackfake.Record) bool {
	return r.Code == "streaming_state_conflict" || r.Code == "message_not_in_streaming_state"
}

// inWords is a message of the app's as the oracle reads it. One that carries no name is a delivery of its own.
func inWords(m *slackfake.Message) *platform.Message {
	out := &platform.Message{
		ID: m.TS, Channel: m.Channel, Thread: m.Thread, ByApp: true, Text: cmp.Or(m.Markdown, m.Text), Delivery: m.TS,
		Live: m.Stream == slackfake.Streaming, Edits: m.Edits, Card: m.Blocks,
	}
	var name struct {
		Payload struct {
			Delivery string `json:"delivery"`
			Piece    int    `json:"piece"`
		} `json:"event_payload"`
	}
	if len(m.Metadata) > 0 && json.Unmarshal(m.Metadata, &name) == nil && name.Payload.Delivery != "" {
		out.Delivery, out.Piece = name.Payload.Delivery, name.Payload.Piece
	}
	return out
}

// approve clicks on the first button of a message. A button that is gone was used already: an earlier click did come through.
func (w *slackWorld) approve(m *platform.Message) {
	_, _ = w.Click(slackfake.Click{Channel: m.Channel, TS: m.ID, ActionID: "herald_0"})
}

// connectSlack opens the adapter that ships against a fake Slack, with points around calls and before acknowledgements.
func connectSlack(b *birth, st store.Store, log *slog.Logger, points *failpoint.Points) func(chat.Receiver) (service.Connection, error) {
	return func(r chat.Receiver) (service.Connection, error) {
		a, err := slack.New(slack.Options{
			BotToken: slackfake.BotToken, AppToken: slackfake.AppToken, APIURL: b.Platform, Receiver: acking{r, points}, Log: log,
			Joined: service.SlackJoined(st), Active: service.SlackActive(st), Sentence: intake.Sentence,
			Backoff: 20 * time.Millisecond, BackoffMax: 100 * time.Millisecond, BackfillPace: often,
		})
		if err != nil {
			return nil, err
		}
		return failpoint.Adapter(hasty{a, b.Call}, points), nil
	}
}

// acking has a point where an event is kept and not yet acknowledged.
type acking struct {
	chat.Receiver
	points *failpoint.Points
}

// Receive implements [chat.Receiver].
func (a acking) Receive(ctx context.Context, in *chat.Inbound) (chat.Outcome, error) {
	out, err := a.Receiver.Receive(ctx, in)
	if err == nil {
		a.points.Enter("ack")
	}
	return out, err
}

// hasty is the adapter with the times and sizes of the stories: a call takes as long as one to the test platform may, and a long answer
// makes several messages.
type hasty struct {
	*slack.Adapter
	timeout time.Duration
}

// Capabilities implements [chat.Adapter].
func (h hasty) Capabilities(c chat.Conversation) chat.Capabilities {
	out := h.Adapter.Capabilities(c)
	out.SendTimeout, out.EditEvery, out.TextLimit = h.timeout, 100*time.Millisecond, textLimit
	return out
}

// Cut implements [chat.Adapter].
func (h hasty) Cut(_ chat.Conversation, text string) []string {
	d := markup.SlackMarkdown()
	d.Limit = textLimit
	return markup.Cut(text, d, markup.Policy{})
}

// Send implements [chat.Adapter].
func (h hasty) Send(ctx context.Context, p *chat.Post) (chat.Receipt, error) {
	ctx, cancel := context.WithTimeout(ctx, h.timeout)
	defer cancel()
	return h.Adapter.Send(ctx, p)
}

// Edit implements [chat.Adapter].
func (h hasty) Edit(ctx context.Context, p *chat.Post, r chat.Receipt, final bool) error {
	ctx, cancel := context.WithTimeout(ctx, h.timeout)
	defer cancel()
	return h.Adapter.Edit(ctx, p, r, final)
}
