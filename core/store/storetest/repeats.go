package storetest

import (
	"errors"
	"reflect"
	"slices"
	"sync"
	"time"

	"herald/core/store"
)

// again applies c once more and checks that the answer is first's.
func (w *world) again(c store.Commit, first store.Result) {
	w.Helper()
	res, err := w.s.Commit(w.ctx, c)
	if err != nil {
		w.Fatalf("repeat: %v", err)
	}
	if !res.Repeated || first.Repeated {
		w.Errorf("repeated is %v at first, %v then", first.Repeated, res.Repeated)
	}
	first.Repeated = true
	if len(res.Taken) != len(first.Taken) || !res.Now.Equal(first.Now) || !slices.Equal(res.Versions, first.Versions) || !slices.Equal(res.Seqs, first.Seqs) {
		w.Fatalf("the repeat answers %+v, at first %+v", res, first)
	}
	for i := range res.Taken {
		if !reflect.DeepEqual(normal(res.Taken[i]), normal(first.Taken[i])) {
			w.Errorf("taken %d: %+v, at first %+v", i, res.Taken[i], first.Taken[i])
		}
	}
}

// normal is a copy of c with times that compare as values.
func normal(c *store.Claim) *store.Claim {
	if c == nil {
		return nil
	}
	d := *c
	d.Since, d.Until = d.Since.UTC(), d.Until.UTC()
	return &d
}

var repeatTests = []test{
	{name: "the same id answers as at first and changes nothing", run: func(w *world) {
		w.do(store.Take{Agenda: store.Handover, Member: turn, Holder: "someone", Lease: w.lease})
		c := w.commit(store.Put{Key: state, Value: []byte("1")}, store.Append{Log: "l", ID: "e1", Kind: "kind-e1", Data: []byte("data-e1")},
			store.Take{Agenda: store.Outbox, Member: turn, Holder: "h", Lease: w.lease}, store.Take{Agenda: store.Handover, Member: turn, Holder: "h", Lease: w.lease})
		c.Guards = []store.Guard{store.At{Key: state}}
		first := w.must(c)
		if len(first.Taken) != 2 || first.Taken[0] == nil || first.Taken[1] != nil {
			w.Fatalf("taken %+v", first.Taken)
		}
		w.pass(50 * time.Millisecond)
		w.do(store.Put{Key: state, Value: []byte("2")})
		w.again(c, first)
		w.again(c, first)
		if d := w.doc(state); string(d.Value) != "2" || d.Version != 2 {
			w.Errorf("the repeat changed the document: %+v", d)
		}
		w.wantEntries("log", w.log("l"), 1)
	}},
	{name: "a repeat is answered although its claim is gone", run: func(w *world) {
		w.wake()
		claim := w.claimOne("h")
		c := w.commit(store.Append{Log: "l", ID: "e1", Kind: "kind-e1"}, store.Release{Claim: claim})
		c.Claim = &claim
		first := w.must(c)
		w.again(c, first)
		c.ID = "other"
		if _, err := w.s.Commit(w.ctx, c); !errors.Is(err, store.ErrFenced) {
			w.Errorf("another commit under the released claim: %v", err)
		}
	}},
	{name: "a refusal is not remembered", run: func(w *world) {
		c := w.commit(store.Put{Key: state, Value: []byte("1")})
		c.Guards = []store.Guard{store.Absent{Index: "i", Member: "m"}}
		w.do(store.Score{Index: "i", Member: "m", Score: 1})
		w.refused(c, store.ConflictError{})
		w.do(store.Unscore{Index: "i", Member: "m"})
		if res := w.must(c); res.Repeated || !slices.Equal(res.Versions, []int64{1}) {
			w.Errorf("got %+v", res)
		}
	}},
	{name: "the same id in another partition is another commit", run: func(w *world) {
		c := w.commit(store.Append{Log: "l", ID: "e1", Kind: "k"})
		w.must(c)
		c.Partition = other
		if res := w.must(c); res.Repeated {
			w.Errorf("got %+v", res)
		}
	}},
	{name: "a repeat sends no wake", run: func(w *world) {
		c := w.commit(store.Wake{Agenda: store.Turns, Member: turn})
		first := w.must(c)
		claim := w.claimOne("h")
		w.do(store.Release{Claim: claim})
		w.again(c, first)
		w.none("after the repeat")
	}},
	{name: "nine minutes later", needs: settable, run: func(w *world) {
		c := w.commit(store.Append{Log: "l", ID: "e1", Kind: "kind-e1"})
		first := w.must(c)
		w.clock.Advance(9 * time.Minute)
		w.do(store.Append{Log: "other", ID: "e1", Kind: "k"})
		w.again(c, first)
	}},
	{name: "many at once are applied once", run: func(w *world) {
		c := w.commit(store.Append{Log: "l", ID: "e1", Kind: "kind-e1"})
		var (
			wg    sync.WaitGroup
			mu    sync.Mutex
			fresh int
		)
		for range 16 {
			wg.Go(func() {
				res, err := w.s.Commit(w.ctx, c)
				mu.Lock()
				defer mu.Unlock()
				if err != nil || !slices.Equal(res.Seqs, []int64{1}) {
					w.Errorf("got %+v, %v", res, err)
				}
				if !res.Repeated {
					fresh++
				}
			})
		}
		wg.Wait()
		w.wantEntries("log", w.log("l"), 1)
		if fresh != 1 {
			w.Errorf("%d of them say that they were the first", fresh)
		}
	}},
}
