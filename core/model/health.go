package model

import (
	"net/http"
	"time"
)

// State is the health of a model, as its calls show it. Nothing is ever sent to find out.
type State string

// The states.
const (
	Healthy  State = "healthy"
	Degraded State = "degraded" // failed some times in a row; still chosen as before
	Down     State = "down"     // failed so often in a row that others are chosen first
)

// Failures in a row that make a model Degraded and Down.
const (
	degradedAfter = 3
	downAfter     = 5
)

// The time after which a model that is Down is tried again, doubled with each trial that fails, up to the longest.
const (
	firstTrial   = 30 * time.Second
	longestTrial = 10 * time.Minute
)

// Health is what is known of a model's calls.
type Health struct {
	Model    string
	State    State
	Failures int // in a row
	// Last is the kind of the last failure, LastAt its time; kept after a success.
	Last   Kind
	LastAt time.Time
}

type health struct {
	failures int
	last     Kind
	lastAt   time.Time
	// trialAt is when a model that is Down may be tried again, interval what was waited for that.
	trialAt  time.Time
	interval time.Duration
}

func (h *health) state() State {
	switch {
	case h.failures >= downAfter:
		return Down
	case h.failures >= degradedAfter:
		return Degraded
	default:
		return Healthy
	}
}

func (h *health) succeed() { h.failures, h.interval = 0, 0 }

func (h *health) fail(k Kind, now time.Time) {
	h.failures++
	h.last, h.lastAt = k, now
	if h.state() == Down {
		h.interval = min(max(2*h.interval, firstTrial), longestTrial)
		h.trialAt = now.Add(h.interval)
	}
}

// try reports whether the model may be chosen in its place. A model that is Down may, by one call at a time, when its time has
// come.
func (h *health) try(now time.Time) bool {
	if h.state() != Down {
		return true
	}
	if now.Before(h.trialAt) {
		return false
	}
	h.trialAt = now.Add(h.interval) // the next one waits for this one's outcome, but not for ever
	return true
}

// speaksAgainst reports whether a failure says something about the model and not about the request.
func speaksAgainst(e *Error) bool {
	switch e.Kind {
	case Auth, RateLimit, Quota, Unavailable:
		return true
	case BadRequest:
		return e.Status == http.StatusNotFound // the provider does not know the model
	default:
		return false
	}
}
