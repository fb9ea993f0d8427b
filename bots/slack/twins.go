package slack

import (
	"sync"
	"time"

	"herald/core/chat"
)

// Slack tells of one mention by two events at once, app_mention and message. Intake sees by the store that they are one; where both come to
// the same replica, the second is acknowledged without asking it.
const (
	// twinAge is how long the second is waited for: they come within milliseconds, while what Slack sends again, and intake shall see, comes later.
	twinAge = 2 * time.Second
	// maxTwins bounds what is remembered.
	maxTwins = 4096
)

type twinKey struct {
	where   chat.Conversation
	message string
}

type twin struct {
	event string
	at    time.Time
}

// twins are the messages whose first event was kept just now.
type twins struct {
	mu   sync.Mutex
	kept map[twinKey]twin
}

// keep remembers that the event of r made a durable entry.
func (t *twins) keep(r *reading, now time.Time) {
	if r.event == "" || r.in.Kind != chat.Message {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.kept) >= maxTwins {
		for k, v := range t.kept {
			if now.Sub(v.at) >= twinAge {
				delete(t.kept, k)
			}
		}
	}
	if len(t.kept) >= maxTwins {
		return // the store tells them apart
	}
	if t.kept == nil {
		t.kept = map[twinKey]twin{}
	}
	t.kept[twinKey{r.in.Conversation, r.in.MessageID}] = twin{r.event, now}
}

// has reports whether the other event of the message of r was kept just now.
func (t *twins) has(r *reading, now time.Time) bool {
	if r.event == "" || r.in.Kind != chat.Message {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	k := twinKey{r.in.Conversation, r.in.MessageID}
	v, ok := t.kept[k]
	if !ok || v.event == r.event {
		return false
	}
	delete(t.kept, k) // there are two
	return now.Sub(v.at) < twinAge
}
