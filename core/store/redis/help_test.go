package redis_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"herald/core/store"
	"herald/core/store/redis"
	"herald/core/store/redis/redistest"
)

const conv = store.Partition("conversation/slack:T1:C1:1700000000.000100")

// fresh starts a server with a store of its own.
func fresh(t *testing.T, opt redistest.Options) (*redistest.Server, *redis.Store) {
	t.Helper()
	srv := redistest.Run(t, opt)
	return srv, open(t, redis.Options{URL: srv.URL(), Password: opt.Password, Create: true})
}

// line is a commit that adds one entry to a log and counts it in a document and an index: three writes that must come together.
func line(p store.Partition, id string) store.Commit {
	return store.Commit{ID: id, Partition: p, Ops: []store.Op{
		store.Put{Key: store.Key{Collection: "lines", Name: id}, Value: []byte(`{"id":"` + id + `"}`)},
		store.Append{Log: "log", ID: id, Kind: "line", Data: []byte("text of " + id)},
		store.ScoreNow{Index: "seen", Member: id},
	}}
}

func commit(t *testing.T, s store.Store, c store.Commit) store.Result {
	t.Helper()
	res, err := s.Commit(t.Context(), c)
	if err != nil {
		t.Fatalf("commit %s: %v", c.ID, err)
	}
	return res
}

// lines gives the ids in a partition's log, and fails when log, documents and index do not agree: half a commit.
func lines(t *testing.T, s store.Store, p store.Partition) []string {
	t.Helper()
	answers, err := s.Read(t.Context(), store.Range{Partition: p, Log: "log"}, store.List{Partition: p, Collection: "lines"},
		store.Scores{Partition: p, Index: "seen", Min: 0, Max: 1e18})
	if err != nil {
		t.Fatalf("read %s: %v", p, err)
	}
	var ids, docs, seen []string
	for _, e := range answers[0].Entries {
		ids = append(ids, e.ID)
	}
	for _, d := range answers[1].Docs {
		docs = append(docs, d.Key.Name)
	}
	for _, m := range answers[2].Scored {
		seen = append(seen, m.Member)
	}
	sorted := slices.Sorted(slices.Values(ids))
	slices.Sort(seen)
	if !slices.Equal(sorted, docs) || !slices.Equal(sorted, seen) {
		t.Fatalf("half a commit: the log has %v, the documents are %v, the index has %v", sorted, docs, seen)
	}
	return ids
}

// wants checks the kind of an error, that it names the place, and what it says.
func wants(t *testing.T, err, kind error, says ...string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Fatalf("got %v, want %v", err, kind)
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("the error does not say %q: %v", s, err)
		}
	}
}

// dump is all that a database holds, as text, so that two states can be compared.
func dump(t *testing.T, srv *redistest.Server) string {
	t.Helper()
	ctx := t.Context()
	c := srv.Client()
	defer c.Close()
	keys, err := c.Keys(ctx, "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(keys)
	var b strings.Builder
	for _, key := range keys {
		var v any
		switch typ := c.Type(ctx, key).Val(); typ {
		case "hash":
			fields := c.HGetAll(ctx, key).Val()
			for _, f := range slices.Sorted(maps.Keys(fields)) {
				fmt.Fprintf(&b, "%s %s = %q\n", key, f, fields[f])
			}
			continue
		case "list":
			v = c.LRange(ctx, key, 0, -1).Val()
		case "zset":
			v = c.ZRangeWithScores(ctx, key, 0, -1).Val()
		default:
			v = c.Get(ctx, key).Val()
		}
		fmt.Fprintf(&b, "%s = %q\n", key, fmt.Sprint(v))
	}
	return b.String()
}

// eventually waits until f is true; the test's own end bounds it. It is for what a server does in its own time.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !f() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s: not within half a minute", what)
		}
	}
}

// bucketPrefix begins the keys of a partition's bucket.
func bucketPrefix(p store.Partition) string { return fmt.Sprintf("herald:{b%d}:", p.Bucket()) }

// paceKey is where a pace stands.
func paceKey(key string) string { return bucketPrefix(store.Partition("pace/"+key)) + "pace:" + key }

func formatMillis(t time.Time) string { return fmt.Sprint(t.UnixMilli()) }
