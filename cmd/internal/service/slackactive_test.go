package service_test

import (
	"testing"
	"time"

	"herald/cmd/internal/service"
	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/store"
	"herald/core/store/memory"
)

// What was missed is asked of Slack for Slack's own conversations alone.
func TestConversationsThatSlackKnows(t *testing.T) {
	t.Parallel()
	st := memory.New(memory.Options{})
	thread := chat.Conversation{Workspace: "slack:T1", Channel: "C1", Thread: "1.2"}
	for _, c := range []chat.Conversation{thread, conversation.TaskPlace("slack:T1", "k1"), {Workspace: "test:lab", Channel: "c", Thread: "t"}} {
		if _, err := st.Commit(t.Context(), store.Commit{
			ID: "test/" + c.Key(), Partition: conversation.Partition(c), Ops: []store.Op{store.Put{Key: store.Key{Collection: "x", Name: "y"}, Value: []byte("{}")}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := service.SlackActive(st)(t.Context(), time.Time{})
	if err != nil || len(got) != 1 || got[0].Conversation != thread {
		t.Errorf("active: %+v, %v; want the thread alone", got, err)
	}
}
