package slack

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	slackgo "github.com/slack-go/slack"

	"herald/core/chat"
)

// steady is how long a connection must have lived for the next attempt to be a first one again: a server that greets and hangs up must not
// be dialled in a loop.
const steady = 5 * time.Second

// supervisor keeps one connection alive. Its fields belong to the goroutine of run.
type supervisor struct {
	a    *Adapter
	wait sync.WaitGroup

	live, draining *socket
	opening        bool
	attempt        int
	everIn         bool
	given          bool        // given up: only a new token helps, and that needs a restart
	retry          *time.Timer // nil while no attempt is planned
	drained        *time.Timer // ends the old connection; nil while there is none

	// gap is the one that the next connection ends; nil while there is none.
	gap *gap

	opened   chan opened
	warnings chan warning
	ended    chan *socket
}

type opened struct {
	s   *socket
	err error
}

type warning struct {
	s      *socket
	reason string
}

// supervise keeps a connection until ctx ends.
func (a *Adapter) supervise(ctx context.Context) error {
	v := &supervisor{a: a, opened: make(chan opened), warnings: make(chan warning), ended: make(chan *socket)}
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		for _, s := range []*socket{v.live, v.draining} {
			if s != nil {
				s.bye()
			}
		}
		v.wait.Wait()
	}()
	v.gap = a.atStart(ctx)
	v.plan(0)
	return v.run(ctx)
}

func (v *supervisor) run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer(v.retry):
			v.retry = nil
			v.open(ctx)
		case <-timer(v.drained):
			v.endDraining("its time to drain is over")
		case o := <-v.opened:
			v.opening = false
			if o.err == nil {
				v.take(ctx, o.s)
			} else if ctx.Err() == nil {
				if err := v.refused(o.err); err != nil {
					return err
				}
			}
		case w := <-v.warnings:
			v.warned(w)
		case s := <-v.ended:
			v.over(s)
		}
	}
}

// timer is the channel of t, or one that never fires.
func timer(t *time.Timer) <-chan time.Time {
	if t == nil {
		return nil
	}
	return t.C
}

// plan makes the next attempt come after d, unless one comes anyway.
func (v *supervisor) plan(d time.Duration) {
	if v.opening || v.retry != nil || v.given {
		return
	}
	v.retry = time.NewTimer(d)
}

func (v *supervisor) open(ctx context.Context) {
	v.opening = true
	v.wait.Go(func() {
		s, err := v.a.openSocket(ctx)
		select {
		case v.opened <- opened{s, err}:
		case <-ctx.Done():
			if s != nil {
				s.bye()
			}
		}
	})
}

// take makes a new connection the live one; the one before is drained.
func (v *supervisor) take(ctx context.Context, s *socket) {
	if v.live != nil {
		v.endDraining("another one follows it")
		v.draining, v.drained = v.live, time.NewTimer(v.a.opt.Drain)
	}
	v.live, v.everIn = s, true
	v.closeGap(s.app)
	v.a.state.set(nil)
	v.a.opt.Count("connected")
	v.a.log.Info("connected to Slack")
	v.wait.Go(func() {
		s.read(func(f *frame) { v.a.takeFrame(s, f) }, func(reason string) {
			select {
			case v.warnings <- warning{s, reason}:
			case <-ctx.Done():
			}
		})
		select {
		case v.ended <- s:
		case <-ctx.Done():
		}
	})
	v.wait.Go(func() { s.ping(v.a.opt.PingEvery) })
}

// closeGap reads back what Slack may have given up during the gap that a new connection has ended.
func (v *supervisor) closeGap(app string) {
	g := v.gap
	v.gap = nil
	if g == nil || app == "" || !g.since.IsZero() && v.a.opt.Now().Sub(g.since) < v.a.opt.GapAfter {
		return
	}
	v.a.lanes.spawn(func(ctx context.Context) {
		if !g.since.IsZero() {
			g.places, g.from = v.a.places(ctx, v.a.opt.Now().Add(-backfillSpan)), g.since
		}
		v.a.backfill(ctx, app, *g)
	})
}

