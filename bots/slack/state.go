package slack

import (
	"errors"
	"sync"
)

// errConnecting and errStopped say why a sound adapter hears nothing.
var (
	errConnecting = errors.New("no connection to Slack stands yet")
	errStopped    = errors.New("the connection to Slack was closed")
)

// state is what readiness says of the way in.
type state struct {
	mu    sync.Mutex
	known bool
	err   error
}

func (s *state) set(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known, s.err = true, err
}

func (s *state) get() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.known {
		return errConnecting
	}
	return s.err
}
