package intake_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/intake"
	"herald/core/store"
	"herald/core/store/memory"
)

// Two replicas get the same events, each in an order of its own, from a store that loses one call in eight, and are sent what they did not
// acknowledge again: each event makes one entry, and its turn is due.
func TestTwoReplicasWithTheSameEvents(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			var roll atomic.Uint64
			roll.Store(seed << 32)
			faults := withFaults(func(memory.Call) memory.Effect {
				switch rand.New(rand.NewPCG(seed, roll.Add(1))).IntN(16) {
				case 0:
					return memory.Effect{Before: memory.Unavailable("before")}
				case 1:
					return memory.Effect{After: memory.Unavailable("after")}
				case 2:
					return memory.Effect{Twice: true}
				}
				return memory.Effect{}
			})
			r := newRig(t, faults, withPolicy(intake.Policy{Inbox: 1000}))
			second, _ := r.replica(faults)
			events := func() []*chat.Inbound {
				var out []*chat.Inbound
				for n := range 30 {
					out = append(out, message(n, "text"), edit(n, fmt.Sprintf("%03d+", n), "new text"))
				}
				return append(out, message(100, "stop"), message(101, "new"), message(102, "help"), message(103, ""))
			}
			var kept atomic.Int64
			var wg sync.WaitGroup
			for n, i := range []*intake.Intake{r.Intake, second} {
				wg.Go(func() {
					todo := events()
					rng := rand.New(rand.NewPCG(seed, uint64(n)))
					rng.Shuffle(len(todo), func(a, b int) { todo[a], todo[b] = todo[b], todo[a] })
					for len(todo) > 0 {
						in := todo[0]
						todo = todo[1:]
						out, err := i.Receive(t.Context(), in)
						switch {
						case errors.Is(err, store.ErrUnavailable):
							todo = append(todo, in)
						case err != nil:
							t.Errorf("Receive(%s): %v", in.MessageID, err)
						case out == chat.Kept:
							kept.Add(1)
						}
					}
				})
			}
			wg.Wait()
			if got := len(r.inbox()); got != 30 {
				t.Errorf("%d messages, want 30", got)
			}
			if got := len(r.controls()); got != 32 {
				t.Errorf("%d controls, want 30 edits, a stop and a new", got)
			}
			if got := len(r.notices()); got != 2 {
				t.Errorf("%d notices, want 2", got)
			}
			if got := kept.Load(); got > 64 {
				t.Errorf("%d events were kept as new ones, there are 64", got)
			}
			if got := r.head().StopOrder; got != "101" {
				t.Errorf("the head is at %s, want 101", got)
			}
			if !r.due(store.Turns) || !r.due(store.Outbox) {
				t.Error("turn and outbox are not due")
			}
			answers, err := r.seen.Read(t.Context(), store.Range{Partition: r.part, Log: conversation.Audit})
			if err != nil {
				t.Fatal(err)
			}
			if n := len(answers[0].Entries); n != 2 {
				t.Errorf("%d audit rows, want 2", n)
			}
		})
	}
}

// What a plain message costs in this process: the store's own share is that of the memory store.
func BenchmarkReceive(b *testing.B) {
	for _, tc := range []struct {
		name  string
		event func(n int) *chat.Inbound
	}{
		{"message", func(n int) *chat.Inbound { return message(n, "a question of usual length, as people ask them") }},
		{"ignored", func(n int) *chat.Inbound {
			in := message(n, "talk")
			in.Addressed = false
			return in
		}},
	} {
		b.Run(tc.name, func(b *testing.B) {
			r := newRig(b)
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				// A conversation of its own for each fifty: a bench of intake, not of a dedupe set that nobody trims.
				in := tc.event(n)
				in.Conversation.Thread = fmt.Sprintf("T%d", n/50)
				n++
				if _, err := r.Receive(b.Context(), in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
