package cli

import (
	"errors"
	"fmt"
	"strings"

	"herald/config"
	"herald/core/model"
	"herald/core/store"
)

// Code is the exit code of the program.
type Code int

// The exit codes. They are part of the interface: scripts rely on them.
const (
	Done     Code = 0
	Failed   Code = 1
	Usage    Code = 2
	Config   Code = 3
	Store    Code = 4
	NoModel  Code = 5
	codeEnds Code = 6
)

// meanings says each code in words, for --help.
var meanings = [codeEnds]string{"done", "failed", "wrong usage", "wrong configuration", "the store cannot be used", "no model, or refused by one"}

// exitHelp lists the codes.
func exitHelp() string {
	var b strings.Builder
	b.WriteString("Exit codes:\n")
	for c, m := range meanings {
		fmt.Fprintf(&b, "  %d  %s\n", c, m)
	}
	return b.String()
}

// usageError is a mistake on the command line.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// codeError is an error whose code is known where it was made.
type codeError struct {
	code Code
	err  error
}

func (e codeError) Error() string { return e.err.Error() }
func (e codeError) Unwrap() error { return e.err }

// quietError ends the program with a code when all was said already.
type quietError struct{ code Code }

func (e quietError) Error() string { return meanings[e.code] }

// storeKinds are the errors of a store that an operator must mend.
var storeKinds = []error{
	store.ErrUnavailable, store.ErrChanged, store.ErrMissing, store.ErrNewer, store.ErrInUse, store.ErrFull, store.ErrReadOnly, store.ErrCorrupt,
}

// codeOf is the exit code that err becomes.
func codeOf(err error) Code {
	if err == nil {
		return Done
	}
	if e, ok := errors.AsType[quietError](err); ok {
		return e.code
	}
	if e, ok := errors.AsType[codeError](err); ok {
		return e.code
	}
	if _, ok := errors.AsType[usageError](err); ok {
		return Usage
	}
	if _, ok := errors.AsType[config.Problems](err); ok {
		return Config
	}
	if _, ok := errors.AsType[*model.Error](err); ok {
		return NoModel
	}
	for _, k := range storeKinds {
		if errors.Is(err, k) {
			return Store
		}
	}
	return Failed
}
