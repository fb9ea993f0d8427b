package people

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"herald/core/chat"
	"herald/core/store"
)

// tries bounds how often a write that lost a race is decided anew; a race is lost once in practice.
const tries = 10

// People reads and writes persons. It is safe for concurrent use and keeps nothing in memory: the read that every event makes
// anyway says what is settled, by the store's own time, over all replicas and after a store went back.
type People struct {
	store store.Store
}

// New is People over st.
func New(st store.Store) *People { return &People{store: st} }

// Resolve is the sender of an event: one read, and writes only for what is not settled. event names the event over redeliveries. Errors are
// the store's and [ErrNewer].
func (p *People) Resolve(ctx context.Context, l Lookup, event string) (Person, error) {
	answers, err := p.store.Read(ctx, l.Queries()...)
	if err != nil {
		return Person{}, fmt.Errorf("look up %s: %w", l.Sender.Identity, err)
	}
	k, err := l.Understand(answers)
	if err != nil {
		return Person{}, err
	}
	return p.Settle(ctx, l, k, event)
}

// Settle writes what k lacks: the identity, then its person, with the footprint of l.Where. It must have returned before words of the
// sender are committed to l.Where. event names the event over redeliveries.
func (p *People) Settle(ctx context.Context, l Lookup, k Known, event string) (Person, error) {
	if k.Settled() {
		return k.Person, nil
	}
	who := k.Person
	if !k.named {
		named, err := p.name(ctx, l, k, event)
		if err != nil {
			return Person{}, fmt.Errorf("settle %s: %w", l.Sender.Identity, err)
		}
		who.ID = named
	}
	if err := p.note(ctx, l, who, event); err != nil {
		return Person{}, fmt.Errorf("settle %s, person %s: %w", l.Sender.Identity, who.ID, err)
	}
	return who, nil
}

// name inserts the identity if it is absent, and gives the person that it names.
func (p *People) name(ctx context.Context, l Lookup, k Known, event string) (string, error) {
	part := IdentityPartition(l.Sender.Identity)
	_, err := p.store.Commit(ctx, store.Commit{
		ID: digest("people.identity/", event), Partition: part,
		Guards: []store.Guard{store.At{Key: IdentityKey}},
		Ops: []store.Op{store.Put{Key: IdentityKey, Value: encode(Identity{
			V: Version, Identity: l.Sender.Identity, Person: k.Person.ID, Name: l.Sender.Name, Bot: l.Sender.Bot, FirstSeen: k.Now,
		})}},
	})
	if err == nil {
		return k.Person.ID, nil
	}
	if !errors.Is(err, store.ErrConflict) {
		return "", err
	}
	answers, err := p.store.Read(ctx, store.Get{Partition: part, Key: IdentityKey})
	if err != nil {
		return "", err
	}
	doc, ok := answers[0].Doc()
	if !ok {
		return "", fmt.Errorf("its document was there and is gone: %w", store.ErrUnavailable)
	}
	var stands Identity
	if err := decode(part, doc, &stands); err != nil {
		return "", err
	}
	return stands.Person, nil
}

