package turn

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/store"
)

// deliveryID names the answer of a turn: the same after a crash.
func deliveryID(turn string) string { return conversation.ID("d", turn, "answer") }

// liveWriter shows an answer while it grows. It gives up in silence: the final state is the outbox's.
type liveWriter struct {
	r     *run
	on    bool
	begin time.Time
	last  time.Time
	text  strings.Builder
	// visible: there is more in text than blanks, which a platform would refuse.
	visible bool
}

func (r *run) liveWriter(root bool) *liveWriter {
	return &liveWriter{r: r, on: root && r.task == nil && r.caps.Edits && r.LiveAfter >= 0, begin: r.Clock()}
}

// write adds text and shows it when it is time to.
func (w *liveWriter) write(ctx context.Context, text string) {
	if !w.on {
		return
	}
	w.text.WriteString(text)
	w.visible = w.visible || strings.TrimSpace(text) != ""
	now := w.r.Clock()
	if now.Sub(w.begin) < w.r.LiveAfter || now.Sub(w.last) < w.r.caps.EditEvery || !w.visible {
		return
	}
	w.last = now
	if err := w.show(ctx); err != nil {
		w.on = false
		if ctx.Err() == nil {
			w.r.log.Info("the live message is left out from here on", "error", err)
		}
	}
}

func (w *liveWriter) show(ctx context.Context) error {
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	piece := w.r.ad.Cut(w.r.conv, w.text.String())[0]
	if w.r.live == nil {
		// What is said whole goes first: without room the answer is shown later, or only when it is complete.
		if ok, err := w.r.Outbox.Room(ctx, w.r.conv); err != nil || !ok {
			return err
		}
		return w.r.openLive(ctx, piece)
	}
	p := &w.r.live.Pieces[0]
	if p.Receipt == nil {
		return errors.New("whether the live message stands is not known")
	}
	post := w.r.live.Post(w.r.conv, 0)
	post.Text = piece
	return w.r.Outbox.Edit(ctx, post, *p.Receipt)
}

// openLive commits the entry, posts it and commits the receipt.
func (r *run) openLive(ctx context.Context, text string) error {
	d := r.newAnswer()
	d.Live, d.Changes = true, r.progress != ""
	d.Pieces = []conversation.Piece{{Text: text, Attempts: 1, TriedAt: r.now()}}
	d.V = conversation.Version
	// What was said before must stand first: while it waits in the outbox there is no live message.
	r.last = []store.Guard{store.Fewer{Collection: conversation.Outgoing, N: 1}}
	_, err := r.step(ctx, "turn.live", guardHead, nil, store.Put{Key: d.Key(), Value: conversation.Encode(d)})
	r.last = nil
	if errors.Is(err, errBusyOutbox) {
		return nil
	}
	if err != nil {
		return err
	}
	r.live = d
	receipt, err := r.ad.Send(ctx, d.Post(r.conv, 0))
	if err != nil {
		if o, ok := errors.AsType[*chat.Outage](err); ok && o.NotSent {
			d.Pieces[0].Clean = true
		}
		return err
	}
	d.Pieces[0].Receipt = &receipt
	_, err = r.step(ctx, "turn.receipt", false, nil, store.Put{Key: d.Key(), Value: conversation.Encode(d)})
	return err
}

// newAnswer is the delivery of the turn's answer, still without text.
func (r *run) newAnswer() *conversation.Delivery {
	t := r.state.Turn
	d := &conversation.Delivery{ID: deliveryID(t.ID), Kind: conversation.Answer, Turn: t.ID, Covers: conversation.OnPlatform(t.Covers), After: r.cur.BeganAt}
	if n := len(d.Covers); n > 0 {
		d.ReplyTo = d.Covers[n-1].MessageID
	}
	return d
}

// direct reports whether only one person and Herald read here, as the messages of the turn said.
func (r *run) direct() bool { return r.cur.Direct }

// versionOf is the version that a commit gave the document of key among ops, the last operations of the commit.
func versionOf(res store.Result, ops []store.Op, key store.Key) int64 {
	v := res.Versions
	for _, op := range slices.Backward(ops) {
		if p, ok := op.(store.Put); ok {
			if p.Key == key {
				return v[len(v)-1]
			}
			v = v[:len(v)-1]
		}
	}
	return 0
}

// cutText is at most n bytes of s, at a rune's border.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
