package slack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	slackgo "github.com/slack-go/slack"

	"herald/core/chat"
)

const (
	postMethod      = "chat.postMessage"
	updateMethod    = "chat.update"
	ephemeralMethod = "chat.postEphemeral"
	repliesMethod   = "conversations.replies"
	historyMethod   = "conversations.history"
)

// metadataType marks Herald's messages; its payload names delivery and piece, by which a message is found again.
const metadataType = "herald_delivery"

// The prefixes of receipts of what only one person sees: such a message has no place in the channel's history.
const (
	ephemeralReceipt = "ephemeral:"
	responseReceipt  = "response:"
)

// The limits of a message.
const (
	// textLimit is a tenth below Slack's 12,000, since the unit in which Slack counts is not documented.
	textLimit = 10_800
	// editLimit is the longest plain text that chat.update takes.
	editLimit = 3_900
	// maxResponseText is above every answer to a command; what is longer is cut by Slack.
	maxResponseText = 30_000
	// shortText is how much of a text stands in a notification.
	shortText = 300
)

// CommandMark begins a command in a message: Slack keeps those that begin with a slash to itself, and has none in threads. SlashMark begins Slack's
// own command.
const (
	CommandMark = "!herald "
	SlashMark   = "/herald "
)

// editEvery keeps chat.update below its 50 a minute when one answer is under way.
const editEvery = 1300 * time.Millisecond

// Capabilities are the same everywhere.
func (a *Adapter) Capabilities(chat.Conversation) chat.Capabilities {
	return chat.Capabilities{
		Edits: true, EditEvery: editEvery, Cards: true, Threads: true, Ephemeral: true, Files: true, LookBack: true, CommandMark: CommandMark, TextLimit: textLimit, SendTimeout: sendTimeout,
	}
}

// Send posts p once.
func (a *Adapter) Send(ctx context.Context, p *chat.Post) (chat.Receipt, error) {
	ctx, cancel, err := a.begin(ctx, p)
	if err != nil {
		return chat.Receipt{}, err
	}
	defer cancel()
	defer a.answeredIn(p.Conversation)
	switch {
	case p.Interaction != "":
		return a.sendResponse(ctx, p)
	case p.Only != "":
		ts, err := a.api.PostEphemeralContext(ctx, p.Conversation.Channel, userOf(p.Only), append(content(p), options(p)...)...)
		return a.receipt(ctx, ephemeralMethod, ephemeralReceipt, ts, err)
	}
	if p.Live {
		if r, ok, err := a.sendStream(ctx, p); ok {
			return r, err
		}
	}
	opts := append(content(p), options(p)...)
	opts = append(opts, name(p, p.Live))
	_, ts, err := a.api.PostMessageContext(ctx, p.Conversation.Channel, opts...)
	return a.receipt(ctx, postMethod, "", ts, err)
}

// begin checks what needs no call and limits its time.
func (a *Adapter) begin(ctx context.Context, p *chat.Post) (context.Context, context.CancelFunc, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, &chat.Outage{Reason: "the call ended before it began", NotSent: true, Err: errors.Join(context.Cause(ctx), err)}
	}
	if why := a.dead.Load(); why != nil {
		return nil, nil, &chat.Outage{Reason: *why, NotSent: true, Dead: true}
	}
	if who := a.who.Load(); who != nil && p.Conversation.Workspace != who.workspace {
		return nil, nil, &chat.Refused{Code: "other_workspace", Reason: fmt.Sprintf("the app is installed in %s and not in %s", who.workspace, p.Conversation.Workspace)}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, sendTimeout, fmt.Errorf("no answer within %s: %w", sendTimeout, context.DeadlineExceeded))
	return ctx, cancel, nil
}

// receipt makes a receipt of an answer. One that names no message says nothing: the SDK takes an ok:false without a word for a success.
func (a *Adapter) receipt(ctx context.Context, method, prefix, ts string, err error) (chat.Receipt, error) {
	if err != nil {
		return chat.Receipt{}, a.failed(ctx, method, err)
	}
	if ts == "" {
		return chat.Receipt{}, &chat.Outage{Reason: "call " + method + " of Slack: its answer names no message; whether it was carried out is unknown"}
	}
	return chat.Receipt{MessageID: prefix + ts, At: at(ts)}, nil
}

