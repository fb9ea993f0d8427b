package handover_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/handover"
	"herald/core/store"
	"herald/core/store/memory"
	"herald/core/worker"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const lease = 30 * time.Second

var ids atomic.Int64

func newID() string { return fmt.Sprintf("id%d", ids.Add(1)) }

func half() float64 { return 0.5 }

func part(name string) store.Partition {
	return conversation.Partition(chat.Conversation{Workspace: "lab:W", Channel: name})
}

var source, target = part("source"), part("target")

// process dies at its n-th step: each call of the store has a step before and one after it.
type process struct {
	steps atomic.Int64
	at    int64
	gone  atomic.Bool
	end   context.CancelFunc
}

var errDead = errors.New("the process is dead")

func (p *process) alive() bool {
	if p.gone.Load() {
		return false
	}
	if p.at > 0 && p.steps.Add(1) >= p.at {
		p.die()
		return false
	}
	return true
}

func (p *process) die() {
	p.gone.Store(true)
	p.end()
}

func (p *process) Fault(memory.Call) memory.Effect {
	e := memory.Effect{}
	if !p.alive() {
		e.Before = errDead
	} else if !p.alive() {
		e.After = errDead
	}
	return e
}

type rig struct {
	t  *testing.T
	st *memory.Store
	// takers are made for the store's handle of a process.
	takers func(store.Store, *process) map[string]handover.Taker

	mu     sync.Mutex
	events []handover.Event
}

func newRig(t *testing.T) *rig {
	return &rig{t: t, st: memory.New(memory.Options{}), takers: func(st store.Store, _ *process) map[string]handover.Taker {
		return map[string]handover.Taker{handover.MessageKind: handover.Messages{Store: st}}
	}}
}

// live runs a worker in a process until it dies, or for d.
func (r *rig) live(p *process, d time.Duration) {
	r.t.Helper()
	h := r.st.Attach(memory.Options{Faults: p})
	w, err := handover.NewWorker(handover.Options{
		Store: h, Takers: r.takers(h, p), NewID: newID, Random: half,
		Report: func(e handover.Event) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.events = append(r.events, e)
		},
	}, worker.Options{Holder: newID(), Lease: lease, Grace: -1, Poll: 30 * time.Second})
	if err != nil {
		r.t.Error(err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	p.end = cancel
	var wg sync.WaitGroup
	wg.Go(func() { _ = w.Run(ctx) })
	wg.Go(func() { _ = worker.Listen(ctx, r.st, w.Worker) })
	wg.Wait()
	_ = h.Close()
}

// message is a debt of a message.
func message(id string) *conversation.Owed {
	o := handover.OweMessage(id, target, &conversation.Message{MessageID: "m-" + id, Order: id, Text: "text of " + id})
	o.At = time.Now()
	return o
}

func (r *rig) owe(debts ...*conversation.Owed) {
	r.t.Helper()
	for _, o := range debts {
		if _, err := r.st.Commit(context.Background(), store.Commit{ID: newID(), Partition: source, Ops: conversation.Owe(source, o)}); err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r *rig) docs(p store.Partition, collection string) []store.Doc {
	r.t.Helper()
	a, err := r.st.Read(context.Background(), store.List{Partition: p, Collection: collection})
	if err != nil {
		r.t.Fatal(err)
	}
	return a[0].Docs
}

// clean checks that nothing is owed, counted or claimed any more.
func (r *rig) clean() {
	r.t.Helper()
	for _, c := range []string{conversation.Handovers, handover.Tries} {
		if n := len(r.docs(source, c)); n != 0 {
			r.t.Errorf("%d documents are left in %s", n, c)
		}
	}
	if at, _, ok, err := r.st.Due(context.Background(), store.Handover); err != nil || ok {
		r.t.Errorf("something is left on the agenda, due at %v (%v)", at, err)
	}
}

func (r *rig) letters() []handover.Letter {
	r.t.Helper()
	ls, err := r.st.DeadLetters(context.Background(), 0)
	if err != nil {
		r.t.Fatal(err)
	}
	var out []handover.Letter
	for _, l := range ls {
		var n handover.Letter
		if err := json.Unmarshal(l.Note, &n); err != nil {
			r.t.Fatal(err)
		}
		out = append(out, n)
	}
	return out
}

func (r *rig) reported(k handover.EventKind) int {
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

// received is a target: a taker over the memory store as takers must be.
type received struct{}

func (received) taker(st store.Store) handover.Taker {
	return handover.TakerFunc(func(ctx context.Context, from store.Partition, owed *conversation.Owed) (bool, error) {
		key := store.Key{Collection: "task", Name: owed.ID}
		_, err := st.Commit(ctx, store.Commit{
			ID: "take/" + newID(), Partition: owed.To, Guards: []store.Guard{store.At{Key: key}},
			Ops: []store.Op{store.Put{Key: key, Value: []byte("landed")}, store.Append{Log: "log", ID: owed.ID, Kind: "landed"}},
		})
		if errors.Is(err, store.ErrConflict) {
			return false, nil
		}
		return err == nil, err
	})
}

// landed is how often each entry changed the target.
func (r *rig) landed() map[string]int {
	r.t.Helper()
	a, err := r.st.Read(context.Background(), store.Range{Partition: target, Log: "log"})
	if err != nil {
		r.t.Fatal(err)
	}
	out := map[string]int{}
	for _, e := range a[0].Entries {
		out[e.ID]++
	}
	return out
}
