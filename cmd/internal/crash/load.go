package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"herald/bots/bottest/platform"
	"herald/bots/bottest/slackfake"
	"herald/core/store/redis/redistest"
)

// load is a story with many messages, several replicas and trouble.
type load struct {
	name string
	// cluster puts the store on three nodes, platform is byNonce, byLookBack or onSlack.
	cluster  bool
	platform string
	// replicas is how many there are; 0 is two.
	replicas int
	// rate is how many messages are said a second.
	rate int
	// fsync is Redis' appendfsync; "" is everysec.
	fsync string
	// through says that the replicas reach their store through a proxy.
	through bool
	// trouble goes on until ctx ends and leaves everything well.
	trouble func(ctx context.Context, f *fleet) error
}

// The sizes of loads.
const (
	loadThreads = 200
	// loadTimeout is how long a call to the platform may take under load. On a platform that can only be looked through, a call that is
	// carried out after its time-out stands twice, whatever a service does: it must outlast what a busy machine makes of a call.
	loadTimeout = 2 * time.Second
	// loadTime is what a load may take beyond the time in which its messages are said.
	loadTime = 90 * time.Second
)

func loads() []load {
	return []load{
		{name: "freeze, kill, restart", platform: byLookBack, rate: 250, trouble: troubles(freeze, kill, restart)},
		{name: "freeze, kill, restart on a cluster", cluster: true, platform: byNonce, rate: 250, trouble: troubles(freeze, kill, restart)},
		{name: "rolling restart", platform: byLookBack, rate: 200, trouble: troubles(restart)},
		{name: "rolling restart on a cluster", cluster: true, platform: byNonce, rate: 200, trouble: troubles(restart)},
		// With everysec Redis answers before it writes while an earlier write is still being synced: only "always" survives its own kill -9.
		{name: "Redis killed", platform: byNonce, fsync: "always", rate: 200, trouble: killRedis},
		{name: "replies lost", platform: byLookBack, rate: 200, through: true, trouble: cutReplies},
		{name: "three replicas", platform: byNonce, replicas: 3, rate: 200, through: true, trouble: together(troubles(freeze, kill, restart), cutReplies)},
		{name: "freeze, kill, restart on Slack", platform: onSlack, rate: 150, trouble: together(troubles(freeze, kill, restart), breakSockets)},
		{name: "rolling restart on Slack", platform: onSlack, rate: 150, trouble: troubles(restart)},
	}
}

// fleet is the replicas of a load with what is around them.
type fleet struct {
	all   []*scene
	redis *redistest.Server // nil on a cluster
	proxy *redistest.Proxy  // nil without one
	rng   *rand.Rand
}

// loadReport is what came of a load.
type loadReport struct {
	said, answered, lost, doubled, reordered, redelivered int
	median                                                time.Duration
	p99                                                   time.Duration
	bad                                                   []string
}

func (r *loadReport) String() string {
	return fmt.Sprintf("%d said, %d answered, %d lost, %d doubled, %d reordered, %d deliveries repeated; from a message to its answer %v (median), %v (p99)",
		r.said, r.answered, r.lost, r.doubled, r.reordered, r.redelivered, r.median.Round(time.Millisecond), r.p99.Round(time.Millisecond))
}

// play plays a load of n messages.
func (l *load) play(ctx context.Context, n int, seed uint64, log io.Writer) (r *loadReport, err error) {
	limit := loadTime + 3*time.Duration(n/l.rate)*time.Second
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the load took more than %v", limit))
	defer cancel()
	dir, err := os.MkdirTemp("", "crash")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	f := &fleet{rng: rand.New(rand.NewPCG(seed, 1))} //nolint:gosec // a draw that can be repeated
	url, end, err := l.store(ctx, f)
	if err != nil {
		return nil, err
	}
	defer end()
	if err := f.open(ctx, dir, l.platform, url, max(l.replicas, 2)); err != nil {
		return nil, errors.Join(err, f.close())
	}
	defer func() { err = errors.Join(err, f.close()) }()
	troubled, calm := context.WithCancel(ctx)
	var beside sync.WaitGroup
	var trouble error
	beside.Go(func() { trouble = l.trouble(troubled, f) })
	first := f.all[0]
	sayAll(ctx, first, n, l.rate, seed)
	first.release()
	calm()
	beside.Wait()
	if trouble != nil {
		return nil, fmt.Errorf("%s: %w", l.name, trouble)
	}
	r = &loadReport{said: n}
	r.bad = append(r.bad, f.settle(ctx)...)
	for _, s := range f.all {
		odd, _ := s.stop(ctx)
		r.bad = append(r.bad, odd...)
	}
	r.judge(first)
	if log != nil && (len(r.bad) > 0 || r.lost+r.doubled+r.reordered > 0) {
		for _, s := range f.all {
			fmt.Fprintln(log, tail(filepath.Join(s.birth.Dir, logFile)))
		}
	}
	return r, nil
}

