package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"
)

// The figures of a store, by the names under which they are shown.
const (
	mRate            = "messages/s, 64 in flight"
	mCPU             = "CPU ms a message, 64 in flight"
	mOneCPU          = "CPU ms a message, 1 in flight"
	mOneP50          = "event to reply ms, 1 in flight, p50"
	mOneP99          = "event to reply ms, 1 in flight, p99"
	mSixteenP50      = "event to reply ms, 16 in flight, p50"
	mSixteenP99      = "event to reply ms, 16 in flight, p99"
	mSixtyFourP50    = "event to reply ms, 64 in flight, p50"
	mSixtyFourP99    = "event to reply ms, 64 in flight, p99"
	mSteadyP50       = "event to reply ms, steady 100/s, p50"
	mSteadyP99       = "event to reply ms, steady 100/s, p99"
	mBackP50         = "event to reply ms, one thread back to back, p50"
	mBackP99         = "event to reply ms, one thread back to back, p99"
	mCrowdRate       = "messages/s, 4 threads × 16 in flight"
	mTrips           = "store round trips a plain turn"
	mWrites          = "durable writes a plain turn"
	mFsyncs          = "fsyncs a plain turn"
	mLoadedTrips     = "store round trips a message, 64 in flight"
	mLoadedFsyncs    = "fsyncs a message, 64 in flight"
	mIdleTrips       = "store calls a second, idle"
	mChildReady      = "exec to ready ms (service under test)"
	mIdleRSS         = "RSS MB, idle"
	mLoadedRSS       = "RSS MB, after the load"
	mGoroutinesNew   = "goroutines, nobody known"
	mGoroutinesKnown = "goroutines, idle with all sessions known"
	mMessages        = "messages checked"
	mLost            = "lost"
	mDoubled         = "doubled"
	mReordered       = "reordered"
)

// row is how a figure is shown.
type row struct {
	metric string
	digits int
	// more says that a larger figure is better; count that every round's figure counts, so that they are added up.
	more, count bool
	// aim is what the figure should at least (or, the other way round, at most) be; NaN for none.
	aim float64
}

func rows() []row {
	none := math.NaN()
	return []row{
		{mRate, 0, true, false, 2500},
		{mCPU, 3, false, false, 0.35},
		{mOneCPU, 3, false, false, none},
		{mOneP50, 2, false, false, none},
		{mOneP99, 2, false, false, none},
		{mSixteenP50, 2, false, false, none},
		{mSixteenP99, 2, false, false, none},
		{mSixtyFourP50, 2, false, false, none},
		{mSixtyFourP99, 2, false, false, none},
		{mSteadyP50, 2, false, false, none},
		{mSteadyP99, 2, false, false, 10},
		{mBackP50, 2, false, false, none},
		{mBackP99, 2, false, false, none},
		{mCrowdRate, 0, true, false, none},
		{mTrips, 2, false, false, 8},
		{mWrites, 2, false, false, 4},
		{mFsyncs, 2, false, false, none},
		{mLoadedTrips, 2, false, false, none},
		{mLoadedFsyncs, 2, false, false, none},
		{mIdleTrips, 2, false, false, 1},
		{mChildReady, 0, false, false, 150},
		{mIdleRSS, 1, false, false, 25},
		{mLoadedRSS, 1, false, false, none},
		{mGoroutinesNew, 0, false, false, none},
		{mGoroutinesKnown, 0, false, false, none},
		{mMessages, 0, true, true, none},
		{mLost, 0, false, true, 0},
		{mDoubled, 0, false, true, 0},
		{mReordered, 0, false, true, 0},
	}
}

// The figures of the shipped program and of the pass with the model behind HTTP.
const (
	startReady   = "exec to ready, ms"
	startRSS     = "RSS idle, MB"
	wireRequests = "requests to the model a plain turn"
	wireBytes    = "bytes to the model a plain turn"
	wireRate     = "messages/s, 64 in flight"
	wireCPU      = "CPU ms a message, 64 in flight"
)

// report collects the figures of all rounds.
type report struct {
	plan   plan
	stores map[string]map[string][]float64
	starts map[string][]float64
	wire   map[string]float64
	// faults are those of the pass with the model behind HTTP.
	faults faults
	silent bool
}

func newReport(p plan) *report {
	return &report{plan: p, stores: map[string]map[string][]float64{}, starts: map[string][]float64{}, wire: map[string]float64{}}
}

