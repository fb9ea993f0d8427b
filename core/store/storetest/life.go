package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"herald/core/store"
)

// everyMethod calls each method that can fail.
func (w *world) everyMethod(ctx context.Context, s store.Store) map[string]error {
	out := map[string]error{}
	_, out["Commit"] = s.Commit(ctx, w.commit(store.Put{Key: state, Value: []byte("no")}))
	_, out["Read"] = s.Read(ctx, store.Get{Partition: conv, Key: state})
	_, out["Claim"] = s.Claim(ctx, store.ClaimRequest{Agenda: store.Turns, Holder: "h", Lease: time.Minute, Limit: 1})
	_, out["Extend"] = s.Extend(ctx, time.Minute, store.Claim{Agenda: store.Turns, Member: turn, Token: 1, Holder: "h"})
	_, _, _, out["Due"] = s.Due(ctx, store.Turns)
	_, _, out["Reserve"] = s.Reserve(ctx, -1, pace(time.Minute, 1))
	out["Hold"] = s.Hold(ctx, "k", time.Minute)
	_, out["Now"] = s.Now(ctx)
	_, out["Partitions"] = s.Partitions(ctx, 0, store.Stamp{}, 1)
	_, out["DeadLetters"] = s.DeadLetters(ctx, 1)
	out["Publish"] = s.Publish(ctx, "t", "p")
	_, out["Health"] = s.Health(ctx)
	return out
}

var lifeTests = []test{
	{name: "every method works on an empty store", run: func(w *world) {
		for method, err := range w.everyMethod(w.ctx, w.s) {
			if err != nil {
				w.Errorf("%s: %v", method, err)
			}
		}
	}},
	{name: "an ended context", run: func(w *world) {
		ctx, cancel := context.WithCancel(w.ctx)
		cancel()
		for method, err := range w.everyMethod(ctx, w.s) {
			if !errors.Is(err, context.Canceled) {
				w.Errorf("%s: %v", method, err)
			}
		}
		if d := w.doc(state); d.Version != 0 {
			w.Errorf("a commit whose context had ended wrote %+v", d)
		}
	}},
	{name: "a closed handle", run: func(w *world) {
		for range 2 {
			if err := w.s.Close(); err != nil {
				w.Fatalf("close: %v", err)
			}
		}
		for method, err := range w.everyMethod(w.ctx, w.s) {
			if !errors.Is(err, store.ErrClosed) || !store.Outage(err) {
				w.Errorf("%s: %v", method, err)
			}
		}
		if err := w.s.Hints(w.ctx, nil, func(store.Hint) {}); !errors.Is(err, store.ErrClosed) {
			w.Errorf("Hints: %v", err)
		}
	}},
	{name: "close ends those who listen", run: func(w *world) {
		ready, ended := make(chan struct{}), make(chan error, 1)
		go func() { ended <- w.s.Hints(w.ctx, ready, func(store.Hint) {}) }()
		<-ready
		if err := w.s.Close(); err != nil {
			w.Fatal(err)
		}
		select {
		case err := <-ended:
			if !errors.Is(err, store.ErrClosed) {
				w.Errorf("Hints ended with %v", err)
			}
		case <-time.After(hintWait):
			w.Fatal("Hints did not end")
		}
	}},
	{name: "close lets what is under way end", run: func(w *world) {
		errs := make(chan error, 50)
		begun := make(chan struct{}, 50)
		for i := range cap(errs) {
			go func() {
				begun <- struct{}{}
				_, err := w.s.Commit(w.ctx, store.Commit{ID: fmt.Sprint("x", i), Partition: conv, Ops: []store.Op{store.Append{Log: "l", ID: "e", Kind: "k"}}})
				errs <- err
			}()
		}
		<-begun
		if err := w.s.Close(); err != nil {
			w.Error(err)
		}
		for range cap(errs) {
			if err := <-errs; err != nil && !store.Outage(err) {
				w.Errorf("got %v", err)
			}
		}
	}},
	{name: "health", run: func(w *world) {
		h, err := w.s.Health(w.ctx)
		if err != nil || h.Driver != w.h.Caps.Driver || h.ID == "" || h.Keeps == "" || h.Format < 1 || h.Durable != w.h.Caps.Durable || slices.Contains(h.Warnings, "") || !h.Durable && len(h.Warnings) == 0 {
			w.Errorf("got %+v, %v", h, err)
		}
	}},
	{name: "stats", run: func(w *world) {
		step := func(what string, want store.Stats, f func()) {
			w.Helper()
			before := w.s.Stats()
			f()
			after := w.s.Stats()
			got := store.Stats{RoundTrips: after.RoundTrips - before.RoundTrips, Idle: after.Idle - before.Idle, Commits: after.Commits - before.Commits, Writes: after.Writes - before.Writes}
			if got != want {
				w.Errorf("%s counts %+v, want %+v", what, got, want)
			}
		}
		step("a commit", store.Stats{RoundTrips: 1, Commits: 1, Writes: 1}, w.wake)
		step("a read", store.Stats{RoundTrips: 1}, func() { w.doc(state) })
		var c store.Claim
		step("a claim by name", store.Stats{RoundTrips: 1, Writes: 1}, func() {
			c = w.claimFrom(w.s, store.ClaimRequest{Agenda: store.Turns, Holder: "h", Lease: w.lease, Limit: 1, Members: []store.Member{turn}})[0]
		})
		step("a renewal", store.Stats{Idle: 1}, func() {
			if _, err := w.s.Extend(w.ctx, w.lease, c); err != nil {
				w.Error(err)
			}
		})
		step("a reservation", store.Stats{RoundTrips: 1}, func() { w.reserve(pace(time.Second, 1)) })
		step("a refused commit", store.Stats{RoundTrips: 1}, func() {
			c := w.commit()
			c.Guards = []store.Guard{store.At{Key: state, Version: 1}}
			w.refused(c, store.ConflictError{})
		})
		before := w.s.Stats()
		w.none("nothing is due")
		w.due()
		if after := w.s.Stats(); after.RoundTrips != before.RoundTrips || after.Idle <= before.Idle || after.Writes != before.Writes {
			w.Errorf("idle polls made %+v of %+v", after, before)
		}
	}},
}

