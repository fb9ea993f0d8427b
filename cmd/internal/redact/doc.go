// Package redact keeps secrets out of everything that is written or shown: a set of known secrets that takes them out of texts, whole or in
// the pieces of a stream, and a handler of log/slog that does so for every record.
//
// It is the last net. Whoever holds a secret must not log it in the first place. The package must not know where secrets come from.
package redact
