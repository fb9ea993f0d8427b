package service

import (
	"context"

	"herald/core/chat"
	"herald/core/memory"
	"herald/core/people"
	"herald/core/store"
	"herald/core/tool/builtin"
)

// audience is an adapter that can tell who reads a conversation.
type audience interface {
	// Mixed reports whether guests or people of another workspace read the conversation.
	Mixed(ctx context.Context, c chat.Conversation) (bool, error)
}

// desk is where tools read and write notes.
func (s *Service) desk() *builtin.Desk {
	note := func(ctx context.Context, person string, p store.Partition) error {
		_, err := s.store.Commit(ctx, store.Commit{
			ID: "service.footprint/" + s.opts.NewID(), Partition: people.PersonPartition(person), Ops: []store.Op{store.ScoreNow{Index: people.Footprint, Member: string(p)}},
		})
		return err
	}
	return &builtin.Desk{
		Notes: memory.New(s.store, note), Name: people.New(s.store).Name, Admin: s.isAdmin,
		Mixed: func(ctx context.Context, c chat.Conversation) (bool, error) {
			a, ok := s.adapter(c.Workspace)
			if !ok {
				return true, nil
			}
			if p, ok := a.(paced); ok {
				a = p.Adapter
			}
			if m, ok := a.(audience); ok {
				return m.Mixed(ctx, c)
			}
			return false, nil
		},
	}
}
