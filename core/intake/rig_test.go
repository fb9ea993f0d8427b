package intake_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/intake"
	"herald/core/people"
	"herald/core/store"
	"herald/core/store/memory"
)

var (
	start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	place = chat.Conversation{Workspace: "test:w", Channel: "C1", Thread: "T1"}
	ada   = chat.Sender{Identity: "test:w/ada", Name: "Ada"}
	bob   = chat.Sender{Identity: "test:w/bob", Name: "Bob"}
	robot = chat.Sender{Identity: "test:w/robot", Name: "Robot", Bot: true}
)

// clock is a store's clock that a test moves.
type clock struct{ ms atomic.Int64 }

func newClock() *clock {
	c := new(clock)
	c.ms.Store(start.UnixMilli())
	return c
}

func (c *clock) now() time.Time          { return time.UnixMilli(c.ms.Load()).UTC() }
func (c *clock) advance(d time.Duration) { c.ms.Add(d.Milliseconds()) }

// rig is an intake over a memory store, and what a test looks at: the store through a handle without faults, and the counts.
type rig struct {
	*intake.Intake
	t     testing.TB
	clock *clock
	// seen is a handle without faults; used is the intake's.
	seen, used *memory.Store
	part       store.Partition

	mu     sync.Mutex
	counts map[intake.Reason]int
}

type rigOption func(*memory.Options, *intake.Options)

func withFaults(f memory.FaultFunc) rigOption {
	return func(m *memory.Options, _ *intake.Options) { m.Faults = f }
}

func withPolicy(p intake.Policy) rigOption {
	return func(_ *memory.Options, o *intake.Options) {
		o.Policy = func(chat.Workspace) intake.Policy { return p }
	}
}

func newRig(t testing.TB, opts ...rigOption) *rig {
	t.Helper()
	c := newClock()
	r := &rig{t: t, clock: c, seen: memory.New(memory.Options{Clock: c.now}), part: conversation.Partition(place), counts: map[intake.Reason]int{}}
	r.Intake, r.used = r.replica(opts...)
	return r
}

// replica is another intake on the same data.
func (r *rig) replica(opts ...rigOption) (*intake.Intake, *memory.Store) {
	r.t.Helper()
	var n atomic.Int64
	name := fmt.Sprintf("%p", &n)
	mem := memory.Options{}
	o := intake.Options{
		NewID: func() string { return fmt.Sprintf("%s-%d", name, n.Add(1)) },
		Count: func(_ chat.Kind, _ chat.Outcome, why intake.Reason) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.counts[why]++
		},
	}
	for _, opt := range opts {
		opt(&mem, &o)
	}
	used := r.seen.Attach(mem)
	o.Store = used
	i, err := intake.New(o)
	if err != nil {
		r.t.Fatal(err)
	}
	return i, used
}

// message is an ordinary message of Ada; n is its place in the platform's order.
func message(n int, text string) *chat.Inbound {
	return &chat.Inbound{
		Kind: chat.Message, App: "A1", Conversation: place, MessageID: fmt.Sprintf("m%03d", n), Order: fmt.Sprintf("%03d", n),
		SentAt: start, Sender: ada, Text: text, Addressed: true,
	}
}

func edit(n int, revision, text string) *chat.Inbound {
	in := message(n, text)
	in.Kind, in.Order = chat.Edit, revision
	return in
}

func from(in *chat.Inbound, s chat.Sender) *chat.Inbound {
	in.Sender = s
	return in
}

// take receives an event that must go well.
func (r *rig) take(in *chat.Inbound, want chat.Outcome) {
	r.t.Helper()
	got, err := r.Receive(r.t.Context(), in)
	if err != nil {
		r.t.Fatalf("Receive(%s %s): %v", in.Kind, in.MessageID, err)
	}
	if got != want {
		r.t.Fatalf("Receive(%s %s) = %s, want %s", in.Kind, in.MessageID, got, want)
	}
}

// list decodes all documents of a collection of the conversation.
func list[T any, P interface {
	*T
	conversation.Document
}](r *rig, collection string) []T {
	r.t.Helper()
	answers, err := r.seen.Read(r.t.Context(), store.List{Partition: r.part, Collection: collection})
	if err != nil {
		r.t.Fatal(err)
	}
	var out []T
	for _, d := range answers[0].Docs {
		var v T
		if err := conversation.Decode(d, P(&v)); err != nil {
			r.t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

func (r *rig) inbox() []conversation.Message {
	r.t.Helper()
	return list[conversation.Message](r, conversation.Inbox)
}

func (r *rig) controls() []conversation.Control {
	r.t.Helper()
	return list[conversation.Control](r, conversation.Controls)
}

func (r *rig) notices() []conversation.Delivery {
	r.t.Helper()
	return list[conversation.Delivery](r, conversation.Outgoing)
}

func (r *rig) head() conversation.Head {
	r.t.Helper()
	for _, h := range list[conversation.Head](r, conversation.Session) {
		return h
	}
	return conversation.Head{}
}

func (r *rig) letters() []store.Letter {
	r.t.Helper()
	letters, err := r.seen.DeadLetters(r.t.Context(), 0)
	if err != nil {
		r.t.Fatal(err)
	}
	return letters
}

// claim takes the conversation's member of an agenda, as a worker does, and gives it back; it reports whether it was due.
func (r *rig) due(agenda store.Agenda) bool {
	r.t.Helper()
	claims, err := r.seen.Claim(r.t.Context(), store.ClaimRequest{Agenda: agenda, Holder: "test", Lease: time.Minute, Limit: 10})
	if err != nil {
		r.t.Fatal(err)
	}
	found := false
	for _, c := range claims {
		found = found || c.Member.Partition() == r.part
		_, err := r.seen.Commit(r.t.Context(), store.Commit{
			ID: fmt.Sprintf("release-%s-%d", c.Member, c.Token), Partition: c.Member.Partition(), Ops: []store.Op{store.Release{Claim: c}},
		})
		if err != nil {
			r.t.Fatal(err)
		}
	}
	return found
}

// put writes a document of the conversation as the turn's holder would.
func (r *rig) put(k store.Key, v any) {
	r.t.Helper()
	_, err := r.seen.Commit(r.t.Context(), store.Commit{
		ID: fmt.Sprintf("put-%s-%s-%d", k.Collection, k.Name, r.clock.ms.Load()), Partition: r.part,
		Ops: []store.Op{store.Put{Key: k, Value: conversation.Encode(v)}},
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) counted(why intake.Reason) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts[why]
}

func personOf(s chat.Sender) string { return people.PersonOf(s.Identity) }
