package sqlite

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"herald/core/store"
)

// Sync levels: what a commit waits for before it is acknowledged.
const (
	// SyncFull waits for the disk: a commit survives a power loss.
	SyncFull = "full"
	// SyncNormal waits for the operating system: a commit survives a crash of Herald, and the last ones may be lost with the machine.
	SyncNormal = "normal"
)

// Options of a store. Path is required.
type Options struct {
	// Path of the database file. Its folder holds "-wal", "-shm" and ".lock" files beside it.
	Path string
	// Create makes the folder and the store when there is none. Without it an absent store is [store.ErrMissing].
	Create bool
	// Sync is SyncFull ("" means it) or SyncNormal.
	Sync string
	// Clock is the store's clock; nil means time.Now. The store counts in whole milliseconds.
	Clock func() time.Time
	// Group is the largest number of requests that share a transaction; 0 means 64, 1 means none.
	Group int
	// Readers is the largest number of reading connections, each with its own cache of up to 1 MB; 0 means 4. They are opened as they are needed.
	Readers int
	// MaxBytes bounds the file; beyond it commits get [store.ErrFull]. 0 means that only the disk bounds it.
	MaxBytes int64
	// Logger gets what goes wrong behind the scenes (checkpoints); nil discards it.
	Logger *slog.Logger
}

// maxGroup bounds the wait of the first request of a group for the last.
const maxGroup = 64

func (o *Options) fill() error {
	if o.Path == "" {
		return fmt.Errorf("open a SQLite store: no path was given: %w", store.ErrInvalid)
	}
	abs, err := filepath.Abs(o.Path)
	if err != nil {
		return fmt.Errorf("open the SQLite store %s: %w", o.Path, err)
	}
	o.Path = abs
	switch o.Sync {
	case "":
		o.Sync = SyncFull
	case SyncFull, SyncNormal:
	default:
		return fmt.Errorf("open the SQLite store %s: the sync level is %q; it is %q or %q: %w", o.Path, o.Sync, SyncFull, SyncNormal, store.ErrInvalid)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Group <= 0 || o.Group > maxGroup {
		o.Group = maxGroup
	}
	if o.Readers <= 0 {
		o.Readers = 4
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return nil
}
