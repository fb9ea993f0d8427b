package storetest

import (
	"slices"

	"herald/core/store"
)

var docTests = []test{
	{name: "put and get", run: func(w *world) {
		value := []byte(`{"text":"grüße\u0000 and a newline\n"}`)
		res := w.do(store.Put{Key: state, Value: value})
		if !slices.Equal(res.Versions, []int64{1}) {
			w.Errorf("versions %v, want [1]", res.Versions)
		}
		d := w.doc(state)
		if string(d.Value) != string(value) || d.Version != 1 || d.Born != 1 || d.Key != state {
			w.Errorf("got %+v", d)
		}
	}},
	{name: "an absent document has no answer", run: func(w *world) {
		w.do(store.Put{Key: state, Value: []byte("1")})
		for _, q := range []store.Get{{Partition: conv, Key: store.Key{Collection: "state", Name: "no"}}, {Partition: other, Key: state}} {
			if d, ok := w.read(q).Doc(); ok {
				w.Errorf("%+v: got %+v", q, d)
			}
		}
	}},
	{name: "any byte is kept", run: func(w *world) {
		all := make([]byte, 256)
		for i := range all {
			all[i] = byte(i)
		}
		w.do(store.Put{Key: state, Value: all}, store.Append{Log: "l", ID: "e", Kind: "k", Data: all}, store.Bury{ID: "b", Note: all})
		letters, err := w.s.DeadLetters(w.ctx, 0)
		if err != nil || len(letters) != 1 {
			w.Fatalf("letters %+v, %v", letters, err)
		}
		for what, got := range map[string][]byte{"document": w.doc(state).Value, "entry": w.log("l")[0].Data, "letter": letters[0].Note} {
			if !slices.Equal(got, all) {
				w.Errorf("the %s came back as %q", what, got)
			}
		}
	}},
	{name: "revisions grow by one with each put in a partition", run: func(w *world) {
		a, b := store.Key{Collection: "x", Name: "a"}, store.Key{Collection: "y", Name: "b"}
		w.do(store.Put{Key: a, Value: []byte("1")}, store.Put{Key: b, Value: []byte("1")})
		w.do(store.Append{Log: "l", ID: "e", Kind: "k"}, store.Score{Index: "i", Member: "m", Score: 1})
		res := w.do(store.Put{Key: a, Value: []byte("2")}, store.Put{Key: a, Value: []byte("3")})
		if !slices.Equal(res.Versions, []int64{3, 4}) {
			w.Errorf("versions %v, want [3 4]", res.Versions)
		}
		if d := w.doc(a); d.Version != 4 || d.Born != 1 || string(d.Value) != "3" {
			w.Errorf("a is %+v", d)
		}
		if d := w.doc(b); d.Version != 2 || d.Born != 2 {
			w.Errorf("b is %+v", d)
		}
		if res := w.must(w.commitTo(other, store.Put{Key: a, Value: []byte("1")})); !slices.Equal(res.Versions, []int64{1}) {
			w.Errorf("another partition goes on with %v", res.Versions)
		}
	}},
	{name: "a document made anew is younger and never has an old version", run: func(w *world) {
		w.do(store.Put{Key: state, Value: []byte("1")})
		w.do(store.Delete{Key: state})
		if d := w.doc(state); d.Version != 0 {
			w.Errorf("after the delete: %+v", d)
		}
		w.do(store.Put{Key: state, Value: []byte("2")})
		if d := w.doc(state); d.Version != 2 || d.Born != 2 {
			w.Errorf("made anew: %+v", d)
		}
	}},
	{name: "deleting what is absent is no error", run: func(w *world) {
		w.do(store.Delete{Key: state}, store.Put{Key: state, Value: []byte("1")}, store.Delete{Key: state}, store.Delete{Key: state})
		if d := w.doc(state); d.Version != 0 {
			w.Errorf("got %+v", d)
		}
	}},
	{name: "an empty value is a document", run: func(w *world) {
		w.do(store.Put{Key: state})
		if d, ok := w.read(store.Get{Partition: conv, Key: state}).Doc(); !ok || len(d.Value) != 0 || d.Version != 1 {
			w.Errorf("got %+v, %v", d, ok)
		}
	}},
	{name: "a collection lists its own documents by name", run: func(w *world) {
		for _, n := range []string{"b", "a", "ä", "Z", "a/1", "10", "9"} {
			w.do(store.Put{Key: store.Key{Collection: "inbox", Name: n}, Value: []byte(n)})
		}
		w.do(store.Put{Key: store.Key{Collection: "inbox2", Name: "c"}, Value: []byte("no")}, store.Delete{Key: store.Key{Collection: "inbox", Name: "Z"}})
		var got []string
		for _, d := range w.read(store.List{Partition: conv, Collection: "inbox"}).Docs {
			got = append(got, d.Key.Name)
			if d.Key.Collection != "inbox" || string(d.Value) != d.Key.Name || d.Version == 0 || d.Born != d.Version {
				w.Errorf("got %+v", d)
			}
		}
		if want := []string{"10", "9", "a", "a/1", "b", "ä"}; !slices.Equal(got, want) {
			w.Errorf("listed %q, want %q", got, want)
		}
		if d := w.read(store.List{Partition: conv, Collection: "none"}).Docs; len(d) != 0 {
			w.Errorf("an absent collection lists %+v", d)
		}
	}},
	{name: "values are copied on the way in and out", run: func(w *world) {
		v := []byte("value")
		w.do(store.Put{Key: state, Value: v}, store.Append{Log: "l", ID: "e", Kind: "k", Data: v})
		copy(v, "XXXXX")
		copy(w.doc(state).Value, "YYYYY")
		copy(w.log("l")[0].Data, "ZZZZZ")
		if d, e := w.doc(state), w.log("l")[0]; string(d.Value) != "value" || string(e.Data) != "value" {
			w.Errorf("got %q and %q", d.Value, e.Data)
		}
	}},
	{name: "answers come in the order of the queries", run: func(w *world) {
		w.do(store.Put{Key: state, Value: []byte("1")}, store.Append{Log: "l", ID: "e", Kind: "k"}, store.Score{Index: "i", Member: "m", Score: 7})
		w.must(w.commitTo(other, store.Put{Key: state, Value: []byte("2")}))
		a, err := w.s.Read(w.ctx,
			store.Get{Partition: other, Key: state}, store.Tail{Partition: conv, Log: "l", N: 5}, store.ScoreOf{Partition: conv, Index: "i", Member: "m"},
			store.Get{Partition: conv, Key: state}, store.Get{Partition: "person/nobody", Key: state}, store.List{Partition: other, Collection: "state"})
		if err != nil || len(a) != 6 {
			w.Fatalf("%d answers, %v", len(a), err)
		}
		if string(a[0].Docs[0].Value) != "2" || len(a[1].Entries) != 1 || a[2].Scored[0].Score != 7 || string(a[3].Docs[0].Value) != "1" || len(a[4].Docs) != 0 || len(a[5].Docs) != 1 {
			w.Errorf("got %+v", a)
		}
		for i := range a {
			if a[i].Now.IsZero() {
				w.Errorf("answer %d has no time", i)
			}
		}
	}},
	{name: "no query, no answer", run: func(w *world) {
		if a, err := w.s.Read(w.ctx); err != nil || len(a) != 0 {
			w.Errorf("got %+v, %v", a, err)
		}
	}},
}
