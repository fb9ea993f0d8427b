package config

import "fmt"

// Source is where a value came from.
type Source struct {
	// Kind tells which of the other fields apply.
	Kind SourceKind
	// File, Line and Column are the place of the key for FromFile.
	File         string
	Line, Column int
	// Env is the variable for FromEnv.
	Env string
}

// SourceKind is one of the three places that a value can come from.
type SourceKind int

// The places, the later one winning over the earlier.
const (
	FromDefault SourceKind = iota
	FromFile
	FromEnv
)

// String returns "default", "FILE:LINE" or "env NAME".
func (s Source) String() string {
	switch s.Kind {
	case FromFile:
		return fmt.Sprintf("%s:%d", s.File, s.Line)
	case FromEnv:
		return "env " + s.Env
	default:
		return "default"
	}
}

// problem places a fault at the source.
func (s Source) problem(key string, f *fault) Problem {
	return Problem{
		File: s.File, Line: s.Line, Column: s.Column, Env: s.Env,
		Key: key, Text: f.text, Hint: f.hint,
	}
}
