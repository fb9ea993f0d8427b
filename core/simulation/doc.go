// Package simulation plays the whole kernel (intake, engine, outbox, handover) over the memory store, one seed one
// interleaving: two processes that crash, freeze and come back, lost replies, redeliveries, late and reordered events, stops, edits,
// clicks, a clock that jumps over leases. After each seed it checks the promises from the outside only: what was sent in, and what
// the platform was told.
//
// Everything runs in one goroutine: each actor is a coroutine that gives up control at each call of a port, and the seed chooses who
// goes on. A failure prints its seed; the same seed plays the same story.
//
// The package holds tests only. It must not know how the packages under test do their work.
package simulation
