package handover_test

import (
	"errors"
	"testing"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/handover"
	"herald/core/store"
	"herald/core/store/memory"
)

func TestSayings(t *testing.T) {
	t.Parallel()
	st := memory.New(memory.Options{})
	to := conversation.Partition(chat.Conversation{Workspace: "test:w", Channel: "c", Thread: "t"})
	owed := conversation.OweSaying(to, &conversation.Delivery{ID: "d1", Kind: conversation.Notice, Text: "hello"})
	taker := handover.Sayings{Store: st}
	for i, want := range []bool{true, false} {
		if taken, err := taker.Take(t.Context(), "conversation/a/b/", owed); taken != want || err != nil {
			t.Errorf("offer %d: %v, %v", i+1, taken, err)
		}
	}
	as, err := st.Read(t.Context(), store.List{Partition: to, Collection: conversation.Outgoing})
	if err != nil || len(as[0].Docs) != 1 || as[0].Docs[0].Key.Name != "d1" {
		t.Errorf("the conversation says %+v, %v", as, err)
	}
	for name, tt := range map[string]struct {
		owed conversation.Owed
		want error
	}{
		"no JSON":         {conversation.Owed{ID: "x", To: to, Data: []byte("{")}, handover.ErrMalformed},
		"no text":         {conversation.Owed{ID: "x", To: to, Data: []byte(`{"v":1,"id":"d"}`)}, handover.ErrMalformed},
		"newer":           {conversation.Owed{ID: "x", To: to, Data: []byte(`{"v":99,"id":"d","text":"x"}`)}, conversation.ErrNewer},
		"no conversation": {conversation.Owed{ID: "x", To: "system", Data: owed.Data}, handover.ErrGone},
	} {
		if _, err := taker.Take(t.Context(), "conversation/a/b/", &tt.owed); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
