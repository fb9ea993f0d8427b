package replica_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"herald/core/replica"
	"herald/core/store"
	"herald/core/store/memory"
)

func join(t *testing.T, st store.Store, holder string, format int) *replica.Registry {
	t.Helper()
	n := 0
	r, err := replica.New(replica.Options{Store: st, Holder: holder, Format: format, NewID: func() string { n++; return fmt.Sprint(holder, n) }})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Join(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// The new release writes the old format until the last old process is gone.
func TestTheOldFormatIsWrittenWhileAnOldProcessLives(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st := memory.New(memory.Options{})
		old := join(t, st, "old", 1)
		fresh := join(t, st, "new", 2)
		if old.Writes() != 1 || fresh.Writes() != 1 {
			t.Fatalf("written: %d and %d, want 1 while the old process lives", old.Writes(), fresh.Writes())
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- fresh.Run(ctx) }()
		time.Sleep(replica.Gone - time.Second)
		synctest.Wait()
		if fresh.Writes() != 1 {
			t.Fatalf("written: %d before the old process counts as gone", fresh.Writes())
		}
		time.Sleep(replica.Every + time.Second) // the old one was killed and says nothing more
		synctest.Wait()
		if fresh.Writes() != 2 {
			t.Errorf("written: %d after the old process is gone, want 2", fresh.Writes())
		}
		stop()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if later := join(t, st, "later", 3); later.Writes() != 3 {
			t.Errorf("written: %d; the process that left still counts", later.Writes())
		}
	})
}

// A store that is away changes nothing.
func TestTheFormatStaysWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	away := false
	st := memory.New(memory.Options{Faults: memory.FaultFunc(func(c memory.Call) memory.Effect {
		if away {
			return memory.Effect{Before: memory.Unavailable(c.Method)}
		}
		return memory.Effect{}
	})})
	r := join(t, st, "a", 2)
	away = true
	if err := r.Join(t.Context()); err == nil || r.Writes() != 2 {
		t.Errorf("got %v and format %d", err, r.Writes())
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	id := func() string { return "" }
	st := memory.New(memory.Options{})
	for name, o := range map[string]replica.Options{
		"no store":       {Holder: "a", Format: 1, NewID: id},
		"no holder":      {Store: st, Format: 1, NewID: id},
		"a holder split": {Store: st, Holder: "a|b", Format: 1, NewID: id},
		"no format":      {Store: st, Holder: "a", NewID: id},
		"no ids":         {Store: st, Holder: "a", Format: 1},
	} {
		if _, err := replica.New(o); err == nil {
			t.Errorf("%s: it was made", name)
		}
	}
}
