// Package memory keeps notes: those of a person, those that a channel shares over its threads, and those of a whole workspace.
//
// To its readers a store of notes is a folder of Markdown files; see [Room.Open] for who reaches which:
//
//	user-memory/…     a person's own, in that person's direct conversation alone
//	channel-memory/…  those of the channel
//	shared-memory/…   those of all members of the workspace
//
//	index.md          one line for each note: linking is by this file alone
//	log.md            one line for each change, only ever appended to
//	user.md           what to know of the person first, up to [MaxUserLines] lines
//
// A note, its line of the index and the line of the log are one commit, so that a save is never half done, and each change names the
// version that it saw. Documents of the partition:
//
//	note/<name>       a note
//	memory/index.md   the index
//	log "notes"       the log; every change of a note appends to it, which is also how a search knows that it has read everything
//
// The package must not know which tool reads or writes, nor what an agent is. What a note says is data.
package memory
