// Package replica knows which processes share a store and which formats they understand, so that a release can write the format of
// the one before until every live process knows the new one.
//
// Each process keeps one member in an index of the system's partition, scored by the store's time. The package must not know what a
// format means.
package replica
