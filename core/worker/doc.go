// Package worker is the loop that all workers over an agenda share: claim what is due, hand each claim to a handler, renew the leases
// while handlers run, and stop in order.
//
// A handler ends its claim itself, in its last commit, so that the last change and the release are one write. The worker only keeps the
// claim alive, says when it is lost, and gives it back where a handler could not begin or go on. Hints make a claim at once; looking
// through the agenda now and then is the net below them. A member that nobody works on costs no goroutine and no timer.
//
// It must not know what the members of an agenda mean, nor write anything but releases.
package worker
