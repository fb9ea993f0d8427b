// Package testbot is the adapter for the test platform of package platform, over real sockets.
//
// It is an adapter like those of real platforms: it turns events into [chat.Inbound], acknowledges an event only when the receiver has
// it, keeps the order within a conversation and lets no conversation wait for another. It must not know core beyond [chat] nor look into
// the platform's server: it speaks [wire] alone.
package testbot
