package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"herald/cmd/internal/failpoint"
)

// settings say which cases are played.
type settings struct {
	sample int
	seed   uint64
	stores []string
	// platforms are the kinds of platforms.
	platforms []string
	// scenarios and only limit the cases by name and by point; empty means all.
	scenario, only string
	jobs           int
	verbose        bool
	out            io.Writer
}

// report is what came of a run.
type report struct {
	// sites are all that were reached, points the distinct fail points by scenario.
	sites    map[string]bool
	points   int
	verdicts []verdict
	failed   int
	missed   int
	took     time.Duration
}

// run plays each stage once without a death, to learn its fail points, and then dies at each of them.
func run(ctx context.Context, o settings) (*report, error) {
	began := time.Now()
	dir, err := os.MkdirTemp("", "crash")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	slots := make(chan *slot, o.jobs)
	for i := range o.jobs {
		slots <- &slot{dir: fmt.Sprintf("%s/%d", dir, i)}
	}
	defer func() {
		for range o.jobs {
			_ = (<-slots).close()
		}
	}()
	r := &report{sites: map[string]bool{}}
	cases, err := r.learn(ctx, o, slots)
	if err != nil || r.failed > 0 {
		return r, err
	}
	cases = sample(cases, o.sample, o.seed)
	var mu sync.Mutex
	err = side(ctx, slots, len(cases), func(k *slot, i int) error {
		c := cases[i]
		v, _, err := k.play(ctx, c.stage, c.point.String())
		v.crashCase = c
		mu.Lock()
		defer mu.Unlock()
		r.add(o, v)
		return err
	})
	r.took = time.Since(began)
	return r, err
}

// learn plays every stage without a death.
func (r *report) learn(ctx context.Context, o settings, slots chan *slot) ([]crashCase, error) {
	var stages []stage
	for _, p := range o.platforms {
		stories := scenarios()
		if p == onSlack {
			stories = slackScenarios()
		}
		for _, sc := range stories {
			if o.scenario != "" && o.scenario != sc.name {
				continue
			}
			for _, st := range o.stores {
				stages = append(stages, stage{sc, p, st})
			}
		}
	}
	if len(stages) == 0 {
		return nil, fmt.Errorf("there is no scenario %q", o.scenario)
	}
	var mu sync.Mutex
	found := make([][]crashCase, len(stages))
	points := map[string]bool{}
	err := side(ctx, slots, len(stages), func(k *slot, i int) error {
		g := stages[i]
		v, reached, err := k.play(ctx, g, "")
		v.stage = g
		mu.Lock()
		defer mu.Unlock()
		if len(v.bad) > 0 {
			r.add(o, v)
		}
		for _, p := range reached {
			r.sites[p.Site] = true
			points[g.scenario.name+" "+p.String()] = true
			if o.only == "" || o.only == p.String() {
				found[i] = append(found[i], crashCase{g, p})
			}
		}
		return err
	})
	r.points = len(points)
	return slices.Concat(found...), err
}

// side does n things on all slots side by side; the first error ends it.
func side(ctx context.Context, slots chan *slot, n int, do func(*slot, int) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var all sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	for i := range n {
		var k *slot
		select {
		case k = <-slots:
		case <-ctx.Done():
			all.Wait()
			return errors.Join(append(errs, ctx.Err())...)
		}
		all.Go(func() {
			defer func() { slots <- k }()
			if err := do(k, i); err != nil {
				mu.Lock()
				errs = append(errs, err)
				mu.Unlock()
				cancel()
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// add notes a verdict and prints what is worth it.
func (r *report) add(o settings, v verdict) {
	r.verdicts = append(r.verdicts, v)
	if !v.died && v.point != (failpoint.Point{}) {
		r.missed++
	}
	switch {
	case len(v.bad) > 0:
		r.failed++
		fmt.Fprintf(o.out, "FAILED %s at %q (seed %d, %.1fs)\n  %s\n  again: -scenario %q -platform %s -store %s -only %q\n", v.stage, v.point, o.seed, v.took.Seconds(),
			strings.Join(v.bad, "\n  "), v.scenario.name, v.platform, v.store, v.point)
		if o.verbose {
			fmt.Fprintf(o.out, "%s\n", v.tail)
		}
	case o.verbose:
		fmt.Fprintf(o.out, "ok %s at %q died=%v %.1fs\n", v.stage, v.point, v.died, v.took.Seconds())
	}
}
