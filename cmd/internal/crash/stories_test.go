package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"herald/core/store/redis/redistest"
)

// rig is one service for a story, closed with the test.
func rig(t *testing.T, store string, setup func(*scene)) (context.Context, *scene) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	t.Cleanup(cancel)
	dir := t.TempDir()
	url := "sqlite:" + filepath.Join(dir, "herald.db")
	if store == onRedis {
		url = redistest.Run(t, redistest.Options{AOF: "everysec"}).URL()
	}
	s, err := open(ctx, dir, byLookBack, url, loadTimeout)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.close()
		if t.Failed() {
			t.Log(tail(filepath.Join(dir, logFile)))
		}
	})
	setup(s)
	if err := s.start(nil, false); err != nil {
		t.Fatal(err)
	}
	return ctx, s
}

// A message that kills the process each time is set aside after five attempts, and all others are answered.
func TestPoisonedTurns(t *testing.T) {
	t.Parallel()
	for _, store := range []string{onSQLite, onRedis} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			ctx, s := rig(t, store, func(s *scene) { s.mortal = true })
			const healthy = 63
			for i := range healthy {
				if i == healthy/2 {
					s.expect("poisoned", "p", toolPoison, 0, 0)
				}
				s.say(fmt.Sprintf("t%d", i), fmt.Sprintf("h%d", i), verbThink)
			}
			if _, err := s.stands(ctx, "poisoned", "It was set aside"); err != nil {
				t.Fatal(err)
			}
			s.say("poisoned", "n", verbPlain)
			var letters []string
			for _, l := range s.finish(ctx) {
				if strings.HasPrefix(l, deadLetter) {
					letters = append(letters, l)
					continue
				}
				t.Error(l)
			}
			if len(letters) != 1 || !strings.Contains(letters[0], "crashed 5 times") {
				t.Errorf("dead letters %q, want one that says why", letters)
			}
			for _, b := range s.judge() {
				t.Error(b)
			}
			effects, err := s.effects()
			if err != nil {
				t.Fatal(err)
			}
			poisoned := 0
			for _, e := range effects {
				if e.Tool == toolPoison {
					poisoned++
				}
			}
			// One attempt among the others, then five alone.
			if poisoned < 5 || poisoned > 6 || s.died != poisoned {
				t.Errorf("the poison ran %d times and killed %d lives, want 5 or 6", poisoned, s.died)
			}
		})
	}
}

// A flood into one conversation is bounded, with an answer to each message, and no other conversation waits for it.
func TestFlood(t *testing.T) {
	t.Parallel()
	r, err := flood(t.Context(), 2000)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r)
	for _, b := range r.bad {
		t.Error(b)
	}
	if r.longest > 10*time.Second {
		t.Errorf("another conversation waited %v for the flood", r.longest)
	}
	if r.memory > 256<<20 {
		t.Errorf("the service held %d MB", r.memory>>20)
	}
}
