package outbox

import (
	"context"
	"errors"
	"time"

	"herald/core/conversation"
	"herald/core/store"
	"herald/core/worker"
)

// flush writes what is dirty, with extra operations, in one commit. It answers errAgain after it has read the documents anew because
// another writer changed one.
func (p *pass) flush(ctx context.Context, extra ...store.Op) error {
	c := store.Commit{ID: "outbox.flush/" + p.o.NewID(), Partition: p.part, Claim: &p.claim}
	var putters []*item // whose document each Put is, nil for one that leaves the outbox
	for _, it := range p.items {
		if !it.dirty {
			continue
		}
		c.Guards = append(c.Guards, store.At{Key: it.d.Key(), Version: it.version})
		switch it.end {
		case Settle:
			c.Ops = append(c.Ops, store.Delete{Key: it.d.Key()}, store.Put{Key: it.d.SentKey(), Value: conversation.Encode(&it.d)})
			putters = append(putters, nil)
		case Bury:
			value := it.raw
			if value == nil {
				value = conversation.Encode(&it.d)
			}
			c.Ops = append(c.Ops, buryOps(it.id, value, letter(&it.d, it.reason, it.last))...)
			putters = append(putters, nil)
		default:
			c.Ops = append(c.Ops, store.Put{Key: it.d.Key(), Value: conversation.Encode(&it.d)})
			putters = append(putters, it)
		}
	}
	c.Ops = append(c.Ops, extra...)
	if len(c.Ops) == 0 {
		return nil
	}
	var res store.Result
	err := p.persist(ctx, func() (err error) {
		res, err = p.o.Store.Commit(ctx, c)
		return err
	})
	if errors.Is(err, store.ErrConflict) {
		if err := p.persist(ctx, func() error { return p.load(ctx) }); err != nil {
			return err
		}
		return errAgain
	}
	if errors.Is(err, store.ErrTooLarge) {
		return p.shed(ctx, err)
	}
	if err != nil {
		return err
	}
	p.clock = p.since(res.Now)
	for i, it := range putters {
		if it != nil {
			it.version = res.Versions[i]
		}
	}
	p.flushed()
	return nil
}

// shed buries, as they stand in the store, the deliveries whose documents have no room for what was to be noted in them: no later try can
// do better.
func (p *pass) shed(ctx context.Context, cause error) error {
	large := map[string]bool{}
	for _, it := range p.items {
		if it.dirty && it.end != Bury && len(conversation.Encode(&it.d)) > store.MaxValue {
			large[it.id] = true
			it.dirty = false // nothing of it is carried over
		}
	}
	if len(large) == 0 {
		return cause
	}
	if err := p.persist(ctx, func() error { return p.load(ctx) }); err != nil {
		return err
	}
	p.armed = nil
	for _, it := range p.items {
		if large[it.id] {
			it.bury(ReasonTooLarge)
		}
	}
	return errAgain
}

// flushed forgets what is saved, and tells of what has left the outbox.
func (p *pass) flushed() {
	p.receipts = false
	kept := p.items[:0]
	for _, it := range p.items {
		switch {
		case !it.dirty || it.end == "":
			it.dirty = false
			kept = append(kept, it)
		case it.end == Settle:
			p.report(it, EventSettled, 0, "", "")
		default:
			p.o.Log.Error("a delivery was set aside", "conversation", p.part, "delivery", it.id, "reason", it.reason, "code", it.last.code, "detail", it.last.text)
			p.report(it, EventBuried, 0, string(it.reason), it.last.code)
		}
	}
	p.items = kept
}

// The bounds of the pause between two tries of a call.
const (
	minRetry = 50 * time.Millisecond
	maxRetry = time.Second
)

// persist makes a call of the store, and repeats it over an outage: a few times, or as long as the claim holds when there are receipts to be
// saved. A commit is repeated with the same id. A stop ends that after the present try.
func (p *pass) persist(ctx context.Context, call func() error) error {
	pause := minRetry
	for try := 1; ; try++ {
		err := call()
		if err == nil || !store.Outage(err) || ctx.Err() != nil || !p.receipts && try >= 3 {
			return err
		}
		if errors.Is(err, store.ErrClosed) || errors.Is(err, store.ErrChanged) {
			return err // waiting does not help
		}
		if !p.sleep(ctx, pause-pause/4+time.Duration(p.o.Random()*float64(pause/2))) {
			return err
		}
		pause = min(2*pause, maxRetry)
	}
}

// leave releases the claim. at is when the conversation is due again, zero when nothing waits. An attempt that was counted and not used is
// taken back.
func (p *pass) leave(ctx context.Context, at time.Time, extra ...store.Op) error {
	if p.armed != nil && p.armedPiece < len(p.armed.d.Pieces) {
		p.armed.d.Pieces[p.armedPiece] = p.before
		p.armed.dirty = true
		p.armed = nil
	}
	if p.accused.Delivery != "" {
		extra = append(extra, store.Delete{Key: suspectKey})
	}
	op := store.Release{Claim: p.claim}
	if !at.IsZero() {
		// The store counts whole milliseconds: rounded down, the member would be due a fraction before its delivery is, again and again.
		at = at.Add(time.Millisecond - 1).Truncate(time.Millisecond)
		op.Again, op.At = true, at
	}
	if err := p.flush(ctx, append(extra, op)...); err != nil {
		return err
	}
	p.released = true
	if wait := at.Sub(p.clock.now()); !at.IsZero() && wait > 0 {
		p.o.Later(p.claim.Member, wait+time.Millisecond) // not before the store's clock has come there
	}
	return nil
}

// sleep waits for d; false when the claim was lost or the worker stops.
func (p *pass) sleep(ctx context.Context, d time.Duration) bool {
	if p.o.Sleep != nil {
		p.o.Sleep(d)
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
	case <-worker.Stopping(ctx):
	}
	return false
}
