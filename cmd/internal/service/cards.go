package service

import (
	"context"

	"herald/core/chat"
	"herald/core/handover"
	"herald/core/people"
	"herald/core/store"
)

// copies posts cards to who may decide and does not read the conversation in which they stand.
func (s *Service) copies() handover.Copies {
	return handover.Copies{Store: s.store, Open: s.openDirect, Note: s.noteFootprint, Edits: func(c chat.Conversation) bool {
		a, ok := s.adapter(c.Workspace)
		return !ok || a.Capabilities(c).Edits
	}}
}

// openDirect is the direct messages with an account, by whichever connection can write to it.
func (s *Service) openDirect(ctx context.Context, id chat.IdentityID) (chat.Conversation, error) {
	var err error = &chat.Refused{Code: "not_connected", Reason: "no platform that is connected can write to this account"}
	for _, r := range s.runs {
		o, can := r.(chat.Opener)
		if !can {
			continue
		}
		c, e := o.Open(ctx, id)
		if e == nil {
			return c, nil
		}
		err = e
	}
	return chat.Conversation{}, err
}

// noteFootprint notes that words of a person are about to stand in p.
func (s *Service) noteFootprint(ctx context.Context, person string, p store.Partition) error {
	_, err := s.store.Commit(ctx, store.Commit{
		ID: "service.footprint/" + s.opts.NewID(), Partition: people.PersonPartition(person), Ops: []store.Op{store.ScoreNow{Index: people.Footprint, Member: string(p)}},
	})
	return err
}
