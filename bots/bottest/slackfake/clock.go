package slackfake

import (
	"container/heap"
	"fmt"
	"strconv"
	"time"
)

// job is something to be done at its time, with s.mu held.
type job struct {
	at  time.Time
	seq uint64
	do  func()
}

// agenda is the jobs, the next one first.
type agenda []*job

func (a agenda) Len() int { return len(a) }

func (a agenda) Less(i, j int) bool {
	if a[i].at.Equal(a[j].at) {
		return a[i].seq < a[j].seq
	}
	return a[i].at.Before(a[j].at)
}

func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }

// Push and Pop serve container/heap.
func (a *agenda) Push(x any) { *a = append(*a, x.(*job)) }

// Pop removes the last job.
func (a *agenda) Pop() any {
	old := *a
	j := old[len(old)-1]
	old[len(old)-1] = nil
	*a = old[:len(old)-1]
	return j
}

// now is the server's time. s.mu is held.
func (s *Server) now() time.Time { return time.Now().Add(s.skew) }

// Now is the server's time: the machine's, and what [Server.Advance] added.
func (s *Server) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now()
}

// Advance moves the server's clock forward: deadlines pass, streams and triggers expire, retries come due.
func (s *Server) Advance(d time.Duration) {
	s.mu.Lock()
	s.skew += max(d, 0)
	s.mu.Unlock()
	s.wake()
}

// after plans a job. s.mu is held.
func (s *Server) after(d time.Duration, do func()) {
	s.jobs++
	j := &job{at: s.now().Add(d), seq: s.jobs, do: do}
	heap.Push(&s.agenda, j)
	if s.agenda[0] == j {
		s.wake()
	}
}

func (s *Server) wake() {
	select {
	case s.rouse <- struct{}{}:
	default:
	}
}

// tick does what is due, until the server ends.
func (s *Server) tick() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		wait := time.Hour
		s.mu.Lock()
		for len(s.agenda) > 0 {
			if wait = s.agenda[0].at.Sub(s.now()); wait > 0 {
				break
			}
			heap.Pop(&s.agenda).(*job).do()
			wait = time.Hour
		}
		s.mu.Unlock()
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-s.rouse:
		case <-s.ctx.Done():
			return
		}
	}
}

// nextTS is a timestamp greater than all before, in Slack's form. s.mu is held.
func (s *Server) nextTS() string {
	s.micros = max(s.now().UnixMicro(), s.micros+1)
	return fmt.Sprintf("%d.%06d", s.micros/1e6, s.micros%1e6)
}

// nextID is a fresh id with a prefix, such as Ev… or F…. s.mu is held.
func (s *Server) nextID(prefix string) string {
	s.ids++
	n := strconv.FormatUint(s.ids, 36)
	b := []byte(prefix + "0000000000"[:max(0, 10-len(n))] + n)
	for i := len(prefix); i < len(b); i++ {
		if b[i] >= 'a' {
			b[i] -= 'a' - 'A'
		}
	}
	return string(b)
}
