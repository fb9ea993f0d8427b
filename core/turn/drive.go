package turn

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"herald/core/conversation"
	"herald/core/session"
	"herald/core/store"
	"herald/core/worker"
)

const (
	// newsTries bounds how often a claim begins anew because something changed under a guard.
	newsTries = 10
	// aloneAgain is when a turn that must run alone is looked at again while another one does.
	aloneAgain = 200 * time.Millisecond
)

// Handle works on one claim of the agenda of turns; it is a [worker.Handler].
func (e *Engine) Handle(ctx context.Context, claim store.Claim, poke <-chan struct{}) error {
	for range newsTries {
		r, err := e.load(ctx, claim)
		if err != nil {
			if tooNew(err) {
				e.Log.Warn("a newer Herald wrote in this conversation: it is left to that one; update this replica, or start one that knows the new format",
					"member", claim.Member, "error", err)
				return worker.GiveBack(err, time.Minute)
			}
			return err
		}
		if err = r.handle(ctx, poke); !errors.Is(err, errLookNow) {
			return err
		}
	}
	return worker.GiveBack(fmt.Errorf("conversation %s: it changed %d times while it was looked at", claim.Member, newsTries), time.Second)
}

// handle runs the turn of a loaded conversation, alone when it was under way in a crash.
func (r *run) handle(ctx context.Context, poke <-chan struct{}) (err error) {
	if r.claim.Attempt > 1 || r.suspected {
		select {
		case r.alone <- struct{}{}:
			defer func() { <-r.alone }()
		default:
			return worker.GiveBack(fmt.Errorf("conversation %s: another turn that crashed runs first", r.conv.Key()), aloneAgain)
		}
		if err := r.countAlone(ctx); err != nil {
			return err
		}
	}
	defer func() {
		if p := recover(); p != nil {
			if r.Spawn == nil && isCrash(p) {
				panic(p)
			}
			err = r.panicked(ctx, p, debug.Stack())
		}
	}()
	r.rework(ctx)
	defer r.interrupt(nil)
	if r.Spawn != nil {
		r.poke = poke
	}
	r.attend(ctx)
	defer func() { r.unattend() }()
	return r.drive(ctx)
}

// attend begins to watch for stops; unattend ends that. A poke that comes after the last look at the inbox must be left to the worker,
// which then claims the member anew: the watch ends before each commit that could release the claim.
func (r *run) attend(ctx context.Context) {
	r.unattend = func() {}
	if r.poke == nil {
		return
	}
	watching, stop := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		r.watch(watching, r.poke)
	}()
	r.unattend = func() { stop(); <-watched }
}

// isCrash reports whether a panic is a simulation's end of a process, which nobody may survive.
func isCrash(p any) bool {
	_, ok := p.(interface{ Crash() })
	return ok
}

// watch breaks off what is performed when a stop is committed: a poke says that something was.
func (r *run) watch(ctx context.Context, poke <-chan struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-poke:
		}
		as, err := r.Store.Read(ctx, store.Get{Partition: r.p, Key: conversation.HeadKey})
		if err != nil {
			continue // the guard of the next commit is the net
		}
		if d, ok := as[0].Doc(); ok && d.Version > r.seen.Load() {
			r.interrupt(ErrStopped)
		}
	}
}

