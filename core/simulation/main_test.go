package simulation_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets the heap grow: a story is gone when it was told, and collecting it at every turn took a fifth of the time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	os.Exit(m.Run())
}
