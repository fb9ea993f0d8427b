package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The scripts run the program as a person does: its own process, folder and environment.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"herald": main})
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			// Nothing of the account that runs the tests may show.
			e.Setenv("XDG_DATA_HOME", e.WorkDir+"/data")
			e.Setenv("XDG_CONFIG_HOME", e.WorkDir+"/config")
			e.Setenv("HERALD_HTTP__LISTEN", "off")
			return nil
		},
	})
}
