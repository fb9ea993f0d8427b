package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"herald/bots/bottest/platform"
	"herald/bots/bottest/wire"
	"herald/core/model/modeltest"
)

const (
	// lease is short, so that what a dead service held is free soon. It must outlast a busy machine's pauses.
	lease = time.Second
	// sendTimeout is how long a call to the platform may take: an unknown send is not looked for sooner.
	sendTimeout = 500 * time.Millisecond
	// redeliver is how long the platform waits for an acknowledgement.
	redeliver = 500 * time.Millisecond
	// often is how often a store is looked at that must come to rest.
	often = 20 * time.Millisecond
)

// kinds of platforms: one that knows repeated sends by their nonce, and one where only looking back can tell.
const (
	byNonce    = "nonce"
	byLookBack = "lookback"
)

func features(kind string) wire.Features {
	f := wire.Features{Edits: true, EditEvery: 100 * time.Millisecond, Cards: true, Ephemeral: true, TextLimit: textLimit, SendTimeout: sendTimeout}
	f.Nonce, f.LookBack = kind == byNonce, kind == byLookBack
	return f
}

// scene is a service with all that is around it.
type scene struct {
	birth birth
	plat  *platform.Server
	fake  *modeltest.Server

	stopFake func()
	// ended is closed when the supervisor has ended; stopping tells it not to start another life.
	ended chan struct{}

	mu       sync.Mutex
	life     *life
	plan     plan
	trace    bool
	lives    int
	stopping bool
	// odd are ends of a life that nobody asked for, died counts those at the point.
	odd  []string
	died int
	// pointed says that a life has a point to die at, asked that a life was asked to end.
	pointed, asked bool
	// mortal: lives may kill themselves at any time.
	mortal bool
	// guest: platform and model are another scene's.
	guest bool

	said []said
}

// said is a message of a person that the oracle expects to be answered.
type said struct {
	thread, token string
	least, most   int
}

// maxLives bounds the starts of one scene: a service that dies again and again must not go on for ever.
const maxLives = 200

// open starts what is around a service. dir is the scene's own folder.
func open(ctx context.Context, dir, kind, store string) (*scene, error) {
	s := &scene{ended: make(chan struct{})}
	var err error
	s.plat, err = platform.Start(ctx, platform.Options{Features: features(kind), RedeliverAfter: redeliver, Echo: true})
	if err != nil {
		return nil, err
	}
	s.fake = &modeltest.Server{Rules: []modeltest.Rule{reply}}
	url, stop, err := s.fake.Start(ctx)
	if err != nil {
		s.plat.Close()
		return nil, err
	}
	s.stopFake = stop
	s.birth = birth{Dir: dir, Platform: s.plat.URL(), Model: url, Store: store, Lease: lease, Grace: 5 * time.Second}
	return s, nil
}

// plan is where the first lives die, one after the other, in the words of [failpoint.Parse]; "" lets a life live. Those that follow live.
type plan []string

// start begins the first life; each life that ends is followed by another one. With trace, the life behind the last one of the plan
// writes down its points, or the only one when there is no plan.
func (s *scene) start(p plan, trace bool) error {
	s.mu.Lock()
	s.plan, s.trace = p, trace
	s.mu.Unlock()
	l, err := s.next()
	if err != nil {
		close(s.ended)
		return err
	}
	go s.supervise(l)
	return nil
}

// next starts a life unless the scene ends; nil when it does.
func (s *scene) next() (*life, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping || s.lives >= maxLives {
		return nil, nil
	}
	b := s.birth
	s.pointed = len(s.plan) > 0 && s.plan[0] != ""
	switch {
	case len(s.plan) > 0:
		b.Point, s.plan = s.plan[0], s.plan[1:]
	case s.trace:
		b.Trace, s.trace = true, false
	}
	l, err := begin(b)
	if err != nil {
		return nil, err
	}
	s.life = l
	s.lives++
	return l, nil
}

// supervise follows life after life.
func (s *scene) supervise(l *life) {
	defer close(s.ended)
	for l != nil {
		<-l.done
		s.mu.Lock()
		switch {
		case s.stopping:
		case l.killed() && s.pointed:
			s.died++
		case s.mortal && l.killed():
			s.died++
		case s.asked:
		default:
			s.odd = append(s.odd, fmt.Sprintf("life %d ended by itself: %v", s.lives, l.err))
		}
		s.mu.Unlock()
		var err error
		if l, err = s.next(); err != nil {
			s.mu.Lock()
			s.odd = append(s.odd, err.Error())
			s.mu.Unlock()
			return
		}
	}
}

// term asks the present life to end in good order; another one follows it.
func (s *scene) term() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = true // who dies for another reason is found by what it leaves behind
	s.life.signal(syscall.SIGTERM)
}

// again ends the present life with a signal and waits until the next one is up.
func (s *scene) again(ctx context.Context, sig syscall.Signal) error {
	ctx, cancel := context.WithTimeoutCause(ctx, upTime, fmt.Errorf("it took more than %v", upTime))
	defer cancel()
	s.mu.Lock()
	s.asked = true
	l := s.life
	s.mu.Unlock()
	l.signal(sig)
	if err := l.wait(ctx); err != nil {
		return err
	}
	return s.up(ctx)
}

// up waits until the present life answers.
func (s *scene) up(ctx context.Context) error {
	return poll(ctx, "the service is up", func() bool {
		l := s.now()
		select {
		case <-l.done:
			return false
		default:
		}
		_, err := l.look()
		return err == nil
	})
}