func (l *load) store(ctx context.Context, f *fleet) (url string, end func(), err error) {
	if l.cluster {
		c, err := redistest.StartCluster(ctx, redistest.Options{})
		if err != nil {
			return "", nil, err
		}
		return c.URL(), func() { _ = c.Close() }, nil
	}
	if f.redis, err = redistest.Start(ctx, redistest.Options{AOF: l.fsync}); err != nil {
		return "", nil, err
	}
	end = func() { _ = f.redis.Close() }
	if !l.through {
		return f.redis.URL(), end, nil
	}
	if f.proxy, err = redistest.NewProxy(f.redis.Addr()); err != nil {
		end()
		return "", nil, err
	}
	stop := end
	return f.proxy.URL(), func() { f.proxy.Close(); stop() }, nil
}

func (f *fleet) open(ctx context.Context, dir, kind, url string, replicas int) error {
	first, err := open(ctx, filepath.Join(dir, "0"), kind, url, loadTimeout)
	if err != nil {
		return err
	}
	f.all = append(f.all, first)
	for i := 1; i < replicas; i++ {
		f.all = append(f.all, first.another(filepath.Join(dir, fmt.Sprint(i))))
	}
	for _, s := range f.all {
		if err := os.MkdirAll(s.birth.Dir, 0o700); err != nil {
			return err
		}
	}
	for _, s := range f.all {
		if err := s.start(nil, false); err != nil {
			return err
		}
		if err := s.up(ctx); err != nil {
			return err
		}
	}
	return nil
}

// close ends the replicas; the first one, which owns the platform, goes last.
func (f *fleet) close() error {
	for _, s := range slices.Backward(f.all) {
		s.close()
	}
	return nil
}

// settle waits until everything is answered and the store is at rest.
func (f *fleet) settle(ctx context.Context) []string {
	s := f.all[0]
	var p progress
	err := poll(ctx, "every message is answered", func() bool { return p.look(s) >= len(s.said) && s.unacked() == 0 })
	if err != nil {
		left, _ := s.now().look()
		return append(left[:min(len(left), 10)], fmt.Sprintf("%v: %d of %d, %d not acknowledged", err, p.look(s), len(s.said), s.unacked()))
	}
	return s.quiet(ctx)
}

// unacked is how many events the platform still waits for.
func (s *scene) unacked() int {
	if s.slack != nil {
		c := s.slack.Counts()
		return c.Happened - c.Acked - c.GaveUp
	}
	return s.plat.Counts().Unacked
}

// progress counts the tokens that were answered so far, without looking at anything twice.
type progress struct {
	next int
	seen map[string]bool
}

func (p *progress) look(s *scene) int {
	if p.seen == nil {
		p.seen = map[string]bool{}
	}
	see := func(text string) {
		for _, t := range tokens.FindAllString(text, -1) {
			p.seen[t] = true
		}
	}
	if s.slack != nil {
		s.slack.Look(func(v slackfake.View) {
			all := v.Journal()
			for _, r := range all[p.next:] {
				if r.Kind == slackfake.Sent || r.Kind == slackfake.Edited {
					see(r.Text)
				}
			}
			p.next = len(all)
		})
		return len(p.seen)
	}
	s.plat.Look(func(v platform.View) {
		all := v.Journal()
		for _, r := range all[p.next:] {
			if r.Kind == platform.Sent || r.Kind == platform.Edited {
				see(r.Text)
			}
		}
		p.next = len(all)
	})
	return len(p.seen)
}

