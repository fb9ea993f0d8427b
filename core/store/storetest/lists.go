package storetest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"herald/core/store"
)

// roommates are n partitions of one bucket.
func roommates(n int) []store.Partition {
	var out []store.Partition
	for i := 0; len(out) < n; i++ {
		if p := store.Partition(fmt.Sprintf("person/p_%d", i)); p.Bucket() == conv.Bucket() {
			out = append(out, p)
		}
	}
	return out
}

func (w *world) partitions(after store.Stamp, limit int) []store.Stamp {
	w.Helper()
	got, err := w.s.Partitions(w.ctx, conv.Bucket(), after, limit)
	if err != nil {
		w.Fatal(err)
	}
	return got
}

var listTests = []test{
	{name: "partitions by last write", run: func(w *world) {
		ps := roommates(5)
		for _, p := range ps {
			w.must(w.commitTo(p, store.Put{Key: state, Value: []byte("1")}))
			w.pass(20 * time.Millisecond)
		}
		last := w.must(w.commitTo(ps[1], store.Delete{Key: state}))
		want := []store.Partition{ps[0], ps[2], ps[3], ps[4], ps[1]}
		var got []store.Partition
		after, pages := store.Stamp{}, 0
		for ; ; pages++ {
			page := w.partitions(after, 2)
			if len(page) == 0 || pages > 9 {
				break
			}
			for _, st := range page {
				got = append(got, st.Partition)
			}
			after = page[len(page)-1]
		}
		if !slices.Equal(got, want) || pages != 3 {
			w.Errorf("%d pages: %v, want %v", pages, got, want)
		}
		if !after.At.Equal(last.Now) {
			w.Errorf("the last stamp is %v, the commit %v", after.At, last.Now)
		}
		if all := w.partitions(store.Stamp{}, 0); len(all) != 5 {
			w.Errorf("limit 0 gave %d", len(all))
		}
	}},
	{name: "partitions of one instant are walked by name", needs: settable, run: func(w *world) {
		ps := roommates(4)
		for _, p := range ps {
			w.must(w.commitTo(p))
		}
		slices.Sort(ps)
		after := store.Stamp{}
		for _, want := range ps {
			got := w.partitions(after, 1)
			if len(got) != 1 || got[0].Partition != want {
				w.Fatalf("after %v: %v, want %s", after, got, want)
			}
			after = got[0]
		}
		if got := w.partitions(after, 1); len(got) != 0 {
			w.Errorf("after the last: %v", got)
		}
	}},
	{name: "a bucket lists its own", run: func(w *world) {
		w.must(w.commitTo(conv))
		if got, err := w.s.Partitions(w.ctx, (conv.Bucket()+1)%store.Buckets, store.Stamp{}, 0); err != nil || len(got) != 0 {
			w.Errorf("another bucket: %v, %v", got, err)
		}
		for _, b := range []int{-1, store.Buckets} {
			if _, err := w.s.Partitions(w.ctx, b, store.Stamp{}, 0); !errors.Is(err, store.ErrInvalid) {
				w.Errorf("bucket %d: %v", b, err)
			}
		}
	}},
	{name: "dead letters, newest first", run: func(w *world) {
		var want []string
		for i := range 4 {
			p := store.Partition(fmt.Sprintf("conversation/dead%d", i))
			w.must(w.commitTo(p, store.Bury{ID: "d", Note: []byte(p)}))
			want = append(want, string(p))
			w.pass(20 * time.Millisecond)
		}
		slices.Reverse(want)
		got := func(limit int) (out []string) {
			letters, err := w.s.DeadLetters(w.ctx, limit)
			if err != nil {
				w.Fatal(err)
			}
			for _, l := range letters {
				if l.ID != "d" || string(l.Note) != string(l.Partition) || l.At.IsZero() {
					w.Errorf("got %+v", l)
				}
				out = append(out, string(l.Partition))
			}
			return out
		}
		if g := got(0); !slices.Equal(g, want) {
			w.Errorf("all: %v, want %v", g, want)
		}
		if g := got(2); !slices.Equal(g, want[:2]) {
			w.Errorf("two: %v, want %v", g, want[:2])
		}
		w.must(w.commitTo(store.Partition(want[0]), store.Unbury{ID: "d"}, store.Unbury{ID: "none"}))
		if g := got(0); !slices.Equal(g, want[1:]) {
			w.Errorf("after one was dug out: %v, want %v", g, want[1:])
		}
	}},
	{name: "a letter buried again is replaced", run: func(w *world) {
		w.do(store.Bury{ID: "d", Note: []byte("1")}, store.Bury{ID: "e", Note: []byte("1")})
		w.do(store.Bury{ID: "d", Note: []byte("2")})
		letters, err := w.s.DeadLetters(w.ctx, 0)
		if err != nil || len(letters) != 2 {
			w.Fatalf("got %+v, %v", letters, err)
		}
		for _, l := range letters {
			if (l.ID == "d") != (string(l.Note) == "2") {
				w.Errorf("got %+v", l)
			}
		}
	}},
}
