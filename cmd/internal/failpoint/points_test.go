package failpoint_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herald/cmd/internal/failpoint"
)

// TestMain lets this program die by its own hand: see TestKill.
func TestMain(m *testing.M) {
	if os.Getenv("HERALD_TEST_DIE") != "" {
		failpoint.Kill()
	}
	os.Exit(m.Run())
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text string
		want failpoint.Point
		ok   bool
	}{
		{"before turn.answer 1", failpoint.Point{Stage: failpoint.Before, Site: "turn.answer", N: 1}, true},
		{"after tool:effect 12\n", failpoint.Point{Stage: failpoint.After, Site: "tool:effect", N: 12}, true},
		{"during send 1", failpoint.Point{}, false},
		{"before send 0", failpoint.Point{}, false},
		{"before send x", failpoint.Point{}, false},
		{"before send", failpoint.Point{}, false},
		{"", failpoint.Point{}, false},
	} {
		t.Run(tc.text, func(t *testing.T) {
			t.Parallel()
			got, err := failpoint.Parse(tc.text)
			if got != tc.want || (err == nil) != tc.ok {
				t.Fatalf("got %v, %v", got, err)
			}
			if again, err := failpoint.Parse(got.String()); tc.ok && (err != nil || again != got) {
				t.Errorf("%q reads back as %v, %v", got.String(), again, err)
			}
		})
	}
}

func TestSite(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"turn.answer/h.1.2": "turn.answer", "people.note/abc": "people.note", "abc": failpoint.Unnamed, "/abc": failpoint.Unnamed, "": failpoint.Unnamed,
	} {
		if got := failpoint.Site(id); got != want {
			t.Errorf("the site of %q is %q, want %q", id, got, want)
		}
	}
}

func TestPointsCountAndDie(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		target string
		// died is how many points were reached up to the death.
		died int
	}{
		{"before a 1", 1}, {"after a 1", 2}, {"before a 2", 3}, {"after b 2", 5}, {"after b 1", 0}, {"before c 1", 0},
	} {
		t.Run(tc.target, func(t *testing.T) {
			t.Parallel()
			target, err := failpoint.Parse(tc.target)
			if err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			died := 0
			p := failpoint.New(failpoint.Options{Target: target, Log: &log, Die: func() { died = strings.Count(log.String(), "\n") }})
			p.Enter("a")()
			p.Enter("a") // failed: it is not left
			p.Enter("b") // failed too
			p.Mark("b")
			leave := p.Enter("b")
			leave()
			want := "before a 1\nafter a 1\nbefore a 2\nbefore b 1\nafter b 2\nbefore b 3\nafter b 3\n"
			if d := cmp.Diff(want, log.String()); d != "" {
				t.Errorf("log (-want +got)\n%s", d)
			}
			if died != tc.died {
				t.Errorf("died after %d points, want %d", died, tc.died)
			}
		})
	}
}

func TestPointsAtTheSameTime(t *testing.T) {
	t.Parallel()
	var deaths sync.Map
	p := failpoint.New(failpoint.Options{Target: failpoint.Point{Stage: failpoint.After, Site: "x", N: 50}, Die: func() { deaths.Store("x", true) }})
	var all sync.WaitGroup
	for range 49 {
		all.Go(p.Enter("x"))
	}
	all.Wait()
	if _, early := deaths.Load("x"); early {
		t.Error("died at another point than the fiftieth")
	}
	p.Enter("x")()
	if _, ok := deaths.Load("x"); !ok {
		t.Error("did not die at the fiftieth")
	}
}

func TestKill(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), "HERALD_TEST_DIE=1")
	err = cmd.Run()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		t.Fatalf("it ended by %v", err)
	}
	if s, ok := exit.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGKILL {
		t.Errorf("it ended by %v, want SIGKILL", exit)
	}
}
