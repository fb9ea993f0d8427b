package pdf

import (
	"errors"
	"testing"
	"time"
)

// A file that takes longer than it may is broken off inside of the library.
func TestSlow(t *testing.T) {
	t.Parallel()
	for _, within := range []time.Duration{time.Nanosecond, 20 * time.Millisecond} {
		if _, _, err := read(t.Context(), []byte("%PDF-1.4"), 100, within); !errors.Is(err, ErrSlow) {
			t.Errorf("within %v the error is %v", within, err)
		}
	}
}
