package storetest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"herald/core/store"
)

// due reads the earliest time of turns, relative to the store's now.
func (w *world) due() (in time.Duration, ok bool) {
	w.Helper()
	at, now, ok, err := w.s.Due(w.ctx, store.Turns)
	if err != nil || now.IsZero() {
		w.Fatalf("due: now %v, %v", now, err)
	}
	return at.Sub(now), ok
}

func members(claims []store.Claim) []string {
	var out []string
	for _, c := range claims {
		out = append(out, string(c.Member))
	}
	return out
}

var agendaTests = []test{
	{name: "a woken member is claimed once", run: func(w *world) {
		w.none("at first")
		w.wake()
		c := w.claimOne("h1")
		if c.Agenda != store.Turns || c.Member != turn || c.Holder != "h1" || c.Attempt != 1 || c.Token <= 0 {
			w.Errorf("got %+v", c)
		}
		if lease := c.Until.Sub(c.Since); lease != w.lease {
			w.Errorf("the lease is %v, want %v", lease, w.lease)
		}
		w.none("while it is held")
	}},
	{name: "agendas are apart", run: func(w *world) {
		w.do(store.Wake{Agenda: store.Outbox, Member: turn})
		w.none("turns")
		if got := w.claimFrom(w.s, store.ClaimRequest{Agenda: store.Outbox, Holder: "h", Lease: w.lease, Limit: 1}); len(got) != 1 {
			w.Errorf("outbox gave %+v", got)
		}
	}},
	{name: "a partition has several members", run: func(w *world) {
		a, b := store.MemberOf(conv, "a"), store.MemberOf(conv, "b")
		w.do(store.Wake{Agenda: store.Turns, Member: b}, store.Wake{Agenda: store.Turns, Member: a}, store.Wake{Agenda: store.Turns, Member: a})
		got := members(w.claim("h", 10))
		slices.Sort(got)
		if !slices.Equal(got, []string{string(a), string(b)}) {
			w.Errorf("got %v", got)
		}
	}},
	{name: "not before its time", run: func(w *world) {
		w.do(store.Wake{Agenda: store.Turns, Member: turn, In: w.lease})
		w.none("too early")
		if in, ok := w.due(); !ok || in <= 0 || in > w.lease {
			w.Errorf("due in %v, %v", in, ok)
		}
		w.pass(w.lease)
		if in, ok := w.due(); !ok || in > 0 {
			w.Errorf("due in %v, %v", in, ok)
		}
		w.claimOne("h")
	}},
	{name: "at an instant that the store gave", run: func(w *world) {
		now, err := w.s.Now(w.ctx)
		if err != nil {
			w.Fatal(err)
		}
		w.do(store.Wake{Agenda: store.Turns, Member: turn, At: now.Add(w.lease), In: -time.Hour})
		w.none("too early")
		w.pass(w.lease)
		w.claimOne("h")
	}},
	{name: "the earliest wake stays", run: func(w *world) {
		w.do(store.Wake{Agenda: store.Turns, Member: turn, In: w.lease})
		w.do(store.Wake{Agenda: store.Turns, Member: turn, In: time.Hour})
		if in, ok := w.due(); !ok || in > w.lease {
			w.Errorf("a later wake put it off: due in %v, %v", in, ok)
		}
		w.wake()
		w.claimOne("h")
	}},
	{name: "a wake while claimed waits for the release", run: func(w *world) {
		w.wake()
		c := w.claimOne("h")
		w.wake()
		w.do(store.Wake{Agenda: store.Turns, Member: turn, In: time.Hour})
		w.none("while it is held")
		w.do(store.Release{Claim: c})
		if again := w.claimOne("h2"); again.Attempt != 1 || again.Token <= c.Token {
			w.Errorf("got %+v after %+v", again, c)
		}
	}},
	{name: "the claim uses up the wake", run: func(w *world) {
		w.wake()
		w.wake()
		c := w.claimOne("h")
		w.do(store.Release{Claim: c})
		w.none("after the release")
		if in, ok := w.due(); ok {
			w.Errorf("an empty agenda is due in %v", in)
		}
	}},
	{name: "first due, first claimed", run: func(w *world) {
		var want []string
		now, err := w.s.Now(w.ctx)
		if err != nil {
			w.Fatal(err)
		}
		for i := range 6 {
			m := store.MemberOf(conv, fmt.Sprint("m", 5-i))
			want = append(want, string(m))
			w.do(store.Wake{Agenda: store.Turns, Member: m, At: now.Add(time.Duration(i-10) * time.Second)})
		}
		slices.Sort(want)
		slices.Reverse(want)
		var got []string
		for range 3 {
			got = append(got, members(w.claim("h", 2))...)
		}
		if !slices.Equal(got, want) {
			w.Errorf("claimed %v, want %v", got, want)
		}
	}},
	{name: "an ended lease is handed on with its attempts", run: func(w *world) {
		w.wake()
		last := w.claimOne("h1")
		for attempt := 2; attempt <= 4; attempt++ {
			w.pass(w.lease)
			c := w.claimOne(fmt.Sprint("h", attempt))
			if c.Attempt != attempt || c.Token <= last.Token {
				w.Fatalf("got %+v after %+v", c, last)
			}
			last = c
		}
		w.do(store.Release{Claim: last, Again: true})
		if c := w.claimOne("h"); c.Attempt != 1 {
			w.Errorf("attempt %d after a release", c.Attempt)
		}
	}},
	{name: "the lease ends as asked", needs: settable, run: func(w *world) {
		w.wake()
		w.claimOne("h1")
		w.clock.Advance(w.lease - time.Millisecond)
		w.none("a millisecond too early")
		if in, ok := w.due(); !ok || in != time.Millisecond {
			w.Errorf("due in %v, %v", in, ok)
		}
		w.clock.Advance(time.Millisecond)
		w.claimOne("h2")
	}},
	{name: "only the members that are named", run: func(w *world) {
		a, b, c := store.MemberOf(conv, "a"), store.Member(other), store.MemberOf(conv, "later")
		w.do(store.Wake{Agenda: store.Turns, Member: a}, store.Wake{Agenda: store.Turns, Member: c, In: time.Hour})
		w.must(w.commitTo(other, store.Wake{Agenda: store.Turns, Member: b}))
		r := store.ClaimRequest{Agenda: store.Turns, Holder: "h", Lease: w.lease, Limit: 10, Members: []store.Member{c, b, b, "conversation/unknown"}}
		if got := members(w.claimFrom(w.s, r)); !slices.Equal(got, []string{string(b)}) {
			w.Errorf("got %v", got)
		}
		if got := w.claimFrom(w.s, r); len(got) != 0 {
			w.Errorf("claimed again: %+v", got)
		}
		w.pass(w.lease)
		if got := w.claimFrom(w.s, r); len(got) != 1 || got[0].Attempt != 2 {
			w.Errorf("after the lease: %+v", got)
		}
	}},
	{name: "a limit holds for named members too", run: func(w *world) {
		a, b := store.MemberOf(conv, "a"), store.MemberOf(conv, "b")
		w.do(store.Wake{Agenda: store.Turns, Member: a}, store.Wake{Agenda: store.Turns, Member: b})
		if got := w.claimFrom(w.s, store.ClaimRequest{Agenda: store.Turns, Holder: "h", Lease: w.lease, Limit: 1, Members: []store.Member{a, b}}); len(got) != 1 {
			w.Errorf("got %+v", got)
		}
	}},
	{name: "only the buckets that are named", run: func(w *world) {
		w.wake()
		mine := conv.Bucket()
		r := store.ClaimRequest{Agenda: store.Turns, Holder: "h", Lease: w.lease, Limit: 10, Buckets: []int{(mine + 1) % store.Buckets, (mine + 2) % store.Buckets}}
		if got := w.claimFrom(w.s, r); len(got) != 0 {
			w.Errorf("other buckets gave %+v", got)
		}
		r.Buckets = []int{(mine + 1) % store.Buckets, mine}
		if got := w.claimFrom(w.s, r); len(got) != 1 {
			w.Errorf("its bucket gave %+v", got)
		}
	}},
	{name: "all buckets are looked through", run: func(w *world) {
		want := map[string]bool{}
		for i := range 200 {
			p := store.Partition(fmt.Sprintf("conversation/c%d", i))
			want[string(p)] = true
			w.must(w.commitTo(p, store.Wake{Agenda: store.Turns, Member: store.Member(p)}))
		}
		for n := 0; len(want) > 0; n++ {
			if n > 200 {
				w.Fatalf("%d due members are never given", len(want))
			}
			claims := w.claim("h", 7)
			if len(claims) > 7 {
				w.Fatalf("%d claims for a limit of 7", len(claims))
			}
			for _, m := range members(claims) {
				if !want[m] {
					w.Fatalf("%s was claimed twice", m)
				}
				delete(want, m)
			}
		}
	}},
	{name: "extend", run: func(w *world) {
		w.wake()
		c := w.claimOne("h")
		stranger := c
		stranger.Holder = "x"
		unknown := store.Claim{Agenda: store.Outbox, Member: turn, Token: 1, Holder: "h"}
		for range 3 {
			w.pass(w.lease / 2)
			lost, err := w.s.Extend(w.ctx, w.lease, c, stranger, unknown)
			if err != nil || !slices.Equal(lost, []bool{false, true, true}) {
				w.Fatalf("extend: %v, %v", lost, err)
			}
		}
		w.none("a renewed lease")
		w.pass(w.lease)
		if lost, err := w.s.Extend(w.ctx, w.lease, c); err != nil || !slices.Equal(lost, []bool{false}) {
			w.Errorf("extend of a lease that ended and was not taken over: %v, %v", lost, err)
		}
		w.none("a lease renewed after its end")
		w.pass(w.lease)
		w.claimOne("h2")
		if lost, err := w.s.Extend(w.ctx, w.lease, c); err != nil || !slices.Equal(lost, []bool{true}) {
			w.Errorf("extend of a claim that was taken over: %v, %v", lost, err)
		}
		if lost, err := w.s.Extend(w.ctx, w.lease); err != nil || len(lost) != 0 {
			w.Errorf("extend of nothing: %v, %v", lost, err)
		}
		if _, err := w.s.Extend(w.ctx, 0, c); !errors.Is(err, store.ErrInvalid) {
			w.Errorf("extend by nothing: %v", err)
		}
	}},
	{name: "due counts the ends of leases", run: func(w *world) {
		w.wake()
		w.claimOne("h")
		w.do(store.Wake{Agenda: store.Turns, Member: store.MemberOf(conv, "later"), In: time.Hour})
		if in, ok := w.due(); !ok || in <= 0 || in > w.lease {
			w.Errorf("due in %v, %v", in, ok)
		}
		w.do(store.Wake{Agenda: store.Turns, Member: store.MemberOf(conv, "soon"), In: w.lease / 8})
		if in, ok := w.due(); !ok || in > w.lease/8 {
			w.Errorf("due in %v, %v", in, ok)
		}
	}},
}
