package storetest

import (
	"time"

	"herald/core/store"
)

var releaseTests = []test{
	{name: "again after a while", run: func(w *world) {
		w.wake()
		c := w.claimOne("h")
		w.do(store.Release{Claim: c, Again: true, In: w.lease})
		w.none("too early")
		w.pass(w.lease)
		if c := w.claimOne("h"); c.Attempt != 1 {
			w.Errorf("got %+v", c)
		}
	}},
	{name: "again at an instant", run: func(w *world) {
		w.wake()
		c := w.claimOne("h")
		w.do(store.Release{Claim: c, Again: true, At: c.Since.Add(w.lease), In: time.Hour})
		w.none("too early")
		w.pass(w.lease)
		w.claimOne("h")
	}},
	{name: "a time without again asks for nothing", run: func(w *world) {
		w.wake()
		w.do(store.Release{Claim: w.claimOne("h"), At: epoch, In: time.Millisecond})
		w.pass(time.Second / 10)
		w.none("after the release")
	}},
	{name: "a wake that came meanwhile wins over a later time", run: func(w *world) {
		w.wake()
		c := w.claimOne("h")
		w.wake()
		w.do(store.Release{Claim: c, Again: true, In: time.Hour})
		w.claimOne("h")
	}},
	{name: "an earlier time wins over a wake", run: func(w *world) {
		w.wake()
		c := w.claimOne("h")
		w.do(store.Wake{Agenda: store.Turns, Member: turn, In: time.Hour})
		w.do(store.Release{Claim: c, Again: true})
		c = w.claimOne("h")
		// The claim used up the time that had come and not the hour.
		w.do(store.Release{Claim: c})
		if in, ok := w.due(); ok && in < time.Minute {
			w.Errorf("due in %v, %v", in, ok)
		}
	}},
	{name: "an old token does nothing", run: func(w *world) {
		w.wake()
		old := w.claimOne("h1")
		w.pass(w.lease)
		c := w.claimOne("h2")
		w.do(store.Release{Claim: old, Again: true})
		w.none("the old holder released")
		w.do(store.Release{Claim: c})
		w.do(store.Release{Claim: c, Again: true}, store.Release{Claim: old, Again: true})
		w.none("a claim that was released before")
	}},
	{name: "another holder's token does nothing", run: func(w *world) {
		w.wake()
		c := w.claimOne("h1")
		stranger := c
		stranger.Holder = "h2"
		w.do(store.Release{Claim: stranger, Again: true})
		w.none("a stranger released")
		if lost, err := w.s.Extend(w.ctx, w.lease, c); err != nil || lost[0] {
			w.Errorf("the claim is lost: %v, %v", lost, err)
		}
	}},
	{name: "a claim given back unworked counts nothing", run: func(w *world) {
		w.wake()
		w.claimOne("h")
		w.pass(w.lease)
		for range 3 {
			c := w.claimOne("h")
			if c.Attempt != 2 {
				w.Fatalf("attempt %d, want 2", c.Attempt)
			}
			w.do(store.Release{Claim: c, Again: true, KeepAttempt: true})
		}
		c := w.claimOne("h")
		w.do(store.Release{Claim: c, Again: true})
		if c = w.claimOne("h"); c.Attempt != 1 {
			w.Errorf("attempt %d after a real release", c.Attempt)
		}
	}},
	{name: "who leaves the agenda leaves its attempts", run: func(w *world) {
		w.wake()
		w.claimOne("h")
		w.pass(w.lease)
		w.do(store.Release{Claim: w.claimOne("h"), KeepAttempt: true})
		w.none("after the release")
		w.wake()
		if c := w.claimOne("h"); c.Attempt != 1 {
			w.Errorf("attempt %d", c.Attempt)
		}
	}},
	{name: "wake and release in one commit", run: func(w *world) {
		w.wake()
		c := w.claimOne("h")
		w.do(store.Wake{Agenda: store.Turns, Member: turn}, store.Release{Claim: c})
		c = w.claimOne("h")
		w.do(store.Release{Claim: c}, store.Wake{Agenda: store.Turns, Member: turn})
		w.claimOne("h")
	}},
}

