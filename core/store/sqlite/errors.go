package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	lib "modernc.org/sqlite/lib"

	"herald/core/store"
)

// trouble turns an error of SQLite or the file system into one of the port's, with what was tried and what to do.
func (s *Store) trouble(what string, err error) error {
	if err == nil || isPort(err) {
		return err
	}
	return troubleAt(s.o.Path, what, err)
}

// isPort reports whether err already is of the port: a refusal, or trouble that was translated before.
func isPort(err error) bool {
	for _, k := range []error{
		store.ErrFenced, store.ErrConflict, store.ErrInvalid, store.ErrTooLarge, store.ErrUnavailable, store.ErrChanged, store.ErrFull,
		store.ErrReadOnly, store.ErrClosed, store.ErrCorrupt, store.ErrMissing, store.ErrNewer, store.ErrInUse,
	} {
		if errors.Is(err, k) {
			return true
		}
	}
	return false
}

func troubleAt(path, what string, err error) error {
	remedy, kind := classify(path, err)
	return fmt.Errorf("%s in the SQLite store %s: %w: %w; %s", what, path, kind, err, remedy)
}

// classify tells the kind of trouble and what to do about it.
func classify(path string, err error) (remedy string, kind error) {
	const (
		room    = "make room on the disk or move the store"
		rights  = "give Herald's user the right to write the file and its folder"
		restore = "stop Herald, keep a copy of the file, and restore a backup"
		restart = "see the system's log; if it stays, restart Herald"
	)
	if e, ok := errors.AsType[*failure](err); ok {
		switch code := e.code; {
		case code == lib.SQLITE_READONLY_DBMOVED:
			return "put the file back and restart Herald", store.ErrChanged
		case code&0xff == lib.SQLITE_FULL, code&0xff == lib.SQLITE_IOERR && noRoom(path):
			return room, store.ErrFull
		case code&0xff == lib.SQLITE_READONLY, code&0xff == lib.SQLITE_PERM:
			return rights, store.ErrReadOnly
		case code&0xff == lib.SQLITE_CANTOPEN:
			return rights, store.ErrUnavailable
		case code&0xff == lib.SQLITE_CORRUPT, code&0xff == lib.SQLITE_NOTADB:
			return restore, store.ErrCorrupt
		case code&0xff == lib.SQLITE_TOOBIG:
			return "split the value", store.ErrTooLarge
		}
		return restart, store.ErrUnavailable
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return room, store.ErrFull
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return rights, store.ErrReadOnly
	}
	return restart, store.ErrUnavailable
}
