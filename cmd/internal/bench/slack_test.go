package main

import (
	"os"
	"strings"
	"testing"
	"time"
)

// A small run on the fake Slack: it asserts counts alone.
func TestSlackCounts(t *testing.T) {
	t.Parallel()
	p := plan{Slack: slackPlan{Rounds: 1, People: 20, One: 3, Sixteen: 16, SixtyFour: 20, SteadySeconds: 1, KillSeconds: 1, Kills: 1}}
	got := map[string]float64{}
	rec := func(m string, v float64) { got[m] = v }
	if err := measureSpeed(t.Context(), p, "sqlite", t.TempDir(), rec); err != nil {
		t.Fatal(err)
	}
	f, err := measureKills(t.Context(), p, "sqlite", t.TempDir(), rec)
	if err != nil {
		t.Fatal(err)
	}
	if want := (faults{Messages: 200}); f != want {
		t.Errorf("after a kill: %+v, want %+v", f, want)
	}
	for _, r := range slackRows() {
		if _, ok := got[r.metric]; !ok {
			t.Errorf("%q was not measured", r.metric)
		}
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for began := time.Now(); time.Since(began) < 50*time.Millisecond; { // something to be seen in the clock's ticks
	}
	cpu, rss, err := usage(os.Getpid())
	if err != nil || cpu < 10*time.Millisecond || rss < 1<<20 {
		t.Errorf("this process used %v and holds %d bytes: %v", cpu, rss, err)
	}
	if _, _, err := usage(-1); err == nil || !strings.Contains(err.Error(), "what a process used") {
		t.Errorf("a process that is not there: %v", err)
	}
}
