// Package storetest is the conformance suite of the storage port: what every driver must do, however it does it.
//
// A driver's test describes itself with a [Harness] and calls [Run] for the semantics of every operation and error, and
// [RunModel] for random sequences of operations that must give what the memory driver gives.
//
// It must not know any driver but the reference.
package storetest
