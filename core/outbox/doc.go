// Package outbox delivers what is to be said: it takes deliveries from the partitions of conversations in the order in which they were
// written, sends their pieces through an adapter, looks for what an earlier attempt may have left on the platform, and settles or buries
// them.
//
// [Plan] decides what to do next with one delivery, from the delivery alone; [Deliverer] performs plans under a claim, one conversation
// at a time; [Worker] claims conversations. An attempt is counted in the store before each send, so that whoever comes after a crash
// knows what may stand. [Pacer] keeps the paces that a platform demands, over all replicas.
//
// It must not know any platform: it asks for capabilities. Nor does it know why something is said, or what a turn is.
package outbox
