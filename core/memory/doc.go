// Package memory keeps notes: those of a person, and those that a channel shares over its threads.
//
// A note is a document in the partition of whom it belongs to. The package must not know who asks or which tool writes; whoever
// calls it has checked that the place may be read and written.
package memory
