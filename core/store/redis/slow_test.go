package redis_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"herald/core/store"
	"herald/core/store/redis"
	"herald/core/store/redis/redistest"
)

// behindProxy opens a store through a proxy; direct is another handle on it, around the proxy.
func behindProxy(t *testing.T, timeout time.Duration) (p *redistest.Proxy, s, direct *redis.Store) {
	t.Helper()
	srv, direct := fresh(t, redistest.Options{})
	p = redistest.RunProxy(t, srv.Addr())
	return p, open(t, redis.Options{URL: p.URL(), Timeout: timeout}), direct
}

func TestSlowServer(t *testing.T) {
	t.Parallel()
	p, s, _ := behindProxy(t, 0)
	p.Delay(500 * time.Millisecond)
	begin := time.Now()
	commit(t, s, line(conv, "slow"))
	if took := time.Since(begin); took < 500*time.Millisecond || took > 4*time.Second {
		t.Errorf("the commit took %v with half a second of delay", took)
	}
}

func TestTooSlowServer(t *testing.T) {
	t.Parallel()
	p, s, direct := behindProxy(t, 200*time.Millisecond)
	commit(t, s, line(conv, "before"))
	p.Delay(time.Hour)
	begin := time.Now()
	_, err := s.Commit(t.Context(), line(conv, "slow"))
	wants(t, err, store.ErrUnavailable, "commit slow to "+string(conv), "200ms are over")
	if errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error speaks of the caller's patience: %v", err)
	}
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("a call that may take 200 ms took %v", took)
	}
	p.Delay(0)
	p.Drop(false)
	// It had been applied; the repeat says so and adds nothing.
	if res := commit(t, s, line(conv, "slow")); !res.Repeated {
		t.Error("the repeat was applied as a new commit")
	}
	if got := lines(t, direct, conv); !slices.Equal(got, []string{"before", "slow"}) {
		t.Errorf("the log has %v", got)
	}
}

func TestLostReply(t *testing.T) {
	t.Parallel()
	p, s, direct := behindProxy(t, 0)
	commit(t, s, line(conv, "first"))
	t.Run("once", func(t *testing.T) {
		p.CutReplies(1)
		res := commit(t, s, line(conv, "once"))
		if !res.Repeated || len(res.Seqs) != 1 || res.Seqs[0] != 2 || p.Cut() != 1 {
			t.Errorf("got %+v after %d lost replies", res, p.Cut())
		}
	})
	t.Run("twice", func(t *testing.T) {
		p.CutReplies(2)
		_, err := s.Commit(t.Context(), line(conv, "twice"))
		wants(t, err, store.ErrUnavailable)
		if res := commit(t, s, line(conv, "twice")); !res.Repeated || res.Seqs[0] != 3 {
			t.Errorf("got %+v", res)
		}
	})
	t.Run("of many at once", func(t *testing.T) {
		p.CutReplies(1)
		var work sync.WaitGroup
		for i := range 50 {
			work.Go(func() {
				if _, err := s.Commit(t.Context(), line(conv, fmt.Sprint("many-", i))); err != nil {
					t.Error(err)
				}
			})
		}
		work.Wait()
	})
	got := lines(t, direct, conv)
	if slices.Sort(got); len(got) != 53 || len(slices.Compact(got)) != 53 {
		t.Errorf("the log has %d entries, %d of them different; want 53", len(got), len(slices.Compact(got)))
	}
}

// TestLostReplyOfTheSettings: a replica that starts while a connection breaks starts all the same.
func TestLostReplyOfTheSettings(t *testing.T) {
	t.Parallel()
	p, s, _ := behindProxy(t, 0)
	for n := 1; n < 3; n++ {
		cut := p.Cut()
		p.CutRepliesAfter(1, n) // the first answer is that about the mark
		if h, err := s.Health(t.Context()); err != nil || h.Keeps == "" || p.Cut()-cut != n {
			t.Errorf("%d lost: %+v, %v after %d lost replies", n, h, err, p.Cut()-cut)
		}
	}
}

// TestLostReplyOfAClaim: what the lost answer gave is given again and does not count as a crash.
func TestLostReplyOfAClaim(t *testing.T) {
	t.Parallel()
	p, s, _ := behindProxy(t, 0)
	for _, name := range []string{"a", "b", "c"} {
		commit(t, s, store.Commit{ID: name, Partition: conv, Ops: []store.Op{store.Wake{Agenda: store.Turns, Member: store.MemberOf(conv, name)}}})
	}
	claim := func(pass, limit int, names ...string) []store.Claim {
		req := store.ClaimRequest{Agenda: store.Turns, Holder: "h", Lease: time.Minute, Limit: limit, Buckets: []int{conv.Bucket()}}
		for _, n := range names {
			req.Members = append(req.Members, store.MemberOf(conv, n))
		}
		cut := p.Cut()
		p.CutRepliesAfter(pass, 1)
		claims, err := s.Claim(t.Context(), req)
		if err != nil || p.Cut() == cut {
			t.Fatalf("claim: %v, %d replies lost", err, p.Cut()-cut)
		}
		return claims
	}
	named := claim(0, 5, "b")
	if len(named) != 1 || named[0].Member.Name() != "b" || named[0].Attempt != 1 || named[0].Token != 1 {
		t.Errorf("by name: %+v", named)
	}
	// The answer to the look passes; that to the claim after it is lost.
	rest := claim(1, 5)
	if len(rest) != 2 || rest[0].Attempt != 1 || rest[1].Attempt != 1 {
		t.Errorf("by bucket: %+v", rest)
	}
}

func TestCallerStopsWaiting(t *testing.T) {
	t.Parallel()
	srv, _ := fresh(t, redistest.Options{})
	// One call at a time is under way, so that all others wait in the queue.
	s := open(t, redis.WithLanes(redis.Options{URL: srv.URL()}, 1, 1))
	commit(t, s, line(conv, "before"))
	srv.Stop()
	defer srv.Cont()
	const callers = 60
	errs := make([]error, callers)
	var work sync.WaitGroup
	begin := time.Now()
	for i := range callers {
		work.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			_, errs[i] = s.Commit(ctx, line(conv, fmt.Sprint("given-up-", i)))
		})
	}
	work.Wait()
	if took := time.Since(begin); took > 3*time.Second {
		t.Errorf("callers who wait 100 ms waited %v", took)
	}
	for _, err := range errs {
		wants(t, err, store.ErrUnavailable)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the error does not tell whose patience ended: %v", err)
		}
	}
	srv.Cont()
	commit(t, s, line(conv, "after"))
	// What was on its way may have been done; what still waited in the queue was not sent for nobody.
	if got := lines(t, s, conv); len(got) > 3 {
		t.Errorf("%d of %d commits that nobody waited for were done", len(got)-2, callers)
	}
}
