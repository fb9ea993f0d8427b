package inproc

import (
	"slices"
	"sync"

	"herald/core/store"
)

// Hints passes hints to the listeners of this process, in the goroutine of whoever sends. The zero value is ready.
type Hints struct {
	mu sync.Mutex
	// listeners is replaced, never changed, so that Send can walk it without the lock: a listener may listen, stop or send itself.
	listeners []*listener
}

type listener struct{ f func(store.Hint) }

// Listen calls f for each hint until stop is called. f must not block; it may be called by several goroutines at once. A hint that is
// under way when stop is called may still arrive.
func (h *Hints) Listen(f func(store.Hint)) (stop func()) {
	l := &listener{f}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.listeners = append(slices.Clip(h.listeners), l)
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.listeners = slices.DeleteFunc(slices.Clone(h.listeners), func(o *listener) bool { return o == l })
	}
}

// Send gives hints to every listener, in order.
func (h *Hints) Send(hints ...store.Hint) {
	if len(hints) == 0 {
		return
	}
	h.mu.Lock()
	ls := h.listeners
	h.mu.Unlock()
	for _, l := range ls {
		for _, hint := range hints {
			l.f(hint)
		}
	}
}
