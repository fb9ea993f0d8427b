package worker

import "time"

// remind is how often a request that keeps failing is told of again.
const remind = time.Minute

// outage is a kind of request that fails at present. It is told of once, with a count each minute, and once more when it works again: what
// else goes on is not to be found among a thousand equal lines. One goroutine uses it.
type outage struct {
	what        string
	failures    int
	since, told time.Time
}

// failed notes a failure.
func (w *Worker) failed(o *outage, err error) {
	now := time.Now()
	o.failures++
	switch {
	case o.failures == 1:
		o.since, o.told = now, now
		w.o.Log.Warn(o.what+" failed; it will be tried again until it works", "agenda", w.o.Agenda, "error", err)
	case now.Sub(o.told) >= remind:
		o.told = now
		w.o.Log.Warn(o.what+" still fails", "agenda", w.o.Agenda, "failures", o.failures, "for", now.Sub(o.since).Round(time.Second), "error", err)
	}
}

// worked notes a success.
func (w *Worker) worked(o *outage) {
	if o.failures > 0 {
		w.o.Log.Info(o.what+" works again", "agenda", w.o.Agenda, "failures", o.failures, "after", time.Since(o.since).Round(time.Millisecond))
		o.failures = 0
	}
}
