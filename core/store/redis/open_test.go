package redis_test

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/core/store"
	"herald/core/store/redis"
	"herald/core/store/redis/redistest"
)

func TestOpen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		prepare [][]any // commands on a server that holds a store
		create  bool
		want    error
		says    []string
	}{
		{name: "a store"},
		{name: "an empty server", prepare: [][]any{{"flushall"}}, want: store.ErrMissing, says: []string{"herald store create"}},
		{name: "one mark is missing", prepare: [][]any{{"del", "herald:{b77}:mark"}}, want: store.ErrChanged, says: []string{"herald:{b77}:mark", "1 of 128", "backup"}},
		{name: "one mark is missing and making is allowed", prepare: [][]any{{"del", "herald:{b77}:mark"}}, create: true, want: store.ErrChanged, says: []string{"herald:{b77}:mark"}},
		{name: "the first mark is missing", prepare: [][]any{{"del", "herald:{b0}:mark"}}, create: true, want: store.ErrChanged, says: []string{"herald:{b0}:mark"}},
		{name: "another store's mark", prepare: [][]any{{"hset", "herald:{b3}:mark", "store", "stranger"}}, want: store.ErrChanged, says: []string{"herald:{b3}:mark", "another store's"}},
		{name: "a newer store", prepare: [][]any{{"hset", "herald:{b9}:mark", "format", "2"}}, want: store.ErrNewer, says: []string{"format 2", "newer Herald"}},
		{name: "a format that is none", prepare: [][]any{{"hset", "herald:{b9}:mark", "format", "x"}}, want: store.ErrCorrupt},
		{name: "a format that nothing leads from", prepare: [][]any{{"hset", "herald:{b9}:mark", "format", "0"}}, want: store.ErrCorrupt, says: []string{"format 0"}},
		{name: "other buckets", prepare: [][]any{{"hset", "herald:{b9}:mark", "buckets", "64"}}, want: store.ErrCorrupt, says: []string{"64", "128"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			srv, s := fresh(t, redistest.Options{AOF: "none"})
			commit(t, s, line(conv, "before"))
			for _, args := range c.prepare {
				if _, err := srv.Do(t.Context(), args...); err != nil {
					t.Fatal(err)
				}
			}
			before := dump(t, srv)
			again, err := redis.Open(t.Context(), redis.Options{URL: srv.URL(), Create: c.create})
			if c.want == nil {
				if err != nil {
					t.Fatal(err)
				}
				if got := lines(t, again, conv); len(got) != 1 {
					t.Errorf("the log has %v", got)
				}
				if err := again.Close(); err != nil {
					t.Error(err)
				}
				return
			}
			wants(t, err, c.want, append(c.says, srv.Addr())...)
			if after := dump(t, srv); after != before {
				t.Errorf("the refused opening wrote:\n%s", after)
			}
		})
	}
}

