// Package failpoint counts what a service does to its store, its platform, its model and its tools, by site, and ends the process at a
// chosen one: before the n-th call of a site begins, or after it was carried out and before its caller learns of it.
//
// A site of a commit is what stands in front of the first '/' of its id ("turn.answer"); other calls are sites by what they are ("send",
// "model", "tool:effect"). The wrappers change nothing else: what goes in and comes out is the wrapped thing's.
//
// The package must not know scenarios, stores or platforms; it is for programs and tests that kill a service, never for the service itself.
package failpoint
