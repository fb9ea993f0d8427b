package service_test

import (
	"testing"

	"go.uber.org/goleak"
)

// A service that has stopped has left nothing running.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// The tests' own HTTP client keeps its connections.
		goleak.IgnoreTopFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"),
		goleak.IgnoreTopFunction("internal/poll.runtime_pollWait"),
	)
}
