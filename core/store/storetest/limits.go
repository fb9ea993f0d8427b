package storetest

import (
	"errors"
	"math"
	"strings"
	"time"

	"herald/core/store"
)

// refusedAs checks that c is refused with kind and leaves nothing.
func (w *world) refusedAs(what string, c store.Commit, kind error) {
	w.Helper()
	if _, err := w.s.Commit(w.ctx, c); !errors.Is(err, kind) {
		w.Errorf("%s: %v, want %v", what, err, kind)
	}
}

var limitTests = []test{
	{name: "the largest value", run: func(w *world) {
		big := []byte(strings.Repeat("x", store.MaxValue))
		w.do(store.Put{Key: state, Value: big}, store.Append{Log: "l", ID: "e", Kind: "k", Data: big}, store.Bury{ID: "b", Note: big})
		if d, e := w.doc(state), w.log("l"); len(d.Value) != store.MaxValue || len(e) != 1 || len(e[0].Data) != store.MaxValue {
			w.Errorf("%d and %d bytes came back", len(d.Value), len(e[0].Data))
		}
	}},
	{name: "a value that is too large", run: func(w *world) {
		big := make([]byte, store.MaxValue+1)
		small := store.Put{Key: state, Value: []byte("x")}
		w.refusedAs("document", w.commit(small, store.Put{Key: state, Value: big}), store.ErrTooLarge)
		w.refusedAs("entry", w.commit(small, store.Append{Log: "l", ID: "e", Kind: "k", Data: big}), store.ErrTooLarge)
		w.refusedAs("letter", w.commit(small, store.Bury{ID: "b", Note: big}), store.ErrTooLarge)
		if d := w.doc(state); d.Version != 0 {
			w.Errorf("a refused commit wrote %+v", d)
		}
	}},
	{name: "as many operations as may be", run: func(w *world) {
		ops := make([]store.Op, store.MaxOps)
		for i := range ops {
			ops[i] = store.Append{Log: "l", ID: "e", Kind: "k"}
		}
		if res := w.do(ops...); len(res.Seqs) != store.MaxOps || res.Seqs[store.MaxOps-1] != store.MaxOps {
			w.Errorf("%d sequences", len(res.Seqs))
		}
		w.refusedAs("one more", w.commit(append(ops, ops[0])...), store.ErrTooLarge)
		if n := len(w.log("l")); n != store.MaxOps {
			w.Errorf("%d entries", n)
		}
	}},
	{name: "what crosses a partition", run: func(w *world) {
		foreign := store.Member(other)
		claim := store.Claim{Agenda: store.Turns, Member: foreign, Token: 1, Holder: "h"}
		first := store.Put{Key: state, Value: []byte("x")}
		for what, op := range map[string]store.Op{
			"wake": store.Wake{Agenda: store.Turns, Member: foreign}, "release": store.Release{Claim: claim},
			"take": store.Take{Agenda: store.Turns, Member: foreign, Holder: "h", Lease: time.Minute},
		} {
			w.refusedAs(what, w.commit(first, op), store.ErrInvalid)
		}
		c := w.commit(first)
		c.Claim = &claim
		w.refusedAs("claim", c, store.ErrInvalid)
		if d := w.doc(state); d.Version != 0 {
			w.Errorf("a refused commit wrote %+v", d)
		}
	}},
	{name: "names that cannot be", run: func(w *world) {
		for what, op := range map[string]store.Op{
			"collection": store.Put{Key: store.Key{Name: "x"}}, "name": store.Put{Key: store.Key{Collection: "x"}}, "log": store.Append{ID: "e", Kind: "k"},
			"kind": store.Append{Log: "l", ID: "e"}, "newline": store.Delete{Key: store.Key{Collection: "a\nb", Name: "x"}}, "index": store.Score{Member: "m"},
			"not a number": store.Score{Index: "i", Member: "m", Score: math.NaN()}, "agenda": store.Wake{Member: turn}, "long": store.TrimLog{Log: strings.Repeat("l", 513)},
			"no lease": store.Take{Agenda: store.Turns, Member: turn, Holder: "h"}, "nothing": nil,
		} {
			w.refusedAs(what, w.commit(op), store.ErrInvalid)
		}
		for _, p := range []store.Partition{"", "a b", "a#b", "a\x00", store.Partition(strings.Repeat("p", 513))} {
			w.refusedAs("partition "+string(p), store.Commit{ID: "c", Partition: p}, store.ErrInvalid)
			if _, err := w.s.Read(w.ctx, store.Get{Partition: p, Key: state}); !errors.Is(err, store.ErrInvalid) {
				w.Errorf("read of %q: %v", p, err)
			}
		}
		w.refusedAs("no id", store.Commit{Partition: conv}, store.ErrInvalid)
		c := w.commit()
		c.Guards = []store.Guard{nil}
		w.refusedAs("no guard", c, store.ErrInvalid)
	}},
	{name: "names with every allowed character", run: func(w *world) {
		p := store.Partition("conversation/slack:T1:C1{}[]*?'\"\\%_;--ü🙂")
		k := store.Key{Collection: "a b{}'%\"", Name: "x:y*?[z]\\\t🙂 '; drop"}
		m := store.MemberOf(p, "x#y {z} '")
		w.must(w.commitTo(p, store.Put{Key: k, Value: []byte("v")}, store.Append{Log: k.Collection, ID: k.Name, Kind: k.Name}, store.Score{Index: k.Collection, Member: k.Name, Score: 1},
			store.Wake{Agenda: "an agenda{}", Member: m}, store.Bury{ID: k.Name}))
		if d, ok := w.read(store.Get{Partition: p, Key: k}).Doc(); !ok || d.Key != k {
			w.Errorf("document %+v", d)
		}
		if l := w.read(store.List{Partition: p, Collection: k.Collection}).Docs; len(l) != 1 || l[0].Key != k {
			w.Errorf("list %+v", l)
		}
		if e := w.read(store.Range{Partition: p, Log: k.Collection}).Entries; len(e) != 1 || e[0].ID != k.Name || e[0].Kind != k.Name {
			w.Errorf("log %+v", e)
		}
		if s := w.read(store.Scores{Partition: p, Index: k.Collection, Max: 1}).Scored; len(s) != 1 || s[0].Member != k.Name {
			w.Errorf("index %+v", s)
		}
		if c := w.claimFrom(w.s, store.ClaimRequest{Agenda: "an agenda{}", Holder: "h", Lease: w.lease, Limit: 1}); len(c) != 1 || c[0].Member != m {
			w.Errorf("claim %+v", c)
		}
		if l, err := w.s.DeadLetters(w.ctx, 0); err != nil || len(l) != 1 || l[0].ID != k.Name || l[0].Partition != p {
			w.Errorf("letters %+v, %v", l, err)
		}
	}},
	{name: "claims that cannot be", run: func(w *world) {
		good := store.ClaimRequest{Agenda: store.Turns, Holder: "h", Lease: w.lease, Limit: 1}
		for what, change := range map[string]func(*store.ClaimRequest){
			"agenda": func(r *store.ClaimRequest) { r.Agenda = "" }, "holder": func(r *store.ClaimRequest) { r.Holder = "" },
			"lease": func(r *store.ClaimRequest) { r.Lease = 0 }, "limit": func(r *store.ClaimRequest) { r.Limit = 0 }, "bucket": func(r *store.ClaimRequest) { r.Buckets = []int{store.Buckets} },
		} {
			r := good
			change(&r)
			if _, err := w.s.Claim(w.ctx, r); !errors.Is(err, store.ErrInvalid) {
				w.Errorf("%s: %v", what, err)
			}
		}
	}},
}
