// Package chat is the vocabulary between adapters and core: what came in ([Inbound]), what is to be said ([Post]) and
// what a platform can do ([Capabilities]).
//
// It holds data and the adapter's interface only. It must not know any platform: ids are opaque strings that only the
// adapter makes and parses, and what core wants to know about a platform it asks as a capability.
package chat
