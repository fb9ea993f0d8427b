package alarm

import (
	"strings"
	"testing"
	"time"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	bad, worse := &Trouble{Kind: "models", Text: "none answers"}, &Trouble{Kind: "models", Text: "none is configured"}
	type step struct {
		after  time.Duration // since the beginning
		holder string
		sees   *Trouble
		says   string // part of it
	}
	for name, steps := range map[string][]step{
		"it begins, lasts and is over": {
			{0, "a", bad, "none answers"},
			{time.Minute, "a", bad, ""},
			{2 * time.Hour, "a", bad, ""},
			{2*time.Hour + time.Minute, "a", nil, "It lasted 2 h"},
			{3 * time.Hour, "a", nil, ""},
		},
		"it changes": {
			{0, "a", bad, "none answers"},
			{time.Minute, "a", worse, ""},
			{time.Hour, "a", worse, "none is configured"},
			{time.Hour + time.Minute, "a", bad, ""},
		},
		"it comes and goes": {
			{0, "a", bad, "none answers"},
			{time.Minute, "a", nil, "It lasted 1 min"},
			{2 * time.Minute, "a", bad, ""},
			{3 * time.Minute, "a", nil, ""},
			{59 * time.Minute, "a", bad, ""},
			{61 * time.Minute, "a", bad, "none answers"},
			{62 * time.Minute, "a", nil, "Over"},
		},
		"two processes": {
			{0, "a", bad, "none answers"},
			{time.Second, "b", bad, ""},
			{time.Minute, "a", nil, ""},
			{2 * time.Minute, "b", nil, "Over"},
			{3 * time.Minute, "a", nil, ""},
		},
		"a process that died": {
			{0, "a", bad, "none answers"},
			{time.Minute, "b", nil, ""},
			{7 * time.Minute, "b", nil, "Over"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := known{Kind: "models"}
			for i, s := range steps {
				var say string
				k, say = decide(k, s.holder, s.sees, start.Add(s.after))
				if (say == "") != (s.says == "") || !strings.Contains(say, s.says) {
					t.Errorf("step %d says %q, want %q", i, say, s.says)
				}
			}
		})
	}
}
