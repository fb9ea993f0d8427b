// Package redistest starts real Redis servers for tests and benchmarks: one alone, or a cluster of three, each on free ports of the
// loopback with its files in a folder of its own. They can be killed, frozen, emptied and started again, and a proxy in front of
// them can delay and lose what passes.
//
// Run and RunCluster are for tests; Start, StartCluster and NewProxy need no test. The package must not know the driver.
package redistest