// another is a second replica beside s, on the same store and platform. It is closed before s.
func (s *scene) another(dir string) *scene {
	o := &scene{ended: make(chan struct{}), birth: s.birth, plat: s.plat, fake: s.fake, guest: true}
	o.birth.Dir = dir
	return o
}

// now is the present life.
func (s *scene) now() *life {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.life
}

// say makes a person of a thread say "#token verb", which one answer must cover.
func (s *scene) say(thread, token, verb string) platform.Told {
	return s.expect(thread, token, verb, 1, 1)
}

// expect is say for a message that at least least and at most most answers cover.
func (s *scene) expect(thread, token, verb string, least, most int) platform.Told {
	s.said = append(s.said, said{thread, token, least, most})
	return s.tell(thread, "#"+token+" "+verb)
}

// tell makes a person say something that the oracle expects nothing of.
func (s *scene) tell(thread, text string) platform.Told {
	return s.plat.Post(platform.Say{Channel: channel, Thread: thread, Text: text, Direct: true})
}

// channel is where all conversations of a scene stand.
const channel = "c"

// asks waits until the model was asked at least n times.
func (s *scene) asks(ctx context.Context, n int) error {
	return poll(ctx, fmt.Sprintf("the model was asked %d times", n), func() bool { return s.fake.Calls() >= n })
}

// stands waits until a message of the app that holds one of the texts stands in a thread.
func (s *scene) stands(ctx context.Context, thread string, texts ...string) (m platform.Message, err error) {
	err = s.plat.Wait(ctx, fmt.Sprintf("%q stands in %s", texts, thread), func(v platform.View) bool {
		for _, x := range v.Messages(channel, thread) {
			if x.ByApp && slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(x.Text, t) }) {
				m = *x
				return true
			}
		}
		return false
	})
	return m, err
}

// rest waits until all that was said is answered as often as it must be and the store has come to rest. It returns what is missing when
// ctx ends first.
func (s *scene) rest(ctx context.Context) []string {
	if err := s.plat.Wait(ctx, "every message is answered", func(v platform.View) bool { return v.Counts().Unacked == 0 && s.answered(v) }); err != nil {
		left, _ := s.now().look()
		return append(left, err.Error())
	}
	return s.quiet(ctx)
}

// quiet waits until the store is at rest, and returns what is left in it.
func (s *scene) quiet(ctx context.Context) []string {
	var left []string
	err := poll(ctx, "the store is at rest", func() bool {
		var err error
		if left, err = s.now().look(); err != nil {
			left = []string{err.Error()}
			return false
		}
		for _, l := range left {
			if !strings.HasPrefix(l, deadLetter) {
				return false
			}
		}
		return true // dead letters do not go away by waiting
	})
	if err != nil {
		left = append(left, err.Error())
	}
	return left
}

func (s *scene) answered(v platform.View) bool {
	found := map[string]int{}
	for _, w := range s.said {
		if _, seen := found[w.thread]; seen {
			continue
		}
		found[w.thread] = 0
		for _, m := range v.Messages(channel, w.thread) {
			if !m.ByApp {
				continue
			}
			if m.Live {
				return false
			}
			for _, t := range tokens.FindAllString(m.Text, -1) {
				found[w.thread+t]++
			}
		}
	}
	for _, w := range s.said {
		if found[w.thread+"#"+w.token] < w.least {
			return false
		}
	}
	return true
}

// stop ends the service in good order and reports what was odd about it. died says that the service came to its point only then, so that
// another life must bring it to rest.
func (s *scene) stop(ctx context.Context) (odd []string, died bool) {
	s.mu.Lock()
	s.stopping = true
	l, pointed := s.life, s.pointed
	s.mu.Unlock()
	// Who has answered is up: before, SIGTERM would end it without a word. Who does not answer has died.
	if _, err := l.look(); err == nil {
		l.signal(syscall.SIGTERM)
	}
	if err := l.wait(ctx); err != nil {
		odd = append(odd, err.Error())
		l.kill()
	}
	<-s.ended
	switch {
	case len(odd) > 0:
	case l.killed() && pointed:
		s.died++
		return nil, true
	case l.err != nil:
		odd = append(odd, fmt.Sprintf("the service did not end well after SIGTERM: %v", l.err))
	}
	return append(odd, s.odd...), false
}

// finish brings the scene to rest and ends it; what it returns is wrong.
func (s *scene) finish(ctx context.Context) []string {
	bad := s.rest(ctx)
	odd, died := s.stop(ctx)
	if !died {
		return append(bad, odd...)
	}
	s.stopping, s.ended = false, make(chan struct{})
	if err := s.start(nil, false); err != nil {
		return append(bad, err.Error())
	}
	bad = s.rest(ctx)
	odd, _ = s.stop(ctx)
	return append(bad, odd...)
}

// close ends everything at once; it may follow stop.
func (s *scene) close() {
	s.mu.Lock()
	s.stopping = true
	l := s.life
	s.mu.Unlock()
	if l != nil {
		l.kill()
		<-s.ended
	}
	if s.guest {
		return
	}
	s.plat.Close()
	s.stopFake()
}

// effects are the starts of tools so far.
func (s *scene) effects() ([]effect, error) {
	data, err := os.ReadFile(filepath.Join(s.birth.Dir, effectsFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []effect
	for line := range bytes.Lines(data) {
		var e effect
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("read an effect: %w", err)
		}
		out = append(out, e)
	}
	return out, nil
}

// poll asks until cond holds: for what gives no signal.
func poll(ctx context.Context, what string, cond func() bool) error {
	tick := time.NewTicker(often)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait until %s: %w", what, context.Cause(ctx))
		}
	}
	return nil
}
