package outbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/store"
	"herald/core/worker"
)

// placeKey is the document that notes a place in the pace which the conversation's head has taken and waits for without a claim.
var placeKey = store.Key{Collection: "pace", Name: "place"}

// place is a place in the pace for one call.
type place struct {
	V        int       `json:"v"`
	Delivery string    `json:"delivery"`
	Piece    int       `json:"piece"`
	Method   Method    `json:"method"`
	At       time.Time `json:"at"`
}

// placeFor is how long after its instant a noted place is still good: later, others have gone on.
const placeFor = 10 * time.Second

// item is a delivery under work.
type item struct {
	id      string
	d       conversation.Delivery
	version int64
	raw     []byte // what cannot be decoded
	// dirty: d is not what the store holds. end is Settle or Bury when it leaves the outbox.
	dirty  bool
	end    Action
	reason Reason
	last   failure
}

// pass is the work under one claim.
type pass struct {
	*Deliverer
	claim   store.Claim
	part    store.Partition
	conv    chat.Conversation
	adapter chat.Adapter // nil: not connected
	caps    chat.Capabilities
	homed   bool
	clock   clock
	items   []*item // in the order in which they were written
	// armed is the delivery with a piece whose attempt is counted in the store and not used; before is the piece without it.
	armed      *item
	armedPiece int
	before     conversation.Piece
	// place is what the head has taken; noted says that the store holds its document.
	place *place
	noted bool
	// accused is the suspect that the store knows of. alone is the delivery that this pass is about, "" for all.
	accused suspect
	alone   string
	// receipts: what is dirty says what stands on the platform, and must not be lost.
	receipts bool
	released bool
}

func (d *Deliverer) pass(claim store.Claim) *pass {
	p := &pass{Deliverer: d, claim: claim, part: claim.Member.Partition(), clock: d.since(claim.Since)}
	if p.conv, p.homed = conversation.Of(p.part); p.homed {
		if a, ok := d.o.Adapter(p.conv); ok {
			p.adapter, p.caps = a, a.Capabilities(p.conv)
		}
	}
	return p
}

// load reads what waits. What was done and is not saved yet is kept for documents that another writer has changed meanwhile.
func (p *pass) load(ctx context.Context) error {
	answers, err := p.o.Store.Read(ctx, store.List{Partition: p.part, Collection: conversation.Outgoing},
		store.Get{Partition: p.part, Key: placeKey}, store.Get{Partition: p.part, Key: suspectKey})
	if err != nil {
		return err
	}
	p.clock = p.since(answers[0].Now)
	docs := answers[0].Docs
	slices.SortFunc(docs, func(a, b store.Doc) int { return cmp.Compare(a.Born, b.Born) })
	old := p.items
	p.items = nil
	for _, doc := range docs {
		it := &item{id: doc.Key.Name, version: doc.Version}
		switch err := conversation.Decode(doc, &it.d); {
		case errors.Is(err, conversation.ErrNewer):
			return worker.GiveBack(errors.Join(errNewer, err), p.o.Rules.MaxPause)
		case err != nil || it.d.ID != it.id:
			it.raw, it.d = doc.Value, conversation.Delivery{ID: it.id}
			it.bury(ReasonUnreadable)
		case !p.homed:
			it.bury(ReasonHomeless)
		}
		p.items = append(p.items, it)
	}
	p.receipts = false
	for _, o := range old {
		p.keep(o)
	}
	p.accused = suspect{}
	if doc, ok := answers[2].Doc(); ok {
		_ = json.Unmarshal(doc.Value, &p.accused) // what cannot be read accuses nobody
	}
	p.place, p.noted = nil, false
	if doc, ok := answers[1].Doc(); ok {
		var pl place
		p.noted = true
		if json.Unmarshal(doc.Value, &pl) == nil && pl.At.Add(placeFor).After(p.clock.now()) {
			p.place = &pl
		}
	}
	return nil
}

// keep carries what was done with o over to its document as it stands now.
func (p *pass) keep(o *item) {
	i := slices.IndexFunc(p.items, func(it *item) bool { return it.id == o.id })
	if i < 0 {
		if p.armed == o {
			p.armed = nil
		}
		return
	}
	it := p.items[i]
	if p.armed == o {
		p.armed = nil
		if ps := it.d.Pieces; p.armedPiece < len(ps) && ps[p.armedPiece].Receipt == nil && ps[p.armedPiece].Attempts > 0 {
			p.armed = it
		}
	}
	if o.dirty && it.end == "" && merge(&it.d, &o.d) {
		it.dirty, it.last = true, o.last
		p.receipts = true
	}
}

