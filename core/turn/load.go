package turn

import (
	"context"
	"errors"
	"fmt"

	"herald/core/conversation"
	"herald/core/session"
	"herald/core/store"
)

// tail is how many log entries the first read brings: most sessions since their last summary are shorter, so that one read is enough.
const tail = 100

// load reads the conversation under the claim.
func (e *Engine) load(ctx context.Context, claim store.Claim) (*run, error) {
	p := claim.Member.Partition()
	conv, ok := conversation.Of(p)
	if !ok {
		return nil, fmt.Errorf("member %s of the agenda %s is no conversation: %w", claim.Member, claim.Agenda, store.ErrInvalid)
	}
	r := &run{
		Engine: e, claim: claim, p: p, conv: conv, ad: e.Adapter(conv.Workspace),
		log:  e.Log.With("conversation", conv.Key()),
		busy: make(map[string]bool), results: make(chan *outcome, session.MaxParallel*session.MaxDepth),
	}
	if r.ad == nil {
		return nil, fmt.Errorf("conversation %s: no adapter serves %s; configure it, or wait for the replica that does", conv.Key(), conv.Workspace)
	}
	r.since = e.Clock()
	queries := r.news()
	if conversation.IsTask(conv) {
		as, err := e.Store.Read(ctx, store.Get{Partition: p, Key: conversation.TaskKey})
		if err != nil {
			return nil, fmt.Errorf("load %s: %w", p, err)
		}
		if doc, ok := as[0].Doc(); ok {
			if err := r.place(doc); err != nil {
				return nil, err
			}
		}
	}
	r.caps = r.ad.Capabilities(r.conv)
	as, err := e.Store.Read(ctx, append(queries,
		store.Get{Partition: p, Key: conversation.CurrentKey},
		store.Get{Partition: p, Key: conversation.SuspectKey},
		store.List{Partition: p, Collection: conversation.Outgoing},
		store.Tail{Partition: p, Log: conversation.Log, N: tail})...)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", p, err)
	}
	n := len(as) - 4
	if err := r.takeNews(as[:n]); err != nil {
		return nil, err
	}
	if d, ok := as[n].Doc(); ok {
		if err := conversation.Decode(d, &r.cur); err != nil {
			return nil, err
		}
		r.version = d.Version
	}
	if d, ok := as[n+1].Doc(); ok {
		r.suspected = true
		if err := conversation.Decode(d, &r.suspect); err != nil {
			return nil, err
		}
	}
	if err := r.loadLog(ctx, as[n+3].Entries); err != nil {
		return nil, err
	}
	r.fresh = true
	if r.state.Turn != nil && r.cur.Holder != "" && r.cur.Holder != claim.Holder {
		r.cur.Handed = true
	}
	return r, r.findLive(as[n+2].Docs)
}

// news is what changes while the claim is held.
func (r *run) news() []store.Query {
	qs := []store.Query{
		store.Get{Partition: r.p, Key: conversation.HeadKey},
		store.List{Partition: r.p, Collection: conversation.Inbox},
		store.List{Partition: r.p, Collection: conversation.Controls},
		store.List{Partition: r.p, Collection: conversation.Waits},
	}
	if rules, ok := r.Gate.(Rules); ok {
		qs = append(qs, rules.Queries(r.p)...)
	}
	return qs
}

func (r *run) takeNews(as []store.Answer) error {
	r.told(as[0].Now)
	r.gate = r.Gate
	if rules, ok := r.Gate.(Rules); ok {
		r.gate = rules.Open(r.p, as[4:])
	}
	r.head, r.headVer = conversation.Head{}, 0
	if d, ok := as[0].Doc(); ok {
		if err := conversation.Decode(d, &r.head); err != nil {
			return err
		}
		r.headVer = d.Version
	}
	r.seen.Store(r.headVer)
	r.inbox, r.controls = nil, nil
	for _, d := range as[1].Docs {
		var m conversation.Message
		if err := conversation.Decode(d, &m); err != nil {
			return err
		}
		r.inbox = append(r.inbox, m)
	}
	for _, d := range as[2].Docs {
		var c conversation.Control
		if err := conversation.Decode(d, &c); err != nil {
			return err
		}
		r.controls = append(r.controls, c)
	}
	r.waits = make(map[string]waitDoc)
	for _, d := range as[3].Docs {
		w := waitDoc{version: d.Version}
		if err := conversation.Decode(d, &w.WaitDoc); err != nil {
			return err
		}
		r.waits[w.Wait.ID] = w
	}
	return nil
}

// refresh reads what came since.
func (r *run) refresh(ctx context.Context) error {
	as, err := r.Store.Read(ctx, r.news()...)
	if err != nil {
		return fmt.Errorf("look for news of %s: %w", r.p, err)
	}
	if err := r.takeNews(as); err != nil {
		return err
	}
	// What was taken in and is not committed yet still stands in the store.
	taken := make(map[store.Key]bool)
	for _, op := range r.ops {
		if d, ok := op.(store.Delete); ok {
			taken[d.Key] = true
		}
	}
	r.inbox = keep(r.inbox, func(m *conversation.Message) bool { return !taken[m.Key()] })
	r.controls = keep(r.controls, func(c *conversation.Control) bool { return !taken[c.Key()] })
	r.fresh = true
	return nil
}

func keep[T any](in []T, f func(*T) bool) []T {
	out := in[:0]
	for i := range in {
		if f(&in[i]) {
			out = append(out, in[i])
		}
	}
	return out
}

// loadLog folds the history since the last summary, and the state anew when another fold made it.
func (r *run) loadLog(ctx context.Context, entries []store.Entry) error {
	from := max(r.cur.LogFrom, 1)
	stale := r.version != 0 && r.cur.State.Fold != session.FoldVersion
	if stale {
		from = 1
	}
	if len(entries) > 0 {
		r.lastSeq = entries[len(entries)-1].Seq
	}
	if len(entries) > 0 && entries[0].Seq > from {
		as, err := r.Store.Read(ctx, store.Range{Partition: r.p, Log: conversation.Log, From: from, Limit: int(entries[0].Seq - from)})
		if err != nil {
			return fmt.Errorf("load the log of %s: %w", r.p, err)
		}
		entries = append(as[0].Entries, entries...)
	}
	r.hist = &session.History{Room: len(entries)}
	var folded session.State
	for _, en := range entries {
		if en.Seq < from {
			continue
		}
		e, err := session.Decode(en.Kind, en.ID, en.Seq, en.At, en.Data)
		if err != nil {
			return fmt.Errorf("conversation %s: %w", r.conv.Key(), err)
		}
		r.hist.Add(e)
		if stale {
			folded.Apply(e)
		}
	}
	r.state = r.cur.State
	if stale {
		r.state = folded
	}
	r.state = r.state.Clone()
	return nil
}

// findLive finds the live message of the turn under way, which a holder before this one may have begun.
func (r *run) findLive(docs []store.Doc) error {
	if r.state.Turn == nil {
		return nil
	}
	key := store.Key{Collection: conversation.Outgoing, Name: deliveryID(r.state.Turn.ID)}
	for _, d := range docs {
		if d.Key == key {
			r.live = &conversation.Delivery{}
			return conversation.Decode(d, r.live)
		}
	}
	return nil
}

// tooNew reports whether err speaks of something that a newer release wrote.
func tooNew(err error) bool {
	return errors.Is(err, session.ErrNewer) || errors.Is(err, conversation.ErrNewer)
}
