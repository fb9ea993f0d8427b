package testbot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"herald/bots/bottest/wire"
	"herald/core/chat"
)

// Send posts p once.
func (b *Bot) Send(ctx context.Context, p *chat.Post) (chat.Receipt, error) {
	in := wire.Send{
		App: b.opt.App, Channel: p.Conversation.Channel, Thread: p.Conversation.Thread, Text: p.Text, Delivery: p.DeliveryID, Piece: p.Piece,
		ReplyTo: p.ReplyTo, Interaction: p.Interaction, Live: p.Live,
	}
	if b.features.Nonce {
		in.Nonce = p.Nonce()
	}
	if p.Only != "" {
		in.Only = strings.TrimPrefix(string(p.Only), string(b.Workspace())+"/")
	}
	var err error
	if in.Card, err = card(p.Card); err != nil {
		return chat.Receipt{}, err
	}
	r, err := b.call(ctx, wire.SendPath, in)
	if err != nil {
		return chat.Receipt{}, err
	}
	if r.Message == "" {
		return chat.Receipt{}, &chat.Outage{Reason: "send to the test platform: its answer names no message; look for it before a repeat"}
	}
	return chat.Receipt{MessageID: r.Message, At: r.At}, nil
}

// Edit replaces the text of a post that stands.
func (b *Bot) Edit(ctx context.Context, p *chat.Post, r chat.Receipt, final bool) error {
	in := wire.Edit{App: b.opt.App, Channel: p.Conversation.Channel, Thread: p.Conversation.Thread, Message: r.MessageID, Text: p.Text, Final: final}
	var err error
	if in.Card, err = card(p.Card); err != nil {
		return err
	}
	_, err = b.call(ctx, wire.EditPath, in)
	return err
}

// Find looks for a post by its delivery and piece.
func (b *Bot) Find(ctx context.Context, p *chat.Post) (chat.Receipt, bool, error) {
	r, err := b.call(ctx, wire.FindPath, wire.Find{
		App: b.opt.App, Channel: p.Conversation.Channel, Thread: p.Conversation.Thread, Delivery: p.DeliveryID, Piece: p.Piece, After: p.After,
	})
	if err != nil || !r.Found {
		return chat.Receipt{}, false, err
	}
	return chat.Receipt{MessageID: r.Message, At: r.At}, true, nil
}

func card(c *chat.Card) (json.RawMessage, error) {
	if c == nil {
		return nil, nil
	}
	b, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("write a card as JSON: %w", err)
	}
	return b, nil
}

// call makes one call and sorts its failure: what was surely not done, what is unknown, what will never be done.
func (b *Bot) call(ctx context.Context, path string, in any) (wire.Reply, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return wire.Reply{}, fmt.Errorf("write a call of %s as JSON: %w", path, err)
	}
	if t := b.features.SendTimeout; t > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, t, fmt.Errorf("no answer within %s: %w", t, context.DeadlineExceeded))
		defer cancel()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.base+path, bytes.NewReader(body))
	if err != nil {
		return wire.Reply{}, fmt.Errorf("make a call of %s: %w", path, err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := b.http.Do(req)
	if err != nil {
		return wire.Reply{}, unanswered(ctx, path, err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, wire.MaxLine))
	if err != nil {
		return wire.Reply{}, unanswered(ctx, path, err)
	}
	if resp.StatusCode != http.StatusOK {
		return wire.Reply{}, troubled(path, resp, raw)
	}
	var r wire.Reply
	if err := json.Unmarshal(raw, &r); err != nil {
		return wire.Reply{}, &chat.Outage{Reason: "call " + path + ": the answer is not JSON; whether it was carried out is unknown", Err: err}
	}
	return r, nil
}

// unanswered is a call that got no whole answer. Only a connection that was never made proves that nothing was done.
func unanswered(ctx context.Context, path string, err error) error {
	o := &chat.Outage{Reason: "call " + path + ": no whole answer came; whether it was carried out is unknown", Err: err}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		o.Reason, o.NotSent = "call "+path+": the test platform takes no connection", true
	}
	if cause := context.Cause(ctx); cause != nil {
		o.Err = errors.Join(cause, ctx.Err())
	}
	return o
}

func troubled(path string, resp *http.Response, raw []byte) error {
	var t wire.Trouble
	if json.Unmarshal(raw, &t) != nil || t.Code == "" {
		t = wire.Trouble{Code: strconv.Itoa(resp.StatusCode), Reason: http.StatusText(resp.StatusCode)}
	}
	said := fmt.Sprintf("call %s: status %d (%s): %s", path, resp.StatusCode, t.Code, t.Reason)
	switch {
	case resp.StatusCode == http.StatusTooManyRequests:
		return &chat.Outage{Reason: said, RetryAfter: retryAfter(resp.Header), Whole: t.Whole, NotSent: true}
	case resp.StatusCode == http.StatusUnauthorized:
		return &chat.Outage{Reason: said, NotSent: true, Dead: true}
	case resp.StatusCode == http.StatusNotImplemented:
		return fmt.Errorf("%s", said)
	case resp.StatusCode >= 500:
		return &chat.Outage{Reason: said, RetryAfter: retryAfter(resp.Header)}
	}
	return &chat.Refused{Code: t.Code, Reason: said, Gone: resp.StatusCode == http.StatusGone}
}

func retryAfter(h http.Header) time.Duration {
	s, err := strconv.ParseInt(h.Get("Retry-After"), 10, 64)
	if err != nil || s < 0 {
		return 0
	}
	return time.Duration(min(s, 24*3600)) * time.Second
}
