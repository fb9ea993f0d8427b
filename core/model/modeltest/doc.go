// Package modeltest has models for tests, benches and the demo: Scripted answers in the process, Server speaks the
// OpenAI-compatible wire protocol over HTTP, well or badly as its rules say. Both are strict about what they are shown:
// a history that a strict provider would refuse is refused here too, and counted.
//
// It must not know sessions, turns or stores; a rule sees a request and gives a reply. Production code other than the demo
// does not import it.
package modeltest
