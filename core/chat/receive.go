package chat

import "context"

// Outcome is what became of an inbound event.
type Outcome string

// The outcomes. All of them may be acknowledged to the platform.
const (
	Kept      Outcome = "kept"      // it made an entry, which is durable
	Duplicate Outcome = "duplicate" // its entry existed already; the work was woken again
	Ready     Outcome = "ready"     // the form behind a button may be shown; it makes no entry
	Ignored   Outcome = "ignored"   // it makes no entry: own, a bot, a mass mention alone, an unfurl …
)

// Receiver takes inbound events from adapters.
type Receiver interface {
	// Receive returns when in is durable or makes no entry. After an error the event must not be acknowledged: the platform
	// will send it again. An adapter hands on the events of one conversation in the order in which they came.
	Receive(ctx context.Context, in *Inbound) (Outcome, error)
}
