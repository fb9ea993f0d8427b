// Package redact keeps secrets out of logs: a handler of log/slog that replaces every secret that it was told of by a
// placeholder, wherever it stands in a message, in a value or in what a value prints.
//
// It is the last net. Whoever holds a secret must not log it in the first place.
package redact
