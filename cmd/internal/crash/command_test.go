package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestCommandRefuses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"an unknown store", []string{"-store", "paper"}, 2, `the store "paper" is unknown`},
		{"an unknown platform", []string{"-platform", "pigeon"}, 2, `the platform "pigeon" is unknown`},
		{"an unknown flag", []string{"-nonsense"}, 2, "-nonsense"},
		{"an argument", []string{"now"}, 2, "flags only"},
		{"no jobs", []string{"-jobs", "0"}, 2, "-jobs is at least 1"},
		{"an unknown scenario", []string{"-scenario", "picnic"}, 1, `no scenario "picnic"`},
		{"an unknown load", []string{"-load", "10", "-scenario", "picnic"}, 1, `no load "picnic"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var out, errs bytes.Buffer
			if code := command(t.Context(), tc.args, &out, &errs); code != tc.code || !strings.Contains(errs.String(), tc.want) {
				t.Errorf("exit code %d, %q; want %d, %q", code, errs.String(), tc.code, tc.want)
			}
		})
	}
}

// A sample is the same for the same seed, and another one for another.
func TestSample(t *testing.T) {
	t.Parallel()
	draw := func(n int, seed uint64) string {
		cases := make([]crashCase, 100)
		for i := range cases {
			cases[i].point.N = i
		}
		var b strings.Builder
		for _, c := range sample(cases, n, seed) {
			b.WriteString(c.point.String())
		}
		return b.String()
	}
	first, again, other := draw(10, 1), draw(10, 1), draw(10, 2)
	if first != again || first == other {
		t.Error("the sample does not follow its seed")
	}
	if n := strings.Count(draw(0, 1), " "); n != 200 {
		t.Errorf("a sample of 0 holds %d cases, want all", n/2)
	}
}
