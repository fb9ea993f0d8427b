package worker_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"herald/core/store"
	"herald/core/store/memory"
	"herald/core/worker"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const lease = 30 * time.Second

// rig is a worker over a memory store inside of a synctest bubble.
type rig struct {
	t     *testing.T
	store *memory.Store
	*worker.Worker
	stop func()
}

var ids atomic.Int64

func newID() string { return fmt.Sprintf("id%d", ids.Add(1)) }

// run starts a worker on st whose hints arrive, and stops it with the test.
func run(t *testing.T, st *memory.Store, change func(*worker.Options), handle worker.Handler) *rig {
	t.Helper()
	r := &rig{t: t, store: st}
	o := worker.Options{
		Store: st, Agenda: store.Outbox, Holder: newID(), Lease: lease, Handle: handle,
		NewID: newID, Random: func() float64 { return 0.5 },
	}
	if change != nil {
		change(&o)
	}
	w, err := worker.New(o)
	if err != nil {
		t.Fatal(err)
	}
	r.Worker = w
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := w.Run(ctx); err != nil {
			t.Errorf("run: %v", err)
		}
	})
	wg.Go(func() {
		if err := worker.Listen(ctx, st, w); err != nil {
			t.Errorf("listen: %v", err)
		}
	})
	r.stop = func() { cancel(); wg.Wait() }
	t.Cleanup(r.stop)
	return r
}

func member(i int) store.Member { return store.Member(fmt.Sprintf("conversation/c%d", i)) }

// wake puts a member on the agenda, due in d.
func wake(t *testing.T, st *memory.Store, m store.Member, d time.Duration) {
	t.Helper()
	_, err := st.Commit(t.Context(), store.Commit{ID: newID(), Partition: m.Partition(), Ops: []store.Op{
		store.Wake{Agenda: store.Outbox, Member: m, In: d},
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// release ends a claim as a handler does.
func release(ctx context.Context, st store.Store, c store.Claim) error {
	_, err := st.Commit(ctx, store.Commit{
		ID: newID(), Partition: c.Member.Partition(), Claim: &c, Ops: []store.Op{store.Release{Claim: c}},
	})
	return err
}

// seen records claims in order.
type seen struct {
	mu     sync.Mutex
	claims []store.Claim
	at     []time.Time
}

func (s *seen) add(c store.Claim) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claims = append(s.claims, c)
	s.at = append(s.at, time.Now())
	return len(s.claims)
}

func (s *seen) all() []store.Claim {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]store.Claim(nil), s.claims...)
}

func (s *seen) when(i int) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at[i]
}
