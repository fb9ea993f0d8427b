// Package project makes a channel or a thread a project: it gives the conversation a run context with a working folder of its own, a
// description, grants on the files in it, and the agent that coordinates.
//
// Documents of the conversation's partition: session/project, and the run context that package policy reads. Both are one commit with the row
// in the audit log and the id of the command that asked for it.
//
// The package must not know where working folders stand on a disk, nor what the agent does.
package project
