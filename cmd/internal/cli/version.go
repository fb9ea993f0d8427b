package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

type versionCmd struct{}

// Run prints the version in one line.
func (versionCmd) Run(e *env) error {
	_, err := fmt.Fprintln(e.Out, "herald "+version()+" "+runtime.Version()+" "+runtime.GOOS+"/"+runtime.GOARCH)
	return err
}

// version is what the build knows of itself: the module's version, or the revision that it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	v := info.Main.Version
	if v != "" && v != "(devel)" {
		return v
	}
	v = "devel"
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			v += "-" + s.Value[:12]
		}
	}
	return v
}
