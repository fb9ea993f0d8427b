package outbox

import (
	"context"

	"herald/core/conversation"
	"herald/core/store"
)

// suspectKey is the document that counts how often the process died while it handled a delivery alone.
var suspectKey = store.Key{Collection: "suspect", Name: "delivery"}

// suspect is the document: it is written before the delivery is handled, and removed by whoever survives it.
type suspect struct {
	V        int    `json:"v"`
	Delivery string `json:"delivery"`
	Count    int    `json:"count"`
}

// accuse makes the pass one about the delivery that comes next, which may be why the last claims ended in crashes: this attempt is
// counted before it is made, and when there were enough of them the delivery is set aside.
func (p *pass) accuse(ctx context.Context) error {
	it, step := p.next()
	if it == nil || step.Do == Bury || step.Do == Settle {
		return nil
	}
	p.alone = it.id
	n := 0
	if p.accused.Delivery == it.id {
		n = p.accused.Count
	}
	if suspectFrom-1+n >= p.o.Rules.MaxAttempts {
		it.bury(ReasonPoison)
		return nil
	}
	s := suspect{conversation.Version, it.id, n + 1}
	c := store.Commit{
		ID: "outbox.suspect/" + p.o.NewID(), Partition: p.part, Claim: &p.claim,
		Ops: []store.Op{store.Put{Key: suspectKey, Value: conversation.Encode(s)}},
	}
	err := p.persist(ctx, func() error {
		_, err := p.o.Store.Commit(ctx, c)
		return err
	})
	p.accused = s
	return err
}
