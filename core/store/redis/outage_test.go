package redis_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/core/store"
	"herald/core/store/redis"
	"herald/core/store/redis/redistest"
)

// everything calls each method that needs the server.
func everything(ctx context.Context, s store.Store) map[string]error {
	out := map[string]error{}
	_, out["Commit"] = s.Commit(ctx, line(conv, "probe"))
	_, out["Read"] = s.Read(ctx, store.Tail{Partition: conv, Log: "log", N: 1})
	_, out["Claim"] = s.Claim(ctx, store.ClaimRequest{Agenda: store.Turns, Holder: "h", Lease: time.Minute, Limit: 1})
	_, out["Claim by name"] = s.Claim(ctx, store.ClaimRequest{Agenda: store.Turns, Holder: "h", Lease: time.Minute, Limit: 1, Members: []store.Member{store.Member(conv)}})
	_, out["Extend"] = s.Extend(ctx, time.Minute, store.Claim{Agenda: store.Turns, Member: store.Member(conv), Token: 1, Holder: "h"})
	_, _, _, out["Due"] = s.Due(ctx, store.Turns)
	_, _, out["Reserve"] = s.Reserve(ctx, -1, store.Pace{Key: "k", Every: time.Second, Burst: 1})
	out["Hold"] = s.Hold(ctx, "k", time.Second)
	_, out["Partitions"] = s.Partitions(ctx, conv.Bucket(), store.Stamp{}, 1)
	_, out["DeadLetters"] = s.DeadLetters(ctx, 1)
	_, out["Health"] = s.Health(ctx)
	return out
}

func TestServerGoesAndComesBack(t *testing.T) {
	t.Parallel()
	srv, s := fresh(t, redistest.Options{AOF: "always"})
	commit(t, s, line(conv, "before"))
	srv.Kill()
	for method, err := range everything(t.Context(), s) {
		t.Run(method, func(t *testing.T) { wants(t, err, store.ErrUnavailable, srv.Addr()) })
	}
	if err := srv.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	for method, err := range everything(t.Context(), s) {
		if err != nil {
			t.Errorf("%s after the restart: %v", method, err)
		}
	}
	if got := lines(t, s, conv); !slices.Equal(got, []string{"before", "probe"}) {
		t.Errorf("the log has %v", got)
	}
}

func TestServerComesBackEmpty(t *testing.T) {
	t.Parallel()
	srv, s := fresh(t, redistest.Options{})
	commit(t, s, line(conv, "before"))
	if err := srv.Wipe(t.Context()); err != nil {
		t.Fatal(err)
	}
	for method, err := range everything(t.Context(), s) {
		t.Run(method, func(t *testing.T) { wants(t, err, store.ErrChanged, "backup") })
	}
	if left := dump(t, srv); left != "" {
		t.Errorf("something was written into the empty server:\n%s", left)
	}
	// Another store at the same place is not the one that was opened either.
	open(t, redis.Options{URL: srv.URL(), Create: true})
	for method, err := range everything(t.Context(), s) {
		t.Run(method+" on another store", func(t *testing.T) { wants(t, err, store.ErrChanged) })
	}
}

func TestServerIsLoading(t *testing.T) {
	t.Parallel()
	// Redis listens to others only now and then while it loads, so it has to load much, slowly.
	srv, s := fresh(t, redistest.Options{AOF: "always", Args: []string{"--key-load-delay", "200"}})
	commit(t, s, line(conv, "before"))
	c := srv.Client()
	defer c.Close()
	pipe := c.Pipeline()
	for i := range 6000 {
		pipe.Set(t.Context(), fmt.Sprint("other:", i), i, 0)
	}
	if _, err := pipe.Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	srv.Kill()
	if err := srv.Launch(); err != nil {
		t.Fatal(err)
	}
	loading := false
	eventually(t, "the server answers", func() bool {
		_, err := s.Commit(t.Context(), line(conv, "after"))
		if err != nil {
			wants(t, err, store.ErrUnavailable)
			loading = loading || strings.Contains(err.Error(), "LOADING")
		}
		return err == nil
	})
	if !loading {
		t.Error("the case did not come up: no commit met the server while it was loading")
	}
	if got := lines(t, s, conv); !slices.Equal(got, []string{"before", "after"}) {
		t.Errorf("the log has %v", got)
	}
}

func TestServerIsReadOnly(t *testing.T) {
	t.Parallel()
	srv, s := fresh(t, redistest.Options{})
	commit(t, s, line(conv, "before"))
	// A replica of a server that is not there keeps its data and takes no writes.
	if _, err := srv.Do(t.Context(), "replicaof", "127.0.0.1", "1"); err != nil {
		t.Fatal(err)
	}
	before := dump(t, srv)
	_, err := s.Commit(t.Context(), line(conv, "refused"))
	wants(t, err, store.ErrReadOnly, "master")
	_, _, err = s.Reserve(t.Context(), -1, store.Pace{Key: "k", Every: time.Second})
	wants(t, err, store.ErrReadOnly)
	if got := lines(t, s, conv); !slices.Equal(got, []string{"before"}) {
		t.Errorf("it can be read, and the log has %v", got)
	}
	if after := dump(t, srv); after != before {
		t.Errorf("something was written:\n%s", after)
	}
	if _, err := srv.Do(t.Context(), "replicaof", "no", "one"); err != nil {
		t.Fatal(err)
	}
	commit(t, s, line(conv, "refused"))
}

