package redis_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"herald/core/store"
	"herald/core/store/redis"
	"herald/core/store/redis/redistest"
)

// TestServerIsKilled kills Redis under load, again and again: what was acknowledged is there after the restart, once, in the order of its
// writer and with all its parts.
func TestServerIsKilled(t *testing.T) {
	t.Parallel()
	srv, s := fresh(t, redistest.Options{AOF: "always"})
	acked := map[store.Partition][]string{}
	for round := range 4 {
		killUnderLoad(t, srv, s, round, acked)
		if err := srv.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		total := 0
		for p, ids := range acked {
			checkKept(t, s, p, ids)
			total += len(ids)
		}
		if total < 100*(round+1) {
			t.Fatalf("only %d commits were acknowledged: the case did not come up", total)
		}
	}
}

// TestServerIsKilledEverySecond is the same where the file is synced once a second. What Redis has written to it is kept, whether it was synced or
// not. While a sync is slow Redis puts the next write off, and what it put off dies with it: then the end may be missing, and never a part.
func TestServerIsKilledEverySecond(t *testing.T) {
	t.Parallel()
	srv, s := fresh(t, redistest.Options{AOF: "everysec"})
	written := func() {
		if err := srv.Written(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	written() // the marks
	acked := map[store.Partition][]string{}
	killUnderLoad(t, srv, s, 0, acked)
	if err := srv.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	for p, ids := range acked {
		got := lines(t, s, p) // fails on half a commit
		if n := min(len(got), len(ids)); !slices.Equal(got[:n], ids[:n]) {
			t.Errorf("%s: %v is not the beginning of %v", p, got, ids)
		}
		for i := range 100 {
			c := line(p, fmt.Sprintf("r1-%04d", i))
			commit(t, s, c)
			acked[p] = append(got, c.ID)
			got = acked[p]
		}
	}
	written()
	srv.Kill()
	if err := srv.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	for p, ids := range acked {
		checkKept(t, s, p, ids)
	}
}

// killUnderLoad lets writers commit until the server dies under them, and notes what was acknowledged.
func killUnderLoad(t *testing.T, srv *redistest.Server, s *redis.Store, round int, acked map[store.Partition][]string) {
	t.Helper()
	var mu sync.Mutex
	var done atomic.Int64
	ready := make(chan struct{})
	var work sync.WaitGroup
	for w := range 8 {
		p := store.Partition(fmt.Sprintf("person/p_%d", w))
		work.Go(func() {
			for i := 0; ; i++ {
				id := fmt.Sprintf("r%d-%04d", round, i)
				if _, err := s.Commit(t.Context(), line(p, id)); err != nil {
					wants(t, err, store.ErrUnavailable)
					return
				}
				mu.Lock()
				acked[p] = append(acked[p], id)
				mu.Unlock()
				if done.Add(1) == 200 {
					close(ready)
				}
			}
		})
	}
	<-ready
	srv.Kill()
	work.Wait()
}

// checkKept fails when an acknowledged line is missing, doubled or out of its place. Others may be there: their acknowledgement was lost.
func checkKept(t *testing.T, s store.Store, p store.Partition, acked []string) {
	t.Helper()
	got := lines(t, s, p)
	if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
		t.Fatalf("%s: out of order or doubled: %v", p, got)
	}
	for _, id := range acked {
		if _, ok := slices.BinarySearch(got, id); !ok {
			t.Errorf("%s: %s was acknowledged and is gone", p, id)
		}
	}
}
