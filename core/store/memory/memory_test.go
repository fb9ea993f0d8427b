package memory_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"herald/core/store"
	"herald/core/store/memory"
)

const p = store.Partition("conversation/c1")

var key = store.Key{Collection: "state", Name: "s"}

func putCommit(id, value string) store.Commit {
	return store.Commit{ID: id, Partition: p, Ops: []store.Op{
		store.Put{Key: key, Value: []byte(value)},
		store.Append{Log: "log", ID: id, Kind: "k", Data: []byte(value)},
		store.Wake{Agenda: store.Turns, Member: store.Member(p)},
	}}
}

// length is the length of the log: how often a commit was really applied.
func length(t *testing.T, s *memory.Store) int {
	t.Helper()
	a, err := s.Read(t.Context(), store.Range{Partition: p, Log: "log"})
	if err != nil {
		t.Fatal(err)
	}
	return len(a[0].Entries)
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		effect memory.Effect
		want   error
		// applied is how many commits stand after the faulty call, and after its repeat with the same id.
		applied, afterRepeat int
		repeated             bool
	}{
		{"refused", memory.Effect{Before: memory.Unavailable("net")}, store.ErrUnavailable, 0, 1, false},
		{"reply lost", memory.Effect{After: memory.Unavailable("net")}, store.ErrUnavailable, 1, 1, true},
		{"applied twice", memory.Effect{Twice: true}, nil, 1, 1, true},
		{"nothing", memory.Effect{}, nil, 1, 1, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := memory.New(memory.Options{})
			hostile := s.Attach(memory.Options{Faults: memory.FaultFunc(func(c memory.Call) memory.Effect {
				if c.N == 1 && c.Commit.ID == "a" {
					return tc.effect
				}
				return memory.Effect{}
			})})
			_, err := hostile.Commit(t.Context(), putCommit("a", "1"))
			if !errors.Is(err, tc.want) {
				t.Fatalf("commit: %v, want %v", err, tc.want)
			}
			if n := length(t, s); n != tc.applied {
				t.Fatalf("%d commits stand, want %d", n, tc.applied)
			}
			res, err := hostile.Commit(t.Context(), putCommit("a", "1"))
			if err != nil || res.Repeated != tc.repeated || len(res.Seqs) != 1 || res.Seqs[0] != 1 {
				t.Fatalf("repeat: %+v, %v", res, err)
			}
			if n := length(t, s); n != tc.afterRepeat {
				t.Fatalf("%d commits stand after the repeat, want %d", n, tc.afterRepeat)
			}
		})
	}
}

func TestDelayEndsWithContext(t *testing.T) {
	t.Parallel()
	s := memory.New(memory.Options{Faults: memory.FaultFunc(func(memory.Call) memory.Effect { return memory.Effect{Delay: time.Hour} })})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	_, err := s.Commit(ctx, putCommit("a", "1"))
	if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, store.ErrUnavailable) {
		t.Fatalf("got %v", err)
	}
}

func TestLostStoreRefusesEverythingUntilRestored(t *testing.T) {
	t.Parallel()
	s := memory.New(memory.Options{})
	if _, err := s.Commit(t.Context(), putCommit("a", "1")); err != nil {
		t.Fatal(err)
	}
	snap := s.Snapshot()
	s.Lose()
	if _, err := s.Commit(t.Context(), putCommit("b", "2")); !errors.Is(err, store.ErrChanged) {
		t.Fatalf("commit to a lost store: %v", err)
	}
	if _, err := s.Health(t.Context()); !errors.Is(err, store.ErrChanged) {
		t.Fatalf("health of a lost store: %v", err)
	}
	s.Restore(snap)
	if n := length(t, s); n != 1 {
		t.Fatalf("%d commits after the restore", n)
	}
}

