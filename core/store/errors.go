package store

import (
	"errors"
	"fmt"
)

// The kinds of failure that every driver tells apart. Drivers wrap them with what was tried and what to do.
var (
	// ErrFenced: the claim was taken over or released; whoever gets it must stop working on the member.
	ErrFenced = errors.New("the claim is no longer held")
	// ErrConflict: a guard did not hold; see [ConflictError].
	ErrConflict = errors.New("a guard of the commit does not hold")
	// ErrUnavailable: the store could not be reached, was loading, or its answer was lost. What was asked may have been done.
	ErrUnavailable = errors.New("the store is not available")
	// ErrChanged: the store is not the one that was opened: its mark is missing or another's. Nothing was written.
	ErrChanged = errors.New("the store is not the one that was opened")
	// ErrMissing: there is no Herald store at this place and the caller did not ask to make one.
	ErrMissing = errors.New("there is no Herald store here")
	// ErrNewer: the store was written by a newer version of Herald.
	ErrNewer = errors.New("the store was written by a newer version of Herald")
	// ErrInUse: another process has the embedded store open.
	ErrInUse = errors.New("another process uses the store")
	// ErrFull: no room (disk or memory); nothing was written.
	ErrFull = errors.New("the store has no room")
	// ErrReadOnly: the store takes no writes; nothing was written.
	ErrReadOnly = errors.New("the store is read-only")
	// ErrTooLarge: a value is larger than [MaxValue], or the commit has more than [MaxOps] operations.
	ErrTooLarge = errors.New("a value is too large for the store")
	// ErrInvalid: the request is malformed (a bad name, a member of another partition); it is a defect of the caller.
	ErrInvalid = errors.New("the request to the store is not valid")
	// ErrCorrupt: what stands in the store cannot be what Herald wrote (a wrong type under a key, a damaged file).
	ErrCorrupt = errors.New("the store holds something that Herald did not write")
	// ErrClosed: the handle was closed.
	ErrClosed = errors.New("the store is closed")
)

// ConflictError says which guard did not hold. errors.Is(err, ErrConflict) is true for it.
type ConflictError struct {
	// Guard is the index of the first guard that did not hold.
	Guard int
	// Version is the version that the document has (0: absent), for [At].
	Version int64
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("guard %d of the commit does not hold (version %d stands)", e.Guard, e.Version)
}

// Is reports whether target is ErrConflict.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// Outage reports whether err speaks of the store's state and not of the request: the same request may succeed later.
func Outage(err error) bool {
	for _, k := range []error{ErrUnavailable, ErrChanged, ErrFull, ErrReadOnly, ErrClosed} {
		if errors.Is(err, k) {
			return true
		}
	}
	return false
}
