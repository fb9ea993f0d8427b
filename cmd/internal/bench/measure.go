package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"herald/bots/bottest/platform"
	"herald/bots/bottest/wire"
)

// idleFor is how long the service is left alone before it is called idle, and idleWatch how long its calls are then counted.
const (
	idleFor   = time.Second
	idleWatch = 3 * time.Second
)

// rig is one life of the service with its platform, load and store.
type rig struct {
	plan
	*load
	proc *proc
	rec  func(metric string, v float64)
}

// start opens a platform and a store of this name, and starts the service between them. settings come on top of the defaults.
func start(ctx context.Context, p plan, storeName, dir string, ownModel bool, settings []string, r *report) (_ *rig, _ func() error, err error) {
	var closers []func() error
	stop := func() error {
		var errs []error
		for _, c := range slices.Backward(closers) {
			errs = append(errs, c())
		}
		closers = nil
		return errors.Join(errs...)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, stop())
		}
	}()
	home, err := os.MkdirTemp(dir, storeName)
	if err != nil {
		return nil, nil, err
	}
	closers = append(closers, func() error { return os.RemoveAll(home) })
	b := &board{}
	// What a platform of today offers: edits, and no way to post one thing twice.
	pf, err := platform.Start(ctx, platform.Options{Features: wire.Features{Edits: true, Nonce: true, LookBack: true, TextLimit: 4000}, Observe: b.observe})
	if err != nil {
		return nil, nil, err
	}
	closers = append(closers, func() error { pf.Close(); return nil })
	url, end, err := openStore(ctx, storeName, home)
	if err != nil {
		return nil, nil, err
	}
	closers = append(closers, end)
	spec, err := json.Marshal(childSpec{
		Platform: pf.URL(), Dir: home, OwnModel: ownModel,
		Settings: append([]string{
			"HERALD_DATA_DIR=" + home, "HERALD_STORE__URL=" + url, "HERALD_HTTP__LISTEN=127.0.0.1:0",
			"HERALD_OUTBOX__CHANNEL_INTERVAL_MS=0", "HERALD_OUTBOX__WORKSPACE_INTERVAL_MS=0",
		}, settings...),
	})
	if err != nil {
		return nil, nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childEnv+"="+string(spec))
	proc, took, err := startProc(ctx, cmd)
	if err != nil {
		return nil, nil, err
	}
	closers = append(closers, proc.stop)
	g := &rig{plan: p, load: &load{board: b, platform: pf, sessions: p.Sessions, people: p.People}, proc: proc}
	g.rec = func(metric string, v float64) { r.record(storeName, metric, v) }
	g.rec(mChildReady, ms(took))
	return g, stop, nil
}

