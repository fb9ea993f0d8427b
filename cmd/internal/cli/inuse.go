package cli

import (
	"errors"
	"time"

	"herald/bots/console"
	"herald/cmd/internal/control"
	"herald/config"
	"herald/core/store"
)

// inUseWait is how long a command waits for a store that another process has open and that no service answers for: a service
// that starts has its store a moment before its socket, and a command like doctor has it for a moment only.
const (
	inUseWait  = 3 * time.Second
	inUseAgain = 25 * time.Millisecond
)

// inUse reports whether err says that another process of this machine holds what the command needs.
func inUse(err error) bool {
	return errors.Is(err, store.ErrInUse) || errors.Is(err, console.ErrInUse)
}

// whileInUse calls open, again while another process holds what it needs. running says that a service answers by now: what it
// holds is to be asked of it.
func (e *env) whileInUse(cfg *config.Config, open func() error) (running bool, err error) {
	client := control.NewClient(cfg.Socket)
	defer client.Close()
	end := time.After(inUseWait)
	again := time.NewTicker(inUseAgain)
	defer again.Stop()
	for {
		if err = open(); !inUse(err) {
			return false, err
		}
		if conn, dialed := client.Dial(e.ctx); dialed == nil {
			_ = conn.Close()
			return true, err
		}
		select {
		case <-again.C:
		case <-end:
			return false, err
		case <-e.ctx.Done():
			return false, err
		}
	}
}
