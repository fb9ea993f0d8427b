package redis_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herald/core/store"
	"herald/core/store/redis/redistest"
)

// TestLookingCostsWhatIsDue: looking for work, claiming and reading the end of a log run the same commands, however much there is that is not due.
func TestLookingCostsWhatIsDue(t *testing.T) {
	t.Parallel()
	srv, s := fresh(t, redistest.Options{AOF: "none"})
	ctx := t.Context()
	calls := func() map[string]string {
		info, err := srv.Do(ctx, "info", "commandstats")
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for line := range strings.Lines(info.(string)) {
			name, rest, ok := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":calls=")
			if n, _, _ := strings.Cut(rest, ","); ok && name != "info" && !strings.HasPrefix(name, "config") {
				out[name] = n
			}
		}
		return out
	}
	round := 0
	work := func() map[string]string {
		round++
		if _, err := srv.Do(ctx, "config", "resetstat"); err != nil {
			t.Fatal(err)
		}
		due := store.MemberOf(conv, fmt.Sprint("due-", round))
		commit(t, s, store.Commit{ID: string(due), Partition: conv, Ops: []store.Op{
			store.Wake{Agenda: store.Turns, Member: due}, store.Append{Log: "l", ID: "e", Kind: "k"},
		}})
		if at, now, ok, err := s.Due(ctx, store.Turns); err != nil || !ok || at.After(now) {
			t.Fatalf("due at %v of %v, %v, %v", at, now, ok, err)
		}
		claims, err := s.Claim(ctx, store.ClaimRequest{Agenda: store.Turns, Holder: "h", Lease: time.Hour, Limit: 10})
		if err != nil || len(claims) != 1 || claims[0].Member != due {
			t.Fatalf("claimed %+v, %v", claims, err)
		}
		if _, err := s.Read(ctx, store.Tail{Partition: conv, Log: "l", N: 1}); err != nil {
			t.Fatal(err)
		}
		return calls()
	}
	work() // the first connection says hello
	few := work()
	for i := range 20 {
		c := store.Commit{ID: fmt.Sprint("many-", i), Partition: conv}
		for j := range 500 {
			c.Ops = append(c.Ops, store.Wake{Agenda: store.Turns, Member: store.MemberOf(conv, fmt.Sprintf("%d-%d", i, j)), In: time.Hour},
				store.Append{Log: "l", ID: "e", Kind: "k", Data: []byte("{}")})
		}
		commit(t, s, c)
	}
	many := work()
	// The clients that looked at the counters said hello again; that is not the store's work.
	for _, m := range []map[string]string{few, many} {
		maps.DeleteFunc(m, func(name, _ string) bool { return name == "hello" || name == "client|setinfo" })
	}
	if d := cmp.Diff(few, many); d != "" {
		t.Errorf("10,000 members and entries more cost other commands (-few +many):\n%s", d)
	}
	for _, name := range []string{"hgetall", "keys", "scan", "hscan", "zscan", "smembers"} {
		if n, ok := many[name]; ok {
			t.Errorf("%s ran %s times", name, n)
		}
	}
}
