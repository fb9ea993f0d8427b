package outbox

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/store"
)

// cut asks the adapter for the pieces.
func (p *pass) cut(ctx context.Context, it *item) error {
	var parts []string
	err := p.guarded(it, func() error {
		parts = p.adapter.Cut(p.conv, it.d.Text)
		if len(parts) == 0 {
			parts = []string{""}
		}
		return nil
	})
	if err != nil {
		return p.trouble(ctx, it, None, Sends, classify(err))
	}
	Pieces(&it.d, parts)
	it.d.Uncut = false
	it.dirty = true
	return nil
}

// send counts the attempt, waits for its place in the pace and sends.
func (p *pass) send(ctx context.Context, it *item, step Step) error {
	i := step.Piece
	wait, left, err := p.turn(ctx, it, i, Sends)
	if left || err != nil {
		return err
	}
	timeout := p.timeout()
	began := time.Now()
	var extra []store.Op
	if p.noted {
		extra = append(extra, store.Delete{Key: placeKey})
	}
	at := p.clock.now().Add(wait)
	switch armed := p.armed == it && p.armedPiece == i; {
	case !armed:
		p.before = it.d.Pieces[i]
		count(&it.d, i, at)
		it.dirty = true
		if err := p.flush(ctx, extra...); err != nil {
			return err
		}
		p.noted = false
		p.armed, p.armedPiece = it, i
	case at.Sub(it.d.Pieces[i].TriedAt) > timeout/4:
		// The attempt was counted for an earlier instant: whoever looks for it must not do so too soon.
		it.d.Pieces[i].TriedAt = at
		it.dirty = true
		if err := p.flush(ctx, extra...); err != nil {
			return err
		}
		p.noted = false
	}
	if wait > 0 && !p.sleep(ctx, wait) {
		if err := ctx.Err(); err != nil {
			return err
		}
		return p.leave(ctx, p.clock.now())
	}
	if step.Double {
		p.o.Log.Warn("a piece is sent again although an earlier attempt may stand: the platform offers no way to find out",
			"conversation", p.part, "delivery", it.id, "piece", i, "attempts", it.d.Pieces[i].Attempts)
		p.report(it, EventDouble, i, "", "")
	}
	var r chat.Receipt
	err = p.call(ctx, it, began.Add(wait+timeout), func(ctx context.Context) (err error) {
		r, err = p.adapter.Send(ctx, it.d.Post(p.conv, i))
		if err == nil && r.MessageID == "" {
			err = errors.New("the adapter gave a receipt without the id of a message")
		}
		return err
	})
	p.armed, p.place = nil, nil
	if err != nil {
		return p.fail(ctx, it, i, Sends, err)
	}
	sent(&it.d, i, r, !certain(&p.before), p.caps)
	it.dirty, p.receipts = true, true
	p.report(it, EventSent, i, "", "")
	return nil
}

// find looks for an earlier attempt at piece i.
func (p *pass) find(ctx context.Context, it *item, i int) error {
	if err := p.flush(ctx); err != nil {
		return err
	}
	wait, left, err := p.turn(ctx, it, i, Finds)
	if left || err != nil || !p.pause(ctx, wait) {
		return p.stopped(ctx, err)
	}
	var (
		r     chat.Receipt
		found bool
	)
	err = p.call(ctx, it, time.Now().Add(p.timeout()), func(ctx context.Context) (err error) {
		r, found, err = p.adapter.Find(ctx, it.d.Post(p.conv, i))
		if err == nil && found && r.MessageID == "" {
			err = errors.New("the adapter found a message without an id")
		}
		return err
	})
	p.place = nil
	switch {
	case err != nil:
		p.o.Log.Warn("it cannot be told whether a delivery stands", "conversation", p.part, "delivery", it.id, "piece", i, "error", err)
		return p.fail(ctx, it, None, Finds, err)
	case found:
		sent(&it.d, i, r, true, p.caps)
		p.receipts = true
		p.report(it, EventFound, i, "", "")
	default:
		notFound(&it.d, i)
		p.report(it, EventNotFound, i, "", "")
	}
	it.dirty = true
	return nil
}

// edit makes a message that stands show its final text.
func (p *pass) edit(ctx context.Context, it *item, step Step) error {
	i := step.Piece
	if err := p.flush(ctx); err != nil {
		return err
	}
	wait, left, err := p.turn(ctx, it, i, Edits)
	if left || err != nil || !p.pause(ctx, wait) {
		return p.stopped(ctx, err)
	}
	err = p.call(ctx, it, time.Now().Add(p.timeout()), func(ctx context.Context) error {
		return p.adapter.Edit(ctx, it.d.Post(p.conv, i), *it.d.Pieces[i].Receipt, true)
	})
	p.place = nil
	if err != nil {
		if f := classify(err); f.gone && ctx.Err() == nil {
			gone(&it.d, i)
			it.dirty = true
			p.report(it, EventRefused, i, f.code, f.text)
			return nil
		}
		return p.fail(ctx, it, None, Edits, err)
	}
	edited(&it.d, i, p.clock.now())
	it.dirty, p.receipts = true, true
	p.report(it, EventEdited, i, "", "")
	return nil
}

