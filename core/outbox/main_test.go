package outbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/outbox"
	"herald/core/session"
	"herald/core/store"
	"herald/core/store/memory"
	"herald/core/worker"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const lease = 30 * time.Second

var ids atomic.Int64

func newID() string { return fmt.Sprintf("id%d", ids.Add(1)) }

func half() float64 { return 0.5 }

// conv is thread i of channel C1.
func conv(i int) chat.Conversation {
	return chat.Conversation{Workspace: "lab:W", Channel: "C1", Thread: fmt.Sprintf("t%d", i)}
}

func member(c chat.Conversation) store.Member { return store.MemberOf(conversation.Partition(c), "") }

// rig is a store, a platform and what the outbox reports.
type rig struct {
	t  testing.TB
	st *memory.Store
	*platform
	paces outbox.Paces
	rules outbox.Rules
	conc  int
	// via is the handle that the outbox uses; st by default.
	via store.Store
	// unplugged: the platform is not connected.
	unplugged bool

	mu     sync.Mutex
	events []outbox.Event
}

func newRig(t testing.TB, caps chat.Capabilities) *rig {
	st := memory.New(memory.Options{})
	return &rig{t: t, st: st, via: st, platform: newPlatform(caps)}
}

func (r *rig) options() outbox.Options {
	return outbox.Options{
		Store: r.via, Pacer: outbox.NewPacer(r.via, func(chat.Conversation) outbox.Paces { return r.paces }), Rules: r.rules,
		Adapter: func(chat.Conversation) (chat.Adapter, bool) { return r.platform, !r.unplugged },
		NewID:   newID, Random: half,
		Report: func(e outbox.Event) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.events = append(r.events, e)
		},
	}
}

func (r *rig) reported(k outbox.EventKind) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, e := range r.events {
		if e.Kind == k {
			n++
		}
	}
	return n
}

// start runs a worker and returns what stops it.
func (r *rig) start() (w *outbox.Worker, stop func()) {
	r.t.Helper()
	w, err := outbox.NewWorker(r.options(), worker.Options{Holder: "me", Lease: lease, Concurrency: r.conc, Poll: 20 * time.Second})
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = w.Run(ctx) })
	wg.Go(func() { _ = worker.Listen(ctx, r.st, w.Worker) })
	return w, func() { cancel(); wg.Wait() }
}

// run lets a worker work for d.
func (r *rig) run(d time.Duration) {
	_, stop := r.start()
	time.Sleep(d)
	stop()
}

// answer is a delivery whose text is final now.
func answer(id, text string) *conversation.Delivery {
	now := time.Now()
	return &conversation.Delivery{
		ID: id, Kind: conversation.Answer, Text: text, Turn: "turn-" + id, After: now, MadeAt: now,
		Covers: []session.Cover{{MessageID: "msg-" + id}},
	}
}

// say puts deliveries into the outbox of c.
func (r *rig) say(c chat.Conversation, ds ...*conversation.Delivery) {
	r.t.Helper()
	p := conversation.Partition(c)
	for _, d := range ds {
		if _, err := r.st.Commit(context.Background(), store.Commit{ID: newID(), Partition: p, Ops: conversation.Say(p, d)}); err != nil {
			r.t.Fatal(err)
		}
	}
}

// list reads a collection of c.
func (r *rig) list(c chat.Conversation, collection string) map[string]conversation.Delivery {
	r.t.Helper()
	a, err := r.st.Read(context.Background(), store.List{Partition: conversation.Partition(c), Collection: collection})
	if err != nil {
		r.t.Fatal(err)
	}
	out := map[string]conversation.Delivery{}
	for _, doc := range a[0].Docs {
		var d conversation.Delivery
		if err := conversation.Decode(doc, &d); err != nil {
			r.t.Fatal(err)
		}
		out[d.ID] = d
	}
	return out
}

// letters reads the dead letters.
func (r *rig) letters() []outbox.Letter {
	r.t.Helper()
	ls, err := r.st.DeadLetters(context.Background(), 0)
	if err != nil {
		r.t.Fatal(err)
	}
	var out []outbox.Letter
	for _, l := range ls {
		var note outbox.Letter
		if err := json.Unmarshal(l.Note, &note); err != nil {
			r.t.Fatal(err)
		}
		out = append(out, note)
	}
	return out
}

// settled checks that nothing waits or is claimed, and that the deliveries named have been settled.
func (r *rig) settled(c chat.Conversation, ids ...string) {
	r.t.Helper()
	if left := r.list(c, conversation.Outgoing); len(left) != 0 {
		r.t.Errorf("%d deliveries are left in the outbox of %v: %v", len(left), c, left)
	}
	done := r.list(c, conversation.Sent)
	for _, id := range ids {
		d, ok := done[id]
		if !ok {
			r.t.Errorf("delivery %s was not settled", id)
		}
		for i, p := range d.Pieces {
			if p.Receipt == nil || p.Receipt.MessageID == "" {
				r.t.Errorf("piece %d of %s was settled without a receipt", i, id)
			}
		}
	}
	if at, _, ok, err := r.st.Due(context.Background(), store.Outbox); err != nil || ok {
		r.t.Errorf("something is left on the agenda, due at %v (%v)", at, err)
	}
}
