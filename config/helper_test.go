package config_test

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herald/config"
)

// The flag rewrites the golden files: go test ./config -update
var update = flag.Bool("update", false, "rewrite the golden files")

const home = "HOME=/home/ada"

// disk is a file system for tests: absolute path → content.
type disk map[string]string

func (d disk) read(path string) ([]byte, error) {
	if content, ok := d[path]; ok {
		return []byte(content), nil
	}
	return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
}

// options read the document as /etc/herald/herald.toml, named herald.toml.
func options(document string, env ...string) config.Options {
	return config.Options{
		File:     "herald.toml",
		Dir:      "/etc/herald",
		Env:      append([]string{home}, env...),
		ReadFile: disk{"/etc/herald/herald.toml": document}.read,
	}
}

func mustLoad(t *testing.T, opts config.Options) *config.Config {
	t.Helper()
	cfg, err := config.Load(opts)
	if err != nil {
		t.Fatalf("the configuration should load: %v", err)
	}
	return cfg
}

// problemsOf loads what must not load and returns the problems.
func problemsOf(t *testing.T, opts config.Options) config.Problems {
	t.Helper()
	cfg, err := config.Load(opts)
	problems, ok := errors.AsType[config.Problems](err)
	if !ok || len(problems) == 0 {
		t.Fatalf("the configuration should have problems, has %v", err)
	}
	if cfg != nil {
		t.Error("there is a configuration beside the problems")
	}
	return problems
}

func lines(problems config.Problems) []string {
	var out []string
	for _, p := range problems {
		out = append(out, p.String())
	}
	return out
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; write it with -update", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, diff)
	}
}

const local = `
[providers.local]
base_url = "http://localhost:11434/v1"
default_model = "llama3.1:8b"
`
