package worker

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herald/core/store"
)

func TestQueueKeepsOrderAndBound(t *testing.T) {
	t.Parallel()
	var q queue
	never := func(store.Member) bool { return false }
	for _, m := range []store.Member{"a", "b", "a", "c"} {
		q.want(m)
	}
	skipB := func(m store.Member) bool { return m == "b" }
	if diff := cmp.Diff([]store.Member{"a", "c"}, q.take(2, skipB)); diff != "" {
		t.Error(diff)
	}
	if got := q.take(1, never); got != nil {
		t.Errorf("took %v from an empty queue", got)
	}
	for i := range maxWanted + 1 {
		q.want(store.Member(fmt.Sprint(i)))
	}
	if len(q.wanted) != maxWanted || !q.overflown {
		t.Errorf("%d wait, overflown %t; want %d and a look through the agenda", len(q.wanted), q.overflown, maxWanted)
	}
}

func TestQueueRipens(t *testing.T) {
	t.Parallel()
	var q queue
	t0 := time.Unix(1000, 0)
	q.wantAt("late", t0.Add(2*time.Second))
	q.wantAt("soon", t0.Add(time.Second))
	if at, ok := q.nextRipe(); !ok || !at.Equal(t0.Add(time.Second)) {
		t.Errorf("next %v %t, want the sooner one", at, ok)
	}
	q.ripen(t0.Add(time.Second))
	if diff := cmp.Diff([]store.Member{"soon"}, q.wanted); diff != "" {
		t.Error(diff)
	}
	q.ripen(t0.Add(time.Minute))
	if _, ok := q.nextRipe(); ok || len(q.wanted) != 2 {
		t.Errorf("wanted %v, want both and nothing later", q.wanted)
	}
}

func TestSweepsDue(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	past, future := now.Add(-time.Second), now.Add(time.Second)
	for _, tc := range []struct {
		name string
		s    sweeps
		free int
		want bool
	}{
		{"not yet", sweeps{at: future, by: future}, 64, false},
		{"due", sweeps{at: past, by: past}, 1, true},
		{"a backlog with many free slots", sweeps{at: past, by: future}, 8, true},
		{"a backlog with few free slots", sweeps{at: past, by: future}, 7, false},
		{"a backlog that has waited", sweeps{at: past, by: now}, 1, true},
	} {
		if got := tc.s.due(now, tc.free, 64); got != tc.want {
			t.Errorf("%s: due %t, want %t", tc.name, got, tc.want)
		}
	}
}
