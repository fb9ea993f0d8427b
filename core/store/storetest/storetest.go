package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"herald/core/store"
)

// Instance is one store that a harness opened, empty and seen by nobody else.
type Instance struct {
	Store store.Store
	// Attach opens a second handle on the same data, as another process has. Nil when the driver lets only one process in.
	Attach func(t *testing.T) store.Store
	// Reopen closes Store and opens the same data again.
	Reopen func(t *testing.T) store.Store
	// Snapshot copies the data; restore takes the open store back to the copy, as a failover to a lagging replica does. Nil when the
	// driver cannot go back.
	Snapshot func(t *testing.T) (restore func(t *testing.T))
}

// Harness tells the suite about a driver.
type Harness struct {
	// Open opens a fresh store on the clock, for which it cleans up with t.Cleanup. With Caps.OwnTime the clock is to be ignored.
	Open func(t *testing.T, clock *Clock) Instance
	Caps Capabilities
}

// Capabilities are what drivers may differ in.
type Capabilities struct {
	// OwnTime says that the store's time cannot be set: the suite then waits for real, and leaves out what needs hours.
	OwnTime bool
	// EndsClaims says that opening the store ends all claims as crashes, as an embedded one does.
	EndsClaims bool
	// Durable is what Health must say of the store that Open gives.
	Durable bool
	// Driver is what Health must name.
	Driver string
}

// test is one case of the suite.
type test struct {
	name string
	// needs tells whether the instance can be asked this at all; nil means always.
	needs func(Harness, Instance) bool
	run   func(*world)
}

// Run runs the suite against the driver, cases in parallel.
func Run(t *testing.T, h Harness) {
	for _, group := range []struct {
		name  string
		tests []test
	}{
		{"docs", docTests},
		{"guards", guardTests},
		{"logs", logTests},
		{"indexes", indexTests},
		{"repeats", repeatTests},
		{"agenda", agendaTests},
		{"release", releaseTests},
		{"take", takeTests},
		{"fencing", fencingTests},
		{"contention", contentionTests},
		{"paces", paceTests},
		{"lists", listTests},
		{"hints", hintTests},
		{"limits", limitTests},
		{"time", timeTests},
		{"life", lifeTests},
		{"reopen", reopenTests},
	} {
		t.Run(group.name, func(t *testing.T) {
			t.Parallel()
			for _, c := range group.tests {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					w := open(t, h)
					// What the driver cannot do is part of its description, not a test that did not run.
					if c.needs == nil || c.needs(h, w.inst) {
						c.run(w)
					}
				})
			}
		})
	}
}

// world is one case's store and helpers.
type world struct {
	*testing.T
	ctx   context.Context
	h     Harness
	s     store.Store
	inst  Instance
	clock *Clock
	// lease is a lease that does not end during a test by itself.
	lease time.Duration
	n     int
}

// epoch is far from the machine's own clock: a driver that looks at that one is seen.
var epoch = time.Date(2021, 3, 4, 5, 6, 7, 0, time.UTC)

func open(t *testing.T, h Harness) *world { return openAt(t, h, epoch) }

func openAt(t *testing.T, h Harness, now time.Time) *world {
	t.Helper()
	c := NewClock(now)
	w := &world{T: t, ctx: t.Context(), h: h, clock: c, lease: 30 * time.Second}
	if h.Caps.OwnTime {
		w.lease = 480 * time.Millisecond // parts of it are whole milliseconds, as the store counts
	}
	w.inst = h.Open(t, c)
	w.s = w.inst.Store
	return w
}

// pass lets d pass on the store's clock.
func (w *world) pass(d time.Duration) {
	w.Helper()
	if !w.h.Caps.OwnTime {
		w.clock.Advance(d)
		return
	}
	t := time.NewTimer(d + 5*time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
	case <-w.ctx.Done():
		w.Fatal(w.ctx.Err())
	}
}

func settable(h Harness, _ Instance) bool    { return !h.Caps.OwnTime }
func attachable(_ Harness, i Instance) bool  { return i.Attach != nil }
func restorable(_ Harness, i Instance) bool  { return i.Snapshot != nil }
func reopenable(_ Harness, i Instance) bool  { return i.Reopen != nil }
func embedded(h Harness, i Instance) bool    { return i.Reopen != nil && h.Caps.EndsClaims }
func keepsClaims(h Harness, i Instance) bool { return i.Reopen != nil && !h.Caps.EndsClaims }

const (
	conv  = store.Partition("conversation/slack:T1:C1:1700000000.000100")
	other = store.Partition("conversation/slack:T1:C1:1700000000.000200")
	turn  = store.Member(conv)
)

var state = store.Key{Collection: "state", Name: "main"}

// commit builds a commit to conv with a fresh id.
func (w *world) commit(ops ...store.Op) store.Commit { return w.commitTo(conv, ops...) }

func (w *world) commitTo(p store.Partition, ops ...store.Op) store.Commit {
	w.n++
	return store.Commit{ID: fmt.Sprintf("commit-%d", w.n), Partition: p, Ops: ops}
}

// must applies c, which has to succeed.
func (w *world) must(c store.Commit) store.Result {
	w.Helper()
	res, err := w.s.Commit(w.ctx, c)
	if err != nil {
		w.Fatalf("commit: %v", err)
	}
	if res.Now.IsZero() {
		w.Fatal("the commit has no time")
	}
	return res
}

// do applies ops to conv.
func (w *world) do(ops ...store.Op) store.Result {
	w.Helper()
	return w.must(w.commit(ops...))
}

// read answers one query.
func (w *world) read(q store.Query) store.Answer {
	w.Helper()
	a, err := w.s.Read(w.ctx, q)
	if err != nil {
		w.Fatalf("read %+v: %v", q, err)
	}
	if len(a) != 1 {
		w.Fatalf("read gave %d answers to one query", len(a))
	}
	return a[0]
}

// doc reads a document of conv; its zero value when it is absent.
func (w *world) doc(k store.Key) store.Doc {
	w.Helper()
	d, _ := w.read(store.Get{Partition: conv, Key: k}).Doc()
	return d
}

// log reads a log of conv.
func (w *world) log(name string) []store.Entry {
	w.Helper()
	return w.read(store.Range{Partition: conv, Log: name}).Entries
}

// claim claims up to n members of turns for holder.
func (w *world) claim(holder string, n int) []store.Claim {
	w.Helper()
	return w.claimFrom(w.s, store.ClaimRequest{Agenda: store.Turns, Holder: holder, Lease: w.lease, Limit: n})
}

func (w *world) claimFrom(s store.Store, r store.ClaimRequest) []store.Claim {
	w.Helper()
	claims, err := s.Claim(w.ctx, r)
	if err != nil {
		w.Fatalf("claim: %v", err)
	}
	return claims
}

// claimOne claims the one member that must be due.
func (w *world) claimOne(holder string) store.Claim {
	w.Helper()
	claims := w.claim(holder, 10)
	if len(claims) != 1 {
		w.Fatalf("%s claimed %d members, want one: %+v", holder, len(claims), claims)
	}
	return claims[0]
}

// none checks that nothing can be claimed.
func (w *world) none(why string) {
	w.Helper()
	if claims := w.claim("nobody", 10); len(claims) != 0 {
		w.Fatalf("%s: claimed %+v", why, claims)
	}
}

// wake puts the turn of conv on the agenda, due now.
func (w *world) wake() {
	w.Helper()
	w.do(store.Wake{Agenda: store.Turns, Member: turn})
}
