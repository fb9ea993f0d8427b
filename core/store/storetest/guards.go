package storetest

import (
	"errors"
	"fmt"
	"slices"

	"herald/core/store"
)

// refused applies c with guards, which has to meet the conflict want.
func (w *world) refused(c store.Commit, want store.ConflictError) {
	w.Helper()
	_, err := w.s.Commit(w.ctx, c)
	got, ok := errors.AsType[*store.ConflictError](err)
	if !ok || *got != want || !errors.Is(err, store.ErrConflict) {
		w.Errorf("guards %+v: %v, want the conflict %+v", c.Guards, err, want)
	}
}

var guardTests = []test{
	{name: "at", run: func(w *world) {
		w.do(store.Put{Key: store.Key{Collection: "x", Name: "y"}, Value: []byte("0")}, store.Put{Key: state, Value: []byte("1")})
		put := func(versions ...int64) store.Commit {
			c := w.commit(store.Put{Key: state, Value: []byte("2")})
			for _, v := range versions {
				c.Guards = append(c.Guards, store.At{Key: state, Version: v})
			}
			return c
		}
		w.refused(put(1), store.ConflictError{Guard: 0, Version: 2})
		w.refused(put(0), store.ConflictError{Guard: 0, Version: 2})
		w.refused(put(2, 3), store.ConflictError{Guard: 1, Version: 2})
		if d := w.doc(state); string(d.Value) != "1" {
			w.Fatalf("a refused commit wrote %+v", d)
		}
		if res := w.must(put(2)); !slices.Equal(res.Versions, []int64{3}) {
			w.Errorf("versions %v", res.Versions)
		}
		w.refused(put(2), store.ConflictError{Version: 3})
	}},
	{name: "at version 0 means absent", run: func(w *world) {
		c := w.commit(store.Put{Key: state, Value: []byte("1")})
		c.Guards = []store.Guard{store.At{Key: state}}
		w.must(c)
		c.ID = "again"
		w.refused(c, store.ConflictError{Version: 1})
		w.do(store.Delete{Key: state})
		c.Guards = []store.Guard{store.At{Key: state, Version: 1}}
		w.refused(c, store.ConflictError{Version: 0})
		c.Guards = []store.Guard{store.At{Key: state}}
		w.must(c)
	}},
	{name: "absent", run: func(w *world) {
		c := func() store.Commit {
			c := w.commit(store.ScoreNow{Index: "seen", Member: "event-1"}, store.Append{Log: "l", ID: "e", Kind: "k"})
			c.Guards = []store.Guard{store.Absent{Index: "other", Member: "event-1"}, store.Absent{Index: "seen", Member: "event-1"}}
			return c
		}
		w.must(c())
		w.refused(c(), store.ConflictError{Guard: 1})
		w.do(store.Unscore{Index: "seen", Member: "event-1"})
		w.must(c())
		if n := len(w.log("l")); n != 2 {
			w.Errorf("%d entries, want 2", n)
		}
	}},
	{name: "fewer", run: func(w *world) {
		add := func(i, n int) store.Commit {
			c := w.commit(store.Put{Key: store.Key{Collection: "inbox", Name: fmt.Sprint(i)}, Value: []byte("m")})
			c.Guards = []store.Guard{store.Fewer{Collection: "inbox", N: n}}
			return c
		}
		w.refused(add(0, 0), store.ConflictError{})
		w.must(add(0, 2))
		w.must(add(1, 2))
		w.refused(add(2, 2), store.ConflictError{})
		w.must(add(2, 3))
		w.do(store.Delete{Key: store.Key{Collection: "inbox", Name: "0"}}, store.Delete{Key: store.Key{Collection: "inbox", Name: "1"}})
		w.must(add(3, 2))
	}},
	{name: "free", run: func(w *world) {
		take := func(id string) store.Commit {
			c := w.commit(store.Take{Agenda: store.Outbox, Member: store.Member(conv), Holder: "h", Lease: w.lease}, store.Append{Log: "l", ID: id, Kind: "k"})
			c.Guards = []store.Guard{store.Absent{Index: "other", Member: "m"}, store.Free{Agenda: store.Outbox, Member: store.Member(conv)}}
			return c
		}
		claim := w.must(take("a")).Taken[0]
		w.refused(take("b"), store.ConflictError{Guard: 1})
		w.pass(2 * w.lease)
		w.refused(take("c"), store.ConflictError{Guard: 1}) // it ended, and nobody has taken it over: a Take does not either
		w.do(store.Release{Claim: *claim})
		if w.must(take("d")).Taken[0] == nil {
			w.Error("the guard held, and the claim was not taken")
		}
		elsewhere := w.commit(store.Put{Key: state, Value: []byte("1")})
		elsewhere.Guards = []store.Guard{store.Free{Agenda: store.Outbox, Member: store.Member(other)}}
		if _, err := w.s.Commit(w.ctx, elsewhere); !errors.Is(err, store.ErrInvalid) {
			w.Errorf("a guard about another partition: %v", err)
		}
	}},
	{name: "guards see what stood before the commit", run: func(w *world) {
		c := w.commit(store.Put{Key: state, Value: []byte("1")}, store.Put{Key: state, Value: []byte("2")}, store.ScoreNow{Index: "i", Member: "m"})
		c.Guards = []store.Guard{store.At{Key: state}, store.Absent{Index: "i", Member: "m"}, store.Fewer{Collection: "state", N: 1}}
		w.must(c)
	}},
	{name: "a refused commit leaves nothing", run: func(w *world) {
		w.do(store.Put{Key: state, Value: []byte("1")})
		before, err := w.s.Partitions(w.ctx, conv.Bucket(), store.Stamp{}, 0)
		if err != nil {
			w.Fatal(err)
		}
		w.pass(w.lease)
		for _, p := range []store.Partition{conv, other} {
			c := w.commitTo(p, store.Put{Key: state, Value: []byte("2")}, store.Append{Log: "l", ID: "e", Kind: "k"}, store.Score{Index: "i", Member: "m", Score: 1},
				store.Wake{Agenda: store.Turns, Member: store.Member(p)}, store.Bury{ID: "b"}, store.Take{Agenda: store.Outbox, Member: store.Member(p), Holder: "h", Lease: w.lease})
			c.Guards = []store.Guard{store.Fewer{Collection: "none", N: 1}, store.At{Key: state, Version: 9}}
			if _, err := w.s.Commit(w.ctx, c); !errors.Is(err, store.ErrConflict) {
				w.Fatalf("got %v", err)
			}
		}
		if d := w.doc(state); string(d.Value) != "1" || d.Version != 1 {
			w.Errorf("the document is %+v", d)
		}
		if e := w.log("l"); len(e) != 0 {
			w.Errorf("the log has %+v", e)
		}
		if sc := w.read(store.Scores{Partition: conv, Index: "i", Max: 9}).Scored; len(sc) != 0 {
			w.Errorf("the index has %+v", sc)
		}
		w.none("a refused commit woke")
		if l, err := w.s.DeadLetters(w.ctx, 0); err != nil || len(l) != 0 {
			w.Errorf("letters %+v, %v", l, err)
		}
		if after, err := w.s.Partitions(w.ctx, conv.Bucket(), store.Stamp{}, 0); err != nil || !slices.Equal(after, before) {
			w.Errorf("partitions %+v became %+v, %v", before, after, err)
		}
		if ps, err := w.s.Partitions(w.ctx, other.Bucket(), store.Stamp{}, 0); err != nil || slices.ContainsFunc(ps, func(s store.Stamp) bool { return s.Partition == other }) {
			w.Errorf("a refused commit made a partition: %+v, %v", ps, err)
		}
	}},
	{name: "a commit without operations checks its guards", run: func(w *world) {
		w.do(store.Put{Key: state, Value: []byte("1")})
		c := w.commit()
		c.Guards = []store.Guard{store.At{Key: state, Version: 1}}
		if res := w.must(c); len(res.Versions)+len(res.Seqs)+len(res.Taken) != 0 {
			w.Errorf("got %+v", res)
		}
		c = w.commit()
		c.Guards = []store.Guard{store.At{Key: state, Version: 2}}
		w.refused(c, store.ConflictError{Version: 1})
	}},
}
