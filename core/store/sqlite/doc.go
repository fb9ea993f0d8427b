// Package sqlite is the embedded driver of the storage port: one process, one file.
//
// # How it writes
//
// One goroutine owns the only writing connection. It takes the requests that wait, up to 64, into one transaction, so that they
// share one sync of the disk. Each request decides by reading before it writes, so one that is refused (a guard, a fence) leaves nothing to undo and
// does not touch its neighbours. When SQLite itself fails in a group, the group is rolled back and each of its requests runs alone.
//
// A small read goes to the same goroutine, before the transaction of the group that it came with: it sees what is committed, and finds the pages in
// the cache that the commits keep warm. One that turns out to be large is done on a reading connection instead, beside the commits.
//
// What only this process needs to know stays in memory: who holds which member and until when, paces, hints. The file has the due times, the
// attempts and that a member is held; opening it ends all claims, as crashes, so nothing else of a claim has to survive. A renewal costs no write.
//
// Checkpoints run in a goroutine of their own between commits, and only after something was written: an idle store does nothing at all.
//
// # What it refuses
//
// A second process (a lock file beside the database), a file of a newer format, a file that Herald did not write, and any work once the
// file has been moved, deleted or replaced while it was open.
//
// It must not know what the layers above keep, nor any other driver.
package sqlite
