package turn

import (
	"context"
	"slices"
	"strings"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/people"
	"herald/core/session"
	"herald/core/store"
	"herald/core/tool"
)

// copiesOf is who gets a copy of an approval's card: all who may decide, when the one who asked may not. Whoever asked has the card before them.
func (r *run) copiesOf(ctx context.Context, w session.Wait, g tool.Decision) []chat.IdentityID {
	if r.Reach == nil || len(w.Deciders) == 0 || r.askerDecides(ctx, w) {
		return nil
	}
	to, err := r.Reach(ctx, r.conv.Workspace, w.Deciders, w.Barred, g.Accounts)
	if err != nil {
		// The card in the conversation stands all the same.
		r.log.Warn("who may decide gets no copy of a card", "wait", w.ID, "error", err)
	}
	return to
}

// askerDecides reports whether who asked may decide.
func (r *run) askerDecides(ctx context.Context, w session.Wait) bool {
	switch {
	case slices.Contains(w.Barred, w.Person):
		return false
	case slices.Contains(w.Deciders, w.Person):
		return true
	case r.Admin == nil || !slices.Contains(w.Deciders, string(people.Admin)):
		return false
	}
	admin, err := r.Admin(ctx, w.Person)
	return err == nil && admin
}

// oweCopies is the operations that owe the copies of a card.
func (r *run) oweCopies(ctx context.Context, w session.Wait, to []chat.IdentityID) (ops []store.Op) {
	shown := w
	shown.Text = r.nameOf(ctx, w.Person) + " asked for this in another conversation.\n" + strings.TrimSuffix(w.Text, denyHint)
	for _, id := range to {
		d := &conversation.Delivery{
			V: conversation.Version, ID: conversation.ID("d", w.ID, string(id)), Kind: conversation.Ask, Text: askText(shown), Card: r.waitCard(w), MadeAt: r.now(), After: r.now(),
		}
		ops = append(ops, r.oweCopy(conversation.CopyKind, &conversation.Copy{Wait: w.ID, To: id, Person: w.Person, Delivery: d})...)
	}
	return ops
}

// oweEnds is the operations that owe the copies of a card the word how it ended.
func (r *run) oweEnds(wait, how string) (ops []store.Op) {
	doc := r.waits[wait]
	for _, id := range doc.Copies {
		ops = append(ops, r.oweCopy(conversation.CopyEndKind, &conversation.Copy{Wait: wait, To: id, Person: doc.Wait.Person, How: how})...)
	}
	return ops
}

func (r *run) oweCopy(kind string, c *conversation.Copy) []store.Op {
	c.V = conversation.Version
	return conversation.Owe(r.p, &conversation.Owed{
		ID: conversation.ID(kind+".", c.Wait, string(c.To)), Kind: kind, To: people.IdentityPartition(c.To), Data: conversation.Encode(c), At: r.now(),
	})
}
