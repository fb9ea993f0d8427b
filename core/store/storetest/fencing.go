package storetest

import (
	"errors"
	"fmt"

	"herald/core/store"
)

// under is a commit under a claim that writes everywhere.
func (w *world) under(c store.Claim) store.Commit {
	out := w.commit(store.Append{Log: "l", ID: fmt.Sprintf("by-%s-%d", c.Holder, c.Token), Kind: "k"}, store.Put{Key: state, Value: []byte(c.Holder)},
		store.Wake{Agenda: store.Outbox, Member: turn}, store.Release{Claim: c, Again: true})
	out.Claim = &c
	return out
}

// fenced checks that a commit under c is refused and leaves nothing.
func (w *world) fenced(why string, c store.Claim) {
	w.Helper()
	before := w.doc(state)
	if _, err := w.s.Commit(w.ctx, w.under(c)); !errors.Is(err, store.ErrFenced) {
		w.Errorf("%s: %v, want ErrFenced", why, err)
	}
	if after := w.doc(state); after.Version != before.Version {
		w.Errorf("%s: a fenced commit wrote %+v", why, after)
	}
}

var fencingTests = []test{
	{name: "taken over before the new holder has read", run: func(w *world) {
		w.wake()
		a := w.claimOne("a")
		w.pass(w.lease)
		b := w.claimOne("b")
		w.fenced("the old holder", a)
		w.must(w.under(b))
		w.fenced("the old holder after the new one committed", a)
		w.fenced("the new holder after its release", b)
		if got := w.log("l"); len(got) != 1 || got[0].ID != fmt.Sprintf("by-b-%d", b.Token) {
			w.Errorf("the log has %+v", got)
		}
	}},
	{name: "taken over after the new holder has read", run: func(w *world) {
		w.do(store.Put{Key: state, Value: []byte("start")})
		w.wake()
		a := w.claimOne("a")
		w.pass(w.lease)
		b := w.claimOne("b")
		seen := w.doc(state)
		w.fenced("the old holder", a)
		c := w.under(b)
		c.Guards = []store.Guard{store.At{Key: state, Version: seen.Version}}
		w.must(c)
	}},
	{name: "in the eyes of another process", needs: attachable, run: func(w *world) {
		w.wake()
		a := w.claimOne("a")
		w.pass(w.lease)
		two := w.inst.Attach(w.T)
		b := w.claimFrom(two, store.ClaimRequest{Agenda: store.Turns, Holder: "b", Lease: w.lease, Limit: 1})
		if len(b) != 1 || b[0].Attempt != 2 {
			w.Fatalf("the other process claimed %+v", b)
		}
		w.fenced("the old holder", a)
		if _, err := two.Commit(w.ctx, w.under(b[0])); err != nil {
			w.Errorf("the new holder: %v", err)
		}
		if d := w.doc(state); string(d.Value) != "b" {
			w.Errorf("the first process reads %+v", d)
		}
	}},
	{name: "an ended lease that nobody took over still holds", run: func(w *world) {
		w.wake()
		a := w.claimOne("a")
		w.pass(w.lease + w.lease/2)
		w.must(w.under(a))
	}},
	{name: "the next claim of the same holder is another one", run: func(w *world) {
		w.wake()
		first := w.claimOne("a")
		w.pass(w.lease)
		second := w.claimOne("a")
		w.fenced("the first claim", first)
		w.must(w.under(second))
	}},
	{name: "token and holder must both fit", run: func(w *world) {
		w.wake()
		a := w.claimOne("a")
		for why, change := range map[string]func(*store.Claim){
			"another holder": func(c *store.Claim) { c.Holder = "b" }, "another token": func(c *store.Claim) { c.Token++ },
			"no token": func(c *store.Claim) { c.Token = 0 }, "another agenda": func(c *store.Claim) { c.Agenda = store.Outbox },
			"another member": func(c *store.Claim) { c.Member = store.MemberOf(conv, "x") },
		} {
			c := a
			change(&c)
			w.fenced(why, c)
		}
		w.must(w.under(a))
	}},
	{name: "the fence is told before a guard", run: func(w *world) {
		w.wake()
		a := w.claimOne("a")
		w.pass(w.lease)
		w.claimOne("b")
		c := w.under(a)
		c.Guards = []store.Guard{store.At{Key: state, Version: 77}}
		if _, err := w.s.Commit(w.ctx, c); !errors.Is(err, store.ErrFenced) || errors.Is(err, store.ErrConflict) {
			w.Errorf("got %v", err)
		}
	}},
	{name: "writers without the claim do not disturb its holder", run: func(w *world) {
		w.wake()
		a := w.claimOne("a")
		w.do(store.Put{Key: store.Key{Collection: "inbox", Name: "m1"}, Value: []byte("hi")}, store.Wake{Agenda: store.Turns, Member: turn})
		c := w.under(a)
		c.Guards = []store.Guard{store.At{Key: state}}
		w.must(c)
	}},
	{name: "equal tokens after the store went back", needs: restorable, run: func(w *world) {
		w.wake()
		restore := w.inst.Snapshot(w.T)
		a := w.claimOne("a")
		w.must(w.commit(store.Put{Key: state, Value: []byte("lost")}))
		restore(w.T)
		b := w.claimOne("b")
		if a.Token != b.Token {
			w.Fatalf("tokens %d and %d: the case that is tested did not come up", a.Token, b.Token)
		}
		w.fenced("the holder from before", a)
		if lost, err := w.s.Extend(w.ctx, w.lease, a, b); err != nil || !lost[0] || lost[1] {
			w.Errorf("extend: %v, %v", lost, err)
		}
		w.do(store.Release{Claim: a, Again: true})
		w.none("the holder from before released")
		w.must(w.under(b))
	}},
	{name: "a claim that is not there after the store went back", needs: restorable, run: func(w *world) {
		w.wake()
		restore := w.inst.Snapshot(w.T)
		a := w.claimOne("a")
		restore(w.T)
		w.fenced("a claim that the store forgot", a)
		if b := w.claimOne("b"); b.Attempt != 1 {
			w.Errorf("got %+v", b)
		}
	}},
}
