package outbox

import (
	"time"

	"herald/core/conversation"
)

// Rules are the settings of deliveries. The zero value of a field stands for its default.
type Rules struct {
	// StaleAfter is the age from which an answer that nobody has seen is replaced by one line; 15 min. Negative: never.
	StaleAfter time.Duration
	// MaxAge is the age from which a delivery is given up; 24 h. An outage may last that long.
	MaxAge time.Duration
	// MaxAttempts is how often a platform may refuse a delivery, and how many claims in a row may end in a crash, before it is buried; 5.
	MaxAttempts int
	// RefusedPause is the pause after the first refusal, doubled after each further one; 2 s.
	RefusedPause time.Duration
	// MinPause and MaxPause bound the pause in an outage, which grows with the delivery's age; 500 ms and 1 min.
	MinPause, MaxPause time.Duration
	// DeadPause is the longest pause while the platform says that only an operator can help; 5 min. It begins with 5 s and doubles, so that
	// a token which is refused once, or mended soon, costs seconds.
	DeadPause time.Duration
	// HoldFor is how long a claim is held while its delivery waits for a place in the pace; 5 s. For longer waits the claim is released
	// and the place noted.
	HoldFor time.Duration
	// SendTimeout is how long a call may take where the adapter says nothing; 10 s.
	SendTimeout time.Duration
}

// withDefaults fills what is not set.
func (r Rules) withDefaults() Rules {
	set := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	set(&r.StaleAfter, 15*time.Minute)
	set(&r.MaxAge, 24*time.Hour)
	set(&r.RefusedPause, 2*time.Second)
	set(&r.MinPause, 500*time.Millisecond)
	set(&r.MaxPause, time.Minute)
	set(&r.DeadPause, 5*time.Minute)
	set(&r.HoldFor, 5*time.Second)
	set(&r.SendTimeout, 10*time.Second)
	if r.MaxAttempts == 0 {
		r.MaxAttempts = 5
	}
	return r
}

// outagePause is how long to wait in an outage: a quarter of the delivery's age, so that the pause grows without a count of what must not
// be counted. spread is in [0, 1) and moves the pause by up to a quarter either way.
func (r Rules) outagePause(age time.Duration, spread float64) time.Duration {
	d := min(max(age/4, r.MinPause), r.MaxPause)
	return d - d/4 + time.Duration(spread*float64(d/2))
}

// deadPauseMin is the first pause while only an operator can help.
const deadPauseMin = 5 * time.Second

// deadPause is how long to wait while only an operator can help, twice as long each time.
func (r Rules) deadPause(age time.Duration) time.Duration {
	return min(max(age, deadPauseMin), r.DeadPause)
}

// refusedPause is how long to wait after the n-th refusal.
func (r Rules) refusedPause(n int, spread float64) time.Duration {
	d := r.RefusedPause << min(max(n-1, 0), 10)
	return d - d/4 + time.Duration(spread*float64(d/2))
}

// Any is the patience that takes any place.
const Any = time.Duration(-1)

// ripe is the age from which a delivery of any kind takes any place: nothing waits for ever behind more urgent things.
const ripe = time.Minute

// patience is how far away a place in the pace a delivery may take. An answer takes any. Others leave the places of a long queue to the
// answers of the channel and try again later; progress takes only what is free at once.
func patience(k conversation.DeliveryKind, age time.Duration) time.Duration {
	switch {
	case k == conversation.Answer || age > ripe:
		return Any
	case k == conversation.Ask:
		return 10 * time.Second
	case k == conversation.Notice:
		return 4 * time.Second
	default:
		return 0
	}
}

// rank orders kinds, the most urgent first.
func rank(k conversation.DeliveryKind) int {
	switch k {
	case conversation.Answer:
		return 0
	case conversation.Ask:
		return 1
	case conversation.Notice:
		return 2
	default:
		return 3
	}
}
