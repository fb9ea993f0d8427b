// Package builtin holds the tools that Herald brings: the clock and the notes.
//
// Tools here must not know how they are called: arguments and results are text, the gate has been asked, the clock is passed in.
package builtin
