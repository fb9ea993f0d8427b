package handover_test

import (
	"errors"
	"testing"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/handover"
	"herald/core/session"
	"herald/core/store"
	"herald/core/store/memory"
)

// A result lands while its task runs there, and never again: not because the store remembers a commit, but because the task has landed.
func TestATaskLandsOnce(t *testing.T) {
	t.Parallel()
	to := conversation.Partition(chat.Conversation{Workspace: "test:1", Channel: "c"})
	from := conversation.Partition(conversation.TaskPlace("test:1", "k1"))
	owed := func(kind string, to store.Partition, v any) *conversation.Owed {
		return &conversation.Owed{ID: "o", Kind: kind, To: to, Data: conversation.Encode(v)}
	}
	result := owed(conversation.TaskResultKind, to, conversation.TaskResult{V: conversation.Version, ID: "k1", Status: session.Done, Text: "4"})
	start := owed(conversation.TaskKind, from, conversation.TaskStart{V: conversation.Version, ID: "k1", Agent: "a", Prompt: "2+2"})
	running := conversation.TaskDoc{V: conversation.Version, ID: "k1", State: conversation.TaskRunning, Person: "ann"}
	landed := running
	landed.State = conversation.TaskLanded
	put := func(k store.Key, v any) []store.Op {
		return []store.Op{store.Put{Key: k, Value: conversation.Encode(v)}}
	}
	for _, tc := range []struct {
		name   string
		owed   *conversation.Owed
		stands []store.Op
		taken  bool
		fails  error
		inbox  int
	}{
		{"a result of a task that runs", result, put(running.Key(), running), true, nil, 1},
		{"one of a task that has landed", result, put(landed.Key(), landed), false, nil, 0},
		{"one for a conversation that is gone", result, nil, false, handover.ErrGone, 0},
		{"one without a status", owed(conversation.TaskResultKind, to, conversation.TaskResult{V: 1, ID: "k1"}), put(running.Key(), running), false, handover.ErrMalformed, 0},
		{"one of a newer version", owed(conversation.TaskResultKind, to, conversation.TaskResult{V: 99, ID: "k1", Status: session.Done}), put(running.Key(), running), false, conversation.ErrNewer, 0},
		{"a start", start, nil, true, nil, 1},
		{"a start that stands", start, put(conversation.TaskKey, conversation.TaskStart{V: 1, ID: "k1"}), false, nil, 0},
		{"a start in a place that is none", owed(conversation.TaskKind, to, conversation.TaskStart{V: 1, ID: "k1", Agent: "a", Prompt: "p"}), nil, false, handover.ErrMalformed, 0},
		{"a start without a prompt", owed(conversation.TaskKind, from, conversation.TaskStart{V: 1, ID: "k1", Agent: "a"}), nil, false, handover.ErrMalformed, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			st := memory.New(memory.Options{})
			if len(tc.stands) > 0 {
				if _, err := st.Commit(t.Context(), store.Commit{ID: "before", Partition: tc.owed.To, Ops: tc.stands}); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				taken, err := handover.Tasks{Store: st}.Take(t.Context(), from, tc.owed)
				if taken != tc.taken || !errors.Is(err, tc.fails) || (err == nil) != (tc.fails == nil) {
					t.Fatalf("taken %v, %v", taken, err)
				}
				as, err := st.Read(t.Context(), store.List{Partition: tc.owed.To, Collection: conversation.Inbox})
				if err != nil || len(as[0].Docs) != tc.inbox {
					t.Fatalf("%d messages wait, %v; want %d", len(as[0].Docs), err, tc.inbox)
				}
				tc.taken = false // what it changed is changed for good
			}
		})
	}
}