func TestServerHasNoMemory(t *testing.T) {
	t.Parallel()
	srv, s := fresh(t, redistest.Options{MaxMemory: "6mb"})
	big := strings.Repeat("x", 100<<10)
	var acked []string
	var refused store.Commit
	for i := 0; ; i++ {
		c := line(conv, fmt.Sprintf("c%03d", i))
		c.Ops = append(c.Ops, store.Put{Key: store.Key{Collection: "big", Name: c.ID}, Value: []byte(big)})
		_, err := s.Commit(t.Context(), c)
		if err != nil {
			wants(t, err, store.ErrFull, "maxmemory")
			refused = c
			break
		}
		acked = append(acked, c.ID)
		if i > 1000 {
			t.Fatal("the memory never ended")
		}
	}
	if _, err := srv.Do(t.Context(), "config", "set", "maxmemory", "1mb"); err != nil {
		t.Fatal(err)
	}
	_, err := s.Claim(t.Context(), store.ClaimRequest{Agenda: store.Turns, Holder: "h", Lease: time.Minute, Limit: 1, Members: []store.Member{store.Member(conv)}})
	wants(t, err, store.ErrFull)
	if got := lines(t, s, conv); len(acked) < 5 || !slices.Equal(got, acked) {
		t.Errorf("the log has %v, acknowledged were %v", got, acked)
	}
	if _, err := srv.Do(t.Context(), "config", "set", "maxmemory", "0"); err != nil {
		t.Fatal(err)
	}
	if res := commit(t, s, refused); res.Repeated {
		t.Error("the refused commit had been applied")
	}
}

func TestServerCannotWriteItsFile(t *testing.T) {
	t.Parallel()
	srv, s := fresh(t, redistest.Options{Args: []string{"--save", "3600 1"}})
	commit(t, s, line(conv, "before"))
	// A snapshot that fails makes Redis take no more writes; here a folder stands where the file should be.
	if err := os.MkdirAll(filepath.Join(srv.Dir(), "dump.rdb", "in-the-way"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, _ = srv.Do(t.Context(), "bgsave")
	eventually(t, "the snapshot fails", func() bool {
		info, err := srv.Do(t.Context(), "info", "persistence")
		return err == nil && strings.Contains(info.(string), "rdb_last_bgsave_status:err")
	})
	_, err := s.Commit(t.Context(), line(conv, "refused"))
	wants(t, err, store.ErrReadOnly, "nothing was written")
	if got := lines(t, s, conv); !slices.Equal(got, []string{"before"}) {
		t.Errorf("the log has %v", got)
	}
}

func TestServerForgetsTheScripts(t *testing.T) {
	t.Parallel()
	srv, s := fresh(t, redistest.Options{})
	const writers, each = 8, 50
	var work sync.WaitGroup
	for w := range writers {
		work.Go(func() {
			for i := range each {
				if _, err := s.Commit(t.Context(), line(conv, fmt.Sprintf("w%d-%d", w, i))); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 20 {
		if _, err := srv.Do(t.Context(), "script", "flush"); err != nil {
			t.Error(err)
		}
	}
	work.Wait()
	if got := lines(t, s, conv); len(got) != writers*each {
		t.Errorf("%d lines of %d", len(got), writers*each)
	}
	if _, err := srv.Do(t.Context(), "script", "flush"); err != nil {
		t.Fatal(err)
	}
	for method, err := range everything(t.Context(), s) {
		if err != nil {
			t.Errorf("%s without its script: %v", method, err)
		}
	}
}

func TestServerWantsAPassword(t *testing.T) {
	t.Parallel()
	srv, _ := fresh(t, redistest.Options{Password: "hunter2-canary"})
	for name, opt := range map[string]redis.Options{
		"none":           {URL: srv.URL()},
		"a wrong one":    {URL: srv.URL(), Password: "wrong-canary"},
		"one in the URL": {URL: strings.Replace(srv.URL(), "://", "://:wrong-canary@", 1)},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := redis.Open(t.Context(), opt)
			wants(t, err, store.ErrUnavailable, "password", srv.Addr())
			if strings.Contains(err.Error(), "canary") {
				t.Errorf("the error tells the password: %v", err)
			}
		})
	}
	right := strings.Replace(srv.URL(), "://", "://:hunter2-canary@", 1)
	if s := open(t, redis.Options{URL: right}); s == nil {
		t.Error("the URL's password is not used")
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	srv := redistest.Run(t, redistest.Options{TLS: true, Password: "secret"})
	_, err := redis.Open(t.Context(), redis.Options{URL: srv.URL(), Password: "secret", Create: true})
	wants(t, err, store.ErrUnavailable, "certificate")
	_, err = redis.Open(t.Context(), redis.Options{URL: "redis://" + srv.Addr(), Password: "secret", Create: true, Timeout: time.Second})
	wants(t, err, store.ErrUnavailable)
	s := open(t, redis.Options{URL: srv.URL(), Password: "secret", Create: true, TLS: &tls.Config{RootCAs: srv.CA(), MinVersion: tls.VersionTLS12}})
	commit(t, s, line(conv, "private"))
	if got := lines(t, s, conv); !slices.Equal(got, []string{"private"}) {
		t.Errorf("the log has %v", got)
	}
}
