package main

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"herald/bots/bottest/platform"
)

// answerWait bounds the wait for one answer: a lost message ends the run, it does not hang it.
const answerWait = 60 * time.Second

// load posts messages to the platform and waits for their answers.
type load struct {
	board    *board
	platform *platform.Server
	sessions int
	people   int
}

// place is where session i stands: 20 threads share a channel, as in a team.
func place(session int) (channel, thread string) {
	return "C" + strconv.Itoa(session/20), "T" + strconv.Itoa(session)
}

// post is one message in a session. Its number goes to wake when it is answered.
func (l *load) post(session int, wake chan<- int) int {
	n := l.board.add(session, time.Now(), wake)
	channel, thread := place(session)
	l.platform.Post(platform.Say{
		Channel: channel, Thread: thread, User: "U" + strconv.Itoa(session%l.people),
		Text: "Could you tell me in a few words how far the work is? " + mark(n),
	})
	return n
}

// wait takes one answer from wake.
func wait(ctx context.Context, wake <-chan int) error {
	t := time.NewTimer(answerWait)
	defer t.Stop()
	select {
	case <-wake:
		return nil
	case <-t.C:
		return fmt.Errorf("a message had no answer within %s", answerWait)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// each runs f for 0 to n-1 side by side; the first error ends the others.
func each(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if err := f(ctx, i); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// closed keeps flight messages in flight, never two in one session, until total have been answered. It begins with session 0 and
// takes them in turn.
func (l *load) closed(ctx context.Context, flight, total int) error {
	return each(ctx, flight, func(ctx context.Context, slot int) error {
		wake := make(chan int, 1)
		session := slot
		for n := slot; n < total; n += flight {
			l.post(session, wake)
			if err := wait(ctx, wake); err != nil {
				return err
			}
			if session += flight; session >= l.sessions {
				session = slot
			}
		}
		return nil
	})
}

// crowd keeps flight messages in flight in each of the given sessions until each has had its share of total.
func (l *load) crowd(ctx context.Context, sessions, flight, total int) error {
	return each(ctx, sessions, func(ctx context.Context, session int) error {
		wake := make(chan int, flight)
		for n := range total / sessions {
			if n >= flight {
				if err := wait(ctx, wake); err != nil {
					return err
				}
			}
			l.post(session, wake)
		}
		for range min(flight, total/sessions) {
			if err := wait(ctx, wake); err != nil {
				return err
			}
		}
		return nil
	})
}

// steady posts a message each interval, whatever becomes of them, and then waits for all answers.
func (l *load) steady(ctx context.Context, every time.Duration, total int) error {
	wake := make(chan int, total)
	next := time.Now()
	for n := range total {
		next = next.Add(every) // by the plan and not by the last post: a late one does not slow the rate
		pause(ctx, time.Until(next))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		l.post(n%l.sessions, wake)
	}
	for range total {
		if err := wait(ctx, wake); err != nil {
			return err
		}
	}
	return nil
}

// verdict judges all sessions by what stands on the platform.
func (l *load) verdict() (all faults) {
	l.board.mu.Lock()
	posted := map[int][]int{}
	for n, m := range l.board.msgs {
		posted[m.session] = append(posted[m.session], n)
	}
	l.board.mu.Unlock()
	l.platform.Look(func(v platform.View) {
		for session, ns := range posted {
			var answers []string
			channel, thread := place(session)
			for _, m := range v.Messages(channel, thread) {
				if m.ByApp {
					answers = append(answers, m.Text)
				}
			}
			all.add(judge(ns, answers))
		}
	})
	return all
}