func TestManyCreateAtOnce(t *testing.T) {
	t.Parallel()
	srv := redistest.Run(t, redistest.Options{AOF: "none"})
	ids := make([]string, 8)
	var work sync.WaitGroup
	for i := range ids {
		work.Go(func() {
			s, err := redis.Open(t.Context(), redis.Options{URL: srv.URL(), Create: true})
			if err != nil {
				t.Error(err)
				return
			}
			h, err := s.Health(t.Context())
			ids[i] = h.ID
			if err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	work.Wait()
	for _, id := range ids {
		if id == "" || id != ids[0] {
			t.Fatalf("the stores are %v, want one", ids)
		}
	}
}

// TestCreatingIsInterrupted: whoever made the store died after some marks. Nobody takes it for a store, and making goes on where it ended.
func TestCreatingIsInterrupted(t *testing.T) {
	t.Parallel()
	srv := redistest.Run(t, redistest.Options{AOF: "none"})
	for b := range 3 {
		args := []any{"hset", fmt.Sprintf("herald:{b%d}:mark", b), "store", "half-made", "format", 1, "buckets", 128}
		if b == 0 {
			args = append(args, "making", 1)
		}
		if _, err := srv.Do(t.Context(), args...); err != nil {
			t.Fatal(err)
		}
	}
	_, err := redis.Open(t.Context(), redis.Options{URL: srv.URL()})
	wants(t, err, store.ErrMissing)
	s := open(t, redis.Options{URL: srv.URL(), Create: true})
	if h, err := s.Health(t.Context()); err != nil || h.ID != "half-made" {
		t.Errorf("got %+v, %v", h, err)
	}
	open(t, redis.Options{URL: srv.URL()})
}

// TestOlderFormat doctors a store back by a format and opens it with a Herald that knows the way up. Half of the buckets are there already, as
// after a crash in between.
func TestOlderFormat(t *testing.T) {
	t.Parallel()
	srv, s := fresh(t, redistest.Options{AOF: "none"})
	commit(t, s, line(conv, "before"))
	for b := range store.Buckets {
		if b%2 == 0 || b == conv.Bucket() {
			if _, err := srv.Do(t.Context(), "hset", fmt.Sprintf("herald:{b%d}:mark", b), "format", 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	step := "#!lua\nredis.call('HSET', KEYS[1], 'migrated', '1')"
	up, err := redis.OpenWithMigrations(t.Context(), redis.Options{URL: srv.URL()}, map[int]string{0: step})
	if err != nil {
		t.Fatal(err)
	}
	defer up.Close()
	if got := lines(t, up, conv); len(got) != 1 {
		t.Errorf("the log has %v", got)
	}
	all := dump(t, srv)
	if n := strings.Count(all, `mark format = "1"`); n != store.Buckets {
		t.Errorf("%d buckets have the new format", n)
	}
	if n := strings.Count(all, "mark migrated"); n < store.Buckets/2 || n > store.Buckets/2+1 {
		t.Errorf("%d buckets were migrated, want those of the old format", n)
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		opt     redistest.Options
		setup   [][]any
		durable bool
		says    []string
	}{
		{name: "everysec", durable: true},
		{name: "always", opt: redistest.Options{AOF: "always"}, durable: true},
		{name: "no append-only file", opt: redistest.Options{AOF: "none"}, says: []string{"NO APPEND-ONLY FILE", "CONFIG SET appendonly yes"}},
		{name: "left to the system", setup: [][]any{{"config", "set", "appendfsync", "no"}}, says: []string{"appendfsync everysec"}},
		{
			name: "evicts", setup: [][]any{{"config", "set", "maxmemory", "100mb"}, {"config", "set", "maxmemory-policy", "allkeys-lru"}},
			says: []string{"THROWS DATA AWAY", "allkeys-lru", "maxmemory-policy noeviction"},
		},
		{name: "would evict", setup: [][]any{{"config", "set", "maxmemory-policy", "volatile-ttl"}}, durable: true, says: []string{"volatile-ttl"}},
		{name: "CONFIG is forbidden", setup: [][]any{{"acl", "setuser", "default", "-config"}}, durable: true},
		{
			name: "CONFIG is forbidden, and no append-only file", opt: redistest.Options{AOF: "none"}, setup: [][]any{{"acl", "setuser", "default", "-config"}},
			says: []string{"NO APPEND-ONLY FILE"},
		},
		{name: "nothing is told", setup: [][]any{{"acl", "setuser", "default", "-config", "-info"}}, says: []string{"does not tell"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			srv, s := fresh(t, c.opt)
			for _, args := range c.setup {
				if _, err := srv.Do(t.Context(), args...); err != nil {
					t.Fatal(err)
				}
			}
			h, err := s.Health(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			all := strings.Join(h.Warnings, "\n")
			if h.Durable != c.durable || (all == "") != (len(c.says) == 0) {
				t.Errorf("durable %v, warnings %q", h.Durable, all)
			}
			keeps := "may be lost with Redis"
			switch {
			case c.durable && c.opt.AOF == "always":
				keeps = "survives a crash of Herald, of Redis and of its machine"
			case c.durable:
				keeps = "may lose the last second"
			}
			if !strings.Contains(h.Keeps, keeps) {
				t.Errorf("it says %q, want %q", h.Keeps, keeps)
			}
			for _, say := range c.says {
				if !strings.Contains(all, say) {
					t.Errorf("the warnings do not say %q: %s", say, all)
				}
			}
			// Whoever opens it is told at once.
			var log strings.Builder
			open(t, redis.Options{URL: srv.URL(), Logger: slog.New(slog.NewTextHandler(&log, nil))})
			if got := strings.Count(log.String(), "level=WARN"); got != len(h.Warnings) {
				t.Errorf("%d warnings at start, want %d: %s", got, len(h.Warnings), log.String())
			}
		})
	}
}

func TestWaitReplicas(t *testing.T) {
	t.Parallel()
	srv, plain := fresh(t, redistest.Options{})
	s := open(t, redis.Options{URL: srv.URL(), WaitReplicas: 1, Timeout: time.Second})
	begin := time.Now()
	_, err := s.Commit(t.Context(), line(conv, "alone"))
	wants(t, err, store.ErrUnavailable, "0 of the 1 replicas", "store.wait_replicas")
	if took := time.Since(begin); took > time.Second {
		t.Errorf("the shortfall was told after %v", took)
	}
	commit(t, plain, line(conv, "plain")) // who does not ask does not wait
	host, port, _ := strings.Cut(srv.Addr(), ":")
	replica := redistest.Run(t, redistest.Options{Args: []string{"--replicaof", host, port}})
	eventually(t, "the replica follows", func() bool {
		info, err := replica.Do(t.Context(), "info", "replication")
		return err == nil && strings.Contains(info.(string), "master_link_status:up")
	})
	// The repeat waits for the replica too, though it changes nothing.
	// The server counts a replica only after its first word, which may come behind the link; a repeat is safe.
	var res store.Result
	eventually(t, "the replica is counted", func() (ok bool) {
		res, err = s.Commit(t.Context(), line(conv, "alone"))
		return err == nil
	})
	if !res.Repeated {
		t.Error("the first try had been applied")
	}
	eventually(t, "the commit has its replica", func() bool {
		_, err = s.Commit(t.Context(), line(conv, "together"))
		return err == nil
	})
	if before := dump(t, replica); !strings.Contains(before, "text of together") {
		t.Errorf("the replica has not got what was acknowledged:\n%s", before)
	}
	replica.Stop()
	defer replica.Cont()
	_, err = s.Commit(t.Context(), line(conv, "together"))
	wants(t, err, store.ErrUnavailable, "0 of the 1 replicas")
}
