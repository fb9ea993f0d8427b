package storetest

import (
	"slices"
	"time"

	"herald/core/store"
)

// reopen closes the store and opens it again.
func (w *world) reopen() {
	w.Helper()
	w.s = w.inst.Reopen(w.T)
}

var reopenTests = []test{
	{name: "everything stands", needs: reopenable, run: func(w *world) {
		c := w.commit(store.Put{Key: state, Value: []byte("1")}, store.Append{Log: "l", ID: "e1", Kind: "kind-e1", Data: []byte("data-e1")},
			store.Append{Log: "l", ID: "e2", Kind: "kind-e2", Data: []byte("data-e2")}, store.TrimLog{Log: "l", Before: 2}, store.Blank{Log: "l", Seq: 2},
			store.Score{Index: "i", Member: "m", Score: 0.1}, store.Wake{Agenda: store.Turns, Member: turn}, store.Bury{ID: "b", Note: []byte("n")})
		first := w.must(c)
		before, err := w.s.Health(w.ctx)
		if err != nil {
			w.Fatal(err)
		}
		w.reopen()
		if h, err := w.s.Health(w.ctx); err != nil || h.ID != before.ID {
			w.Errorf("health %+v, %v; before %+v", h, err, before)
		}
		if d := w.doc(state); string(d.Value) != "1" || d.Version != 1 || d.Born != 1 {
			w.Errorf("document %+v", d)
		}
		got := w.log("l")
		w.wantEntries("log", got, 2)
		if got[0].Data != nil || !got[0].At.Equal(first.Now) {
			w.Errorf("entry %+v", got[0])
		}
		if sc := w.scores(0, 1, 0); !slices.Equal(sc, []store.Scored{{Member: "m", Score: 0.1}}) {
			w.Errorf("index %+v", sc)
		}
		if l, err := w.s.DeadLetters(w.ctx, 0); err != nil || len(l) != 1 || !l[0].At.Equal(first.Now) {
			w.Errorf("letters %+v, %v", l, err)
		}
		if ps := w.partitions(store.Stamp{}, 0); len(ps) != 1 || ps[0].Partition != conv || !ps[0].At.Equal(first.Now) {
			w.Errorf("partitions %+v", ps)
		}
		w.again(c, first)
		claim := w.claimOne("h")
		if res := w.do(store.Put{Key: state, Value: []byte("2")}, store.Append{Log: "l", ID: "e3", Kind: "k"}); res.Versions[0] != 2 || res.Seqs[0] != 3 {
			w.Errorf("goes on with %+v", res)
		}
		w.do(store.Release{Claim: claim})
	}},
	{name: "tokens go on", needs: reopenable, run: func(w *world) {
		w.wake()
		c := w.claimOne("h")
		w.do(store.Release{Claim: c})
		w.reopen()
		w.wake()
		if again := w.claimOne("h"); again.Token <= c.Token {
			w.Errorf("token %d after %d", again.Token, c.Token)
		}
	}},
	{name: "times never go back over a restart", needs: func(h Harness, i Instance) bool { return reopenable(h, i) && settable(h, i) }, run: func(w *world) {
		w.fill("l", 1)
		w.clock.Advance(-time.Hour)
		w.reopen()
		if res := w.do(store.Append{Log: "l", ID: "e2", Kind: "k"}); !res.Now.Equal(epoch) {
			w.Errorf("the commit is at %v, after one at %v", res.Now, epoch)
		}
	}},
	{name: "an embedded store ends all claims as crashes", needs: embedded, run: func(w *world) {
		w.wake()
		for attempt := 1; attempt < 4; attempt++ {
			c := w.claimOne("h")
			if c.Attempt != attempt {
				w.Fatalf("attempt %d, want %d", c.Attempt, attempt)
			}
			w.reopen()
			w.fenced("a claim from before", c)
		}
		// A member that nobody holds any more can be taken; its attempts count on.
		if c := w.do(store.Take{Agenda: store.Turns, Member: turn, Holder: "h", Lease: w.lease}).Taken[0]; c == nil || c.Attempt != 4 {
			w.Errorf("taken %+v", c)
		}
	}},
	{name: "an embedded store keeps later wakes", needs: embedded, run: func(w *world) {
		w.wake()
		w.claimOne("h")
		w.do(store.Wake{Agenda: store.Turns, Member: turn, In: 2 * w.lease}, store.Wake{Agenda: store.Turns, Member: store.MemberOf(conv, "x"), In: 2 * w.lease})
		w.reopen()
		if c := w.claimOne("h"); c.Member != turn {
			w.Errorf("claimed %+v", c)
		}
		w.pass(2 * w.lease)
		if got := w.claim("h", 9); len(got) != 2 {
			w.Errorf("claimed %+v", got)
		}
	}},
	{name: "claims outlive a process that shares the store", needs: keepsClaims, run: func(w *world) {
		w.wake()
		c := w.claimOne("h")
		w.reopen()
		w.none("it is still held")
		w.must(w.under(c))
	}},
}
