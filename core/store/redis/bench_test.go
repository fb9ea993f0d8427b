package redis_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"herald/core/store"
	"herald/core/store/redis"
	"herald/core/store/redis/redistest"
)

// step is what a turn writes at each of its steps: entries, state, a pending call less.
func step(p store.Partition, id string) store.Commit {
	data := []byte(`{"text":"` + strings.Repeat("x", 280) + `"}`)
	return store.Commit{ID: id, Partition: p, Ops: []store.Op{
		store.Append{Log: "events", ID: id, Kind: "call_started", Data: data},
		store.Append{Log: "events", ID: id, Kind: "call_finished", Data: data},
		store.Append{Log: "events", ID: id, Kind: "model_answer", Data: data},
		store.Put{Key: store.Key{Collection: "state", Name: "main"}, Value: data},
		store.Delete{Key: store.Key{Collection: "calls", Name: "c1"}},
	}}
}

// BenchmarkCommit compares commits that share pipelines with commits that each have their own, by goroutines that commit at once.
func BenchmarkCommit(b *testing.B) {
	for _, aof := range []string{"none", "everysec", "always"} {
		srv := redistest.Run(b, redistest.Options{AOF: aof})
		for _, goroutines := range []int{1, 16, 64} {
			for _, lanes := range []int{1, 2, 4, 0} {
				name := fmt.Sprintf("aof=%s/goroutines=%d/lanes=%d", aof, goroutines, lanes)
				opt := redis.WithLanes(redis.Options{URL: srv.URL(), Create: true}, lanes, 0)
				if lanes == 0 {
					name = fmt.Sprintf("aof=%s/goroutines=%d/direct", aof, goroutines)
					opt = redis.WithLanes(opt, goroutines, 1)
				}
				b.Run(name, func(b *testing.B) {
					s := open(b, opt)
					cpu := cpuTime(b)
					commitAll(b, s, goroutines)
					b.ReportMetric(float64((cpuTime(b)-cpu).Microseconds())/float64(b.N), "cpu-µs/op")
					b.ReportMetric(float64(b.N)/float64(s.Stats().RoundTrips), "commits/trip")
				})
			}
		}
	}
}

func commitAll(b *testing.B, s *redis.Store, goroutines int) {
	b.ResetTimer()
	run := fmt.Sprint(time.Now().UnixNano())
	var next atomic.Int64
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for {
				i := next.Add(1)
				if i > int64(b.N) {
					return
				}
				p := store.Partition(fmt.Sprintf("conversation/slack:T1:C%d:17", i%1000))
				if _, err := s.Commit(context.Background(), step(p, fmt.Sprint(run, "-", i))); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
}

// cpuTime is what this process has used, the server not included.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
