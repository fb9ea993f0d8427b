package redis_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"herald/core/store"
	"herald/core/store/redis"
	"herald/core/store/redis/redistest"
)

// TestCallsShareRoundTrips: while two pipelines are under way, what arrives waits for the next one and goes out together.
func TestCallsShareRoundTrips(t *testing.T) {
	t.Parallel()
	p, s, _ := behindProxy(t, 0)
	commit(t, s, line(conv, "first"))
	p.Delay(50 * time.Millisecond)
	before := s.Stats()
	const callers = 64
	var work sync.WaitGroup
	for i := range callers {
		work.Go(func() {
			q := store.Partition(fmt.Sprintf("person/p_%d", i))
			if _, err := s.Commit(t.Context(), line(q, "c")); err != nil {
				t.Error(err)
			}
			if _, err := s.Read(t.Context(), store.Tail{Partition: q, Log: "log", N: 1}); err != nil {
				t.Error(err)
			}
		})
	}
	work.Wait()
	after := s.Stats()
	if trips := after.RoundTrips - before.RoundTrips; trips > callers/4 {
		t.Errorf("%d calls took %d round trips", 2*callers, trips)
	}
	if n := after.Commits - before.Commits; n != callers {
		t.Errorf("%d commits were counted", n)
	}
}

// TestOneRoundTripEach: what the port's users count on, one call at a time.
func TestOneRoundTripEach(t *testing.T) {
	t.Parallel()
	_, s := fresh(t, redistest.Options{})
	queries := []store.Query{}
	for i := range 40 {
		p := store.Partition(fmt.Sprintf("person/p_%d", i))
		commit(t, s, line(p, "c"))
		queries = append(queries, store.Tail{Partition: p, Log: "log", N: 1})
	}
	trips := func(what string, want int64, f func() error) {
		t.Helper()
		before := s.Stats().RoundTrips
		if err := f(); err != nil {
			t.Fatal(err)
		}
		if got := s.Stats().RoundTrips - before; got != want {
			t.Errorf("%s: %d round trips, want %d", what, got, want)
		}
	}
	trips("reading many partitions", 1, func() error { _, err := s.Read(t.Context(), queries...); return err })
	trips("all dead letters", 1, func() error { _, err := s.DeadLetters(t.Context(), 10); return err })
	trips("several paces", 1, func() error {
		_, _, err := s.Reserve(t.Context(), -1, store.Pace{Key: "a"}, store.Pace{Key: "b"}, store.Pace{Key: "c"})
		return err
	})
	trips("looking for work", 0, func() error { _, _, _, err := s.Due(t.Context(), store.Turns); return err })
}

// TestIdleHandleHasNoGoroutines: between calls nothing of the handle runs.
func TestIdleHandleHasNoGoroutines(t *testing.T) {
	srv := redistest.Run(t, redistest.Options{AOF: "none"})
	before := runtime.NumGoroutine()
	s, err := redis.Open(t.Context(), redis.Options{URL: srv.URL(), Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range 100 {
		commit(t, s, line(conv, fmt.Sprint(i)))
	}
	eventually(t, "all goroutines have ended", func() bool { return runtime.NumGoroutine() <= before })
}
