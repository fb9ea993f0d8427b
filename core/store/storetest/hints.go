package storetest

import (
	"context"
	"errors"
	"sync"
	"time"

	"herald/core/store"
)

// hintWait bounds the wait for a hint that must come; on a good day it takes a millisecond.
const hintWait = 10 * time.Second

// listen collects the hints of s until the test ends.
func (w *world) listen(s store.Store) <-chan store.Hint {
	w.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.ctx))
	got, ready := make(chan store.Hint, 100), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		err := s.Hints(ctx, ready, func(h store.Hint) {
			select {
			case got <- h:
			default:
			}
		})
		if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, store.ErrClosed) {
			w.Errorf("hints ended with %v", err)
		}
	})
	w.Cleanup(func() { cancel(); wg.Wait() })
	select {
	case <-ready:
	case <-time.After(hintWait):
		w.Fatal("listening never began")
	}
	return got
}

// hear waits for a hint.
func (w *world) hear(from <-chan store.Hint, want store.Hint) {
	w.Helper()
	deadline := time.After(hintWait)
	for {
		select {
		case h := <-from:
			if h == want {
				return
			}
		case <-deadline:
			w.Fatalf("the hint %+v never came", want)
		}
	}
}

// quiet checks that until the end mark no hint about an agenda came.
func (w *world) quiet(from <-chan store.Hint, why string) {
	w.Helper()
	mark := store.Hint{Topic: "mark", Payload: why}
	if err := w.s.Publish(w.ctx, mark.Topic, mark.Payload); err != nil {
		w.Fatal(err)
	}
	deadline := time.After(hintWait)
	for {
		select {
		case h := <-from:
			if h == mark {
				return
			}
			w.Errorf("%s: hint %+v", why, h)
		case <-deadline:
			w.Fatal("the end mark never came")
		}
	}
}

var hintTests = []test{
	{name: "a wake whose time has come", run: func(w *world) {
		got := w.listen(w.s)
		w.wake()
		w.hear(got, store.Hint{Agenda: store.Turns, Member: turn})
		w.claimOne("h")
		w.wake()
		w.hear(got, store.Hint{Agenda: store.Turns, Member: turn})
	}},
	{name: "the release of a member that is due again", run: func(w *world) {
		w.wake()
		c := w.claimOne("h")
		w.wake()
		got := w.listen(w.s)
		w.do(store.Release{Claim: c})
		w.hear(got, store.Hint{Agenda: store.Turns, Member: turn})
		c = w.claimOne("h")
		w.do(store.Release{Claim: c, Again: true})
		w.hear(got, store.Hint{Agenda: store.Turns, Member: turn})
	}},
	{name: "nothing that is not due", run: func(w *world) {
		got := w.listen(w.s)
		w.do(store.Put{Key: state, Value: []byte("1")}, store.Wake{Agenda: store.Turns, Member: turn, In: time.Hour})
		w.quiet(got, "a later wake")
		c := *w.do(store.Take{Agenda: store.Outbox, Member: turn, Holder: "h", Lease: w.lease}).Taken[0]
		w.do(store.Release{Claim: c, Again: true, In: time.Hour})
		w.quiet(got, "a release until later")
		refused := w.commit(store.Wake{Agenda: store.Turns, Member: turn})
		refused.Guards = []store.Guard{store.At{Key: state, Version: 9}}
		w.refused(refused, store.ConflictError{Version: 1})
		w.quiet(got, "a refused commit")
	}},
	{name: "published", run: func(w *world) {
		one, two := w.listen(w.s), w.listen(w.s)
		if err := w.s.Publish(w.ctx, "cancel", "session 1\n\x00ü"); err != nil {
			w.Fatal(err)
		}
		w.hear(one, store.Hint{Topic: "cancel", Payload: "session 1\n\x00ü"})
		w.hear(two, store.Hint{Topic: "cancel", Payload: "session 1\n\x00ü"})
	}},
	{name: "in another process", needs: attachable, run: func(w *world) {
		got := w.listen(w.inst.Attach(w.T))
		w.wake()
		w.hear(got, store.Hint{Agenda: store.Turns, Member: turn})
		if err := w.s.Publish(w.ctx, "config", ""); err != nil {
			w.Fatal(err)
		}
		w.hear(got, store.Hint{Topic: "config"})
	}},
	{name: "listening ends with its context", run: func(w *world) {
		ctx, cancel := context.WithCancel(w.ctx)
		ready, ended := make(chan struct{}), make(chan error, 1)
		go func() { ended <- w.s.Hints(ctx, ready, func(store.Hint) {}) }()
		<-ready
		cancel()
		select {
		case err := <-ended:
			if err != nil && !errors.Is(err, context.Canceled) {
				w.Errorf("ended with %v", err)
			}
		case <-time.After(hintWait):
			w.Fatal("Hints did not end")
		}
	}},
}
