package sandboxtest

import (
	"os"
	"testing"

	"herald/core/tool/sandbox"
)

// Runner is a runner whose sandbox works. In CI a machine without one fails the test; elsewhere the test is skipped and says that it saw nothing.
func Runner(t *testing.T, o sandbox.Options) *sandbox.Runner {
	t.Helper()
	r := sandbox.New(o)
	if _, sandboxed, err := r.Check(t.Context()); !sandboxed {
		if os.Getenv("CI") != "" {
			t.Fatalf("CI must have a working bwrap: %v", err)
		}
		t.Skip(err)
	}
	return r
}
