// Package platform is a chat platform for tests: channels, threads and messages behind real HTTP on loopback, which delivers events to an
// app, sends again what the app did not acknowledge, fails on demand, and remembers in order all that it was told.
//
// It is the witness of end-to-end tests: it runs in the test's own process, survives the death of the app (a child process that is
// given [Server.URL]) and says afterwards what a person would have seen. It must know nothing of the app but [wire]: neither adapters
// nor core.
package platform
