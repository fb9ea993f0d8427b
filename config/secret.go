package config

import (
	"fmt"
	"io"
	"log/slog"
)

const (
	redacted = "[redacted]"
	notSet   = "[not set]"
)

// Secret holds a key, a token or a password. Whatever prints, logs or encodes
// it gets a placeholder; only Reveal gives the value. The zero Secret is not
// set.
//
// The value sits in a closure and not in a field, because printers that walk
// structures by reflection reach a field (even through a pointer, even
// unexported) but cannot look into a closure.
type Secret struct {
	reveal func() string
}

// NewSecret wraps value. An empty value gives a Secret that is not set.
func NewSecret(value string) Secret {
	if value == "" {
		return Secret{}
	}
	return Secret{reveal: func() string { return value }}
}

// Reveal returns the secret itself, or "" when it is not set. Call it only
// where the value goes onto the wire.
func (s Secret) Reveal() string {
	if s.reveal == nil {
		return ""
	}
	return s.reveal()
}

// IsSet reports whether there is a value.
func (s Secret) IsSet() bool { return s.reveal != nil }

// Equal reports whether both hold the same value.
func (s Secret) Equal(other Secret) bool { return s.Reveal() == other.Reveal() }

// String returns a placeholder, never the value.
func (s Secret) String() string {
	if s.IsSet() {
		return redacted
	}
	return notSet
}

// GoString returns a placeholder for the verb %#v.
func (s Secret) GoString() string { return s.String() }

// Format writes a placeholder whatever the verb: without it, verbs that do not
// apply to strings would print the inside of the structure.
func (s Secret) Format(f fmt.State, _ rune) {
	// A fmt.State that cannot be written to leaves nothing to be done here.
	_, _ = io.WriteString(f, s.String())
}

// LogValue returns a placeholder for structured logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalJSON encodes a placeholder.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + s.String() + `"`), nil }

// MarshalText encodes a placeholder.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
