// Package model is the port to language models: what is asked of a model and what comes back, as a stream, and the
// choice among several: selection, health, retry and fallback.
//
// It must not know any provider's wire format (that is the job of the drivers, such as openai), nor sessions, agents or
// platforms. Its message types are the vocabulary in which a session says what a model must see.
package model
