// Package memory is the reference driver of the storage port: everything is kept in maps and lost with the process.
//
// It says in the plainest code what the other drivers must do, serves simulations and tests, and can be made hostile: [Faults] is
// asked at each call and can refuse it, lose its reply, apply it again, delay it or lose the whole store; [Store.Snapshot] and
// [Store.Restore] take the store back in time, as a failover to a replica that lagged does.
//
// It starts no goroutine. Hints are delivered inside the call that causes them, after the change stands.
//
// It must not know what the layers above keep, nor any other driver.
package memory