func (a *Adapter) sendResponse(ctx context.Context, p *chat.Post) (chat.Receipt, error) {
	url, ok := a.responses.take(p.Interaction)
	if user := invoker(p.Interaction); !ok && user != "" {
		// Another process took the interaction, or its address is used up: what was meant for one person stays so.
		ts, err := a.api.PostEphemeralContext(ctx, p.Conversation.Channel, user, append(content(p), options(p)...)...)
		return a.receipt(ctx, ephemeralMethod, ephemeralReceipt, ts, err)
	}
	if !ok {
		return chat.Receipt{}, &chat.Refused{Code: "interaction_over", Reason: "the interaction cannot be answered directly any more; the answer goes into the channel", Gone: true}
	}
	if err := a.respond(ctx, url, mrkdwn(p.Text, maxResponseText), p.Conversation.Thread); err != nil {
		return chat.Receipt{}, err
	}
	now := a.opt.Now().UTC()
	return chat.Receipt{MessageID: fmt.Sprintf("%s%s#%d", responseReceipt, p.Interaction, p.Piece), At: now}, nil
}

// Edit replaces the text of a post that stands.
func (a *Adapter) Edit(ctx context.Context, p *chat.Post, r chat.Receipt, final bool) error {
	ctx, cancel, err := a.begin(ctx, p)
	if err != nil {
		return err
	}
	defer cancel()
	if strings.HasPrefix(r.MessageID, ephemeralReceipt) || strings.HasPrefix(r.MessageID, responseReceipt) {
		return &chat.Refused{Code: "not_editable", Reason: "what only one person sees cannot be changed afterwards", Gone: true}
	}
	step := a.growStream
	if final {
		step = a.endStream
	}
	if done, err := step(ctx, p, r); done || err != nil {
		return err
	}
	return a.update(ctx, p, r, final)
}

// update makes an ordinary edit, after it has closed a stream of another process.
func (a *Adapter) update(ctx context.Context, p *chat.Post, r chat.Receipt, final bool) error {
	try := func(opts []slackgo.MsgOption) (string, error) {
		_, ts, _, err := a.api.UpdateMessageContext(ctx, p.Conversation.Channel, r.MessageID, append(opts, name(p, !final))...)
		return ts, err
	}
	says := func(err error, words ...string) bool {
		s, ok := errors.AsType[slackgo.SlackErrorResponse](err)
		return ok && slices.Contains(words, s.Err)
	}
	opts := content(p)
	ts, err := try(opts)
	if says(err, "streaming_state_conflict") {
		if _, _, err := a.api.StopStreamContext(ctx, p.Conversation.Channel, r.MessageID, name(p, !final)); err != nil && !says(err, "message_not_in_streaming_state", "stopped_by_user") {
			return a.failed(ctx, stopMethod, err)
		}
		ts, err = try(opts)
	}
	if says(err, "msg_too_long") && p.Card == nil {
		ts, err = try(blocks(p)) // a text that is too long for an edit may still be a block
	}
	if says(err, "invalid_blocks", "msg_blocks_too_long") {
		// The same edit without what Slack dislikes, never a second message.
		ts, err = try([]slackgo.MsgOption{slackgo.MsgOptionText(mrkdwn(p.Text, editLimit), false), slackgo.MsgOptionBlocks()})
	}
	_, err = a.receipt(ctx, updateMethod, "", ts, err)
	return err
}

// name marks a message as a piece of a delivery, and says whether it still grows.
func name(p *chat.Post, live bool) slackgo.MsgOption {
	payload := map[string]any{"delivery": p.DeliveryID, "piece": p.Piece}
	if live {
		payload["live"] = true
	}
	return slackgo.MsgOptionMetadata(slackgo.SlackMetadata{EventType: metadataType, EventPayload: payload})
}

// options are what every post carries: its thread, and that nothing is unfurled or parsed.
func options(p *chat.Post) []slackgo.MsgOption {
	opts := []slackgo.MsgOption{slackgo.MsgOptionDisableLinkUnfurl(), slackgo.MsgOptionDisableMediaUnfurl()}
	if p.Conversation.Thread != "" {
		opts = append(opts, slackgo.MsgOptionTS(p.Conversation.Thread))
	}
	return opts
}

// content is what a message says.
func content(p *chat.Post) []slackgo.MsgOption {
	if p.Card == nil {
		return []slackgo.MsgOption{slackgo.MsgOptionMarkdownText(p.Text)}
	}
	return blocks(p)
}

func blocks(p *chat.Post) []slackgo.MsgOption {
	var all []slackgo.Block
	if p.Text != "" {
		all = append(all, slackgo.NewMarkdownBlock("", p.Text))
	}
	all = append(all, cardBlocks(p.Card)...)
	return []slackgo.MsgOption{slackgo.MsgOptionText(fallback(p), false), slackgo.MsgOptionBlocks(all...)}
}

// fallback is the text of notifications and of readers without blocks.
func fallback(p *chat.Post) string {
	text := mrkdwn(p.Text, shortText)
	if p.Card != nil && strings.TrimSpace(text) == "" {
		text = cutRunes(plain(p.Card.Title), shortText)
	}
	return text
}

// cutRunes is at most n characters of s.
func cutRunes(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}
