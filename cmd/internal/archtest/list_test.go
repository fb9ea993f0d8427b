package archtest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// module is the name that all import paths of the product begin with.
const module = "herald"

// pkg is one package as "go list" describes it. Name is its path below the module.
type pkg struct {
	Name         string `json:"-"`
	ImportPath   string
	Dir          string
	Doc          string
	GoFiles      []string
	TestGoFiles  []string
	XTestGoFiles []string
	Imports      []string
	Deps         []string
	TestImports  []string
	XTestImports []string
	Error        *struct{ Err string }
}

func (p *pkg) testImports() []string {
	return append(append([]string(nil), p.TestImports...), p.XTestImports...)
}

// root is the folder of go.mod.
func root() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}

// listed asks the go command once for all tests.
var listed = sync.OnceValues(func() ([]*pkg, error) {
	dir, err := root()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,Doc,GoFiles,TestGoFiles,XTestGoFiles,Imports,Deps,TestImports,XTestImports,Error", "./...")
	cmd.Dir = dir
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var pkgs []*pkg
	dec := json.NewDecoder(bytes.NewReader(out))
	for {
		p := new(pkg)
		if err := dec.Decode(p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		p.Name = below(p.ImportPath)
		pkgs = append(pkgs, p)
	}
	return pkgs, nil
})

func list(t *testing.T) []*pkg {
	t.Helper()
	pkgs, err := listed()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	if len(pkgs) < 5 {
		t.Fatalf("go list found %d packages: the tests of this folder would prove nothing", len(pkgs))
	}
	return pkgs
}

// below is the path of an import below the module, or "" when it lies outside.
func below(path string) string {
	if path == module {
		return "."
	}
	p, ok := strings.CutPrefix(path, module+"/")
	if !ok {
		return ""
	}
	return p
}

// std reports whether path is of the standard library: its first element has no dot.
func std(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".") && below(path) == ""
}

// covers reports whether path is pattern, or lies below it when pattern ends with "/...".
func covers(pattern, path string) bool {
	if base, ok := strings.CutSuffix(pattern, "/..."); ok {
		return path == base || strings.HasPrefix(path, base+"/")
	}
	return path == pattern
}

// within reports whether path is folder or lies below it.
func within(folder, path string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }
