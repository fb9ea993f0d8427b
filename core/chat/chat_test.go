package chat_test

import (
	"strings"
	"testing"

	"herald/core/chat"
)

func FuzzConversationKey(f *testing.F) {
	f.Add("slack:T1", "C1", "17.1")
	f.Add("a/b", "#", "%2F")
	f.Add("w", "c", "")
	f.Fuzz(func(t *testing.T, w, c, th string) {
		in := chat.Conversation{Workspace: chat.Workspace(w), Channel: c, Thread: th}
		got, ok := chat.ParseConversation(in.Key())
		if w == "" || c == "" {
			if ok {
				t.Errorf("%+v without a workspace or a channel was taken", in)
			}
			return
		}
		if !ok || got != in {
			t.Errorf("%+v became %q and then %+v %v", in, in.Key(), got, ok)
		}
		if strings.ContainsAny(in.Key(), "# \n") && !strings.ContainsAny(w+c+th, "\n") {
			t.Errorf("key %q has a character that a partition's name must not have", in.Key())
		}
	})
}

func TestParseConversationRefuses(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"", "/", "//", "a", "a/b", "a/b/c/d", "%zz/b/c", "a/b/%2f"} {
		if c, ok := chat.ParseConversation(key); ok {
			t.Errorf("%q was taken for %+v", key, c)
		}
	}
}

func TestNonce(t *testing.T) {
	t.Parallel()
	a := chat.Nonce("delivery", 0)
	if len(a) != 25 || a != chat.Nonce("delivery", 0) {
		t.Errorf("%q is not 25 bytes, or not the same for the same piece", a)
	}
	if a == chat.Nonce("delivery", 1) || chat.Nonce("d1", 1) == chat.Nonce("d", 11) {
		t.Error("two pieces have one nonce")
	}
}

func TestDedupeKey(t *testing.T) {
	t.Parallel()
	base := chat.Inbound{Kind: chat.Message, App: "A", Conversation: chat.Conversation{Workspace: "w", Channel: "c", Thread: "t1"}, MessageID: "m", Order: "1"}
	same := base
	same.Conversation.Thread, same.Order = "t2", "2" // one message has one key, wherever it is said to stand
	if base.DedupeKey() != same.DedupeKey() {
		t.Errorf("%q and %q", base.DedupeKey(), same.DedupeKey())
	}
	for name, change := range map[string]func(*chat.Inbound){
		"another app":     func(in *chat.Inbound) { in.App = "B" },
		"another kind":    func(in *chat.Inbound) { in.Kind = chat.Delete },
		"another channel": func(in *chat.Inbound) { in.Conversation.Channel = "d" },
		"another message": func(in *chat.Inbound) { in.MessageID = "n" },
	} {
		other := base
		change(&other)
		if other.DedupeKey() == base.DedupeKey() {
			t.Errorf("%s has the same key", name)
		}
	}
	first, second := base, base
	first.Kind, second.Kind, second.Order = chat.Edit, chat.Edit, "2"
	if first.DedupeKey() == second.DedupeKey() || first.DedupeKey() == base.DedupeKey() {
		t.Error("an edit takes the key of its message or of another edit")
	}
}
