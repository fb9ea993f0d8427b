package intake_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/intake"
	"herald/core/store"
	"herald/core/store/memory"
)

var update = flag.Bool("update", false, "write the golden files anew")

// owed is what a channel owes its conversations.
func (r *rig) owed(c chat.Conversation) []conversation.Owed {
	r.t.Helper()
	c.Thread = ""
	as, err := r.seen.Read(r.t.Context(), store.List{Partition: conversation.Partition(c), Collection: conversation.Handovers})
	if err != nil {
		r.t.Fatal(err)
	}
	var out []conversation.Owed
	for _, d := range as[0].Docs {
		var o conversation.Owed
		if err := conversation.Decode(d, &o); err != nil {
			r.t.Fatal(err)
		}
		out = append(out, o)
	}
	return out
}

func first(n int, direct bool) *chat.Inbound {
	in := message(n, "hello")
	in.Direct, in.Mentioned, in.Addressed = direct, !direct, true
	return in
}

// Herald introduces itself once in a channel, in the thread where it was met, beside the message.
func TestGreeting(t *testing.T) {
	t.Parallel()
	for name, direct := range map[string]bool{"greet-direct.golden": true, "greet-channel.golden": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, withPolicy(intake.Policy{Greet: true}))
			var all sync.WaitGroup
			for id := range 4 {
				in := first(id, direct)
				in.Conversation.Thread = "thread of " + in.MessageID
				all.Go(func() {
					if _, err := r.Receive(t.Context(), in); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			got := r.owed(place)
			if len(got) != 1 || got[0].Kind != conversation.SayKind {
				t.Fatalf("the channel owes %+v", got)
			}
			c, ok := conversation.Of(got[0].To)
			if !ok || c.Channel != place.Channel || c.Thread == "" {
				t.Errorf("it is said in %+v", c)
			}
			var d conversation.Delivery
			if err := conversation.Decode(store.Doc{Value: got[0].Data}, &d); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(path, []byte(d.Text+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if d.Text+"\n" != string(want) {
				t.Errorf("the introduction differs from %s; write it anew with -update:\n%s", path, d.Text)
			}
		})
	}
}

func TestNoGreeting(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		policy intake.Policy
		change func(*chat.Inbound)
	}{
		"it is switched off":         {change: func(*chat.Inbound) {}},
		"a command":                  {policy: intake.Policy{Greet: true}, change: func(in *chat.Inbound) { in.Text = "help" }},
		"an empty message":           {policy: intake.Policy{Greet: true}, change: func(in *chat.Inbound) { in.Text = " " }},
		"a thread without a mention": {policy: intake.Policy{Greet: true}, change: func(in *chat.Inbound) { in.Mentioned = false }},
		"another bot":                {policy: intake.Policy{Greet: true, Bots: intake.BotsMentioned}, change: func(in *chat.Inbound) { in.Sender = robot }},
		"an edit":                    {policy: intake.Policy{Greet: true}, change: func(in *chat.Inbound) { in.Kind = chat.Edit }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, withPolicy(tt.policy))
			in := first(1, false)
			tt.change(in)
			if _, err := r.Receive(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			if got := r.owed(in.Conversation); len(got) != 0 {
				t.Errorf("the channel owes %+v", got)
			}
		})
	}
}

// A crash between the introduction and the message leaves both: the event comes again and neither is made twice.
func TestGreetingOverCrash(t *testing.T) {
	t.Parallel()
	failed := false
	r := newRig(t, withPolicy(intake.Policy{Greet: true}), withFaults(func(c memory.Call) memory.Effect {
		if c.Commit != nil && strings.HasPrefix(c.Commit.ID, "intake.message/") && !failed {
			failed = true
			return memory.Effect{Before: memory.Unavailable("away")}
		}
		return memory.Effect{}
	}))
	in := first(1, false)
	if _, err := r.Receive(t.Context(), in); !errors.Is(err, store.ErrUnavailable) {
		t.Fatalf("the error is %v", err)
	}
	r.clock.advance(time.Second)
	if out, err := r.Receive(t.Context(), in); err != nil || out != chat.Kept {
		t.Fatalf("it is %s, %v", out, err)
	}
	if got := r.owed(place); len(got) != 1 || len(r.inbox()) != 1 {
		t.Errorf("the channel owes %+v, and %d messages wait", got, len(r.inbox()))
	}
}
