package testbot

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"herald/bots/bottest/wire"
)

// acks writes acknowledgements to the stream. What comes while a write is under way goes out together with the next.
type acks struct {
	w    io.Writer
	turn sync.Mutex // held by who writes

	mu   sync.Mutex
	next *batch
}

// batch is written at once, by who came first.
type batch struct {
	lines []byte
	done  chan struct{}
	err   error
}

func newAcks(w io.Writer) *acks { return &acks{w: w, next: &batch{done: make(chan struct{})}} }

// write returns when the acknowledgement of the event is on the socket.
func (a *acks) write(eventID string) error {
	line, err := json.Marshal(wire.Ack{Ack: eventID})
	if err != nil {
		return fmt.Errorf("write the acknowledgement of event %q: %w", eventID, err)
	}
	a.mu.Lock()
	b := a.next
	first := len(b.lines) == 0
	b.lines = append(append(b.lines, line...), '\n')
	a.mu.Unlock()
	if !first {
		<-b.done
		return b.err
	}
	a.turn.Lock()
	a.mu.Lock()
	a.next = &batch{done: make(chan struct{})}
	a.mu.Unlock()
	_, b.err = a.w.Write(b.lines)
	a.turn.Unlock()
	close(b.done)
	return b.err
}
