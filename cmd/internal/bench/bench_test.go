package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMain(m *testing.M) {
	if spec := os.Getenv(childEnv); spec != "" {
		os.Exit(childMain(spec))
	}
	os.Exit(m.Run())
}

// A small run of the whole bench: it asserts counts alone, for rates are those of the machine that happens to run it.
func TestCounts(t *testing.T) {
	t.Parallel()
	p := plan{Stores: storeNames(), Rounds: 1, Sessions: 60, People: 6, One: 20, Sixteen: 64, SixtyFour: 120, Crowd: 64, SteadySeconds: 1, Wire: true}
	r := newReport(p)
	if err := measure(t.Context(), p, t.TempDir(), io.Discard, r); err != nil {
		t.Fatal(err)
	}
	if err := r.verdict(); err != nil {
		t.Error(err)
	}
	for _, s := range p.Stores {
		if n, want := r.sum(s, mMessages), float64(p.Sessions+2*p.One+p.Sixteen+p.SixtyFour+p.Crowd+100*p.SteadySeconds); n != want {
			t.Errorf("%s: %.0f messages were checked, want %.0f", s, n, want)
		}
		// A slow machine can make single turns cost more (an answer that takes long is shown while it grows), but not the mean of them.
		for metric, below := range map[string]float64{mTrips: 9, mWrites: 5} {
			if v := median(r.stores[s][metric]); v < 1 || v >= below {
				t.Errorf("%s: %s: %.2f, want from 1 to below %.0f", s, metric, v, below)
			}
		}
		if more := median(r.stores[s][mGoroutinesKnown]) - median(r.stores[s][mGoroutinesNew]); more >= float64(p.Sessions)/2 {
			t.Errorf("%s: %.0f goroutines more with %d sessions that are idle", s, more, p.Sessions)
		}
	}
	if n := r.wire[wireRequests]; n != 1 {
		t.Errorf("a plain turn took %.2f requests to the model, want 1", n)
	}
	// Six tenths are the prompt of the agent with the eight others that it can ask, four tenths its tools.
	if n := r.wire[wireBytes]; n < 100 || n > 12_000 {
		t.Errorf("a plain turn sent %.0f bytes to the model, want some and at most 12,000", n)
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		posted  []int
		answers []string
		want    faults
	}{
		{"each once and in order", []int{0, 1, 2}, []string{"#0#", "done #1##2#"}, faults{Messages: 3}},
		{"no answer at all", []int{0, 1}, nil, faults{Messages: 2, Lost: 2}},
		{"one is missing", []int{0, 1, 2}, []string{"#0#", "#2#"}, faults{Messages: 3, Lost: 1}},
		{"one comes twice", []int{0, 1}, []string{"#0#", "#1#", "#0#"}, faults{Messages: 2, Doubled: 1}},
		{"twice in one answer", []int{0}, []string{"#0# #0#"}, faults{Messages: 1, Doubled: 1}},
		{"the wrong way round", []int{0, 1, 2}, []string{"#1#", "#0#", "#2#"}, faults{Messages: 3, Reordered: 1}},
		{"text without a mark covers nothing", []int{0}, []string{"I failed."}, faults{Messages: 1, Lost: 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(tc.want, judge(tc.posted, tc.answers)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

func TestMarks(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text string
		want []int
	}{
		{"", nil},
		{"# 1 # no mark", nil},
		{"#12#", []int{12}},
		{"a #1# b #2#, #3##4#", []int{1, 2, 3, 4}},
		{"issue #7 is not one, #8# is", []int{8}},
		{"#-1#", nil},
		{markText([]int{5, 6}), []int{5, 6}},
	} {
		if d := cmp.Diff(tc.want, marksIn(tc.text)); d != "" {
			t.Errorf("marks in %q (-want +got)\n%s", tc.text, d)
		}
	}
}

func TestQuantile(t *testing.T) {
	t.Parallel()
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(100 - i)
	}
	for _, tc := range []struct {
		ds   []time.Duration
		q    float64
		want time.Duration
	}{
		{nil, 0.5, 0}, {[]time.Duration{7}, 0.99, 7}, {hundred, 0.5, 50}, {hundred, 0.99, 99}, {hundred, 1, 100}, {[]time.Duration{3, 1, 2}, 0.01, 1},
	} {
		if got := quantile(tc.ds, tc.q); got != tc.want {
			t.Errorf("quantile %v of %d waits: %d, want %d", tc.q, len(tc.ds), got, tc.want)
		}
	}
}

func TestMedian(t *testing.T) {
	t.Parallel()
	if got := median([]float64{3, 1, 2}); got != 2 {
		t.Errorf("of three: %v, want 2", got)
	}
	if got := median([]float64{4, 1, 2, 3}); got != 2.5 {
		t.Errorf("of four: %v, want 2.5", got)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		args []string
		want func(*plan)
		bad  string
	}{
		{"nothing", nil, func(*plan) {}, ""},
		{"rounds and stores", []string{"-rounds", "2", "-stores", "redis,memory"}, func(p *plan) { p.Rounds, p.Stores = 2, []string{"redis", "memory"} }, ""},
		{"messages", []string{"-messages", "10", "-starts", "0"}, func(p *plan) { p.SixtyFour, p.Starts = 10, 0 }, ""},
		{"short", []string{"-short"}, func(p *plan) { *p = short() }, ""},
		{"the fake Slack alone", []string{"-stores", "", "-slack", "2"}, func(p *plan) { p.Stores, p.Starts, p.Wire, p.Slack.Rounds = nil, 0, false, 2 }, ""},
		{"an unknown store", []string{"-stores", "oracle"}, nil, `no store "oracle"`},
		{"an argument", []string{"now"}, nil, `argument "now"`},
		{"an unknown flag", []string{"-fast"}, nil, "not defined"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := parse(tc.args, io.Discard)
			if tc.bad != "" {
				if err == nil || !strings.Contains(err.Error(), tc.bad) {
					t.Fatalf("error %v, want one with %q", err, tc.bad)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := full()
			tc.want(&want)
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	p := plan{Stores: []string{"memory", "redis"}, Rounds: 2}
	r := newReport(p)
	for i, v := range []float64{1000, 3000} {
		r.record("memory", mRate, v)
		r.record("memory", mCPU, 0.2+float64(i)/10)
		r.record("memory", mMessages, 10)
		r.record("memory", mLost, float64(i))
	}
	r.silent = true
	r.record("memory", mRate, 9000)
	var sb strings.Builder
	if err := r.print(&sb); err != nil {
		t.Fatal(err)
	}
	lines := map[string][]string{}
	for line := range strings.Lines(sb.String()) {
		for _, m := range []string{mRate, mCPU, mMessages, mLost} {
			if strings.HasPrefix(line, m+" ") {
				lines[m] = strings.Fields(strings.TrimPrefix(line, m))
			}
		}
	}
	want := map[string][]string{
		mRate: {"≥", "2500", "3000", "(2000)", "–"}, mCPU: {"≤", "0.35", "0.200", "(0.250)", "–"},
		mMessages: {"20", "–"}, mLost: {"≤", "0", "1", "–"},
	}
	if d := cmp.Diff(want, lines); d != "" {
		t.Errorf("(-want +got)\n%s\n%s", d, sb.String())
	}
	if err := r.verdict(); err == nil || !strings.Contains(err.Error(), "of 20 messages 1 were lost") {
		t.Errorf("verdict %v, want the lost message", err)
	}
}

// Every figure that is recorded has a row, or nobody would see it.
func TestRows(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range rows() {
		if seen[r.metric] {
			t.Errorf("%q has two rows", r.metric)
		}
		seen[r.metric] = true
		if !math.IsNaN(r.aim) && r.aim < 0 {
			t.Errorf("%q aims at %v", r.metric, r.aim)
		}
	}
}

func TestAttribute(t *testing.T) {
	t.Parallel()
	const line = `time=2026-01-02T03:04:05Z level=INFO msg=ready version=bench http=127.0.0.1:41 socket=/x/herald.sock`
	for name, want := range map[string]string{"http": "127.0.0.1:41", "socket": "/x/herald.sock", "store": ""} {
		if got := attribute(line, name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// A child that cannot start is told with what it said, and does not hang the bench.
func TestStartFails(t *testing.T) {
	t.Parallel()
	_, stop, err := start(t.Context(), plan{Sessions: 1, People: 1}, "memory", t.TempDir(), true, []string{"HERALD_NO__SUCH_KEY=1"}, newReport(plan{}))
	if err == nil {
		t.Fatal(fmt.Errorf("it started with an unknown setting: %w", stop()))
	}
	if !strings.Contains(err.Error(), "HERALD_NO__SUCH_KEY") {
		t.Errorf("the error does not say why: %v", err)
	}
}
