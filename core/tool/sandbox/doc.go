// Package sandbox runs programs that nobody has read: scripts of skills, commands of an author's tools, commands that a model writes.
//
// A program runs in bubblewrap (bwrap) without a shell, a network, an environment or a file of this machine but the system's programs
// and what a [Command] names, below limits of time, memory, processes and output; when it ends, everything that it started ends with it.
// Where bwrap is missing or may not work, nothing runs, unless the operator has said that programs may run without it.
//
// The package must not know tools, skills, agents or who asks: it is told what to run and answers what came out.
package sandbox
