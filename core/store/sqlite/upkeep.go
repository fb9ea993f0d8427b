package sqlite

import "time"

const (
	// checkpointAfter is how long after a write the log is folded into the file: often enough that it stays small, rarely
	// enough that its syncs are few beside those of the commits.
	checkpointAfter = time.Second
	// logFrames is the length of the log (4 kB a frame) from which the writer itself folds it, between two groups. A log that is written
	// without a pause would else never begin anew.
	logFrames = 16384
)

// passive folds what it can without waiting for anybody.
const passive = "PRAGMA wal_checkpoint(PASSIVE)"

// upkeep folds the log into the file, on a connection of its own and outside of commits. Without writes it does nothing.
type upkeep struct {
	s     *Store
	c     *conn
	dirty chan struct{}
	stop  chan struct{}
	done  chan struct{}
}

func newUpkeep(s *Store, c *conn) *upkeep {
	return &upkeep{s: s, c: c, dirty: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
}

// wrote says that there is something to fold; it never waits.
func (u *upkeep) wrote() {
	select {
	case u.dirty <- struct{}{}:
	default:
	}
}

func (u *upkeep) loop() {
	defer close(u.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	for {
		select {
		case <-u.dirty:
		case <-u.stop:
			return
		}
		timer.Reset(checkpointAfter)
		select {
		case <-timer.C:
		case <-u.stop:
			return
		}
		u.checkpoint()
	}
}

func (u *upkeep) checkpoint() {
	frames := int64(0)
	err := u.c.query(passive, func(r row) error { frames = r.int(1); return nil })
	if err == nil && frames >= logFrames {
		u.s.w.fold.Store(true)
	}
	if err != nil {
		u.failed("checkpoint", err)
	}
}

// failed logs what went wrong: commits go on, and the next round tries again.
func (u *upkeep) failed(what string, err error) {
	u.s.o.Logger.Error("store upkeep failed", "path", u.s.o.Path, "error", u.s.trouble(what, err))
}

// close ends the loop and waits for it.
func (u *upkeep) close() error {
	close(u.stop)
	<-u.done
	return u.c.close()
}
