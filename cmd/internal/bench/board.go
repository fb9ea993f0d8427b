package main

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"herald/bots/bottest/platform"
)

// board knows every message that was posted and when its answer stood on the platform.
type board struct {
	mu   sync.Mutex
	msgs []message
}

type message struct {
	session      int
	posted, done time.Time
	// wake is told the message's number at its first answer.
	wake chan<- int
}

// add makes room for a message of a session and gives its number.
func (b *board) add(session int, posted time.Time, wake chan<- int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.msgs = append(b.msgs, message{session: session, posted: posted, wake: wake})
	return len(b.msgs) - 1
}

// observe is the platform's hook: a send that was carried out answers the messages whose marks it holds.
func (b *board) observe(at platform.Stage, c platform.Call) {
	if at != platform.Applied || c.Op != platform.OpSend {
		return
	}
	b.answered(c.Text)
}

// answered notes that an answer stands.
func (b *board) answered(text string) {
	now := time.Now()
	for _, n := range marksIn(text) {
		b.mu.Lock()
		var wake chan<- int
		if n < len(b.msgs) && b.msgs[n].done.IsZero() {
			b.msgs[n].done = now
			wake = b.msgs[n].wake
		}
		b.mu.Unlock()
		if wake != nil {
			wake <- n // has room for all that its reader has in flight
		}
	}
}

// waits are the times from the event to its answer of the messages from number from on.
func (b *board) waits(from int) []time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []time.Duration
	for _, m := range b.msgs[from:] {
		if !m.done.IsZero() {
			out = append(out, m.done.Sub(m.posted))
		}
	}
	return out
}

// mark is what makes message n known again in its answer.
func mark(n int) string { return "#" + strconv.Itoa(n) + "#" }

func markText(ns []int) string {
	var sb strings.Builder
	for _, n := range ns {
		sb.WriteString(mark(n))
	}
	return sb.String()
}

// marksIn are the numbers of all marks in text, in order.
func marksIn(text string) []int {
	var out []int
	for {
		_, rest, ok := strings.Cut(text, "#")
		if !ok {
			return out
		}
		digits, after, ok := strings.Cut(rest, "#")
		if !ok {
			return out
		}
		n, err := strconv.Atoi(digits)
		if err != nil || n < 0 {
			text = rest // that was no mark: its end may begin one
			continue
		}
		out = append(out, n)
		text = after
	}
}

// faults are what must all be nought.
type faults struct {
	Messages, Lost, Doubled, Reordered int
}

// judge looks at a session's answers in the order in which they stand on the platform: each message must be named once, and in
// the order in which they were posted.
func judge(posted []int, answers []string) faults {
	f := faults{Messages: len(posted)}
	seen := map[int]int{}
	last := -1
	for _, text := range answers {
		for _, n := range marksIn(text) {
			seen[n]++
			if seen[n] > 1 {
				f.Doubled++
				continue
			}
			if n < last {
				f.Reordered++
			}
			last = max(last, n)
		}
	}
	for _, n := range posted {
		if seen[n] == 0 {
			f.Lost++
		}
	}
	return f
}

func (f *faults) add(o faults) {
	f.Messages += o.Messages
	f.Lost += o.Lost
	f.Doubled += o.Doubled
	f.Reordered += o.Reordered
}
