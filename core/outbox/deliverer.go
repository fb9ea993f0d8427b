package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/store"
	"herald/core/worker"
)

// Options of a [Deliverer]. Store, Adapter, Pacer, NewID and Random are required.
type Options struct {
	Store store.Store
	// Adapter is the adapter of a conversation's platform; false when that platform is not connected, which is an outage.
	Adapter func(chat.Conversation) (chat.Adapter, bool)
	Pacer   *Pacer
	Rules   Rules
	// Clock measures durations only; nil means time.Now.
	Clock func() time.Time
	// Sleep, when set, passes the time in place of a timer, as a simulation wants it.
	Sleep func(time.Duration)
	// NewID makes ids of commits, Random numbers in [0, 1). Both must be safe for concurrent use.
	NewID  func() string
	Random func() float64
	// Log takes what an operator should know; nothing by default. Report is told each event; it must not block.
	Log    *slog.Logger
	Report func(Event)
	// Later is told when a released member is due again; see [worker.Worker.NudgeAfter]. Nil leaves that to the agenda.
	Later func(store.Member, time.Duration)
}

// Deliverer delivers what waits in one conversation at a time, under a claim on the agenda [store.Outbox]. It is safe for concurrent use.
type Deliverer struct {
	o Options
	// suspects lets one conversation at a time be delivered whose last claims ended in a crash, so that the one that kills the process
	// does not use up the attempts of those beside it.
	suspects sync.Mutex
}

// New checks o and makes a deliverer.
func New(o Options) (*Deliverer, error) {
	for name, missing := range map[string]bool{
		"Store": o.Store == nil, "Adapter": o.Adapter == nil, "Pacer": o.Pacer == nil, "NewID": o.NewID == nil, "Random": o.Random == nil,
	} {
		if missing {
			return nil, fmt.Errorf("make a deliverer: option %s is missing: %w", name, store.ErrInvalid)
		}
	}
	o.Rules = o.Rules.withDefaults()
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Report == nil {
		o.Report = func(Event) {}
	}
	if o.Later == nil {
		o.Later = func(store.Member, time.Duration) {}
	}
	return &Deliverer{o: o}, nil
}

// suspectFrom is the attempt from which a claim is handled alone: two crashes in a row are no accident. Only attempts made alone are held
// against a delivery; a claim that ended because its neighbour killed the process says nothing.
const suspectFrom = 3

var (
	errSuspect = errors.New("another delivery whose last claims ended in a crash is being handled")
	errNewer   = errors.New("a newer replica must deliver this conversation")
)

// Run delivers what waits in the conversation of claim, oldest first, until nothing is left or its head must wait, and releases the claim in
// its last commit. It is a [worker.Handler]: after an error the claim is not released. [store.ErrFenced] says that it is somebody else's.
func (d *Deliverer) Run(ctx context.Context, claim store.Claim, _ <-chan struct{}) error {
	if claim.Attempt >= suspectFrom {
		if !d.suspects.TryLock() {
			return worker.GiveBack(errSuspect, d.o.Rules.MinPause)
		}
		defer d.suspects.Unlock()
	}
	p := d.pass(claim)
	if err := p.load(ctx); err != nil {
		return p.failed(ctx, err)
	}
	if claim.Attempt >= suspectFrom {
		if err := p.accuse(ctx); err != nil {
			return p.failed(ctx, err)
		}
	}
	return p.failed(ctx, p.run(ctx))
}

// Taken is a delivery that the caller's own commit put into the outbox and took the claim for; see [Express].
type Taken struct {
	Delivery *conversation.Delivery
	// Version is that of its document, Now the store's time, both as the commit answered.
	Version int64
	Now     time.Time
	// Armed is what [Arm] answered: the commit counted the first attempt, which is still to be made.
	Armed bool
}

// DeliverTaken is Run for a claim that the commit which wrote t has taken while nothing else waited: it reads nothing. When [Arm] counted
// the first attempt in that commit, a plain delivery costs one send and one commit.
func (d *Deliverer) DeliverTaken(ctx context.Context, claim store.Claim, t Taken) error {
	p := d.pass(claim)
	p.clock = d.since(t.Now)
	it := &item{id: t.Delivery.ID, d: *t.Delivery, version: t.Version}
	p.items = []*item{it}
	if ps := it.d.Pieces; t.Armed && len(ps) > 0 {
		p.armed, p.armedPiece, p.before = it, 0, conversation.Piece{Text: ps[0].Text}
		it.d.Pieces = append([]conversation.Piece(nil), ps...)
	}
	return p.failed(ctx, p.run(ctx))
}

// clock tells the store's time without asking again: an instant that the store gave, and what has passed since, in the whole
// milliseconds that a store counts in. Without the rounding a wait could end a fraction after the store thinks it has.
type clock struct {
	at, mono time.Time
	local    func() time.Time
}

func (d *Deliverer) since(at time.Time) clock { return clock{at, d.o.Clock(), d.o.Clock} }

func (c clock) now() time.Time { return c.at.Add(c.local().Sub(c.mono)).Truncate(time.Millisecond) }