var timeTests = []test{
	{name: "the store's clock alone counts", needs: settable, run: func(w *world) {
		if now, err := w.s.Now(w.ctx); err != nil || !now.Equal(epoch) {
			w.Fatalf("now is %v, %v", now, err)
		}
		res := w.do(store.Append{Log: "l", ID: "e", Kind: "k"}, store.Wake{Agenda: store.Turns, Member: turn})
		c := w.claimOne("h")
		a := w.read(store.Tail{Partition: conv, Log: "l", N: 1})
		for what, at := range map[string]time.Time{"commit": res.Now, "entry": a.Entries[0].At, "answer": a.Now, "claim": c.Since, "lease": c.Until.Add(-w.lease)} {
			if !at.Equal(epoch) {
				w.Errorf("the %s is at %v, want %v", what, at, epoch)
			}
		}
	}},
	{name: "callers ten minutes ahead or behind", needs: settable, run: func(w *world) {
		for _, skew := range []time.Duration{-10 * time.Minute, 10 * time.Minute} {
			w := openAt(w.T, w.h, time.Now().Add(-skew).Truncate(time.Millisecond))
			w.wake()
			c := w.claimOne("h")
			w.none("the lease has not ended")
			w.do(store.Wake{Agenda: store.Turns, Member: turn, In: time.Minute}, store.Release{Claim: c})
			w.none("a minute too early")
			// A caller waits for the difference of two instants that the store gave.
			in, ok := w.due()
			if !ok || in != time.Minute {
				w.Fatalf("due in %v, %v", in, ok)
			}
			w.clock.Advance(in)
			w.claimOne("h")
		}
	}},
	{name: "a clock that steps back holds up no wake", needs: settable, run: func(w *world) {
		w.do(store.Append{Log: "l", ID: "e", Kind: "k"})
		w.clock.Advance(-time.Hour)
		w.wake()
		c := w.claimOne("h")
		w.do(store.Release{Claim: c, Again: true})
		w.claimOne("h")
	}},
	{name: "a clock that steps back loses no due work", needs: settable, run: func(w *world) {
		w.do(store.Wake{Agenda: store.Turns, Member: turn, In: time.Minute})
		w.clock.Advance(-time.Hour)
		w.none("too early")
		if in, ok := w.due(); !ok || in != time.Hour+time.Minute {
			w.Errorf("due in %v, %v", in, ok)
		}
		w.clock.Advance(time.Hour + 24*time.Hour)
		w.claimOne("h")
	}},
	{name: "instants are whole milliseconds", needs: settable, run: func(w *world) {
		w.clock.Advance(1234567 * time.Nanosecond)
		if now, err := w.s.Now(w.ctx); err != nil || !now.Equal(epoch.Add(time.Millisecond)) {
			w.Errorf("now is %v, %v", now, err)
		}
		if res := w.do(); !res.Now.Equal(epoch.Add(time.Millisecond)) {
			w.Errorf("the commit is at %v", res.Now)
		}
	}},
}
