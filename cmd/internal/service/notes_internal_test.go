package service

import (
	"testing"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/store"
	"herald/core/store/memory"
)

func TestOriginOfATask(t *testing.T) {
	t.Parallel()
	st := memory.New(memory.Options{})
	s := replicaOf(st, t.TempDir(), "")
	place := chat.Conversation{Workspace: "test:1", Channel: "c", Thread: "t"}
	first, second, lost := conversation.TaskPlace("test:1", "one"), conversation.TaskPlace("test:1", "two"), conversation.TaskPlace("test:1", "lost")
	for at, from := range map[chat.Conversation]chat.Conversation{first: place, second: first} {
		_, err := st.Commit(t.Context(), store.Commit{ID: at.Thread, Partition: conversation.Partition(at), Ops: []store.Op{
			store.Put{Key: conversation.TaskKey, Value: conversation.Encode(&conversation.TaskStart{V: 1, ID: at.Thread, Origin: from})},
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []chat.Conversation{place, first, second} {
		if got, err := s.origin(t.Context(), c); err != nil || got != place {
			t.Errorf("%s: %+v, %v", c.Key(), got, err)
		}
	}
	if got, err := s.origin(t.Context(), lost); err == nil {
		t.Errorf("a task without a start came from %+v", got)
	}
}
