package slack

import (
	"fmt"
	"testing"
	"time"

	"herald/core/chat"
)

func TestTwins(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	event := func(kind, id string) *reading {
		return &reading{event: kind, in: &chat.Inbound{Kind: chat.Message, Conversation: chat.Conversation{Channel: "C1"}, MessageID: id}}
	}
	edit := event("message", "1")
	edit.in.Kind = chat.Edit
	elsewhere := event("message", "1")
	elsewhere.in.Conversation.Channel = "C2"
	for _, tc := range []struct {
		name string
		kept *reading
		then *reading
		in   time.Duration
		want bool
	}{
		{"the other event", event("app_mention", "1"), event("message", "1"), time.Millisecond, true},
		{"the same event again", event("message", "1"), event("message", "1"), time.Millisecond, false},
		{"another message", event("app_mention", "1"), event("message", "2"), time.Millisecond, false},
		{"the same id elsewhere", event("app_mention", "1"), elsewhere, time.Millisecond, false},
		{"an edit", event("app_mention", "1"), edit, time.Millisecond, false},
		{"so late that Slack sends it again", event("app_mention", "1"), event("message", "1"), twinAge, false},
		{"no message of an event", event("app_mention", "1"), event("", "1"), 0, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var tw twins
			tw.keep(tc.kept, now)
			if got := tw.has(tc.then, now.Add(tc.in)); got != tc.want {
				t.Errorf("%t, want %t", got, tc.want)
			}
			if tw.has(tc.then, now.Add(tc.in)) {
				t.Error("a third event was taken for a twin")
			}
		})
	}
	var tw twins
	for i := range 2 * maxTwins {
		tw.keep(event("message", fmt.Sprint(i)), now.Add(time.Duration(i)*time.Millisecond))
	}
	if n := len(tw.kept); n > maxTwins {
		t.Errorf("%d are remembered", n)
	}
}
