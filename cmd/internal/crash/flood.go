package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
	"time"

	"herald/bots/bottest/platform"
	"herald/core/store/redis/redistest"
)

// The sizes of a flood.
const (
	floodOthers = 50  // conversations beside it, each with one message
	floodRoom   = 100 // messages that may wait
)

// floodReport is what came of a flood.
type floodReport struct {
	said, answered, refused, aside int
	// longest is the longest wait for an answer in another conversation.
	longest time.Duration
	// memory is the most that the service held, in bytes.
	memory int64
	bad    []string
}

func (r *floodReport) String() string {
	return fmt.Sprintf("%d said, %d answered, %d refused with a reply, %d set aside; the longest wait in another conversation was %v; the service held at most %d MB",
		r.said, r.answered, r.refused, r.aside, r.longest.Round(time.Millisecond), r.memory>>20)
}

// flood says n messages in one conversation while a slow turn is under way there, with others beside it, and counts what became of each.
func flood(ctx context.Context, n int) (r *floodReport, err error) {
	limit := loadTime + time.Duration(n/50)*time.Second
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the flood took more than %v", limit))
	defer cancel()
	dir, err := os.MkdirTemp("", "crash")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	server, err := redistest.Start(ctx, redistest.Options{AOF: "everysec"})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	s, err := open(ctx, dir, byLookBack, server.URL(), loadTimeout)
	if err != nil {
		return nil, err
	}
	defer s.close()
	s.birth.Inbox = floodRoom
	if err := s.start(nil, false); err != nil {
		return nil, err
	}
	s.say("flood", "first", toolSlow)
	if err := s.asks(ctx, 1); err != nil {
		return nil, err
	}
	for i := range n {
		s.expect("flood", fmt.Sprintf("x%d", i), verbPlain, 0, 1)
		if i%max(n/floodOthers, 1) == 0 {
			s.say(fmt.Sprintf("t%d", i), fmt.Sprintf("o%d", i), verbPlain)
		}
	}
	r = &floodReport{said: n + 1}
	bad := s.rest(ctx)
	if r.memory, err = peak(s.now().cmd.Process.Pid); err != nil {
		return nil, err
	}
	odd, _ := s.stop(ctx)
	for _, l := range append(bad, odd...) {
		if strings.HasPrefix(l, deadLetter) && strings.Contains(l, "inbox_full") {
			r.aside++
			continue
		}
		r.bad = append(r.bad, l)
	}
	r.judge(s)
	return r, nil
}

// judge counts what the platform shows.
func (r *floodReport) judge(s *scene) {
	answered := map[string]bool{}
	for _, m := range s.plat.Messages(channel, "flood") {
		for _, x := range tokens.FindAllString(m.Text, -1) {
			if m.ByApp && answered[x] {
				r.bad = append(r.bad, x+" was answered twice")
			}
			answered[x] = answered[x] || m.ByApp
		}
	}
	maps.DeleteFunc(answered, func(_ string, yes bool) bool { return !yes })
	r.answered, r.refused = len(answered), s.count("flood", notTaken)
	if sum := r.answered + r.refused + r.aside; sum != r.said || r.refused == 0 {
		r.bad = append(r.bad, fmt.Sprintf("what became of %d of %d messages is not known", r.said-sum, r.said))
	}
	s.plat.Look(func(v platform.View) {
		said := map[string]time.Time{}
		for _, rec := range v.Journal() {
			switch {
			case rec.Thread == "flood":
			case rec.Kind == platform.Posted:
				said[rec.Thread] = rec.At
			case rec.Kind == platform.Sent:
				r.longest = max(r.longest, rec.At.Sub(said[rec.Thread]))
			}
		}
	})
}

// peak is the most memory that a process has held, in bytes; 0 where the system does not tell.
func peak(pid int) (int64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(data) {
		if rest, ok := bytes.CutPrefix(line, []byte("VmHWM:")); ok {
			kb, err := strconv.ParseInt(strings.Fields(string(rest))[0], 10, 64)
			return kb << 10, err
		}
	}
	return 0, nil
}