func TestSnapshotIsApart(t *testing.T) {
	t.Parallel()
	s := memory.New(memory.Options{})
	mustCommit(t, s, putCommit("a", "1"))
	snap := s.Snapshot()
	mustCommit(t, s, putCommit("b", "2"))
	if _, err := s.Claim(t.Context(), store.ClaimRequest{Agenda: store.Turns, Holder: "h", Lease: time.Minute, Limit: 1}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s.Restore(snap)
		if n := length(t, s); n != 1 {
			t.Fatalf("%d commits after the restore", n)
		}
		claims, err := s.Claim(t.Context(), store.ClaimRequest{Agenda: store.Turns, Holder: "h2", Lease: time.Minute, Limit: 1})
		if err != nil || len(claims) != 1 || claims[0].Token != 1 {
			t.Fatalf("claim after the restore: %+v, %v", claims, err)
		}
	}
}

func TestReopenEndsClaimsAsCrashes(t *testing.T) {
	t.Parallel()
	s := memory.New(memory.Options{})
	mustCommit(t, s, putCommit("a", "1"))
	for attempt := 1; attempt < 4; attempt++ {
		claims, err := s.Claim(t.Context(), store.ClaimRequest{Agenda: store.Turns, Holder: "h", Lease: time.Hour, Limit: 9})
		if err != nil || len(claims) != 1 || claims[0].Attempt != attempt {
			t.Fatalf("claim %d: %+v, %v", attempt, claims, err)
		}
		old := s
		s = s.Reopen(memory.Options{})
		if _, err := old.Now(t.Context()); !errors.Is(err, store.ErrClosed) {
			t.Fatalf("the old handle: %v", err)
		}
	}
}

func TestHintsAreDeliveredInsideTheCommit(t *testing.T) {
	t.Parallel()
	var got []store.Hint
	s := memory.New(memory.Options{Hint: func(h store.Hint) { got = append(got, h) }})
	mustCommit(t, s, putCommit("a", "1"))
	if len(got) != 1 || got[0] != (store.Hint{Agenda: store.Turns, Member: store.Member(p)}) {
		t.Fatalf("hints: %+v", got)
	}
	deaf := s.Attach(memory.Options{Faults: memory.FaultFunc(func(memory.Call) memory.Effect { return memory.Effect{NoHints: true} })})
	mustCommit(t, deaf, putCommit("b", "2"))
	if len(got) != 1 {
		t.Fatalf("a hint that was to be lost arrived: %+v", got)
	}
}

func TestDumpHasEveryValue(t *testing.T) {
	t.Parallel()
	s := memory.New(memory.Options{})
	mustCommit(t, s, store.Commit{ID: "c-canary", Partition: p, Ops: []store.Op{
		store.Put{Key: key, Value: []byte("doc-canary")},
		store.Append{Log: "l", ID: "id-canary", Kind: "kind-canary", Data: []byte("entry-canary")},
		store.Score{Index: "index-canary", Member: "member-canary", Score: 1},
		store.Bury{ID: "letter-canary", Note: []byte("note-canary")},
		store.Wake{Agenda: "agenda-canary", Member: store.MemberOf(p, "work-canary")},
	}})
	var b strings.Builder
	if err := s.Dump(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"c", "doc", "id", "kind", "entry", "index", "member", "letter", "note", "agenda", "work"} {
		if !strings.Contains(b.String(), want+"-canary") {
			t.Errorf("the dump lacks %s-canary", want)
		}
	}
}

func mustCommit(t *testing.T, s store.Store, c store.Commit) store.Result {
	t.Helper()
	res, err := s.Commit(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		memory.New(memory.Options{})
	}
}

func BenchmarkCommit(b *testing.B) {
	b.ReportAllocs()
	s := memory.New(memory.Options{})
	ctx := b.Context()
	ids := make([]string, 1<<16)
	for i := range ids {
		ids[i] = strings.Repeat("x", i%7) + time.Duration(i).String()
	}
	c := putCommit("", "a value of some forty bytes for the step")
	c.Ops = append(c.Ops, store.TrimLog{Log: "log", Before: 1 << 40})
	c.Ops[1] = store.Append{Log: "log", ID: "e", Kind: "k", Data: []byte("a value of some forty bytes for the step")}
	i := 0
	for b.Loop() {
		i++
		c.ID = ids[i&(1<<16-1)]
		if i&(1<<16-1) == 0 {
			s = memory.New(memory.Options{})
		}
		if _, err := s.Commit(ctx, c); err != nil {
			b.Fatal(err)
		}
	}
}
