package openai

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

// settleTime is how long the end of a stream is waited for after its finish reason: usage comes within it, and a server that
// keeps the connection open must not hold the answer back.
const settleTime = 2 * time.Second

// watch cancels an exchange whose server is silent for too long. Only time spent waiting for the server counts, so that a
// slow consumer of the stream is not taken for a slow server, and only data turns the clock back. It is used by one goroutine.
type watch struct {
	cancel  context.CancelCauseFunc
	between time.Duration
	left    time.Duration // of the present budget
	timer   *time.Timer
	began   time.Time

	mu      sync.Mutex // the timer may fire while the budget changes
	silence silence
}

// silence is the cause of a cancellation by a watch.
type silence struct {
	budget time.Duration
	first  bool
}

func (s silence) Error() string {
	if s.first {
		return fmt.Sprintf("no data within %v of the request", s.budget)
	}
	return fmt.Sprintf("the stream stalled: no data for %v", s.budget)
}

func newWatch(cancel context.CancelCauseFunc, first, between time.Duration) *watch {
	return &watch{cancel: cancel, between: between, left: first, silence: silence{budget: first, first: true}}
}

// arm starts the clock before a wait for the server, disarm stops it after.
func (w *watch) arm() {
	w.began = time.Now()
	if w.timer == nil {
		w.timer = time.AfterFunc(w.left, w.fire)
		return
	}
	w.timer.Reset(w.left)
}

func (w *watch) fire() {
	w.mu.Lock()
	s := w.silence
	w.mu.Unlock()
	w.cancel(s)
}

func (w *watch) disarm() {
	w.timer.Stop()
	w.left = max(w.left-time.Since(w.began), 0)
}

// data says that the server has sent something of the answer.
func (w *watch) data() { w.expect(w.between) }

// settle says that the answer is complete but for the end of the stream.
func (w *watch) settle() { w.expect(min(settleTime, w.between)) }

// drain allows d for all that is still read.
func (w *watch) drain(d time.Duration) { w.expect(d) }

func (w *watch) expect(d time.Duration) {
	w.left = d
	w.mu.Lock()
	w.silence = silence{budget: d}
	w.mu.Unlock()
}

// stop ends the watch and whatever still runs under its context.
func (w *watch) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
	w.cancel(context.Canceled)
}

// watched is a reader whose waits are watched.
type watched struct {
	r io.Reader
	w *watch
}

func (r watched) Read(p []byte) (int, error) {
	r.w.arm()
	defer r.w.disarm()
	return r.r.Read(p)
}