// measureStore is one round on one store.
func measureStore(ctx context.Context, p plan, name, dir string, r *report) (err error) {
	g, stop, err := start(ctx, p, name, dir, true, nil, r)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	for _, step := range []func(context.Context) error{g.idle, g.introduce, g.one, g.sixteen, g.sixtyFour, g.paced, g.backToBack, g.crowded, g.check} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// during counts what the service does while f runs.
func (g *rig) during(ctx context.Context, f func() error) (before, after reading, err error) {
	if before, err = g.proc.counters(ctx); err != nil {
		return
	}
	if err = f(); err != nil {
		return
	}
	after, err = g.proc.counters(ctx)
	return
}

// idle looks at a service that knows nobody yet.
func (g *rig) idle(ctx context.Context) error {
	err := g.platform.Wait(ctx, "the service is connected", func(v platform.View) bool { return v.Counts().Streams > 0 })
	if err != nil {
		return err
	}
	pause(ctx, idleFor)
	before, after, err := g.during(ctx, func() error { pause(ctx, idleWatch); return ctx.Err() })
	if err != nil {
		return err
	}
	return errors.Join(
		g.level(after, mIdleRSS, "process_resident_memory_bytes", 1<<20),
		g.level(after, mGoroutinesNew, "go_goroutines", 1),
		g.rate(before, after, mIdleTrips, idleWatch.Seconds(), "herald_store_round_trips_total", "herald_store_idle_round_trips_total"),
	)
}

// level records a metric's value in a unit.
func (g *rig) level(r reading, metric, name string, unit float64) error {
	v, err := r.of(name)
	if err != nil {
		return err
	}
	g.rec(metric, v/unit)
	return nil
}

// rate records the growth of the sum of metrics for each of per.
func (g *rig) rate(before, after reading, metric string, per float64, names ...string) error {
	sum := 0.0
	for _, name := range names {
		was, err := before.of(name)
		if err != nil {
			return err
		}
		is, err := after.of(name)
		if err != nil {
			return err
		}
		sum += is - was
	}
	g.rec(metric, sum/per)
	return nil
}

// introduce makes every session and person known.
func (g *rig) introduce(ctx context.Context) error {
	if err := g.closed(ctx, 4, g.Sessions); err != nil {
		return err
	}
	if err := g.settled(ctx); err != nil {
		return err
	}
	pause(ctx, idleFor)
	r, err := g.proc.counters(ctx)
	if err != nil {
		return err
	}
	return g.level(r, mGoroutinesKnown, "go_goroutines", 1)
}

// settled waits until the platform has every acknowledgement and the service has committed what follows an answer.
func (g *rig) settled(ctx context.Context) error {
	err := g.platform.Wait(ctx, "all events are acknowledged", func(v platform.View) bool { return v.Counts().Unacked == 0 })
	if err != nil {
		return err
	}
	for {
		r, err := g.proc.counters(ctx)
		if err != nil {
			return err
		}
		turns, err := r.of(`herald_worker_running{agenda="turns"}`)
		if err != nil {
			return err
		}
		out, err := r.of(`herald_worker_running{agenda="outbox"}`)
		if err != nil {
			return err
		}
		if turns+out == 0 {
			return nil
		}
		if pause(ctx, 5*time.Millisecond); ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// one is a plain turn at a time: what a turn costs when nothing can be shared with another.
func (g *rig) one(ctx context.Context) error {
	from := len(g.board.msgs)
	before, after, err := g.during(ctx, func() error { return errors.Join(g.closed(ctx, 1, g.One), g.settled(ctx)) })
	if err != nil {
		return err
	}
	n := float64(g.One)
	g.latency(from, mOneP50, mOneP99)
	g.rec(mOneCPU, ms(after.cpu-before.cpu)/n)
	return errors.Join(
		g.rate(before, after, mTrips, n, "herald_store_round_trips_total"),
		g.rate(before, after, mWrites, n, "herald_store_writes_total"),
		g.rate(before, after, mFsyncs, n, "herald_store_fsyncs_total"),
	)
}

func (g *rig) sixteen(ctx context.Context) error {
	from := len(g.board.msgs)
	if err := g.closed(ctx, 16, g.Sixteen); err != nil {
		return err
	}
	g.latency(from, mSixteenP50, mSixteenP99)
	return g.settled(ctx)
}

func (g *rig) sixtyFour(ctx context.Context) error {
	from := len(g.board.msgs)
	var took time.Duration
	before, after, err := g.during(ctx, func() error {
		return g.profiled(ctx, func() error {
			began := time.Now()
			err := g.closed(ctx, 64, g.SixtyFour)
			took = time.Since(began)
			return errors.Join(err, g.settled(ctx))
		})
	})
	if err != nil {
		return err
	}
	n := float64(g.SixtyFour)
	g.rec(mRate, n/took.Seconds())
	g.rec(mCPU, ms(after.cpu-before.cpu)/n)
	g.latency(from, mSixtyFourP50, mSixtyFourP99)
	return errors.Join(
		g.rate(before, after, mLoadedTrips, n, "herald_store_round_trips_total"),
		g.rate(before, after, mLoadedFsyncs, n, "herald_store_fsyncs_total"),
		g.level(after, mLoadedRSS, "process_resident_memory_bytes", 1<<20),
	)
}

func (g *rig) paced(ctx context.Context) error {
	from := len(g.board.msgs)
	if err := g.steady(ctx, 10*time.Millisecond, 100*g.SteadySeconds); err != nil {
		return err
	}
	g.latency(from, mSteadyP50, mSteadyP99)
	return nil
}

// backToBack is one person who answers each answer at once: what follows an answer must not stand in the way of the next question.
func (g *rig) backToBack(ctx context.Context) error {
	from := len(g.board.msgs)
	alone := *g.load
	alone.sessions = 1
	if err := alone.closed(ctx, 1, g.One); err != nil {
		return err
	}
	g.latency(from, mBackP50, mBackP99)
	return g.settled(ctx)
}

func (g *rig) crowded(ctx context.Context) error {
	began := time.Now()
	if err := g.crowd(ctx, 4, 16, g.Crowd); err != nil {
		return err
	}
	g.rec(mCrowdRate, float64(g.Crowd)/time.Since(began).Seconds())
	return g.settled(ctx)
}

// check judges all that was said.
func (g *rig) check(context.Context) error {
	f := g.verdict()
	g.rec(mMessages, float64(f.Messages))
	g.rec(mLost, float64(f.Lost))
	g.rec(mDoubled, float64(f.Doubled))
	g.rec(mReordered, float64(f.Reordered))
	return nil
}

func (g *rig) latency(from int, p50, p99 string) {
	waits := g.board.waits(from)
	g.rec(p50, ms(quantile(waits, 0.50)))
	g.rec(p99, ms(quantile(waits, 0.99)))
}

// profiled runs f under the service's processor profile, where a folder for it is given.
func (g *rig) profiled(ctx context.Context, f func() error) error {
	if g.Profile == "" {
		return f()
	}
	const seconds = 3
	done := make(chan error, 1)
	go func() {
		done <- g.save(ctx, "cpu", fmt.Sprintf("profile?seconds=%d", seconds))
	}()
	err := f()
	return errors.Join(err, <-done, g.save(ctx, "allocs", "allocs"))
}

func (g *rig) save(ctx context.Context, name, path string) error {
	code, body, err := get(ctx, "http://"+g.proc.gauges+"/debug/pprof/"+path)
	if err != nil {
		return err
	}
	if code != 200 {
		return fmt.Errorf("profile %s: status %d: %s", name, code, body)
	}
	return os.WriteFile(filepath.Join(g.Profile, fmt.Sprintf("%s-%d.pprof", name, g.proc.cmd.Process.Pid)), []byte(body), 0o600)
}
