// Package intake takes inbound events in: it makes each one an entry in its conversation's partition, or decides that it
// makes none. It is the [chat.Receiver] that adapters hand their events to.
//
//	event → check → judge (pure) → one read: sender, and what the kind needs → one commit: dedupe key, entry, wake
//
// An event that makes an entry is acknowledged only after its commit. The dedupe key, the entry and the wake are one commit,
// whose id comes from the event: neither a lost reply nor a redelivery makes a second entry, and a redelivery wakes again what
// the first one woke. What cannot be run ends as a row among the dead letters or as a notice to its sender, never in silence.
//
// A message becomes an inbox entry, an edit or a deletion a control entry, stop and new a control entry with a new head; a click
// becomes the outcome of its wait. Commands that only read are answered here. Everything else is for the turn's holder.
//
// This package must not know platforms, agents or models, nor when a turn runs or a delivery is sent.
package intake
