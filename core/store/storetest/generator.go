package storetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"herald/core/store"
)

// generator makes random operations over few names, so that they meet.
type generator struct {
	*rand.Rand
	parts []store.Partition
	n     int
}

func newGenerator(seed uint64) *generator {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0))}
	// Two of the partitions share a bucket.
	g.parts = append([]store.Partition{"system", other}, roommates(2)...)
	return g
}

func pick[T any](g *generator, from ...T) T { return from[g.IntN(len(from))] }

func (g *generator) key() store.Key {
	return store.Key{Collection: pick(g, "inbox", "state"), Name: pick(g, "a", "b", "c")}
}

func (g *generator) agenda() store.Agenda { return pick(g, store.Turns, store.Outbox) }
func (g *generator) logName() string      { return pick(g, "log", "controls") }
func (g *generator) paceKey() string      { return pick(g, "C1", "C2") }
func (g *generator) index() string        { return pick(g, "seen", "waits") }

func (g *generator) member(p store.Partition) store.Member {
	return store.MemberOf(p, pick(g, "", "", "x"))
}

func (g *generator) pace() store.Pace {
	return store.Pace{Key: g.paceKey(), Every: pick(g, 0, time.Second, 7*time.Second), Burst: g.IntN(4)}
}

// duration is whole milliseconds, mostly some seconds.
func (g *generator) duration() time.Duration {
	return pick(g, time.Millisecond, time.Second, 5*time.Second, 5*time.Second, 20*time.Second, time.Minute)
}

func (g *generator) value() []byte {
	v := make([]byte, g.IntN(12))
	for i := range v {
		v[i] = byte(g.IntN(256))
	}
	return v
}

// planned is a commit whose claims are not filled in yet.
type planned struct {
	c     store.Commit
	claim *claimPair
	// releases gives the claim that stands in the operation at this place.
	releases map[int]claimPair
}

// build fills in the claims of the reference, or those of the driver under test.
func (p planned) build(driver bool) store.Commit {
	side := func(c claimPair) store.Claim {
		if driver {
			return c.got
		}
		return c.want
	}
	out := p.c
	if p.claim != nil {
		out.Claim = new(side(*p.claim))
	}
	out.Ops = append([]store.Op(nil), p.c.Ops...)
	for i, c := range p.releases {
		r := out.Ops[i].(store.Release)
		r.Claim = side(c)
		out.Ops[i] = r
	}
	return out
}

// commit makes a commit that may work under or release claims that were given before.
func (g *generator) commit(claims []claimPair) planned {
	g.n++
	part := pick(g, g.parts...)
	p := planned{c: store.Commit{ID: fmt.Sprint("c", g.n), Partition: part}, releases: map[int]claimPair{}}
	var own []claimPair
	for _, c := range claims {
		if c.want.Member.Partition() == part {
			own = append(own, c)
		}
	}
	// The latest claims are the ones that may still stand.
	own = own[max(0, len(own)-3):]
	if len(own) > 0 && g.IntN(3) == 0 {
		p.claim = &own[g.IntN(len(own))]
	}
	for range g.IntN(3) {
		if g.IntN(2) == 0 {
			p.c.Guards = append(p.c.Guards, g.guard(part))
		}
	}
	for range g.IntN(5) {
		if len(own) > 0 && g.IntN(5) == 0 {
			p.releases[len(p.c.Ops)] = pick(g, own...)
			p.c.Ops = append(p.c.Ops, store.Release{Again: g.IntN(2) == 0, In: g.duration(), KeepAttempt: g.IntN(3) == 0})
			continue
		}
		p.c.Ops = append(p.c.Ops, g.op(part))
	}
	return p
}

func (g *generator) guard(p store.Partition) store.Guard {
	switch g.IntN(5) {
	case 0:
		return store.Absent{Index: g.index(), Member: pick(g, "m", "n", "o")}
	case 1:
		return store.Fewer{Collection: pick(g, "inbox", "state"), N: 1 + g.IntN(3)}
	case 2:
		return store.Free{Agenda: pick(g, store.Turns, store.Outbox), Member: store.Member(p)}
	default:
		return store.At{Key: g.key(), Version: int64(g.IntN(3))}
	}
}

func (g *generator) op(p store.Partition) store.Op {
	switch g.IntN(14) {
	case 0, 1, 2:
		return store.Put{Key: g.key(), Value: g.value()}
	case 3:
		return store.Delete{Key: g.key()}
	case 4, 5:
		return store.Append{Log: g.logName(), ID: fmt.Sprint("e", g.n), Kind: "kind", Data: g.value()}
	case 6:
		return store.Blank{Log: g.logName(), Seq: int64(g.IntN(9))}
	case 7:
		return store.TrimLog{Log: g.logName(), Before: int64(g.IntN(9))}
	case 8:
		return pick[store.Op](g, store.Score{Index: g.index(), Member: pick(g, "m", "n", "o"), Score: math.Round(g.NormFloat64()*100) / 8}, store.ScoreNow{Index: g.index(), Member: pick(g, "m", "n", "o")})
	case 9:
		return pick[store.Op](g, store.Unscore{Index: g.index(), Member: pick(g, "m", "n")}, store.TrimOlder{Index: g.index(), Age: g.duration()})
	case 10:
		return store.Take{Agenda: g.agenda(), Member: g.member(p), Holder: pick(g, "h1", "h2"), Lease: g.duration()}
	case 11:
		return pick[store.Op](g, store.Bury{ID: pick(g, "d", "e"), Note: g.value()}, store.Unbury{ID: pick(g, "d", "e")})
	default:
		return store.Wake{Agenda: g.agenda(), Member: g.member(p), In: pick(g, 0, 0, g.duration())}
	}
}

// claim asks by name, in one bucket with a limit, or everywhere for all that is due.
func (g *generator) claim() store.ClaimRequest {
	r := store.ClaimRequest{Agenda: g.agenda(), Holder: pick(g, "h1", "h2"), Lease: g.duration(), Limit: 50}
	switch g.IntN(3) {
	case 0:
		r.Members = []store.Member{g.member(pick(g, g.parts...)), g.member(pick(g, g.parts...))}
	case 1:
		r.Buckets, r.Limit = []int{pick(g, g.parts...).Bucket()}, 1+g.IntN(3)
	}
	return r
}

// queries asks for all that commit can have written.
func (g *generator) queries() []store.Query {
	var qs []store.Query
	for _, p := range g.parts {
		for _, c := range []string{"inbox", "state"} {
			qs = append(qs, store.List{Partition: p, Collection: c}, store.Get{Partition: p, Key: store.Key{Collection: c, Name: "a"}})
		}
		for _, l := range []string{"log", "controls"} {
			qs = append(qs, store.Range{Partition: p, Log: l, From: int64(g.IntN(6)), Limit: g.IntN(4)}, store.Range{Partition: p, Log: l}, store.Tail{Partition: p, Log: l, N: g.IntN(5)})
		}
		for _, i := range []string{"seen", "waits"} {
			qs = append(qs, store.Scores{Partition: p, Index: i, Min: math.Inf(-1), Max: math.Inf(1)}, store.Scores{Partition: p, Index: i, Min: -3, Max: 4, Limit: 2},
				store.ScoreOf{Partition: p, Index: i, Member: "m"})
		}
	}
	return qs
}
