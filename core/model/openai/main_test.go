package openai_test

import (
	"testing"

	"go.uber.org/goleak"
)

// Every goroutine that a call starts ends with it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