// merge puts into d what mine knows about the same pieces, and reports whether that was anything.
func merge(d, mine *conversation.Delivery) bool {
	if len(d.Pieces) != len(mine.Pieces) {
		return false
	}
	changed := false
	for i := range d.Pieces {
		theirs, own := &d.Pieces[i], mine.Pieces[i]
		if theirs.Text != own.Text || theirs.Receipt != nil || own.Attempts < theirs.Attempts {
			continue
		}
		if own.Receipt != nil || own.Clean && !theirs.Clean {
			*theirs, changed = own, true
		}
	}
	if mine.Refusals > d.Refusals || mine.NotBefore.After(d.NotBefore) {
		d.Refusals, d.NotBefore, changed = max(d.Refusals, mine.Refusals), mine.NotBefore, true
	}
	return changed
}

func (it *item) bury(reason Reason) {
	it.end, it.reason, it.dirty = Bury, reason, true
}

// next is the delivery to go on with. A nil item says that none is left but such as need no attention before the instant of step.Until,
// which is zero when nothing waits at all.
func (p *pass) next() (*item, Step) {
	var rest Step
	now := p.clock.now()
	for _, it := range p.items {
		if it.end != "" {
			continue
		}
		armed := None
		if p.armed == it {
			armed = p.armedPiece
		}
		step := Plan(&it.d, now, p.caps, p.o.Rules, armed)
		switch step.Do {
		case Leave:
		case Wait:
			if rest.Until.IsZero() || step.Until.Before(rest.Until) {
				rest.Until = step.Until
			}
			if !step.Pass {
				return nil, rest
			}
		default:
			return it, step
		}
	}
	return nil, rest
}

// errAgain says that a document was changed by another writer and that the plan must be made anew.
var errAgain = errors.New("a delivery was changed meanwhile")

// maxEnded bounds the deliveries that leave the outbox in one commit.
const maxEnded = 100

// run goes on until the claim is released.
func (p *pass) run(ctx context.Context) error {
	for !p.released {
		if err := p.step(ctx); err != nil && !errors.Is(err, errAgain) {
			return err
		}
	}
	return nil
}

func (p *pass) step(ctx context.Context) error {
	select {
	case <-worker.Stopping(ctx):
		return p.leave(ctx, p.clock.now())
	default:
	}
	it, step := p.next()
	if it == nil {
		return p.leave(ctx, step.Until)
	}
	if p.alone != "" && p.alone != it.id {
		return p.leave(ctx, p.clock.now()) // what comes next is no suspect
	}
	if p.adapter == nil && step.Do != Settle && step.Do != Bury {
		return p.trouble(ctx, it, None, Sends, failure{dead: true, whole: true, code: "not_connected", text: "the platform of this conversation is not connected"})
	}
	switch step.Do {
	case Cut:
		return p.cut(ctx, it)
	case Replace:
		replace(&it.d, p.caps)
		it.dirty = true
		p.report(it, EventReplaced, 0, "", "")
		return nil
	case Find:
		return p.find(ctx, it, step.Piece)
	case Send:
		return p.send(ctx, it, step)
	case Edit:
		return p.edit(ctx, it, step)
	case Settle:
		it.end, it.dirty, p.receipts = Settle, true, true
	case Bury:
		it.bury(step.Reason)
	}
	ended := 0
	for _, o := range p.items {
		if o.dirty && o.end != "" {
			ended++
		}
	}
	if ended >= maxEnded {
		return p.flush(ctx)
	}
	return nil
}

// failed makes of an error what the worker is told.
func (p *pass) failed(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(context.Cause(ctx), store.ErrFenced):
		return store.ErrFenced
	case errors.Is(err, store.ErrFenced):
		p.o.Log.Warn("the outbox of a conversation was taken over during a delivery", "conversation", p.part, "error", err)
	}
	return err
}

func (p *pass) report(it *item, kind EventKind, piece int, code, detail string) {
	p.o.Report(Event{Kind: kind, Partition: p.part, Delivery: it.id, Of: it.d.Kind, Piece: piece, Code: code, Detail: detail})
}
