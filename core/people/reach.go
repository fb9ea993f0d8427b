package people

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"herald/core/chat"
	"herald/core/store"
)

// MaxReach bounds how many are written to about one thing: more of them would not decide it better.
const MaxReach = 20

// Reach is the accounts by which persons can be written to: of each the one in workspace w, else their first. The name of the role [Admin] among who stands
// for all admins, named holds accounts of persons who may never have been seen. Nobody of without is among them, and nobody twice.
func (p *People) Reach(ctx context.Context, w chat.Workspace, who, without []string, named map[string]string) ([]chat.IdentityID, error) {
	persons := slices.DeleteFunc(slices.Clone(who), func(s string) bool { return s == string(Admin) })
	known := make(map[string][]chat.IdentityID)
	if len(persons) < len(who) {
		admins, err := p.admins(ctx)
		if err != nil {
			return nil, err
		}
		of, err := p.PersonsOf(ctx, admins)
		if err != nil {
			return nil, err
		}
		for _, id := range admins {
			known[of[id]] = append(known[of[id]], chat.IdentityID(id))
			persons = append(persons, of[id])
		}
	}
	queries := make([]store.Query, len(persons))
	for i, person := range persons {
		queries[i] = store.Get{Partition: PersonPartition(person), Key: PersonKey}
	}
	if len(queries) == 0 {
		return nil, nil
	}
	answers, err := p.store.Read(ctx, queries...)
	if err != nil {
		return nil, fmt.Errorf("look up how %d persons can be reached: %w", len(persons), err)
	}
	var out []chat.IdentityID
	done := slices.Clone(without)
	for i, person := range persons {
		if slices.Contains(done, person) || len(out) >= MaxReach {
			continue
		}
		done = append(done, person)
		ids := known[person]
		if id, ok := named[person]; ok {
			ids = append(ids, chat.IdentityID(id))
		}
		if doc, ok := answers[i].Doc(); ok {
			var rec Record
			if err := decode(PersonPartition(person), doc, &rec); err != nil {
				return nil, err
			}
			ids = append(ids, rec.Identities...)
		}
		if len(ids) == 0 {
			continue
		}
		here := slices.IndexFunc(ids, func(id chat.IdentityID) bool { return strings.HasPrefix(string(id), string(w)+"/") })
		out = append(out, ids[max(here, 0)])
	}
	return out, nil
}

// admins are the accounts of the admins.
func (p *People) admins(ctx context.Context) ([]string, error) {
	answers, err := p.store.Read(ctx, store.Get{Partition: System, Key: AdminsKey})
	if err != nil {
		return nil, fmt.Errorf("look up the admins: %w", err)
	}
	var admins Admins
	if doc, ok := answers[0].Doc(); ok {
		if err := decode(System, doc, &admins); err != nil {
			return nil, err
		}
	}
	var out []string
	for _, id := range admins.Identities {
		out = append(out, string(id))
	}
	return out, nil
}
