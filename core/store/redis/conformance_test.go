package redis_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	goredis "github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"herald/core/store"
	"herald/core/store/redis"
	"herald/core/store/redis/redistest"
	"herald/core/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// harness gives every case a store of its own on one server: a database, or a prefix on a cluster.
func harness(client goredis.UniversalClient, url func(n int64) string, prefix func(n int64) string) storetest.Harness {
	var count atomic.Int64
	return storetest.Harness{
		Caps: storetest.Capabilities{Durable: true, Driver: "redis"},
		Open: func(t *testing.T, clock *storetest.Clock) storetest.Instance {
			n := count.Add(1)
			opt := redis.Options{URL: url(n), Create: true, Clock: clock.Now}
			s := open(t, opt)
			opt.Create = false
			return storetest.Instance{
				Store:  s,
				Attach: func(t *testing.T) store.Store { return open(t, opt) },
				Reopen: func(t *testing.T) store.Store {
					if err := s.Close(); err != nil {
						t.Error(err)
					}
					s = open(t, opt)
					return s
				},
				Snapshot: func(t *testing.T) func(*testing.T) { return snapshot(t, client, n, prefix(n)) },
			}
		},
	}
}

func open(t testing.TB, opt redis.Options) *redis.Store {
	t.Helper()
	s, err := redis.Open(context.Background(), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// snapshot copies the keys of one store; restore makes them what they were, as a failover to a replica does that lacks the last writes.
func snapshot(t *testing.T, client goredis.UniversalClient, db int64, prefix string) func(*testing.T) {
	t.Helper()
	var mu sync.Mutex // the nodes of a cluster are asked at once
	dumps := map[string]string{}
	eachKey(t, client, db, prefix, func(ctx context.Context, c goredis.Cmdable, key string) {
		dump := c.Dump(ctx, key).Val()
		mu.Lock()
		defer mu.Unlock()
		dumps[key] = dump
	})
	return func(t *testing.T) {
		t.Helper()
		eachKey(t, client, db, prefix, func(ctx context.Context, c goredis.Cmdable, key string) { c.Del(ctx, key) })
		for key, dump := range dumps {
			onDatabase(t, client, db, func(ctx context.Context, c goredis.Cmdable) {
				if err := c.RestoreReplace(ctx, key, 0, dump).Err(); err != nil && !strings.HasPrefix(err.Error(), "MOVED") {
					t.Error(err)
				}
			})
		}
	}
}

func eachKey(t *testing.T, client goredis.UniversalClient, db int64, prefix string, f func(context.Context, goredis.Cmdable, string)) {
	t.Helper()
	onDatabase(t, client, db, func(ctx context.Context, c goredis.Cmdable) {
		keys, err := c.Keys(ctx, prefix+":*").Result()
		if err != nil {
			t.Error(err)
		}
		for _, key := range keys {
			f(ctx, c, key)
		}
	})
}

// onDatabase calls f for the database of a server, or for each node of a cluster.
func onDatabase(t *testing.T, client goredis.UniversalClient, db int64, f func(context.Context, goredis.Cmdable)) {
	t.Helper()
	ctx := t.Context()
	if c, ok := client.(*goredis.ClusterClient); ok {
		if err := c.ForEachMaster(ctx, func(ctx context.Context, c *goredis.Client) error { f(ctx, c); return nil }); err != nil {
			t.Error(err)
		}
		return
	}
	conn := client.(*goredis.Client).Conn()
	defer conn.Close()
	if err := conn.Select(ctx, int(db)).Err(); err != nil {
		t.Error(err)
	}
	f(ctx, conn)
}

// standalone is a harness on one server with a database for each case.
func standalone(t *testing.T) storetest.Harness {
	srv := redistest.Run(t, redistest.Options{Args: []string{"--databases", "4096"}})
	client := srv.Client()
	t.Cleanup(func() { _ = client.Close() })
	return harness(client, func(n int64) string { return fmt.Sprintf("%s/%d", srv.URL(), n) }, func(int64) string { return "herald" })
}

func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, standalone(t))
}

func TestConformanceCluster(t *testing.T) {
	t.Parallel()
	c := redistest.RunCluster(t, redistest.Options{})
	client := c.Client()
	t.Cleanup(func() { _ = client.Close() })
	prefix := func(n int64) string { return fmt.Sprintf("case-%d", n) }
	storetest.Run(t, harness(client, func(n int64) string { return c.URL() + "?prefix=" + prefix(n) }, prefix))
}

func TestModel(t *testing.T) {
	t.Parallel()
	storetest.RunModel(t, standalone(t), storetest.ModelOptions{Seeds: 40})
}
