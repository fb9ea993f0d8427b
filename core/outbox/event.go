package outbox

import (
	"herald/core/conversation"
	"herald/core/store"
)

// EventKind is what happened to a delivery.
type EventKind string

// The events, for metrics and for telling an operator.
const (
	EventSent     EventKind = "sent"     // a piece was sent and has its receipt
	EventEdited   EventKind = "edited"   // a piece was edited to its final text
	EventFound    EventKind = "found"    // an earlier attempt was found
	EventNotFound EventKind = "missing"  // it was looked for and does not stand
	EventDouble   EventKind = "double"   // sent again although an earlier attempt may stand
	EventRefused  EventKind = "refused"  // the platform refused a call, or the adapter panicked
	EventOutage   EventKind = "outage"   // the platform could not be used
	EventDead     EventKind = "dead"     // the platform cannot be used before an operator has done something
	EventReplaced EventKind = "replaced" // an old answer became one line
	EventSettled  EventKind = "settled"  // all of it stands
	EventBuried   EventKind = "buried"
)

// Event tells what happened, by ids and codes only.
type Event struct {
	Kind      EventKind
	Partition store.Partition
	Delivery  string
	Of        conversation.DeliveryKind
	Piece     int
	// Code and Detail are the platform's words, or the [Reason] of a burial.
	Code, Detail string
}