func (r *report) record(store, metric string, v float64) {
	if r.silent {
		return
	}
	if r.stores[store] == nil {
		r.stores[store] = map[string][]float64{}
	}
	r.stores[store][metric] = append(r.stores[store][metric], v)
}

func (r *report) start(metric string, v float64)   { r.starts[metric] = append(r.starts[metric], v) }
func (r *report) setWire(metric string, v float64) { r.wire[metric] = v }

// sum is a store's total of a figure that is counted.
func (r *report) sum(store, metric string) (sum float64) {
	for _, v := range r.stores[store][metric] {
		sum += v
	}
	return sum
}

// print writes all figures as a table: the best round and, behind it, the median.
func (r *report) print(out io.Writer) error {
	fmt.Fprintf(out, "\n%s/%s, %d processors, %s; %d rounds, best (median); CPU is that of the service's process alone\n\n",
		runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), r.plan.Rounds)
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprint(w, "figure\taim")
	for _, s := range r.plan.Stores {
		fmt.Fprint(w, "\t"+s)
	}
	fmt.Fprintln(w)
	for _, row := range rows() {
		fmt.Fprintf(w, "%s\t%s", row.metric, row.aimText())
		for _, s := range r.plan.Stores {
			fmt.Fprint(w, "\t"+row.text(r.stores[s][row.metric]))
		}
		fmt.Fprintln(w)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(r.starts) > 0 {
		fmt.Fprintf(out, "\nthe shipped program, SQLite (best, median of %d starts)\n", len(r.starts[startReady]))
		ready := r.starts[startReady]
		fmt.Fprintf(out, "  %s: %.0f (%.0f), aim ≤ 150\n", startReady, slices.Min(ready), median(ready))
		fmt.Fprintf(out, "  %s: %.1f, aim ≤ 25\n", startRSS, median(r.starts[startRSS]))
	}
	if len(r.wire) > 0 {
		fmt.Fprintln(out, "\nmemory store with the model behind HTTP on loopback")
		for _, m := range []string{wireRequests, wireBytes, wireRate, wireCPU} {
			fmt.Fprintf(out, "  %s: %s\n", m, strconv.FormatFloat(r.wire[m], 'f', map[string]int{wireRequests: 2, wireCPU: 3}[m], 64))
		}
	}
	return nil
}

// verdict is an error when anything was lost, doubled or out of order.
func (r *report) verdict() error {
	var errs []error
	for _, s := range r.plan.Stores {
		lost, doubled, reordered := r.sum(s, mLost), r.sum(s, mDoubled), r.sum(s, mReordered)
		if lost+doubled+reordered > 0 {
			errs = append(errs, fmt.Errorf("store %s: of %.0f messages %.0f were lost, %.0f doubled and %.0f out of order", s, r.sum(s, mMessages), lost, doubled, reordered))
		}
	}
	if f := r.faults; f.Lost+f.Doubled+f.Reordered > 0 {
		errs = append(errs, fmt.Errorf("model behind HTTP: of %d messages %d were lost, %d doubled and %d out of order", f.Messages, f.Lost, f.Doubled, f.Reordered))
	}
	return errors.Join(errs...)
}

func (w row) aimText() string {
	switch {
	case math.IsNaN(w.aim):
		return ""
	case w.more:
		return "≥ " + w.number(w.aim)
	default:
		return "≤ " + strconv.FormatFloat(w.aim, 'f', -1, 64)
	}
}

func (w row) number(v float64) string { return strconv.FormatFloat(v, 'f', w.digits, 64) }

func (w row) text(vs []float64) string {
	if len(vs) == 0 {
		return "–"
	}
	if w.count {
		sum := 0.0
		for _, v := range vs {
			sum += v
		}
		return w.number(sum)
	}
	best := slices.Min(vs)
	if w.more {
		best = slices.Max(vs)
	}
	return w.number(best) + " (" + w.number(median(vs)) + ")"
}

// median of at least one value.
func median(vs []float64) float64 {
	s := slices.Sorted(slices.Values(vs))
	if n := len(s); n%2 == 0 {
		return (s[n/2-1] + s[n/2]) / 2
	}
	return s[len(s)/2]
}

// quantile is the smallest wait that at least the share q does not exceed; 0 without any.
func quantile(ds []time.Duration, q float64) time.Duration {
	if len(ds) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(ds))
	return s[max(0, int(math.Ceil(q*float64(len(s))))-1)]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