var takeTests = []test{
	{name: "a member that nobody knows", run: func(w *world) {
		res := w.do(store.Take{Agenda: store.Turns, Member: turn, Holder: "h", Lease: w.lease})
		if len(res.Taken) != 1 || res.Taken[0] == nil {
			w.Fatalf("taken %+v", res.Taken)
		}
		c := *res.Taken[0]
		if c.Agenda != store.Turns || c.Member != turn || c.Holder != "h" || c.Attempt != 1 || c.Token <= 0 || c.Until.Sub(c.Since) != w.lease {
			w.Errorf("got %+v", c)
		}
		w.none("while it is held")
		under := w.commit(store.Release{Claim: c})
		under.Claim = &c
		w.must(under)
		w.none("after the release")
	}},
	{name: "a member that somebody holds", run: func(w *world) {
		w.wake()
		c := w.claimOne("h1")
		res := w.do(store.Put{Key: state, Value: []byte("1")}, store.Take{Agenda: store.Turns, Member: turn, Holder: "h2", Lease: w.lease})
		if len(res.Taken) != 1 || res.Taken[0] != nil || len(res.Versions) != 1 {
			w.Errorf("got %+v", res)
		}
		if lost, err := w.s.Extend(w.ctx, w.lease, c); err != nil || lost[0] {
			w.Errorf("the claim is lost: %v, %v", lost, err)
		}
		// Its own holder is somebody as well.
		if res := w.do(store.Take{Agenda: store.Turns, Member: turn, Holder: "h1", Lease: w.lease}); res.Taken[0] != nil {
			w.Errorf("taken twice: %+v", res.Taken[0])
		}
	}},
	{name: "an ended lease is the agenda's to hand on", run: func(w *world) {
		w.wake()
		w.claimOne("h1")
		w.pass(w.lease)
		if res := w.do(store.Take{Agenda: store.Turns, Member: turn, Holder: "h2", Lease: w.lease}); res.Taken[0] != nil {
			w.Errorf("taken: %+v", res.Taken[0])
		}
		if c := w.claimOne("h2"); c.Attempt != 2 {
			w.Errorf("attempt %d", c.Attempt)
		}
	}},
	{name: "a due member is used up", run: func(w *world) {
		w.wake()
		c := *w.do(store.Take{Agenda: store.Turns, Member: turn, Holder: "h", Lease: w.lease}).Taken[0]
		w.do(store.Release{Claim: c})
		w.none("after the release")
	}},
	{name: "a later wake stays", run: func(w *world) {
		w.do(store.Wake{Agenda: store.Turns, Member: turn, In: w.lease})
		c := *w.do(store.Take{Agenda: store.Turns, Member: turn, Holder: "h", Lease: time.Hour}).Taken[0]
		w.do(store.Release{Claim: c})
		w.none("too early")
		w.pass(w.lease)
		w.claimOne("h")
	}},
	{name: "attempts go on", run: func(w *world) {
		w.wake()
		w.claimOne("h")
		w.pass(w.lease)
		w.do(store.Release{Claim: w.claimOne("h"), Again: true, In: time.Hour, KeepAttempt: true})
		if c := w.do(store.Take{Agenda: store.Turns, Member: turn, Holder: "h", Lease: w.lease}).Taken[0]; c == nil || c.Attempt != 2 {
			w.Errorf("got %+v", c)
		}
	}},
	{name: "released and taken in one commit", run: func(w *world) {
		w.wake()
		c := w.claimOne("h")
		res := w.do(store.Release{Claim: c}, store.Take{Agenda: store.Outbox, Member: turn, Holder: "h", Lease: w.lease}, store.Take{Agenda: store.Turns, Member: turn, Holder: "h", Lease: w.lease})
		if len(res.Taken) != 2 || res.Taken[0] == nil || res.Taken[1] == nil || res.Taken[0].Token <= c.Token || res.Taken[1].Token <= res.Taken[0].Token || res.Taken[0].Agenda != store.Outbox {
			w.Errorf("got %+v and %+v", res.Taken[0], res.Taken[1])
		}
	}},
}
