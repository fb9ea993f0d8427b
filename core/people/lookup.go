package people

import (
	"context"
	"fmt"
	"time"

	"herald/core/chat"
	"herald/core/store"
)

// NoteEvery is how often a footprint is noted again: often enough that its time says when somebody last spoke there, seldom enough
// that a busy person costs no write per message.
const NoteEvery = time.Hour

// Person is the sender of an event.
type Person struct {
	ID       string
	Name     string
	Identity chat.IdentityID
	// Role is empty unless the lookup asked for it.
	Role Role
}

// Lookup is what an event must know of its sender.
type Lookup struct {
	Sender chat.Sender
	// Where is the partition that will hold the sender's words.
	Where store.Partition
	// Role asks for the sender's role as it is now.
	Role bool
}

// Known is what the answers to a lookup say.
type Known struct {
	Person Person
	// Now is the store's time of the answers.
	Now time.Time
	// named: the identity's document stands; noted: the footprint is fresh, and so the person stands too.
	named, noted bool
}

// Settled reports whether nothing need be written before the sender's words are.
func (k *Known) Settled() bool { return k.named && k.noted }

// Queries are the questions of l; their number depends on l alone. The footprint is asked where a first-hand identity's person
// stands; for an identity that names another person [People.Settle] asks again.
func (l Lookup) Queries() []store.Query {
	q := []store.Query{
		store.Get{Partition: IdentityPartition(l.Sender.Identity), Key: IdentityKey},
		store.ScoreOf{Partition: PersonPartition(PersonOf(l.Sender.Identity)), Index: Footprint, Member: string(l.Where)},
	}
	if l.Role {
		q = append(q, store.Get{Partition: System, Key: AdminsKey})
	}
	return q
}

// Understand reads the answers to the queries of l, in their order.
func (l Lookup) Understand(answers []store.Answer) (Known, error) {
	id := l.Sender.Identity
	k := Known{Now: answers[0].Now, Person: Person{ID: PersonOf(id), Name: l.Sender.Name, Identity: id}}
	if doc, ok := answers[0].Doc(); ok {
		var stands Identity
		if err := decode(IdentityPartition(id), doc, &stands); err != nil {
			return Known{}, err
		}
		k.named = true
		k.noted = stands.Person == k.Person.ID && fresh(answers[1])
		k.Person.ID = stands.Person
		if k.Person.Name == "" {
			k.Person.Name = stands.Name
		}
	}
	if l.Role {
		var admins Admins
		if doc, ok := answers[2].Doc(); ok {
			if err := decode(System, doc, &admins); err != nil {
				return Known{}, err
			}
		}
		k.Person.Role = admins.RoleOf(id)
	}
	return k, nil
}

// fresh reports whether a footprint was noted less than NoteEvery ago, by the store's own time.
func fresh(a store.Answer) bool {
	if len(a.Scored) == 0 {
		return false
	}
	return a.Now.Sub(time.UnixMilli(int64(a.Scored[0].Score))) < NoteEvery
}

// PersonsOf is the person of each identity: the one that its document names, else the one that it would name when it is first seen.
func (p *People) PersonsOf(ctx context.Context, identities []string) (map[string]string, error) {
	queries := make([]store.Query, len(identities))
	for i, id := range identities {
		queries[i] = store.Get{Partition: IdentityPartition(chat.IdentityID(id)), Key: IdentityKey}
	}
	answers, err := p.store.Read(ctx, queries...)
	if err != nil {
		return nil, fmt.Errorf("look up the persons of %d identities: %w", len(identities), err)
	}
	out := make(map[string]string, len(identities))
	for i, id := range identities {
		out[id] = PersonOf(chat.IdentityID(id))
		if doc, ok := answers[i].Doc(); ok {
			var stands Identity
			if err := decode(IdentityPartition(chat.IdentityID(id)), doc, &stands); err != nil {
				return nil, err
			}
			out[id] = stands.Person
		}
	}
	return out, nil
}
