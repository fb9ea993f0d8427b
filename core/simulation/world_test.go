package simulation_test

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"time"

	"herald/core/store"
	"herald/core/store/memory"
)

// died is the panic with which an actor of a crashed process ends.
type died struct{}

// Crash marks it for the engine, which must not survive it.
func (died) Crash() {}

// world is one seed.
type world struct {
	rng   *rand.Rand
	clock time.Time
	base  *memory.Store
	procs []*process
	plat  *platform
	tools *effects
	story strings.Builder
	trace bool
	// quiet is set while the world comes to rest: nothing fails any more.
	quiet   bool
	crashes int
	// running counts claims that a living process works on.
	running int
	leases  []lease
	// forwarded are the ids of messages that were handed over to another conversation.
	forwarded map[string]bool
	ids       int
	// team is set in a world in which agents delegate.
	team *team
	// wrong is the first thing that a model saw and never should: a panic of its own would count as a crash of the engine's.
	wrong error
}

// lease is the context of a claim, which its holder's own clock ends.
type lease struct {
	end    time.Time
	cancel context.CancelCauseFunc
}

func (w *world) note(format string, args ...any) {
	if w.trace {
		fmt.Fprintf(&w.story, w.clock.Format("15:04:05.000 ")+format+"\n", args...)
	}
}

// fault keeps the first fault that a model saw.
func (w *world) fault(err error) {
	if w.wrong == nil {
		w.wrong = err
	}
}

func (w *world) id() string { w.ids++; return fmt.Sprintf("id%d", w.ids) }

func (w *world) chance(percent int) bool { return !w.quiet && w.rng.IntN(100) < percent }

// pass moves the clock and ends the leases that it passes.
func (w *world) pass(d time.Duration) {
	w.clock = w.clock.Add(d)
	kept := w.leases[:0]
	for _, l := range w.leases {
		if w.clock.Before(l.end) {
			kept = append(kept, l)
		} else {
			l.cancel(store.ErrFenced)
		}
	}
	w.leases = kept
}

// process is one replica: its actors die together.
type process struct {
	w      *world
	name   string
	holder string
	skew   time.Duration
	actors []*actor
	store  *memory.Store
	// express are deliveries on their way from the engine to the outbox of the process.
	express []taken
	running int
}

// actor is a coroutine.
type actor struct {
	p    *process
	name string
	next func() (struct{}, bool)
	stop func()
	// give gives up control; it panics with died when the process has crashed.
	give func()
	dead bool
}

// spawn starts an actor of p; body runs for ever.
func (p *process) spawn(name string, body func(a *actor)) {
	a := &actor{p: p, name: p.name + "/" + name}
	a.next, a.stop = iter.Pull(func(yield func(struct{}) bool) {
		defer func() {
			if r := recover(); r != nil {
				if _, ok := r.(died); !ok {
					panic(r)
				}
			}
		}()
		a.give = func() {
			if a.dead || !yield(struct{}{}) {
				a.dead = true
				panic(died{})
			}
		}
		body(a)
	})
	p.actors = append(p.actors, a)
}

// crash ends all actors of p where they stand, and starts the process anew.
func (p *process) crash() {
	p.w.note("%s crashes", p.name)
	p.kill()
	p.start()
}

func (p *process) kill() {
	for _, a := range p.actors {
		a.stop()
	}
	p.actors = nil
	p.w.running -= p.running
	p.running, p.express = 0, nil
}

// lostReply is what the store's handle of a process does wrong now and then.
func (p *process) fault(c memory.Call) memory.Effect {
	switch {
	case p.w.chance(1):
		p.w.note("%s: the store refuses %s", p.name, c.Method)
		return memory.Effect{Before: memory.Unavailable(c.Method)}
	case p.w.chance(1):
		p.w.note("%s: the store's reply to %s is lost", p.name, c.Method)
		return memory.Effect{After: memory.Unavailable(c.Method)}
	case c.Commit != nil && p.w.chance(1):
		return memory.Effect{Twice: true}
	default:
		return memory.Effect{}
	}
}

// handle is the store as an actor sees it: control is given up before and after each call.
type handle struct {
	store.Store
	a *actor
}

func (h handle) Commit(ctx context.Context, c store.Commit) (store.Result, error) {
	if err := ctx.Err(); err != nil {
		return store.Result{}, err
	}
	// From here on the write is on its way: a lease that ends meanwhile is the store's to notice.
	h.a.give()
	r, err := h.Store.Commit(context.WithoutCancel(ctx), c)
	h.a.p.w.note("%s commits %s: %v", h.a.name, c.ID, err)
	h.a.give()
	return r, err
}

func (h handle) Read(ctx context.Context, q ...store.Query) ([]store.Answer, error) {
	h.a.give()
	return h.Store.Read(ctx, q...)
}

func (h handle) Claim(ctx context.Context, r store.ClaimRequest) ([]store.Claim, error) {
	h.a.give()
	return h.Store.Claim(ctx, r)
}
