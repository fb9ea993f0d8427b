package command_test

import (
	"fmt"
	"strings"
	"testing"

	"herald/core/chat"
	"herald/core/command"
	"herald/core/conversation"
	"herald/core/people"
	"herald/core/session"
	"herald/core/store"
)

// What is chosen in a thread goes before what is chosen in its channel, and that before the configuration; who may choose depends on where.
func TestThreads(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	inChannel, direct, off := conversation.Partition(chat.Conversation{Workspace: "test:w", Channel: "C1"}), conversation.Partition(chat.Conversation{Workspace: "test:w", Channel: "D1"}), people.System
	spec := command.Threads(w.st, func(c chat.Conversation) (string, bool) { return conversation.ThreadsAlways, c.Channel == "C1" })
	w.write(put(conversation.CurrentKey, conversation.Current{V: 1, State: session.State{Opener: "opener"}}))
	policy := func(p store.Partition) string {
		t.Helper()
		c, _ := conversation.Of(p)
		as, err := w.st.Read(t.Context(), command.ThreadQueries(c)...)
		if err != nil {
			t.Fatal(err)
		}
		out, err := command.ThreadPolicy(as)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for n, step := range []struct {
		in     store.Partition
		args   string
		person string
		role   people.Role
		says   string
		// thread and channel are what holds afterwards.
		thread, channel string
	}{
		{where, "", "p1", people.Restricted, "every message is for me, except one that mentions somebody else and not me. This is how I am configured.", "", ""},
		{where, "mention", "p1", people.Member, "who opened this thread, or an admin, chooses this", "", ""},
		{inChannel, "mention", "opener", people.Member, "for a whole channel an admin chooses this", "", ""},
		{inChannel, "Mention", "boss", people.Admin, "only a message that mentions me is for me. This was chosen for this channel.", "mention", "mention"},
		{where, "", "p1", people.Restricted, "only a message that mentions me is for me. This was chosen for this channel.", "mention", "mention"},
		{where, "always", "opener", people.Member, "every message is for me, except one that mentions somebody else and not me. This was chosen for this thread.", "always", "mention"},
		{where, "", "p1", people.Member, "This was chosen for this thread.", "always", "mention"},
		{where, "default", "boss", people.Admin, "This was chosen for this channel.", "mention", "mention"},
		{inChannel, "default", "boss", people.Admin, "This is how I am configured.", "", ""},
		{inChannel, "never`", "boss", people.Admin, "`never` is no choice. It is `always`, `mention`, or `default`", "", ""},
		{direct, "mention", "boss", people.Admin, "Every message is for me here", "", ""},
		{off, "", "boss", people.Admin, "Every message is for me here", "", ""},
	} {
		for range 2 { // a redelivery changes and says the same
			got, err := spec.Run(t.Context(), command.Call{
				Read: w.st, Where: step.in, Args: strings.Fields(step.args), Event: fmt.Sprint("e", n), Person: people.Person{ID: step.person, Role: step.role},
			})
			if err != nil || !strings.Contains(got, step.says) {
				t.Errorf("%d: threads %s by %s in %s: %q, %v; want %q", n, step.args, step.person, step.in, got, err, step.says)
			}
		}
		if a, b := policy(where), policy(inChannel); a != step.thread || b != step.channel {
			t.Errorf("%d: threads %s in %s: the thread has %q and the channel %q, want %q and %q", n, step.args, step.in, a, b, step.thread, step.channel)
		}
	}
	as, err := w.st.Read(t.Context(), store.Range{Partition: inChannel, Log: conversation.Audit}, store.Range{Partition: where, Log: conversation.Audit})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := len(as[0].Entries), len(as[1].Entries); a != 2 || b != 2 {
		t.Errorf("%d and %d changes stand in the audit log, want 2 and 2", a, b)
	}
}