// pause waits for a place; false when the pass must end.
func (p *pass) pause(ctx context.Context, wait time.Duration) bool {
	return wait <= 0 || p.sleep(ctx, wait)
}

// stopped is what a pass returns that did not come to its call: an error, or nothing when the loop finds out why by itself.
func (p *pass) stopped(ctx context.Context, err error) error {
	if err != nil {
		return err
	}
	return ctx.Err()
}

// turn gets a place in the pace for a call. left says that the claim was released instead: the place is far, or there are more urgent
// things for it.
func (p *pass) turn(ctx context.Context, it *item, i int, m Method) (wait time.Duration, left bool, err error) {
	now := p.clock.now()
	if pl := p.place; pl == nil || pl.Delivery != it.id || pl.Piece != i || pl.Method != m {
		// A delivery behind an urgent one goes out as urgently: it stands in its way.
		kind, age := it.d.Kind, ageOf(&it.d, now)
		for _, o := range p.items {
			if o.end == "" && !o.d.Live && rank(o.d.Kind) < rank(kind) {
				kind = o.d.Kind
			}
		}
		wait, ok, err := p.o.Pacer.Reserve(ctx, p.conv, m, patience(kind, age))
		if err != nil {
			if p.receipts { // what stands is noted first
				if ferr := p.flush(ctx); ferr != nil {
					return 0, false, ferr
				}
			}
			return 0, false, err
		}
		if !ok {
			again := min(wait, 2*time.Second)
			return 0, true, p.leave(ctx, now.Add(again-again/4+time.Duration(p.o.Random()*float64(again/2))))
		}
		p.place = &place{V: conversation.Version, Delivery: it.id, Piece: i, Method: m, At: now.Add(wait)}
	}
	wait = max(p.place.At.Sub(now), 0)
	if wait > p.o.Rules.HoldFor {
		pl := *p.place
		return 0, true, p.leave(ctx, pl.At, store.Put{Key: placeKey, Value: conversation.Encode(pl)})
	}
	return wait, false, nil
}

// fail handles the error of a call, unless it only says that the claim or the worker has ended.
func (p *pass) fail(ctx context.Context, it *item, i int, m Method, err error) error {
	if e := ctx.Err(); e != nil {
		return e
	}
	f := classify(err)
	if _, ok := errors.AsType[*crash](err); !ok {
		p.o.Log.Warn("a call to a platform failed", "conversation", p.part, "delivery", it.id, "method", m, "code", f.code, "error", err)
	}
	return p.trouble(ctx, it, i, m, f)
}

// trouble notes a failure: in the delivery, in the pace where the platform demands a pause, and to whoever listens.
func (p *pass) trouble(ctx context.Context, it *item, i int, m Method, f failure) error {
	it.last = f
	failed(&it.d, i, f, !certain(&p.before), p.clock.now(), p.o.Rules, p.o.Random())
	it.dirty, p.receipts = true, true
	kind := EventOutage
	switch {
	case f.counts:
		kind = EventRefused
	case f.dead:
		kind = EventDead
		p.o.Log.Error("a platform cannot be used until somebody repairs it; deliveries wait", "workspace", p.conv.Workspace, "code", f.code, "detail", f.text)
	}
	p.report(it, kind, max(i, 0), f.code, f.text)
	hold, whole := f.after, f.whole
	if f.dead {
		hold, whole = p.o.Rules.deadPause(ageOf(&it.d, p.clock.now())), true
	}
	if hold <= 0 || p.adapter == nil {
		return nil
	}
	if err := p.o.Pacer.Hold(ctx, p.conv, m, whole, hold); err != nil {
		// The delivery's own pause stands all the same.
		p.o.Log.Warn("a platform's demand to wait could not be noted for other replicas", "conversation", p.part, "error", err)
	}
	return nil
}

// call calls the adapter, at most until the instant end of this machine's clock. A panic is an error.
func (p *pass) call(ctx context.Context, it *item, end time.Time, f func(context.Context) error) error {
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	if err := ctx.Err(); err != nil {
		// The machine stood still: what was counted may be looked for by others already.
		return &chat.Outage{Reason: "the time for the call was over before it began", NotSent: true, Err: err}
	}
	return p.guarded(it, func() error { return f(ctx) })
}

func (p *pass) guarded(it *item, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			p.o.Log.Error("an adapter panicked", "conversation", p.part, "delivery", it.id, "panic", v, "stack", string(debug.Stack()))
			err = &crash{v}
		}
	}()
	return f()
}

func (p *pass) timeout() time.Duration {
	if p.caps.SendTimeout > 0 {
		return p.caps.SendTimeout
	}
	return p.o.Rules.SendTimeout
}