// note makes the person when there is none, keeps the shown name, and notes the footprint unless that is fresh.
func (p *People) note(ctx context.Context, l Lookup, who Person, event string) error {
	part := PersonPartition(who.ID)
	for try := range tries {
		answers, err := p.store.Read(ctx,
			store.Get{Partition: part, Key: PersonKey},
			store.ScoreOf{Partition: part, Index: Footprint, Member: string(l.Where)})
		if err != nil {
			return err
		}
		var rec Record
		doc, ok := answers[0].Doc()
		if ok {
			if err := decode(part, doc, &rec); err != nil {
				return err
			}
		} else {
			rec = Record{ID: who.ID, Bot: l.Sender.Bot, FirstSeen: answers[0].Now}
		}
		changed := seen(&rec, l.Sender)
		if !changed && fresh(answers[1]) {
			return nil
		}
		c := store.Commit{
			ID: digest("people.note/", event, string(l.Where), fmt.Sprint(try)), Partition: part,
			Ops: []store.Op{store.ScoreNow{Index: Footprint, Member: string(l.Where)}},
		}
		if changed {
			c.Guards = []store.Guard{store.At{Key: PersonKey, Version: doc.Version}}
			c.Ops = append(c.Ops, store.Put{Key: PersonKey, Value: encode(rec)})
		}
		if _, err = p.store.Commit(ctx, c); !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
	return fmt.Errorf("%d writers in a row were faster: %w", tries, store.ErrConflict)
}

// seen brings what the platform says of the sender into rec and reports whether that changed it.
func seen(rec *Record, s chat.Sender) bool {
	changed := rec.V == 0
	rec.V = Version
	if !slices.Contains(rec.Identities, s.Identity) {
		rec.Identities = append(rec.Identities, s.Identity)
		changed = true
	}
	if s.Name != "" && s.Name != rec.Name {
		rec.Name = s.Name
		changed = true
	}
	return changed
}

// Name is the shown name of a person, or the id when there is none.
func (p *People) Name(ctx context.Context, person string) (string, error) {
	part := PersonPartition(person)
	answers, err := p.store.Read(ctx, store.Get{Partition: part, Key: PersonKey})
	if err != nil {
		return "", fmt.Errorf("look up the name of %s: %w", person, err)
	}
	doc, ok := answers[0].Doc()
	if !ok {
		return person, nil
	}
	var rec Record
	if err := decode(part, doc, &rec); err != nil {
		return "", err
	}
	if rec.Name == "" {
		return person, nil
	}
	return rec.Name, nil
}

// IsAdmin reports whether one of a person's identities is an admin's now. Nobody is the admin that a missing document would make.
func (p *People) IsAdmin(ctx context.Context, person string) (bool, error) {
	r, err := p.Role(ctx, person)
	return r == Admin, err
}

// Role is the role of a person now; see [Admins.RoleOfAll]. Somebody who is not known is a member.
func (p *People) Role(ctx context.Context, person string) (Role, error) {
	part := PersonPartition(person)
	answers, err := p.store.Read(ctx, store.Get{Partition: System, Key: AdminsKey}, store.Get{Partition: part, Key: PersonKey})
	if err != nil {
		return "", fmt.Errorf("look up the role of %s: %w", person, err)
	}
	var (
		admins Admins
		rec    Record
	)
	if doc, ok := answers[0].Doc(); ok {
		if err := decode(System, doc, &admins); err != nil {
			return "", err
		}
	}
	if doc, ok := answers[1].Doc(); ok {
		if err := decode(part, doc, &rec); err != nil {
			return "", err
		}
	}
	return admins.RoleOfAll(rec.Identities), nil
}

// SyncAdmins is [People.SyncRoles] where nobody has a role beside admin and member.
func (p *People) SyncAdmins(ctx context.Context, id string, ids []chat.IdentityID) error {
	return p.SyncRoles(ctx, id, ids, nil)
}

// SyncRoles makes the admins' document say exactly ids, in any order, and roles for those who have another than member; nothing is written
// when it does already. Each call needs an id of its own. Of two calls at once the later one stands.
func (p *People) SyncRoles(ctx context.Context, id string, ids []chat.IdentityID, roles map[chat.IdentityID]Role) error {
	want := slices.Clone(ids)
	slices.Sort(want)
	want = slices.Compact(want)
	answers, err := p.store.Read(ctx, store.Get{Partition: System, Key: AdminsKey})
	if err != nil {
		return fmt.Errorf("set the admins: %w", err)
	}
	if doc, ok := answers[0].Doc(); ok {
		var stands Admins
		if err := decode(System, doc, &stands); err != nil {
			return fmt.Errorf("set the admins: %w", err)
		}
		if slices.Equal(stands.Identities, want) && maps.Equal(stands.Roles, roles) {
			return nil
		}
	}
	_, err = p.store.Commit(ctx, store.Commit{
		ID: digest("people.admins/", id), Partition: System,
		Ops: []store.Op{store.Put{Key: AdminsKey, Value: encode(Admins{V: Version, Identities: want, Roles: roles})}},
	})
	if err != nil {
		return fmt.Errorf("set the admins: %w", err)
	}
	return nil
}
