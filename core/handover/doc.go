// Package handover carries what one partition owes another: the result of a task, a message for another conversation, the other half of
// an edge between two people.
//
// The commit that causes a debt writes it as an entry of its own partition. A worker gives it to the taker of its kind, which commits it to
// the target by a change that can happen only once, and then removes the entry. A crash between the two makes it be offered again, and the
// taker finds that it has it. What can never be taken ends in the dead letters.
//
// It must not know what is owed: a kind is a name, its data the taker's.
package handover