// sayAll says n messages over all threads at a rate; one in ten arrives twice at once, and now and then an old one arrives again.
func sayAll(ctx context.Context, s *scene, n, rate int, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // a draw that can be repeated
	const beat = 20 * time.Millisecond
	tick := time.NewTicker(beat)
	defer tick.Stop()
	var events []string
	began := time.Now()
	for i := 0; i < n; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		for due := int(time.Since(began).Seconds() * float64(rate)); i < min(n, due); i++ {
			verb, copies := verbPlain, 1
			if rng.IntN(20) == 0 {
				verb = toolEffect
			}
			if rng.IntN(10) == 0 {
				copies = 2
			}
			thread, token := fmt.Sprintf("t%d", rng.IntN(loadThreads)), fmt.Sprintf("m%d", i)
			s.said = append(s.said, said{thread, token, 1, 1})
			events = append(events, s.throw(thread, token, verb, copies, rng.IntN(20) == 0)...)
			if rng.IntN(20) == 0 {
				s.repeat(events[rng.IntN(len(events))])
			}
		}
	}
}

// throw says a message many of which are said at once. late keeps its events back, on a platform that can turn them round, until the next message.
func (s *scene) throw(thread, token, verb string, copies int, late bool) (events []string) {
	text := "#" + token + " " + verb
	if s.slack == nil {
		return []string{s.plat.Post(platform.Say{Channel: channel, Thread: thread, Text: text, Direct: true, Copies: copies}).Event}
	}
	late = late && copies == 1
	told := s.slack.say(thread, text, late, copies)
	s.slack.tokens[told.TS] = "#" + token
	if late {
		s.slack.late = append(s.slack.late, told.Events...)
		return told.Events
	}
	s.release()
	return told.Events
}

// release delivers what was kept back.
func (s *scene) release() {
	if s.slack != nil {
		s.slack.Deliver(s.slack.late...)
		s.slack.late = nil
	}
}

// repeat delivers an event that the platform made once more.
func (s *scene) repeat(event string) {
	if s.slack != nil {
		s.slack.Again(event)
		return
	}
	_ = s.plat.Deliver(event)
}

// together makes several troubles at the same time.
func together(all ...func(context.Context, *fleet) error) func(context.Context, *fleet) error {
	return func(ctx context.Context, f *fleet) error {
		errs := make([]error, len(all))
		var beside sync.WaitGroup
		for i, trouble := range all {
			beside.Go(func() { errs[i] = trouble(ctx, f) })
		}
		beside.Wait()
		return errors.Join(errs...)
	}
}

// breakSockets ends Slack's sockets in every way, one after the other.
func breakSockets(ctx context.Context, f *fleet) error {
	w := f.all[0].slack
	for i := 0; pause(ctx, 700*time.Millisecond); i++ {
		switch i % 4 {
		case 0:
			w.CutFrame("")
		case 1:
			w.Disconnect("", "refresh_requested")
		case 2:
			w.Sever("")
		case 3:
			w.Disconnect("", "too_many_websockets")
		}
	}
	return nil
}

// troubles makes trouble of each kind in turn, for one replica after the other.
func troubles(kinds ...func(context.Context, *scene) error) func(context.Context, *fleet) error {
	return func(ctx context.Context, f *fleet) error {
		for i := 0; ; i++ {
			if !pause(ctx, 300*time.Millisecond+time.Duration(f.rng.IntN(500))*time.Millisecond) {
				return nil
			}
			if err := kinds[i%len(kinds)](context.WithoutCancel(ctx), f.all[(i/len(kinds)+i)%len(f.all)]); err != nil {
				return err
			}
		}
	}
}

// upTime bounds the start of a replica.
const upTime = 20 * time.Second

// freeze stops a replica for longer than its leases and lets it go on.
func freeze(ctx context.Context, s *scene) error {
	l := s.now()
	l.signal(syscall.SIGSTOP)
	pause(ctx, lease+lease/2)
	l.signal(syscall.SIGCONT)
	return nil
}

// kill ends a replica at once; it comes back.
func kill(ctx context.Context, s *scene) error { return s.again(ctx, syscall.SIGKILL) }

// restart ends a replica in good order; it comes back.
func restart(ctx context.Context, s *scene) error { return s.again(ctx, syscall.SIGTERM) }

// killRedis ends the store as a crash does, again and again.
func killRedis(ctx context.Context, f *fleet) error {
	for pause(ctx, 1500*time.Millisecond) {
		f.redis.Kill()
		pause(ctx, 500*time.Millisecond)
		if err := f.redis.Restart(context.WithoutCancel(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// cutReplies lets the store do what it was asked and loses its word about it.
func cutReplies(ctx context.Context, f *fleet) error {
	for pause(ctx, 150*time.Millisecond) {
		f.proxy.CutReplies(2)
	}
	if f.proxy.Cut() == 0 {
		return errors.New("no reply was lost: the load proves nothing")
	}
	return nil
}

// pause waits; false when ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
