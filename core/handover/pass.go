package handover

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"herald/core/conversation"
	"herald/core/store"
	"herald/core/worker"
)

// Tries is the collection in which a partition counts the attempts at its entries that count, and those that a crash may have ended.
const Tries = "handover-tries"

// tries is a document of [Tries].
type tries struct {
	V     int `json:"v"`
	Count int `json:"count"`
}

// Reason is why an entry was buried.
type Reason string

// The reasons.
const (
	ReasonGone      Reason = "gone"
	ReasonMalformed Reason = "malformed"
	ReasonPoison    Reason = "poison"
	ReasonExpired   Reason = "expired"
)

// Letter is the note of a buried entry's dead letter. It holds nothing of the entry's data.
type Letter struct {
	What   string          `json:"what"` // "handover"
	ID     string          `json:"id"`
	Kind   string          `json:"kind,omitempty"`
	To     store.Partition `json:"to,omitempty"`
	Reason Reason          `json:"reason"`
	At     time.Time       `json:"at,omitzero"`
}

// entry is a debt under work.
type entry struct {
	owed    conversation.Owed
	key     store.Key
	version int64
	tries   int
	bad     bool
}

func (e *entry) triesKey() store.Key { return store.Key{Collection: Tries, Name: e.key.Name} }

// pass is the work under one claim.
type pass struct {
	w       *Worker
	claim   store.Claim
	from    store.Partition
	now     time.Time
	read    time.Time // the machine's clock at now
	entries []*entry
	// ops end debts; they are written with the next commit. done are the events to tell then.
	ops  []store.Op
	done []Event
	// next is when what remains is to be offered again.
	next time.Time
}

func (p *pass) load(ctx context.Context) error {
	answers, err := p.w.o.Store.Read(ctx, store.List{Partition: p.from, Collection: conversation.Handovers}, store.List{Partition: p.from, Collection: Tries})
	if err != nil {
		return err
	}
	p.now, p.read = answers[0].Now, time.Now()
	counts := map[string]int{}
	for _, doc := range answers[1].Docs {
		var t tries
		if json.Unmarshal(doc.Value, &t) == nil {
			counts[doc.Key.Name] = t.Count
		}
	}
	docs := answers[0].Docs
	slices.SortFunc(docs, func(a, b store.Doc) int { return cmp.Compare(a.Born, b.Born) })
	for _, doc := range docs {
		e := &entry{key: doc.Key, version: doc.Version, tries: counts[doc.Key.Name]}
		switch err := conversation.Decode(doc, &e.owed); {
		case errors.Is(err, conversation.ErrNewer):
			return worker.GiveBack(err, p.w.o.MaxPause)
		case err != nil || e.owed.ID != doc.Key.Name:
			e.bad = true
		}
		p.entries = append(p.entries, e)
	}
	return nil
}

// offer gives one entry to its taker and notes what is to be written for it.
func (p *pass) offer(ctx context.Context, e *entry) error {
	o := &p.w.o
	age := p.storeNow().Sub(e.owed.At)
	taker := o.Takers[e.owed.Kind]
	switch {
	case e.bad:
		p.bury(e, ReasonMalformed)
		return nil
	case e.tries >= o.MaxAttempts:
		p.bury(e, ReasonPoison)
		return nil
	case !e.owed.At.IsZero() && age >= o.MaxAge:
		p.bury(e, ReasonExpired)
		return nil
	case taker == nil:
		// Perhaps a newer replica knows the kind.
		o.Log.Warn("nobody takes a handover of this kind here", "partition", p.from, "handover", e.owed.ID, "kind", e.owed.Kind)
		p.later(e, o.MaxPause)
		return nil
	}
	before := e.tries
	if p.claim.Attempt >= suspectFrom {
		// The last claims ended without a release. Should this entry be why, its attempt is counted before it is made.
		e.tries = max(e.tries, suspectFrom-1) + 1
		p.ops = append(p.ops, p.count(e))
		if err := p.flush(ctx, "handover.count/"); err != nil {
			return err
		}
	}
	taken, err := p.take(ctx, taker, e)
	switch {
	case err == nil:
		kind := EventTaken
		if !taken {
			kind = EventKnown
		}
		p.remove(e, kind)
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ErrGone):
		p.bury(e, ReasonGone)
		return nil
	case errors.Is(err, ErrMalformed):
		p.bury(e, ReasonMalformed)
		return nil
	case errors.Is(err, ErrBusy), errors.Is(err, conversation.ErrNewer), store.Outage(err), errors.Is(err, context.DeadlineExceeded):
		if e.tries != before {
			e.tries = before
			p.ops = append(p.ops, p.count(e))
		}
		o.Log.Warn("a handover cannot be taken now", "partition", p.from, "handover", e.owed.ID, "to", e.owed.To, "error", err)
		p.later(e, p.pause(age))
		return nil
	}
	e.tries = before + 1
	o.Log.Error("a handover failed", "partition", p.from, "handover", e.owed.ID, "to", e.owed.To, "attempts", e.tries, "error", err)
	p.done = append(p.done, p.event(e, EventFailed))
	if e.tries >= o.MaxAttempts {
		p.bury(e, ReasonPoison)
		return nil
	}
	p.ops = append(p.ops, p.count(e))
	p.again(o.MinPause << e.tries)
	return nil
}

