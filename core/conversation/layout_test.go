package conversation_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/store"
)

func TestPartitionsAndConversationsAreOneToOne(t *testing.T) {
	t.Parallel()
	for _, c := range []chat.Conversation{
		{Workspace: "slack:T1", Channel: "C1", Thread: "17.1"},
		{Workspace: "slack:T1", Channel: "C1"},
		{Workspace: "w:a/b", Channel: "c#d e", Thread: "%2F"},
	} {
		p := conversation.Partition(c)
		got, ok := conversation.Of(p)
		if !ok || got != c {
			t.Errorf("%+v became %s and then %+v %v", c, p, got, ok)
		}
	}
	for _, p := range []store.Partition{"person/x", "conversation/", "conversation/a/b", "conversation/a/b/c/d", "conversation/%zz/b/c"} {
		if c, ok := conversation.Of(p); ok {
			t.Errorf("%s was taken for %+v", p, c)
		}
	}
}

// Two different lists of parts never name the same thing because their texts run together.
func TestIDsTellPartsApart(t *testing.T) {
	t.Parallel()
	if conversation.ID("x", "ab", "c") == conversation.ID("x", "a", "bc") || conversation.ID("x", "a") == conversation.ID("x", "a", "") {
		t.Error("two lists of parts have one id")
	}
	if first, again := conversation.ID("x", "a"), conversation.ID("x", "a"); first != again {
		t.Errorf("one list of parts has two ids, %s and %s", first, again)
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, value string
		newer, ok   bool
	}{
		{"the present version", `{"v":1,"message_id":"m"}`, false, true},
		{"a newer version", `{"v":99,"message_id":"m"}`, true, false},
		{"a newer version with other types", `{"v":99,"message_id":{"id":"m"}}`, true, false},
		{"garbage", `{"v":1,`, false, false},
		{"a wrong type", `{"v":1,"message_id":7}`, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var m conversation.Message
			err := conversation.Decode(store.Doc{Value: []byte(tc.value)}, &m)
			if (err == nil) != tc.ok || errors.Is(err, conversation.ErrNewer) != tc.newer {
				t.Errorf("got %v", err)
			}
		})
	}
}

// The inbox lists in the platform's order, whatever the messages' ids are.
func TestTheInboxIsInOrder(t *testing.T) {
	t.Parallel()
	a, b := conversation.Message{Order: "001", MessageID: "z"}, conversation.Message{Order: "002", MessageID: "a"}
	if a.Key().Name >= b.Key().Name {
		t.Errorf("%q does not come before %q", a.Key().Name, b.Key().Name)
	}
}

func TestBypassesReplaceAndEnd(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	var b conversation.Bypasses
	add := func(tool, session string, at, until time.Time) bool {
		return b.Add(conversation.Bypass{Tool: tool, Session: session, Person: "ann", At: at, Until: until})
	}
	add("send", "s1", now, now.Add(time.Minute))
	add("look", "s1", now, time.Time{})
	add("send", "s1", now, time.Time{})
	if len(b.List) != 2 || !b.List[1].Until.IsZero() {
		t.Errorf("a second one of the same tool: %+v", b.List)
	}
	add("drop", "s1", now, now.Add(time.Minute))
	add("look", "s1", now.Add(time.Minute), time.Time{})
	if len(b.List) != 2 {
		t.Errorf("what had ended stayed: %+v", b.List)
	}
	add("send", "s2", now, time.Time{})
	if len(b.List) != 1 {
		t.Errorf("another session's stayed: %+v", b.List)
	}
	for i := range 2 * conversation.MaxBypasses {
		if add(fmt.Sprint("tool", i), "s2", now, time.Time{}) != (i < conversation.MaxBypasses-1) {
			t.Fatalf("bypass %d of a full list", i)
		}
	}
}
