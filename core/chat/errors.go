package chat

import (
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Refused: the platform refuses this post; sending it again as it is will not help (not in channel, archived, malformed).
type Refused struct {
	// Code is the platform's own word ("not_in_channel", "50007").
	Code string
	// Reason says it to a person, with the remedy.
	Reason string
	// Gone: the message to be edited no longer stands.
	Gone bool
}

func (e *Refused) Error() string {
	return fmt.Sprintf("the platform refused (%s): %s", e.Code, e.Reason)
}

// Outage: the platform cannot be used now, which says nothing about the post.
type Outage struct {
	Reason string
	// RetryAfter is the platform's demand; 0 when it made none. Whole: the demand holds for the whole workspace and method and not for the channel alone.
	RetryAfter time.Duration
	Whole      bool
	// NotSent: it is certain that the post does not stand (429, connection refused, the token is dead). Otherwise the outcome is unknown.
	NotSent bool
	// Dead: it will not get better without an operator (a revoked token).
	Dead bool
	Err  error
}

func (e *Outage) Error() string { return "the platform is not available: " + e.Reason }

// Unwrap is the cause.
func (e *Outage) Unwrap() error { return e.Err }

// ErrMalformed is a [Receiver]'s error for an event that is none: it will not do however often it is sent.
var ErrMalformed = errors.New("the event is malformed")

// Invalid is a [Receiver]'s error for what a person typed into a form and that will not do: Text says to them what is wrong. They may type again.
type Invalid struct{ Text string }

func (e *Invalid) Error() string { return "what was typed will not do: " + e.Text }

// Nonce is a short name of a piece of a delivery: 25 bytes of [A-Z2-7], as Discord's limit wants, the same for the same piece.
func Nonce(deliveryID string, piece int) string {
	h := sha256.Sum256([]byte(deliveryID + "#" + strconv.Itoa(piece)))
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(h[:])[:25]
}