// take calls the taker; a panic is an error.
func (p *pass) take(ctx context.Context, t Taker, e *entry) (taken bool, err error) {
	defer func() {
		if v := recover(); v != nil {
			p.w.o.Log.Error("a taker panicked", "partition", p.from, "handover", e.owed.ID, "panic", v, "stack", string(debug.Stack()))
			err = fmt.Errorf("the taker of %q panicked", e.owed.Kind)
		}
	}()
	return t.Take(ctx, p.from, &e.owed)
}

func (p *pass) count(e *entry) store.Op {
	return store.Put{Key: e.triesKey(), Value: conversation.Encode(tries{conversation.Version, e.tries})}
}

func (p *pass) event(e *entry, k EventKind) Event {
	return Event{Kind: k, From: p.from, To: e.owed.To, ID: e.key.Name, Of: e.owed.Kind}
}

// remove ends a debt.
func (p *pass) remove(e *entry, k EventKind) {
	p.ops = append(p.ops, store.Delete{Key: e.key}, store.Delete{Key: e.triesKey()})
	p.done = append(p.done, p.event(e, k))
}

// bury ends a debt that will not be paid, with a row.
func (p *pass) bury(e *entry, r Reason) {
	note := conversation.Encode(Letter{What: "handover", ID: e.key.Name, Kind: e.owed.Kind, To: e.owed.To, Reason: r, At: e.owed.At})
	p.remove(e, EventBuried)
	p.done[len(p.done)-1].Reason = r
	p.ops = append(p.ops, store.Bury{ID: "handover." + e.key.Name, Note: note})
	p.w.o.Log.Error("a handover was set aside", "partition", p.from, "handover", e.key.Name, "kind", e.owed.Kind, "to", e.owed.To, "reason", r)
}

func (p *pass) later(e *entry, d time.Duration) {
	p.done = append(p.done, p.event(e, EventLater))
	p.again(d)
}

// again asks for another claim in d, or sooner.
func (p *pass) again(d time.Duration) {
	if at := p.storeNow().Add(d); p.next.IsZero() || at.Before(p.next) {
		p.next = at
	}
}

// pause grows with the age of a debt.
func (p *pass) pause(age time.Duration) time.Duration {
	d := min(max(age/4, p.w.o.MinPause), p.w.o.MaxPause)
	return d - d/4 + time.Duration(p.w.o.Random()*float64(d/2))
}

func (p *pass) storeNow() time.Time { return p.now.Add(time.Since(p.read)) }

// release writes what is left to write and ends the claim.
func (p *pass) release(ctx context.Context) error {
	op := store.Release{Claim: p.claim}
	if !p.next.IsZero() {
		op.Again, op.At = true, p.next
	}
	p.ops = append(p.ops, op)
	if err := p.flush(ctx, "handover.release/"); err != nil {
		return err
	}
	if op.Again {
		p.w.NudgeAfter(p.claim.Member, op.At.Sub(p.storeNow())+time.Millisecond)
	}
	return nil
}

// maxTries is how often a commit is repeated over an outage: what was taken is found to be known, so that giving up loses nothing.
const maxTries = 3

// flush commits what was noted.
func (p *pass) flush(ctx context.Context, site string) error {
	c := store.Commit{ID: site + p.w.o.NewID(), Partition: p.from, Claim: &p.claim, Ops: p.ops}
	var err error
	for range maxTries {
		if _, err = p.w.o.Store.Commit(ctx, c); err == nil || !store.Outage(err) || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return err
	}
	for _, e := range p.done {
		p.w.o.Report(e)
	}
	p.ops, p.done = nil, nil
	return nil
}
