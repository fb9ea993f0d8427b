package storetest

import (
	"fmt"
	"slices"
	"time"

	"herald/core/store"
)

// fill appends n entries "e1"… to the log of conv, one commit each.
func (w *world) fill(log string, n int) {
	w.Helper()
	for i := range n {
		id := fmt.Sprintf("e%d", i+1)
		w.do(store.Append{Log: log, ID: id, Kind: "kind-" + id, Data: []byte("data-" + id)})
	}
}

// wantEntries checks sequences and ids.
func (w *world) wantEntries(what string, got []store.Entry, seqs ...int64) {
	w.Helper()
	var have []int64
	for _, e := range got {
		have = append(have, e.Seq)
		if want := fmt.Sprintf("e%d", e.Seq); e.ID != want || e.Kind != "kind-"+want || len(e.Data) > 0 && string(e.Data) != "data-"+want {
			w.Errorf("%s: entry %d is %+v", what, e.Seq, e)
		}
	}
	if !slices.Equal(have, seqs) {
		w.Errorf("%s: sequences %v, want %v", what, have, seqs)
	}
}

var logTests = []test{
	{name: "sequences count from 1 without a gap in each log", run: func(w *world) {
		res := w.do(store.Append{Log: "a", ID: "1", Kind: "k"}, store.Append{Log: "b", ID: "1", Kind: "k"}, store.Append{Log: "a", ID: "2", Kind: "k"})
		if !slices.Equal(res.Seqs, []int64{1, 1, 2}) {
			w.Errorf("seqs %v", res.Seqs)
		}
		if res := w.do(store.Append{Log: "a", ID: "3", Kind: "k"}); !slices.Equal(res.Seqs, []int64{3}) {
			w.Errorf("seqs %v", res.Seqs)
		}
		if res := w.must(w.commitTo(other, store.Append{Log: "a", ID: "1", Kind: "k"})); !slices.Equal(res.Seqs, []int64{1}) {
			w.Errorf("another partition goes on with %v", res.Seqs)
		}
	}},
	{name: "a refused commit uses no sequence", run: func(w *world) {
		c := w.commit(store.Append{Log: "l", ID: "no", Kind: "k"})
		c.Guards = []store.Guard{store.At{Key: state, Version: 3}}
		w.refused(c, store.ConflictError{})
		w.fill("l", 1)
		w.wantEntries("log", w.log("l"), 1)
	}},
	{name: "an entry has the time of its commit", run: func(w *world) {
		res := w.do(store.Append{Log: "l", ID: "e1", Kind: "k"}, store.Append{Log: "l", ID: "e2", Kind: "k"})
		for _, e := range w.log("l") {
			if !e.At.Equal(res.Now) {
				w.Errorf("entry %d at %v, commit at %v", e.Seq, e.At, res.Now)
			}
		}
	}},
	{name: "range", run: func(w *world) {
		w.fill("l", 5)
		for _, tc := range []struct {
			from  int64
			limit int
			want  []int64
		}{
			{0, 0, []int64{1, 2, 3, 4, 5}}, {-3, 2, []int64{1, 2}}, {1, 2, []int64{1, 2}}, {4, 0, []int64{4, 5}}, {4, 9, []int64{4, 5}}, {5, 1, []int64{5}}, {6, 0, nil}, {99, 3, nil},
		} {
			w.wantEntries(fmt.Sprintf("from %d limit %d", tc.from, tc.limit), w.read(store.Range{Partition: conv, Log: "l", From: tc.from, Limit: tc.limit}).Entries, tc.want...)
		}
		w.wantEntries("absent log", w.log("none"))
	}},
	{name: "tail", run: func(w *world) {
		w.fill("l", 4)
		for n, want := range map[int][]int64{0: nil, 1: {4}, 3: {2, 3, 4}, 4: {1, 2, 3, 4}, 99: {1, 2, 3, 4}} {
			w.wantEntries(fmt.Sprintf("last %d", n), w.read(store.Tail{Partition: conv, Log: "l", N: n}).Entries, want...)
		}
		w.wantEntries("absent log", w.read(store.Tail{Partition: conv, Log: "none", N: 3}).Entries)
	}},
	{name: "blank keeps id, kind, time and place", run: func(w *world) {
		w.fill("l", 3)
		before := w.log("l")
		w.do(store.Blank{Log: "l", Seq: 2}, store.Blank{Log: "l", Seq: 2}, store.Blank{Log: "l", Seq: 0}, store.Blank{Log: "l", Seq: 4}, store.Blank{Log: "none", Seq: 1})
		after := w.log("l")
		w.wantEntries("log", after, 1, 2, 3)
		if after[1].Data != nil {
			w.Errorf("the blanked entry has %q", after[1].Data)
		}
		if !after[1].At.Equal(before[1].At) || string(after[0].Data) != "data-e1" || string(after[2].Data) != "data-e3" {
			w.Errorf("blank changed more: %+v", after)
		}
		w.do(store.Append{Log: "l", ID: "e4", Kind: "kind-e4", Data: []byte("data-e4")}, store.Blank{Log: "l", Seq: 4})
		if e := w.read(store.Tail{Partition: conv, Log: "l", N: 1}).Entries; len(e) != 1 || e[0].Data != nil {
			w.Errorf("blanked in the commit that appended it: %+v", e)
		}
	}},
	{name: "an entry without data is not a blanked one", run: func(w *world) {
		w.do(store.Append{Log: "l", ID: "e", Kind: "k"}, store.Append{Log: "l", ID: "f", Kind: "k", Data: []byte{}})
		for _, e := range w.log("l") {
			if e.Data == nil || len(e.Data) != 0 {
				w.Errorf("got %+v", e)
			}
		}
	}},
	{name: "trim keeps the sequence", run: func(w *world) {
		w.fill("l", 4)
		w.do(store.TrimLog{Log: "l", Before: 3}, store.TrimLog{Log: "none", Before: 3})
		w.wantEntries("after the trim", w.log("l"), 3, 4)
		w.wantEntries("tail", w.read(store.Tail{Partition: conv, Log: "l", N: 9}).Entries, 3, 4)
		w.wantEntries("range", w.read(store.Range{Partition: conv, Log: "l", From: 1, Limit: 1}).Entries, 3)
		w.do(store.TrimLog{Log: "l", Before: 2}, store.Blank{Log: "l", Seq: 1}, store.Blank{Log: "l", Seq: 4})
		got := w.log("l")
		w.wantEntries("after a blank", got, 3, 4)
		if got[0].Data == nil || got[1].Data != nil {
			w.Errorf("the wrong entry was blanked: %+v", got)
		}
		w.do(store.TrimLog{Log: "l", Before: 99})
		w.wantEntries("trimmed to nothing", w.log("l"))
		if res := w.do(store.Append{Log: "l", ID: "e5", Kind: "kind-e5", Data: []byte("data-e5")}); !slices.Equal(res.Seqs, []int64{5}) {
			w.Errorf("after trimming everything the sequence is %v", res.Seqs)
		}
		w.wantEntries("at the end", w.log("l"), 5)
	}},
	{name: "operations apply in their order", run: func(w *world) {
		res := w.do(
			store.Append{Log: "l", ID: "e1", Kind: "kind-e1", Data: []byte("data-e1")}, store.Append{Log: "l", ID: "e2", Kind: "kind-e2", Data: []byte("data-e2")},
			store.TrimLog{Log: "l", Before: 2}, store.Append{Log: "l", ID: "e3", Kind: "kind-e3", Data: []byte("data-e3")},
			store.Put{Key: state, Value: []byte("1")}, store.Delete{Key: state}, store.Put{Key: state, Value: []byte("2")})
		if !slices.Equal(res.Seqs, []int64{1, 2, 3}) || !slices.Equal(res.Versions, []int64{1, 2}) {
			w.Errorf("got %+v", res)
		}
		w.wantEntries("log", w.log("l"), 2, 3)
		if d := w.doc(state); string(d.Value) != "2" || d.Born != 2 {
			w.Errorf("got %+v", d)
		}
	}},
	{name: "times never go back, whatever the clock does", needs: settable, run: func(w *world) {
		w.fill("l", 1)
		first := w.log("l")[0].At
		w.clock.Advance(-time.Hour)
		res := w.do(store.Append{Log: "l", ID: "e2", Kind: "kind-e2", Data: []byte("data-e2")})
		if res.Now.Before(first) {
			w.Errorf("the commit is at %v, after one at %v", res.Now, first)
		}
		if a := w.read(store.Range{Partition: conv, Log: "l"}); a.Now.Before(first) {
			w.Errorf("an answer is at %v, and tells of %v", a.Now, first)
		}
		w.clock.Advance(2 * time.Hour)
		w.do(store.Append{Log: "l", ID: "e3", Kind: "kind-e3", Data: []byte("data-e3")})
		got := w.log("l")
		w.wantEntries("log", got, 1, 2, 3)
		if !slices.IsSortedFunc(got, func(a, b store.Entry) int { return a.At.Compare(b.At) }) || !got[2].At.Equal(first.Add(time.Hour)) {
			w.Errorf("times %v, %v, %v", got[0].At, got[1].At, got[2].At)
		}
	}},
}
