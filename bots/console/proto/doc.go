// Package proto is what the console adapter and the terminal say to each other over the local socket: JSON over HTTP.
//
// A place is one conversation of the console; its records are numbered from 1. A stream is one [Record] a line: first what stands after
// the cursor, then a record of kind [Ready], then what happens. It must not know how either side does its work.
package proto