// openGap notes that nothing can come any more.
func (v *supervisor) openGap() {
	if v.gap == nil {
		v.gap = &gap{since: v.a.opt.Now()}
	}
}

// refused decides when to try again; an error ends the adapter.
func (v *supervisor) refused(err error) error {
	if w, ok := errors.AsType[*warned](err); ok {
		err = fmt.Errorf("a new connection: %w", w)
	}
	pause := v.a.pause(v.attempt, err)
	v.attempt++
	if o, ok := errors.AsType[*chat.Outage](err); ok && o.Dead {
		if !v.everIn {
			v.a.state.set(err)
			return fmt.Errorf("connect to Slack: %w", err)
		}
		pause = v.a.opt.SlowProbe
		if s, ok := errors.AsType[slackgo.SlackErrorResponse](o.Err); ok && !retriable(s.Err) {
			v.given = true
		}
	}
	if v.live == nil {
		v.a.state.set(err)
	}
	if v.given {
		v.a.opt.Count("given_up")
		v.a.log.Error("Slack lets the app in no more and is not tried again; restart Herald with a new token", "error", err)
		return nil
	}
	v.a.opt.Count("connect_failed")
	v.a.log.Warn("no connection to Slack; trying again", "error", err, "pause", pause)
	v.plan(pause)
	return nil
}

// warned handles a disconnect frame.
func (v *supervisor) warned(w warning) {
	v.a.opt.Count("disconnect_" + known(w.reason))
	v.a.log.Info("Slack ends a connection", "reason", w.reason)
	if w.s != v.live {
		return // the old one, which is on its way out
	}
	switch w.reason {
	case "warning", "refresh_requested", "":
		v.plan(v.again(w.s))
	case "link_disabled":
		v.give(w.s, errors.New("the app has Socket Mode switched off; switch it on in the app's settings"), v.a.opt.SlowProbe)
	default: // too_many_websockets, and what Slack may add
		v.attempt = max(v.attempt, 1)
		v.give(w.s, &warned{w.reason}, v.again(w.s))
	}
}

// give closes the live connection and plans the next one.
func (v *supervisor) give(s *socket, why error, pause time.Duration) {
	v.live = nil
	v.openGap()
	v.a.state.set(why)
	s.breakWith(why)
	v.plan(pause)
}

// again is the pause before the connection after s: none after one that stood for a while.
func (v *supervisor) again(s *socket) time.Duration {
	if time.Since(s.born) >= steady {
		v.attempt = 0
	}
	v.attempt++
	if v.attempt == 1 {
		return 0
	}
	return v.a.pause(v.attempt-2, nil)
}

// over handles the end of a connection.
func (v *supervisor) over(s *socket) {
	switch s {
	case v.draining:
		v.draining = nil
		v.drained.Stop()
		v.drained = nil
	case v.live:
		why := *s.why.Load()
		v.live = nil
		v.openGap()
		v.a.state.set(fmt.Errorf("the connection to Slack broke: %w", why))
		pause := v.again(s)
		v.a.opt.Count("broken")
		v.a.log.Warn("the connection to Slack broke; it is opened again", "error", why, "pause", pause)
		v.plan(pause)
	}
}

func (v *supervisor) endDraining(why string) {
	if v.draining == nil {
		return
	}
	v.a.log.Debug("an old connection to Slack is closed", "why", why, "unacknowledged", v.draining.open.Load())
	v.draining.bye()
	v.draining = nil
	v.drained.Stop()
	v.drained = nil
}

// known is a reason that may become a label: Slack's own words only.
func known(reason string) string {
	switch reason {
	case "warning", "refresh_requested", "link_disabled", "too_many_websockets":
		return reason
	}
	return "other"
}
