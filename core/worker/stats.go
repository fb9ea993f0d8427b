package worker

// Stats is what a worker has done and does, for metrics.
type Stats struct {
	// Running is the number of handlers at work, Wanted that of members that wait to be claimed by name.
	Running, Wanted int
	// Requests counts claims asked for, Claimed members given.
	Requests, Claimed int64
	// Lost counts claims that were taken over or outlived their lease, Left those that a handler failed on, GivenBack those that were
	// released unfinished.
	Lost, Left, GivenBack int64
}

// Stats are the worker's counters.
func (w *Worker) Stats() Stats {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.stats
	s.Running, s.Wanted = w.running, len(w.queue.wanted)
	return s
}

func (w *Worker) count(f func(*Stats)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f(&w.stats)
}
