package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"modernc.org/sqlite"
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
	kind, remedy := classify(path, err)
	return fmt.Errorf("%s in the SQLite store %s: %w: %w; %s", what, path, kind, err, remedy)
}

// classify tells the kind of trouble and what to do about it.
func classify(path string, err error) (kind error, remedy string) {
	const (
		room    = "make room on the disk or move the store"
		rights  = "give Herald's user the right to write the file and its folder"
		restore = "stop Herald, keep a copy of the file, and restore a backup"
		restart = "see the system's log; if it stays, restart Herald"
	)
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		switch code := e.Code(); {
		case code == lib.SQLITE_READONLY_DBMOVED:
			return store.ErrChanged, "put the file back and restart Herald"
		case code&0xff == lib.SQLITE_FULL, code&0xff == lib.SQLITE_IOERR && noRoom(path):
			return store.ErrFull, room
		case code&0xff == lib.SQLITE_READONLY, code&0xff == lib.SQLITE_PERM:
			return store.ErrReadOnly, rights
		case code&0xff == lib.SQLITE_CANTOPEN:
			return store.ErrUnavailable, rights
		case code&0xff == lib.SQLITE_CORRUPT, code&0xff == lib.SQLITE_NOTADB:
			return store.ErrCorrupt, restore
		case code&0xff == lib.SQLITE_TOOBIG:
			return store.ErrTooLarge, "split the value"
		}
		return store.ErrUnavailable, restart
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return store.ErrFull, room
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return store.ErrReadOnly, rights
	}
	return store.ErrUnavailable, restart
}
