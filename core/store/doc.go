// Package store is the storage port of Herald: what a store keeps and what it promises, and nothing about how.
//
// # What is kept
//
// A partition is what is written together. It holds documents (small JSON values in named collections), logs
// (append-only entries with a sequence and the store's time) and indexes (member to score). Partitions are spread over
// a fixed number of buckets by a hash of their name. Each bucket also holds its own shard of every agenda, an index of
// its partitions by last write, and one of its dead letters. Nothing may be built on two partitions sharing a bucket.
//
// An agenda is a durable set of members, each with the time from which it may be claimed. A claim is a lease with a
// token. Who writes under a claim names it in the commit; a claim that was taken over is refused from that instant
// ([ErrFenced]), whatever its lease said.
//
// # What is promised
//
//   - A commit is all or nothing, in one partition and its members on the agendas, durable when it returns without an error.
//   - A commit that is repeated with the same ID answers as it did the first time and changes nothing.
//   - A commit that fails with [ErrUnavailable] may or may not have been applied; repeating it with the same ID is safe.
//   - Instants in logs and claims are the store's own; within a partition they never go back. Callers pass instants that
//     a store gave them, and durations, never their own clock. A store counts in whole milliseconds, and rounds durations up to them.
//   - A hint may be lost, doubled or late. Correctness never rests on one.
//
// The drivers are memory (the reference), sqlite (one process, one file) and redis (several replicas). They share one
// conformance suite, storetest. This package must not know any of them, nor what the typed layers above keep in it.
package store
