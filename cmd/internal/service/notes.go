package service

import (
	"context"
	"encoding/json"
	"fmt"

	"herald/core/chat"
	"herald/core/conversation"
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

// origin is the conversation that began a task, for a conversation that is none but a task's; others are their own.
func (s *Service) origin(ctx context.Context, c chat.Conversation) (chat.Conversation, error) {
	if !conversation.IsTask(c) {
		return c, nil
	}
	as, err := s.store.Read(ctx, store.Get{Partition: conversation.Partition(c), Key: conversation.TaskKey})
	if err != nil {
		return chat.Conversation{}, fmt.Errorf("look who began the task %s: %w", c.Thread, err)
	}
	var start conversation.TaskStart
	d, ok := as[0].Doc()
	if !ok {
		return chat.Conversation{}, fmt.Errorf("look who began the task %s: its start is gone", c.Thread)
	}
	if err := json.Unmarshal(d.Value, &start); err != nil {
		return chat.Conversation{}, fmt.Errorf("look who began the task %s: %w", c.Thread, err)
	}
	if conversation.IsTask(start.Origin) && start.Origin != c {
		return s.origin(ctx, start.Origin)
	}
	return start.Origin, nil
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
		Origin: s.origin,
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
