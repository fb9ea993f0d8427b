package redis_test

import (
	"testing"
	"time"

	"herald/core/store"
	"herald/core/store/redis/redistest"
)

// TestServerTime goes by Redis' own time, as in service: leases and wakes end by themselves, whatever the callers' clocks say. The conformance
// suite drives the same scripts on a clock that it moves.
func TestServerTime(t *testing.T) {
	t.Parallel()
	srv, s := fresh(t, redistest.Options{AOF: "none"})
	ctx := t.Context()
	serverNow := func() time.Time {
		c := srv.Client()
		defer c.Close()
		now, err := c.Time(ctx).Result()
		if err != nil {
			t.Fatal(err)
		}
		return now.Truncate(time.Millisecond)
	}
	between := func(what string, at, from, to time.Time) {
		t.Helper()
		if at.Before(from) || at.After(to) {
			t.Errorf("%s is %v, want from %v to %v", what, at, from, to)
		}
	}
	member := store.Member(conv)
	begin := serverNow()
	res := commit(t, s, store.Commit{ID: "c1", Partition: conv, Ops: []store.Op{
		store.Append{Log: "l", ID: "e", Kind: "k"},
		store.Take{Agenda: store.Turns, Member: member, Holder: "a", Lease: 50 * time.Millisecond},
		store.Wake{Agenda: store.Outbox, Member: member, In: 100 * time.Millisecond},
	}})
	now, err := s.Now(ctx)
	if err != nil {
		t.Fatal(err)
	}
	end := serverNow()
	between("the commit", res.Now, begin, end)
	between("now", now, res.Now, end)
	first := *res.Taken[0]
	if lease := first.Until.Sub(first.Since); lease != 50*time.Millisecond || !first.Since.Equal(res.Now) {
		t.Errorf("the claim is %+v at %v", first, res.Now)
	}
	at, asked, ok, err := s.Due(ctx, store.Outbox)
	if err != nil || !ok || !at.Equal(res.Now.Add(100*time.Millisecond)) {
		t.Fatalf("due at %v, %v, %v", at, ok, err)
	}
	between("the time of the question", asked, res.Now, serverNow())
	for agenda, from := range map[store.Agenda]time.Time{store.Turns: first.Until, store.Outbox: at} {
		var claims []store.Claim
		eventually(t, string(agenda)+" is due", func() bool {
			var err error
			claims, err = s.Claim(ctx, store.ClaimRequest{Agenda: agenda, Holder: "b", Lease: time.Hour, Limit: 5})
			if err != nil {
				t.Fatal(err)
			}
			return len(claims) > 0
		})
		between("the claim", claims[0].Since, from, serverNow())
	}
	wants(t, func() error {
		_, err := s.Commit(ctx, store.Commit{ID: "c2", Partition: conv, Claim: &first})
		return err
	}(), store.ErrFenced)
}

// TestPacesEnd: a pace that says nothing any more leaves nothing behind.
func TestPacesEnd(t *testing.T) {
	t.Parallel()
	srv, s := fresh(t, redistest.Options{AOF: "none"})
	ctx := t.Context()
	p := store.Pace{Key: "slack:T1/C1", Every: 30 * time.Millisecond, Burst: 1}
	for i := range 3 {
		wait, ok, err := s.Reserve(ctx, -1, p)
		if err != nil || !ok || wait > time.Duration(i)*p.Every {
			t.Fatalf("place %d: %v, %v, %v", i, wait, ok, err)
		}
	}
	if err := s.Hold(ctx, "discord:G1", 20*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the paces end", func() bool {
		n, err := srv.Do(ctx, "exists", paceKey(p.Key), paceKey("discord:G1"))
		if err != nil {
			t.Fatal(err)
		}
		return n == int64(0)
	})
	if wait, ok, err := s.Reserve(ctx, 0, p); err != nil || !ok || wait != 0 {
		t.Errorf("after the rest: %v, %v, %v", wait, ok, err)
	}
}
