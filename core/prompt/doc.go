// Package prompt lays out what a model is asked: from stable to volatile, byte for byte the same from turn to turn, so that a
// provider's prompt cache hits. First the agent's own text and the house rules, then the tools, the history, and at the very end
// what changes (the hour).
//
// It must not know stores, platforms or how a model is called.
package prompt
