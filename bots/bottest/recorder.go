package bottest

import (
	"context"
	"sync"
	"testing"

	"herald/core/chat"
)

// recorder is the suite's receiver: it remembers, and decides by its function.
type recorder struct {
	decide func(ctx context.Context, nth int, in *chat.Inbound) error

	mu     sync.Mutex
	got    []chat.Inbound
	change chan struct{}
}

// newRecorder makes a receiver; decide may block, and gets how many events came before. nil takes all.
func newRecorder(decide func(ctx context.Context, nth int, in *chat.Inbound) error) *recorder {
	return &recorder{decide: decide, change: make(chan struct{})}
}

func (r *recorder) Receive(ctx context.Context, in *chat.Inbound) (chat.Outcome, error) {
	r.mu.Lock()
	n := len(r.got)
	r.got = append(r.got, *in)
	close(r.change)
	r.change = make(chan struct{})
	r.mu.Unlock()
	if r.decide != nil {
		if err := r.decide(ctx, n, in); err != nil {
			return "", err
		}
	}
	return chat.Kept, nil
}

// until waits for what was received to fulfil cond and returns it.
func (r *recorder) until(ctx context.Context, t *testing.T, what string, cond func([]chat.Inbound) bool) []chat.Inbound {
	t.Helper()
	for {
		r.mu.Lock()
		got, change := append([]chat.Inbound(nil), r.got...), r.change
		r.mu.Unlock()
		if cond(got) {
			return got
		}
		select {
		case <-change:
		case <-ctx.Done():
			t.Fatalf("waited in vain until %s; received %+v", what, got)
		}
	}
}

// others leaves out the app's own messages.
func others(all []chat.Inbound) (out []chat.Inbound) {
	for _, in := range all {
		if !in.Sender.Self {
			out = append(out, in)
		}
	}
	return out
}

func atLeast(n int) func([]chat.Inbound) bool {
	return func(all []chat.Inbound) bool { return len(others(all)) >= n }
}
