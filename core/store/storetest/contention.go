package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"herald/core/store"
)

// handles gives the store's handle, and a second one where the driver has it: contention is between processes too.
func (w *world) handles() []store.Store {
	out := []store.Store{w.s}
	if w.inst.Attach != nil {
		out = append(out, w.inst.Attach(w.T))
	}
	return out
}

var contentionTests = []test{
	{name: "of many writers at one version one wins", run: func(w *world) {
		const writers, rounds = 8, 6
		hs := w.handles()
		for round := range int64(rounds) {
			var won, lost atomic.Int64
			var wg sync.WaitGroup
			for i := range writers {
				wg.Go(func() {
					_, err := hs[i%len(hs)].Commit(w.ctx, store.Commit{
						ID: fmt.Sprintf("r%d-w%d", round, i), Partition: conv,
						Guards: []store.Guard{store.At{Key: state, Version: round}}, Ops: []store.Op{store.Put{Key: state, Value: []byte("x")}, store.Append{Log: "l", ID: "e", Kind: "k"}},
					})
					switch {
					case err == nil:
						won.Add(1)
					case errors.Is(err, store.ErrConflict):
						lost.Add(1)
					default:
						w.Errorf("round %d, writer %d: %v", round, i, err)
					}
				})
			}
			wg.Wait()
			if won.Load() != 1 || lost.Load() != writers-1 {
				w.Fatalf("round %d: %d won, %d lost", round, won.Load(), lost.Load())
			}
		}
		if n := len(w.log("l")); n != rounds {
			w.Errorf("%d entries, want %d", n, rounds)
		}
	}},
	{name: "counting up loses no step", run: func(w *world) {
		const writers, each = 6, 10
		hs := w.handles()
		var wg sync.WaitGroup
		for i := range writers {
			s := hs[i%len(hs)]
			wg.Go(func() {
				for n := 0; n < each; {
					a, err := s.Read(w.ctx, store.Get{Partition: conv, Key: state})
					if err != nil {
						w.Error(err)
						return
					}
					d, _ := a[0].Doc()
					count, _ := strconv.Atoi(string(d.Value))
					_, err = s.Commit(w.ctx, store.Commit{
						ID: fmt.Sprintf("%d-%d-%d", i, n, d.Version), Partition: conv, Guards: []store.Guard{store.At{Key: state, Version: d.Version}},
						Ops: []store.Op{store.Put{Key: state, Value: []byte(strconv.Itoa(count + 1))}},
					})
					if err == nil {
						n++
					} else if !errors.Is(err, store.ErrConflict) {
						w.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		if d := w.doc(state); string(d.Value) != strconv.Itoa(writers*each) {
			w.Errorf("counted to %s, want %d", d.Value, writers*each)
		}
	}},
	{name: "appends of many writers leave no gap", run: func(w *world) {
		const writers, each = 8, 20
		hs := w.handles()
		var (
			wg   sync.WaitGroup
			mu   sync.Mutex
			seqs []int64
		)
		for i := range writers {
			wg.Go(func() {
				for n := range each {
					res, err := hs[i%len(hs)].Commit(w.ctx, store.Commit{
						ID: fmt.Sprintf("%d-%d", i, n), Partition: conv, Ops: []store.Op{store.Append{Log: "l", ID: fmt.Sprintf("%d-%d", i, n), Kind: "k"}},
					})
					if err != nil || len(res.Seqs) != 1 {
						w.Errorf("got %+v, %v", res, err)
						return
					}
					mu.Lock()
					seqs = append(seqs, res.Seqs[0])
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		slices.Sort(seqs)
		for i, s := range seqs {
			if s != int64(i+1) {
				w.Fatalf("sequence %d stands at place %d", s, i+1)
			}
		}
		entries := w.log("l")
		if len(entries) != writers*each || !slices.IsSortedFunc(entries, func(a, b store.Entry) int { return a.At.Compare(b.At) }) {
			w.Errorf("%d entries, want %d in the order of their times", len(entries), writers*each)
		}
		last := map[string]int{}
		for _, e := range entries {
			var i, n int
			if _, err := fmt.Sscanf(e.ID, "%d-%d", &i, &n); err != nil || last[fmt.Sprint(i)] != n {
				w.Fatalf("writer %d's step %d stands out of order", i, n)
			}
			last[fmt.Sprint(i)]++
		}
	}},
	{name: "a refused neighbour does not undo a commit", run: func(w *world) {
		const n = 64
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				p := store.Partition(fmt.Sprintf("person/p%d", i))
				c := store.Commit{ID: "c", Partition: p, Ops: []store.Op{store.Put{Key: state, Value: []byte("x")}}}
				if i%2 == 1 {
					c.Guards = []store.Guard{store.At{Key: state, Version: 5}}
				}
				if _, err := w.s.Commit(w.ctx, c); (err != nil) != (i%2 == 1) || err != nil && !errors.Is(err, store.ErrConflict) {
					w.Errorf("commit %d: %v", i, err)
				}
			})
		}
		wg.Wait()
		for i := range n {
			if _, ok := w.read(store.Get{Partition: store.Partition(fmt.Sprintf("person/p%d", i)), Key: state}).Doc(); ok != (i%2 == 0) {
				w.Errorf("the document of commit %d: present is %v", i, ok)
			}
		}
	}},
	{name: "reads see one state", run: func(w *world) {
		stop := make(chan struct{})
		var wg sync.WaitGroup
		w.do(store.Put{Key: state, Value: []byte("0")}, store.Put{Key: store.Key{Collection: "state", Name: "twin"}, Value: []byte("0")})
		wg.Go(func() {
			for i := 1; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				v := []byte(strconv.Itoa(i))
				if _, err := w.s.Commit(w.ctx, store.Commit{ID: "w" + string(v), Partition: conv, Ops: []store.Op{
					store.Put{Key: state, Value: v}, store.Put{Key: store.Key{Collection: "state", Name: "twin"}, Value: v},
				}}); err != nil {
					w.Error(err)
					return
				}
			}
		})
		// The two that are compared stand far apart, so that commits have time to come between them.
		qs := []store.Query{store.Get{Partition: conv, Key: state}}
		for range 60 {
			qs = append(qs, store.List{Partition: conv, Collection: "state"})
		}
		qs = append(qs, store.Get{Partition: conv, Key: store.Key{Collection: "state", Name: "twin"}})
		deadline := time.Now().Add(20 * time.Second)
		for seen := map[string]bool{}; len(seen) < 60 && time.Now().Before(deadline); {
			a, err := w.s.Read(w.ctx, qs...)
			if err != nil {
				w.Error(err)
				break
			}
			x, y := a[0].Docs[0], a[len(qs)-1].Docs[0]
			if string(x.Value) != string(y.Value) {
				w.Errorf("half a commit was read: %s and %s", x.Value, y.Value)
				break
			}
			seen[string(x.Value)] = true
		}
		close(stop)
		wg.Wait()
	}},
	{name: "a commit that returned is read", run: func(w *world) {
		hs := w.handles()
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				p := store.Partition(fmt.Sprintf("person/r%d", i))
				for n := range int64(25) {
					if _, err := hs[i%len(hs)].Commit(w.ctx, store.Commit{ID: fmt.Sprint(n), Partition: p, Ops: []store.Op{store.Put{Key: state, Value: []byte("x")}}}); err != nil {
						w.Error(err)
						return
					}
					a, err := hs[(i+1)%len(hs)].Read(w.ctx, store.Get{Partition: p, Key: state})
					if err != nil {
						w.Error(err)
						return
					}
					if d, _ := a[0].Doc(); d.Version != n+1 {
						w.Errorf("read version %d after the commit of %d", d.Version, n+1)
						return
					}
				}
			})
		}
		wg.Wait()
	}},
	{name: "the agenda loses nothing and gives nothing to two", run: contendedAgenda},
}

// contendedAgenda lets producers add work with a wake while workers claim, take all work off, and release. Each piece of work must be
// taken off once, and no member may ever be in two hands.
func contendedAgenda(w *world) {
	const partitions, producers, workers, each = 7, 3, 5, 30
	hs := w.handles()
	parts := make([]store.Partition, partitions)
	var hands [partitions]atomic.Int32
	for i := range parts {
		parts[i] = store.Partition(fmt.Sprintf("conversation/busy%d", i))
	}
	index := func(m store.Member) int { return slices.Index(parts, m.Partition()) }
	var wg, producing sync.WaitGroup
	var done atomic.Int64
	for i := range producers {
		producing.Go(func() {
			for n := range each {
				p := parts[(i+n)%partitions]
				id := fmt.Sprintf("%d-%d", i, n)
				if _, err := hs[i%len(hs)].Commit(w.ctx, store.Commit{ID: "p" + id, Partition: p, Ops: []store.Op{
					store.Put{Key: store.Key{Collection: "work", Name: id}, Value: []byte("x")}, store.Wake{Agenda: store.Turns, Member: store.Member(p)},
				}}); err != nil {
					w.Error(err)
				}
			}
		})
	}
	finish := func(s store.Store, c store.Claim, n int) bool {
		i := index(c.Member)
		if c.Attempt != 1 {
			w.Errorf("attempt %d without a crash", c.Attempt)
		}
		if hands[i].Add(1) != 1 {
			w.Errorf("%s is in two hands", c.Member)
		}
		a, err := s.Read(w.ctx, store.List{Partition: parts[i], Collection: "work"})
		if err != nil {
			w.Error(err)
			return false
		}
		out := store.Commit{ID: fmt.Sprintf("%s-%d-%d", c.Holder, c.Token, n), Partition: parts[i], Claim: &c, Ops: []store.Op{store.Release{Claim: c}}}
		for _, d := range a[0].Docs {
			out.Ops = append(out.Ops, store.Delete{Key: d.Key})
			out.Guards = append(out.Guards, store.At{Key: d.Key, Version: d.Version})
		}
		hands[i].Add(-1)
		if _, err := s.Commit(w.ctx, out); err != nil {
			w.Error(err)
			return false
		}
		done.Add(int64(len(a[0].Docs)))
		return true
	}
	deadline := time.Now().Add(time.Minute)
	for i := range workers {
		s := hs[i%len(hs)]
		wg.Go(func() {
			for n := 0; done.Load() < producers*each; n++ {
				claims, err := s.Claim(w.ctx, store.ClaimRequest{Agenda: store.Turns, Holder: fmt.Sprint("h", i), Lease: time.Hour, Limit: 1 + i%3})
				if err != nil {
					w.Error(err)
					return
				}
				for _, c := range claims {
					if !finish(s, c, n) {
						return
					}
				}
				if time.Now().After(deadline) {
					w.Errorf("only %d of %d pieces of work were done", done.Load(), producers*each)
					return
				}
			}
		})
	}
	producing.Wait()
	wg.Wait()
	if done.Load() != producers*each {
		w.Errorf("%d pieces of work were done, want %d", done.Load(), producers*each)
	}
	w.pass(time.Millisecond)
}
