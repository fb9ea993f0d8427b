package alarm

import (
	"fmt"
	"maps"
	"time"
)

const (
	// Pause is the shortest time between two messages that tell of trouble of one kind.
	Pause = time.Hour
	// gone is how long a process that no longer says so counts as in trouble: it died, or its store was away.
	gone = 5 * time.Minute
)

// Trouble is something that an admin must know.
type Trouble struct {
	// Kind is one word; what is told of a kind is told at most once an hour. Text says to a person what is wrong and what to do, without a secret.
	Kind, Text string
}

// known is what stands of a kind.
type known struct {
	V    int    `json:"v"`
	Kind string `json:"kind"`
	// In names the processes that are in trouble, with the instant at which they last said so.
	In map[string]time.Time `json:"in,omitempty"`
	// Since is when it began, Text what was last told of it, Told when; Open: the admins know of it and not yet of its end.
	Since time.Time `json:"since,omitzero"`
	Text  string    `json:"text,omitempty"`
	Told  time.Time `json:"told,omitzero"`
	Open  bool      `json:"open,omitempty"`
	// Count numbers what was told.
	Count int `json:"count,omitempty"`
}

// decide is what becomes of k when the process holder sees trouble of its kind, or none (nil), at the instant now; say is what to tell, "" for nothing.
func decide(k known, holder string, t *Trouble, now time.Time) (next known, say string) {
	next = k
	next.In = maps.Clone(k.In)
	for h, at := range next.In {
		if now.Sub(at) > gone {
			delete(next.In, h)
		}
	}
	if t == nil {
		delete(next.In, holder)
	} else {
		if next.In == nil {
			next.In = map[string]time.Time{}
		}
		if len(next.In) == 0 && !k.Open {
			next.Since = now
		}
		next.In[holder] = now
	}
	switch may := now.Sub(k.Told) >= Pause; {
	case t != nil && may && (!k.Open || k.Text != t.Text):
		next.Open, next.Text, next.Told = true, t.Text, now
		next.Count++
		return next, fmt.Sprintf(textTrouble, t.Kind, t.Text)
	case len(next.In) == 0 && k.Open:
		next.Open = false
		next.Count++
		return next, fmt.Sprintf(textOver, k.Kind, span(now.Sub(k.Since)))
	}
	return next, ""
}

// span is how long something lasted, to the minute.
func span(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return "less than a minute"
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	default:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
}
