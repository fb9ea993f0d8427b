package redis

import (
	"context"
	"errors"
	"fmt"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"herald/core/store"
)

// verdict is what an answer of Redis means for the call that got it.
type verdict int

const (
	done verdict = iota
	// unknownScript: the server has not seen the script; it wants the whole text.
	unknownScript
	// moving: the bucket's slot is on its way to another node; nothing was done, and soon it will be.
	moving
	// lost: no answer came. What was asked may have been done.
	lost
	// refused: Redis answered with an error that repeating does not change.
	refused
)

func judge(err error) verdict {
	if err == nil {
		return done
	}
	var answer goredis.Error
	if !errors.As(err, &answer) {
		return lost
	}
	if errors.Is(err, goredis.Nil) {
		return done
	}
	text := answer.Error()
	switch code, _, _ := strings.Cut(text, " "); code {
	case "NOSCRIPT":
		return unknownScript
	case "MOVED", "ASK", "TRYAGAIN":
		return moving
	}
	// A slot that begins to move while a script is running: the script's first look at a key was refused, before any write.
	if strings.Contains(text, "non local key") {
		return moving
	}
	return refused
}

// trouble turns what Redis or the network said into one of the port's kinds, with what to do about it.
func trouble(err error) error {
	kind, remedy := store.ErrUnavailable, ""
	var answer goredis.Error
	if errors.As(err, &answer) {
		text := answer.Error()
		code, rest, _ := strings.Cut(text, " ")
		// An error inside of a script carries its own code, behind that of the script's failure.
		switch {
		case code == "CHANGED":
			kind = store.ErrChanged
			remedy = "restore Redis from its append-only file or a backup; Herald does not begin anew in its place"
		case code == "CORRUPT", code == "WRONGTYPE":
			kind = store.ErrCorrupt
			remedy = "see with redis-cli what the key holds, and restore it from a backup"
		case code == "OOM", strings.Contains(text, "No space left"):
			kind = store.ErrFull
			remedy = "raise maxmemory or make room; nothing was written"
		case code == "READONLY", code == "MISCONF":
			kind = store.ErrReadOnly
			remedy = "use the master's address, or let Redis write its files again; nothing was written"
		case code == "NOAUTH", code == "WRONGPASS", code == "NOPERM":
			remedy = "check the password and the user's rights (all commands on herald:*, and the channels herald:*)"
		case code == "LOADING":
			remedy = "it is reading its data; wait until it has"
		case strings.Contains(text, "unknown command") || strings.Contains(rest, "compiling script"):
			remedy = "Herald needs Redis 7.0 or newer"
		}
	}
	if remedy != "" {
		return fmt.Errorf("%w (%w; %s)", kind, err, remedy)
	}
	return fmt.Errorf("%w: %w", kind, err)
}

// ended is the error of a call that stopped waiting: because the caller did, or because the time of the call was up.
func (s *Store) ended(ctx context.Context, last error) error {
	if last == nil {
		last = context.Cause(ctx)
	}
	return fmt.Errorf("no answer in time: %w: %w", store.ErrUnavailable, last)
}
