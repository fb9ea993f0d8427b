package redis_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"herald/core/store"
	"herald/core/store/redis"
	"herald/core/store/redis/redistest"
)

// TestResharding moves a bucket's slot to another node, some keys at a time, while its partition is written: no commit sees half of the bucket,
// and what was acknowledged is there.
func TestResharding(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := redistest.RunCluster(t, redistest.Options{})
	s := open(t, redis.Options{URL: c.URL(), Create: true})
	other := neighbour(conv)
	for i := range 20 {
		commit(t, s, line(conv, fmt.Sprintf("before-%02d", i)))
	}
	var acked, refused atomic.Int64
	stop := make(chan struct{})
	var work sync.WaitGroup
	for w := range 4 {
		work.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				c := line(conv, fmt.Sprintf("w%d-%05d", w, i))
				// A claim and a wake, so that the agenda moves under its users too.
				c.Ops = append(c.Ops, store.Wake{Agenda: store.Turns, Member: store.MemberOf(conv, c.ID), In: time.Hour})
				for {
					if _, err := s.Commit(ctx, c); err == nil {
						acked.Add(1)
						break
					} else if wants(t, err, store.ErrUnavailable); t.Failed() {
						return
					}
					refused.Add(1)
				}
			}
		})
	}
	for move := range 3 {
		m, err := c.BeginMove(ctx, bucketKey("mark"))
		if err != nil {
			t.Fatal(err)
		}
		// A commit that comes while the keys are in two places is refused whole, or waits for the end of the move.
		if _, err := m.Carry(ctx, 5); err != nil {
			t.Fatal(err)
		}
		commit(t, s, line(other, fmt.Sprint("elsewhere-", move)))
		if err := m.Finish(ctx); err != nil {
			t.Fatal(err)
		}
		before := acked.Load()
		eventually(t, "the bucket is written at its new place", func() bool { return acked.Load() > before+20 })
	}
	close(stop)
	work.Wait()
	if got := lines(t, s, conv); len(got) != 20+int(acked.Load()) {
		t.Errorf("%d lines, %d were acknowledged", len(got), 20+acked.Load())
	}
	t.Logf("%d commits during three moves, %d of them sent again by the caller", acked.Load(), refused.Load())
}

// TestMovingBucketIsRefusedWhole stops in the middle of a move: the bucket's data stands on two nodes.
func TestMovingBucketIsRefusedWhole(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := redistest.RunCluster(t, redistest.Options{})
	s := open(t, redis.Options{URL: c.URL(), Create: true, Timeout: 300 * time.Millisecond})
	commit(t, s, line(conv, "before"))
	m, err := c.BeginMove(ctx, bucketKey("mark"))
	if err != nil {
		t.Fatal(err)
	}
	for carried := 0; ; carried++ {
		_, err := s.Commit(ctx, line(conv, "during"))
		wants(t, err, store.ErrUnavailable)
		_, err = s.Read(ctx, store.Tail{Partition: conv, Log: "log", N: 9})
		wants(t, err, store.ErrUnavailable)
		_, err = s.Claim(ctx, store.ClaimRequest{Agenda: store.Turns, Holder: "h", Lease: time.Second, Limit: 1, Members: []store.Member{store.Member(conv)}})
		wants(t, err, store.ErrUnavailable)
		commit(t, s, line(neighbour(conv), fmt.Sprint("elsewhere-", carried)))
		n, err := m.Carry(ctx, 1)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			break
		}
	}
	if err := m.Finish(ctx); err != nil {
		t.Fatal(err)
	}
	// The client learns of the new place in its own time, which may be longer than this handle's short calls.
	eventually(t, "the bucket is written at its new place", func() bool {
		res, err := s.Commit(ctx, line(conv, "during"))
		if err == nil && res.Repeated {
			t.Error("a commit that was refused had been applied")
		}
		return err == nil
	})
	if got := lines(t, s, conv); fmt.Sprint(got) != "[before during]" {
		t.Errorf("the log has %v", got)
	}
}

// TestOneNodeIsAway: only the buckets of the node that is gone are.
func TestOneNodeIsAway(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	// Redis by default stops all nodes when one is missing; a service that wants to go on with the rest says so.
	c := redistest.RunCluster(t, redistest.Options{AOF: "always", Args: []string{"--cluster-require-full-coverage", "no"}})
	s := open(t, redis.Options{URL: c.URL(), Create: true, Timeout: time.Second})
	parts := map[int]store.Partition{}
	for i := 0; len(parts) < 3; i++ {
		p := store.Partition(fmt.Sprintf("person/p_%d", i))
		node, _, err := c.Owner(ctx, bucketPrefix(p)+"mark")
		if err != nil {
			t.Fatal(err)
		}
		parts[node] = p
	}
	for _, p := range parts {
		before := line(p, "before")
		before.Ops = append(before.Ops, store.Wake{Agenda: store.Turns, Member: store.Member(p)})
		commit(t, s, before)
	}
	c.Nodes[1].Kill()
	_, err := s.Commit(ctx, line(parts[1], "away"))
	wants(t, err, store.ErrUnavailable)
	// The others' work goes on; that there may be more is an error only when there is nothing else to do.
	if at, now, ok, err := s.Due(ctx, store.Turns); err != nil || !ok || at.After(now) {
		t.Errorf("due at %v of %v, %v, %v", at, now, ok, err)
	}
	claim := store.ClaimRequest{Agenda: store.Turns, Holder: "h", Lease: time.Hour, Limit: 10}
	if claims, err := s.Claim(ctx, claim); err != nil || len(claims) != 2 {
		t.Errorf("claimed %+v, %v; want what the two other nodes have", claims, err)
	}
	claim.Agenda = store.Outbox
	_, err = s.Claim(ctx, claim)
	wants(t, err, store.ErrUnavailable)
	claim.Agenda, claim.Members = store.Turns, []store.Member{store.Member(parts[1])}
	_, err = s.Claim(ctx, claim)
	wants(t, err, store.ErrUnavailable)
	for _, node := range []int{0, 2} {
		commit(t, s, line(parts[node], "meanwhile"))
	}
	if err := c.Nodes[1].Restart(ctx); err != nil {
		t.Fatal(err)
	}
	if err := c.Settled(ctx); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the node takes commits again", func() bool { _, err := s.Commit(ctx, line(parts[1], "back")); return err == nil })
	if got := fmt.Sprint(lines(t, s, parts[1])); got != "[before back]" && got != "[before away back]" {
		t.Errorf("the log has %v", got)
	}
}

// neighbour is a partition in another bucket than p.
func neighbour(p store.Partition) store.Partition {
	for i := 0; ; i++ {
		if q := store.Partition(fmt.Sprintf("person/p_%d", i)); q.Bucket() != p.Bucket() {
			return q
		}
	}
}
