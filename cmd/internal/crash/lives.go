package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLives bounds the starts of one scene: a service that dies again and again must not go on for ever.
const maxLives = 200

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
		case s.asked && l.obeyed():
		default:
			s.odd = append(s.odd, fmt.Sprintf("life %d ended by itself: %v; its last line was: %s", s.lives, l.err, lastLine(filepath.Join(s.birth.Dir, logFile))))
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

// lastLine is the last line of a service's log.
func lastLine(path string) string {
	all := tail(path)
	return all[strings.LastIndexByte(all, '\n')+1:]
}

// term asks the present life to end in good order; another one follows it.
func (s *scene) term() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = true
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
	o := &scene{ended: make(chan struct{}), birth: s.birth, plat: s.plat, slack: s.slack, fake: s.fake, guest: true}
	o.birth.Dir = dir
	return o
}

// now is the present life.
func (s *scene) now() *life {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.life
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
	s.shut()
	s.stopFake()
}
