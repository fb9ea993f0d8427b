package storetest

import (
	"sync"
	"time"

	"herald/core/store"
)

// reserve takes a place, however long the wait.
func (w *world) reserve(paces ...store.Pace) time.Duration {
	w.Helper()
	wait, ok, err := w.s.Reserve(w.ctx, -1, paces...)
	if err != nil || !ok {
		w.Fatalf("reserve: %v, %v", ok, err)
	}
	return wait
}

// near checks a wait; where time passes by itself a little less is right too.
func (w *world) near(what string, got, want time.Duration) {
	w.Helper()
	slack := time.Duration(0)
	if w.h.Caps.OwnTime {
		slack = min(want, 2*time.Second)
	}
	if got > want || got < want-slack {
		w.Errorf("%s: wait %v, want %v", what, got, want)
	}
}

func pace(every time.Duration, burst int) store.Pace {
	return store.Pace{Key: "slack:T1/C1", Every: every, Burst: burst}
}

var paceTests = []test{
	{name: "places come in order", run: func(w *world) {
		for i := range 4 {
			w.near("place", w.reserve(pace(time.Minute, 1)), time.Duration(i)*time.Minute)
		}
		w.near("another key", w.reserve(store.Pace{Key: "slack:T1/C2", Every: time.Minute, Burst: 1}), 0)
	}},
	{name: "a burst after a rest", needs: settable, run: func(w *world) {
		for i, want := range []time.Duration{0, 0, 0, 1, 2} {
			if got := w.reserve(pace(time.Minute, 3)); got != want*time.Minute {
				w.Errorf("place %d: wait %v, want %v", i, got, want*time.Minute)
			}
		}
		w.clock.Advance(3 * time.Minute)
		for i, want := range []time.Duration{0, 1, 2} {
			if got := w.reserve(pace(time.Minute, 3)); got != want*time.Minute {
				w.Errorf("place %d after three minutes: wait %v, want %v", i, got, want*time.Minute)
			}
		}
		w.clock.Advance(time.Hour)
		for i, want := range []time.Duration{0, 0, 0, 1} {
			if got := w.reserve(pace(time.Minute, 3)); got != want*time.Minute {
				w.Errorf("place %d after an hour: wait %v, want %v", i, got, want*time.Minute)
			}
		}
	}},
	{name: "the latest of several paces", run: func(w *world) {
		app := store.Pace{Key: "app", Every: time.Minute, Burst: 1}
		w.reserve(pace(time.Hour, 1))
		w.near("both", w.reserve(pace(time.Hour, 1), app), time.Hour)
		w.near("the app's second place", w.reserve(app), time.Minute)
		w.near("no pace at all", w.reserve(), 0)
	}},
	{name: "a wait that is too long takes no place", run: func(w *world) {
		w.reserve(pace(time.Hour, 1))
		if wait, ok, err := w.s.Reserve(w.ctx, time.Minute, pace(time.Hour, 1)); err != nil || ok {
			w.Errorf("a wait of an hour was accepted: %v, %v, %v", wait, ok, err)
		}
		if _, ok, err := w.s.Reserve(w.ctx, 0, pace(time.Hour, 1)); err != nil || ok {
			w.Errorf("a wait was accepted where none is wanted: %v, %v", ok, err)
		}
		w.near("the place is still free", w.reserve(pace(time.Hour, 1)), time.Hour)
		if wait, ok, err := w.s.Reserve(w.ctx, 0, store.Pace{Key: "free", Every: time.Hour, Burst: 1}); err != nil || !ok || wait != 0 {
			w.Errorf("a free place: %v, %v, %v", wait, ok, err)
		}
	}},
	{name: "a lifted pace", run: func(w *world) {
		for range 5 {
			w.near("no pace", w.reserve(pace(0, 1)), 0)
		}
		w.near("burst 0 counts as 1", w.reserve(store.Pace{Key: "b", Every: time.Minute}), 0)
		w.near("burst 0 counts as 1", w.reserve(store.Pace{Key: "b", Every: time.Minute}), time.Minute)
	}},
	{name: "hold", run: func(w *world) {
		hold := func(d time.Duration) {
			if err := w.s.Hold(w.ctx, "slack:T1/C1", d); err != nil {
				w.Fatal(err)
			}
		}
		hold(30 * time.Minute)
		hold(time.Minute)
		w.near("a shorter hold", w.reserve(pace(time.Minute, 1)), 30*time.Minute)
		w.near("the next place", w.reserve(pace(time.Minute, 1)), 31*time.Minute)
		hold(time.Hour)
		w.near("a longer hold", w.reserve(pace(time.Minute, 1)), time.Hour)
		w.near("a lifted pace is held too", w.reserve(pace(0, 1)), time.Hour+time.Minute)
	}},
	{name: "a hold ends", needs: settable, run: func(w *world) {
		if err := w.s.Hold(w.ctx, "slack:T1/C1", time.Minute); err != nil {
			w.Fatal(err)
		}
		w.clock.Advance(time.Minute)
		w.near("after the hold", w.reserve(pace(time.Second, 1)), 0)
	}},
	{name: "many at once get places of their own", run: func(w *world) {
		const n = 20
		hs := w.handles()
		var (
			wg   sync.WaitGroup
			mu   sync.Mutex
			seen = map[int]int{}
		)
		for i := range n {
			wg.Go(func() {
				wait, ok, err := hs[i%len(hs)].Reserve(w.ctx, -1, pace(time.Hour, 1))
				if err != nil || !ok {
					w.Errorf("%v, %v", ok, err)
				}
				mu.Lock()
				defer mu.Unlock()
				seen[int((wait+time.Minute)/time.Hour)]++
			})
		}
		wg.Wait()
		for i := range n {
			if seen[i] != 1 {
				w.Fatalf("place %d was given %d times: %v", i, seen[i], seen)
			}
		}
	}},
}
