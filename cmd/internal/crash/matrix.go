package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"herald/cmd/internal/failpoint"
	"herald/core/store/redis/redistest"
)

// caseTime bounds one case. It is far above what one takes on a busy machine.
const caseTime = 40 * time.Second

// stage is where a case is played.
type stage struct {
	scenario scenario
	platform string // byNonce, byLookBack, onSlack
	store    string // onSQLite, onRedis
}

// The stores.
const (
	onSQLite = "sqlite"
	onRedis  = "redis"
)

func (g stage) String() string { return g.scenario.name + "/" + g.platform + "/" + g.store }

// crashCase is one death.
type crashCase struct {
	stage
	point failpoint.Point
}

// verdict is how a case went.
type verdict struct {
	crashCase
	// died is false when the service never came to the point: the order of what runs side by side differs from run to run.
	died bool
	// bad is what is wrong; tail is the end of the service's log.
	bad  []string
	tail string
	took time.Duration
}

// slot plays one case after the other.
type slot struct {
	dir   string
	redis *redistest.Server // nil until a case needs it
	cases int
}

func (k *slot) close() error {
	if k.redis == nil {
		return nil
	}
	return k.redis.Close()
}

// store gives the URL of an empty store.
func (k *slot) store(ctx context.Context, kind, dir string) (string, error) {
	if kind == onSQLite {
		return "sqlite:" + filepath.Join(dir, "herald.db"), nil
	}
	if k.redis == nil {
		s, err := redistest.Start(ctx, redistest.Options{AOF: "everysec"})
		if err != nil {
			return "", err
		}
		k.redis = s
	} else if _, err := k.redis.Do(ctx, "flushall"); err != nil {
		return "", fmt.Errorf("empty the Redis of a case: %w", err)
	}
	return k.redis.URL(), nil
}

// play runs one scenario to its end. point is where the first life dies, "" is nowhere; then the points that were reached are returned.
func (k *slot) play(ctx context.Context, g stage, point string) (v verdict, reached []failpoint.Point, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, caseTime, fmt.Errorf("the case took more than %v", caseTime))
	defer cancel()
	began := time.Now()
	k.cases++
	dir := filepath.Join(k.dir, fmt.Sprint(k.cases))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return v, nil, err
	}
	defer os.RemoveAll(dir)
	url, err := k.store(ctx, g.store, dir)
	if err != nil {
		return v, nil, err
	}
	s, err := open(ctx, dir, g.platform, url, sendTimeout)
	if err != nil {
		return v, nil, err
	}
	defer s.close()
	if g.scenario.setup != nil {
		g.scenario.setup(&s.birth)
	}
	p := slices.Clone(g.scenario.first)
	if point != "" {
		p = append(p, point)
	}
	if err := s.start(p, point == ""); err != nil {
		return v, nil, err
	}
	if err := g.scenario.play(ctx, s); err != nil {
		v.bad = append(v.bad, err.Error())
	}
	v.bad = append(v.bad, g.scenario.letters(s.finish(ctx))...)
	v.bad = append(v.bad, s.judge()...)
	if g.scenario.check != nil {
		v.bad = append(v.bad, g.scenario.check(s)...)
	}
	deaths := 0
	for _, at := range p {
		if at != "" {
			deaths++
		}
	}
	v.died, v.took = s.died == deaths, time.Since(began)
	if len(v.bad) > 0 {
		v.tail = tail(filepath.Join(dir, logFile))
	}
	if point == "" {
		reached, err = trace(filepath.Join(dir, traceFile))
	}
	return v, reached, err
}

// trace reads the points that a life reached.
func trace(path string) ([]failpoint.Point, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []failpoint.Point
	for line := range bytes.Lines(data) {
		p, err := failpoint.Parse(string(line))
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// tail is the end of a service's log.
func tail(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return strings.Join(lines[max(0, len(lines)-40):], "\n")
}

// sample picks n of the cases by a seed; 0 means all. The order is drawn in any case, so that slow ones do not all come at the end.
func sample(cases []crashCase, n int, seed uint64) []crashCase {
	r := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a draw that can be repeated
	r.Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
	if n > 0 && n < len(cases) {
		cases = cases[:n]
	}
	return cases
}