// drive is the loop: decide, act, commit.
func (r *run) drive(ctx context.Context) error {
	if err := r.settle(ctx); err != nil {
		return err
	}
	if err := r.look(ctx); err != nil {
		return err
	}
	for {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		r.compactInTurn()
		ds := session.Next(&r.state, session.Options{Busy: r.busy, Again: r.again, MaxRounds: r.MaxRounds, Rounds: r.rounds(ctx)})
		if len(ds) == 1 {
			switch d := ds[0]; d.Do {
			case session.Say:
				r.unattend()
				done, err := r.finish(ctx, d.Text)
				if done || !errors.Is(err, ErrStopped) {
					return err
				}
				r.attend(ctx)
				if err := r.lookAgain(ctx); err != nil {
					return err
				}
				continue
			case session.Fail:
				r.fail("loop", "I came to no end: "+d.Text+".", d.Text)
				continue
			case session.Park:
				r.unattend()
				done, err := r.park(ctx, d.Until)
				if done || err != nil {
					return err
				}
				r.attend(ctx)
				continue
			default: // performed below
			}
		}
		if len(ds) == 0 && len(r.busy) == 0 && len(r.asked) > 0 {
			if err := r.compactNow(ctx); err != nil {
				return err
			}
			continue
		}
		if len(ds) == 0 && len(r.busy) == 0 {
			r.unattend()
			return r.idle(ctx)
		}
		if len(r.busy) == 0 && stopping(ctx) {
			r.unattend()
			return r.yield(ctx)
		}
		if err := r.performAll(ctx, ds); err != nil {
			if !errors.Is(err, ErrStopped) {
				return err
			}
			if err := r.drain(ctx); err != nil {
				return err
			}
			r.rework(ctx)
			if err := r.lookAgain(ctx); err != nil {
				return err
			}
		}
	}
}

// lookAgain reads and applies what is new.
func (r *run) lookAgain(ctx context.Context) error {
	if err := r.refresh(ctx); err != nil {
		return err
	}
	return r.look(ctx)
}

// stopping reports whether the worker has begun to stop: a step that was begun comes to its commit, the next one is another process's.
func stopping(ctx context.Context) bool {
	select {
	case <-worker.Stopping(ctx):
		return true
	default:
		return false
	}
}

// yield commits what is pending and gives the turn to another process, uncounted.
func (r *run) yield(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err := r.step(ctx, "turn.yield", false, nil, store.Release{Claim: r.claim, Again: true, KeepAttempt: true})
	return err
}

// settle ends what had begun in a process that is gone.
func (r *run) settle(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	es, again := session.Recover(&r.state)
	r.again = again
	if len(es) > 0 {
		r.stage(es...)
		r.unsaid = true
	}
	return nil
}

// idle ends a claim that has nothing to run: controls, notes and notices are committed with the release.
func (r *run) idle(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	release := r.release(len(r.inbox) > 0, time.Time{})
	if len(r.pending) == 0 && len(r.ops) == 0 && !r.suspected {
		r.commits++
		_, err := r.commit(ctx, store.Commit{
			ID:        fmt.Sprintf("turn.idle/%s.%d.%d", r.claim.Holder, r.claim.Token, r.commits),
			Partition: r.p, Claim: &r.claim, Ops: []store.Op{release},
		})
		return err
	}
	_, err := r.step(ctx, "turn.idle", false, nil, r.cleared(release)...)
	return err
}

// park commits what is open and releases the claim until the first wait's end; a click or an answer wakes it before.
func (r *run) park(ctx context.Context, until time.Time) (done bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tellWaitingIfAny()
	_, err = r.step(ctx, "turn.park", false, nil, r.cleared(r.release(!until.IsZero(), until))...)
	if err != nil {
		return false, err
	}
	return true, nil
}

func (r *run) tellWaitingIfAny() {
	if len(r.inbox) > 0 {
		r.tellWaiting()
	}
}

// cleared adds the end of a suspicion to the operations of a commit with which a turn came through.
func (r *run) cleared(ops ...store.Op) []store.Op {
	if r.suspected {
		ops = append(ops, store.Delete{Key: conversation.SuspectKey})
	}
	return ops
}

// rounds are the limits of the frames whose agents have one of their own.
func (r *run) rounds(ctx context.Context) map[string]int {
	var out map[string]int
	for i := range r.state.Frames {
		f := &r.state.Frames[i]
		if a, err := r.agent(ctx, f); err == nil && a.MaxRounds > 0 {
			if out == nil {
				out = make(map[string]int)
			}
			out[f.ID] = a.MaxRounds
		}
	}
	return out
}
