// Package session is the pure heart: a session is its log of events. [Fold] gives the state, [History] what a model must
// see, [Next] the things to do now. It does no I/O and knows no clock; ids and times come in with the events.
//
//	           ┌────────────── fold ◄──────────── commit ◄─────────┐
//	           ▼                                                   │
//	log → State + History → Next → decisions → (performed outside) → events
//
// Starting a turn, going on after a crash, after an approval, after a restart or on another replica are the same loop. What has
// begun in the present process is passed to Next, which does not give it again; what had begun in a process that is gone is
// settled first by [Recover].
//
// The state is small and stands materialised in the store beside the log, written in the same commit; the history is
// rebuilt from the log since the last summary.
//
// This package must not know stores, platforms, tools' code or how a model is called; it borrows the message types of the
// model port as vocabulary.
package session
