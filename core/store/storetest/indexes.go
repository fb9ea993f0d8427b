package storetest

import (
	"math"
	"slices"
	"time"

	"herald/core/store"
)

func (w *world) scores(min, max float64, limit int) []store.Scored {
	w.Helper()
	return w.read(store.Scores{Partition: conv, Index: "i", Min: min, Max: max, Limit: limit}).Scored
}

var indexTests = []test{
	{name: "range by score, then by member", run: func(w *world) {
		w.do(store.Score{Index: "i", Member: "c", Score: 2}, store.Score{Index: "i", Member: "a", Score: 2}, store.Score{Index: "i", Member: "b", Score: -1.5}, store.Score{Index: "i", Member: "d", Score: 3})
		w.do(store.Score{Index: "i", Member: "d", Score: 1e9}, store.Score{Index: "j", Member: "x", Score: 2})
		a, b, c, d := store.Scored{Member: "a", Score: 2}, store.Scored{Member: "b", Score: -1.5}, store.Scored{Member: "c", Score: 2}, store.Scored{Member: "d", Score: 1e9}
		for _, tc := range []struct {
			min, max float64
			limit    int
			want     []store.Scored
		}{
			{math.Inf(-1), math.Inf(1), 0, []store.Scored{b, a, c, d}},
			{2, 2, 0, []store.Scored{a, c}},
			{-1.5, 2, 2, []store.Scored{b, a}},
			{-1.4, 1.9, 0, nil},
			{2.1, math.Inf(1), 5, []store.Scored{d}},
			{3, 2, 0, nil},
		} {
			if got := w.scores(tc.min, tc.max, tc.limit); !slices.Equal(got, tc.want) {
				w.Errorf("[%v, %v] limit %d: %+v, want %+v", tc.min, tc.max, tc.limit, got, tc.want)
			}
		}
	}},
	{name: "scores keep their precision", run: func(w *world) {
		ms := float64(time.Date(2030, 1, 1, 0, 0, 0, 123e6, time.UTC).UnixMilli())
		w.do(store.Score{Index: "i", Member: "ms", Score: ms}, store.Score{Index: "i", Member: "third", Score: 1.0 / 3}, store.Score{Index: "i", Member: "big", Score: 1 << 53})
		want := []store.Scored{{Member: "third", Score: 1.0 / 3}, {Member: "ms", Score: ms}, {Member: "big", Score: 1 << 53}}
		if got := w.scores(math.Inf(-1), math.Inf(1), 0); !slices.Equal(got, want) {
			w.Errorf("got %+v, want %+v", got, want)
		}
		if got := w.scores(ms, ms, 0); len(got) != 1 {
			w.Errorf("the exact score finds %+v", got)
		}
	}},
	{name: "one member", run: func(w *world) {
		w.do(store.Score{Index: "i", Member: "a", Score: 4}, store.Score{Index: "i", Member: "b", Score: 5}, store.Unscore{Index: "i", Member: "b"}, store.Unscore{Index: "i", Member: "none"})
		if got := w.read(store.ScoreOf{Partition: conv, Index: "i", Member: "a"}).Scored; !slices.Equal(got, []store.Scored{{Member: "a", Score: 4}}) {
			w.Errorf("got %+v", got)
		}
		for _, q := range []store.ScoreOf{{Partition: conv, Index: "i", Member: "b"}, {Partition: conv, Index: "none", Member: "a"}, {Partition: other, Index: "i", Member: "a"}} {
			if got := w.read(q).Scored; len(got) != 0 {
				w.Errorf("%+v: got %+v", q, got)
			}
		}
	}},
	{name: "the store's time as score", run: func(w *world) {
		res := w.do(store.ScoreNow{Index: "i", Member: "a"})
		got := w.read(store.ScoreOf{Partition: conv, Index: "i", Member: "a"}).Scored
		if len(got) != 1 || got[0].Score != float64(res.Now.UnixMilli()) {
			w.Errorf("got %+v, commit at %d", got, res.Now.UnixMilli())
		}
	}},
	{name: "trim by age", run: func(w *world) {
		w.do(store.ScoreNow{Index: "i", Member: "old"})
		w.pass(w.lease)
		w.do(store.ScoreNow{Index: "i", Member: "mid"})
		w.pass(w.lease)
		w.do(store.ScoreNow{Index: "i", Member: "new"}, store.TrimOlder{Index: "i", Age: w.lease + w.lease/2}, store.TrimOlder{Index: "none", Age: time.Second})
		var left []string
		for _, s := range w.scores(0, math.Inf(1), 0) {
			left = append(left, s.Member)
		}
		if !slices.Equal(left, []string{"mid", "new"}) {
			w.Errorf("left %v", left)
		}
	}},
	{name: "trim spares what is exactly as old", needs: settable, run: func(w *world) {
		w.do(store.ScoreNow{Index: "i", Member: "a"})
		w.clock.Advance(time.Hour)
		w.do(store.TrimOlder{Index: "i", Age: time.Hour})
		if got := w.scores(0, math.Inf(1), 0); len(got) != 1 {
			w.Errorf("got %+v", got)
		}
		w.clock.Advance(time.Millisecond)
		w.do(store.TrimOlder{Index: "i", Age: time.Hour})
		if got := w.scores(0, math.Inf(1), 0); len(got) != 0 {
			w.Errorf("got %+v", got)
		}
	}},
}
