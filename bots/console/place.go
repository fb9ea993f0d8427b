package console

import (
	"context"
	"sync"

	"herald/bots/console/proto"
)

// place is one conversation: its transcript, the state of its live messages, and who listens.
type place struct {
	name string
	// order is held while a line is on its way to the receiver: lines are handed on one after the other.
	order chan struct{}

	mu     sync.Mutex
	script *transcript
	live   map[string]*proto.Record // id → the newest state of a live post
	subs   map[*sub]struct{}
}

// maxWaiting is how many records a listener may be behind; then its stream ends and it comes back with its cursor.
const maxWaiting = 1024

// sub is one listener.
type sub struct {
	wake    chan struct{} // 1
	waiting []*proto.Record
	states  map[string]*proto.Record
	lost    bool
}

func newPlace(name string, t *transcript) *place {
	return &place{name: name, order: make(chan struct{}, 1), script: t, live: map[string]*proto.Record{}, subs: map[*sub]struct{}{}}
}

// enter waits for the turn to hand on a line.
func (p *place) enter(ctx context.Context) error {
	select {
	case p.order <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (p *place) leave() { <-p.order }

// add makes an entry durable and tells the listeners. p.mu is held.
func (p *place) add(e *entry) error {
	if err := p.script.append(e); err != nil {
		return err
	}
	r := e.Record
	if e.Taken != "" {
		return nil
	}
	if !r.Live {
		delete(p.live, r.ID)
	}
	for s := range p.subs {
		delete(s.states, r.ID)
		if s.waiting = append(s.waiting, &r); len(s.waiting) > maxWaiting {
			s.lost, s.waiting = true, nil
		}
		s.rouse()
	}
	return nil
}

// state tells the listeners of a live message's text; only the newest counts. p.mu is held.
func (p *place) state(r *proto.Record) {
	p.live[r.ID] = r
	for s := range p.subs {
		s.states[r.ID] = r
		s.rouse()
	}
}

func (s *sub) rouse() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// listen begins to collect and says which record was the last before.
func (p *place) listen() (*sub, uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &sub{wake: make(chan struct{}, 1), states: map[string]*proto.Record{}}
	for id, r := range p.live {
		s.states[id] = r
	}
	if len(s.states) > 0 {
		s.rouse()
	}
	p.subs[s] = struct{}{}
	return s, p.script.seq
}

func (p *place) unlisten(s *sub) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.subs, s)
}

// take gives what came for a listener; ok is false when it fell too far behind.
func (p *place) take(s *sub) (all []*proto.Record, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.lost {
		return nil, false
	}
	all, s.waiting = s.waiting, nil
	for id, r := range s.states {
		all = append(all, r)
		delete(s.states, id)
	}
	return all, true
}
