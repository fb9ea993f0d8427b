// Package console is the adapter of the terminal: conversations of one machine, reached over the service's local socket.
//
// What is said in a place stands in an append-only transcript that is synced before anybody hears of it: a post has its receipt, and a
// line its id, from there, so that both survive a crash and neither is doubled. States of a live message on the way are shown and not kept.
//
// It must not know how a terminal shows anything (package terminal does), nor core beyond [chat].
package console
