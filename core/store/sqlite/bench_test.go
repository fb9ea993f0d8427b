package sqlite_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"herald/core/store"
	"herald/core/store/sqlite"
)

// step is one step of a turn as the engine commits it: under a claim, three entries of 300 bytes, the log trimmed to 50, the state
// replaced, a call that waited removed.
func step(p store.Partition, c *store.Claim, id string, n int64, text []byte) store.Commit {
	return store.Commit{ID: id, Partition: p, Claim: c, Ops: []store.Op{
		store.Append{Log: "log", ID: id, Kind: "message", Data: text},
		store.Append{Log: "log", ID: id, Kind: "call", Data: text},
		store.Append{Log: "log", ID: id, Kind: "result", Data: text},
		store.TrimLog{Log: "log", Before: 3*n - 50},
		store.Put{Key: store.Key{Collection: "session", Name: "state"}, Value: text},
		store.Delete{Key: store.Key{Collection: "calls", Name: "c"}},
	}}
}

// BenchmarkLoad reads what a turn reads of a session: its state and the last 50 entries of 300 bytes.
func BenchmarkLoad(b *testing.B) {
	text := []byte(fmt.Sprintf("%0300d", 7))
	for _, goroutines := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("goroutines=%d", goroutines), func(b *testing.B) {
			s, err := sqlite.Open(b.Context(), sqlite.Options{Path: filepath.Join(b.TempDir(), "b.db"), Create: true, Sync: sqlite.SyncNormal})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			const sessions = 200
			for i := range sessions {
				for n := range 20 {
					if _, err := s.Commit(b.Context(), step(store.Partition(fmt.Sprint("conversation/c", i)), nil, fmt.Sprint(n), int64(n), text)); err != nil {
						b.Fatal(err)
					}
				}
			}
			var wg sync.WaitGroup
			each := b.N/goroutines + 1
			b.ResetTimer()
			for g := range goroutines {
				wg.Go(func() {
					for n := range each {
						p := store.Partition(fmt.Sprint("conversation/c", (g*31+n)%sessions))
						a, err := s.Read(b.Context(), store.Get{Partition: p, Key: store.Key{Collection: "session", Name: "state"}}, store.Tail{Partition: p, Log: "log", N: 50})
						if err != nil || len(a[1].Entries) != 50 {
							b.Errorf("%d entries, %v", len(a[1].Entries), err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(each*goroutines)/b.Elapsed().Seconds(), "loads/s")
		})
	}
}

// BenchmarkStep prints commits a second and the tail of their latencies. The sub-benchmarks of a level follow one another, so that a busy
// machine is busy for all of them: read the ratios.
func BenchmarkStep(b *testing.B) {
	text := []byte(fmt.Sprintf("%0300d", 7))
	for _, level := range []string{sqlite.SyncFull, sqlite.SyncNormal} {
		for _, goroutines := range []int{1, 16, 64} {
			for _, group := range []int{64, 1} {
				b.Run(fmt.Sprintf("%s/goroutines=%d/group=%d", level, goroutines, group), func(b *testing.B) {
					s, err := sqlite.Open(b.Context(), sqlite.Options{Path: filepath.Join(b.TempDir(), "b.db"), Create: true, Sync: level, Group: group})
					if err != nil {
						b.Fatal(err)
					}
					defer s.Close()
					var (
						wg  sync.WaitGroup
						mu  sync.Mutex
						all []time.Duration
					)
					each := b.N/goroutines + 1
					b.ResetTimer()
					for g := range goroutines {
						wg.Go(func() {
							p := store.Partition(fmt.Sprintf("conversation/c%d", g))
							res, err := s.Commit(b.Context(), store.Commit{ID: "take", Partition: p, Ops: []store.Op{store.Take{Agenda: store.Turns, Member: store.Member(p), Holder: "h", Lease: time.Hour}}})
							if err != nil {
								b.Error(err)
								return
							}
							took := make([]time.Duration, 0, each)
							for n := range each {
								begin := time.Now()
								if _, err := s.Commit(b.Context(), step(p, res.Taken[0], fmt.Sprintf("%d-%d", g, n), int64(n), text)); err != nil {
									b.Error(err)
									return
								}
								took = append(took, time.Since(begin))
							}
							mu.Lock()
							defer mu.Unlock()
							all = append(all, took...)
						})
					}
					wg.Wait()
					b.StopTimer()
					slices.Sort(all)
					b.ReportMetric(float64(len(all))/b.Elapsed().Seconds(), "commits/s")
					b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "p50-ms")
					b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-ms")
					b.ReportMetric(float64(all[len(all)*999/1000].Microseconds())/1000, "p99.9-ms")
					b.ReportMetric(float64(s.Stats().Fsyncs)/float64(len(all)), "fsyncs/commit")
				})
			}
		}
	}
}
