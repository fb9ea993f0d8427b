package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every patch must still fit its file: one that does not proves nothing any more.
func TestPatchesFit(t *testing.T) {
	t.Parallel()
	root, err := moduleRoot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, p := range patches() {
		t.Run(p.name, func(t *testing.T) {
			if names[p.name] {
				t.Error("two patches have this name")
			}
			names[p.name] = true
			sane, err := os.ReadFile(filepath.Join(root, p.file))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.apply(string(sane)); err != nil {
				t.Error(err)
			}
			if p.old == p.new || len(p.test) == 0 {
				t.Error("the patch changes nothing, or names no test")
			}
			if _, err := os.Stat(filepath.Join(root, p.test[0])); err != nil {
				t.Errorf("its test: %v", err)
			}
		})
	}
	const least = 40
	if len(names) < least {
		t.Errorf("there are %d patches, want at least %d", len(names), least)
	}
}

func TestApply(t *testing.T) {
	t.Parallel()
	p := patch{name: "x", file: "f.go", old: "a", new: "b"}
	for _, tt := range []struct{ name, sane, want string }{
		{"once", "1a1", "1b1"},
		{"never", "111", ""},
		{"twice", "a1a", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := p.apply(tt.sane)
			if got != tt.want || (err == nil) != (tt.want != "") {
				t.Errorf("got %q, %v; want %q", got, err, tt.want)
			}
			if err != nil && !strings.Contains(err.Error(), "f.go") {
				t.Errorf("the error %q does not name the file", err)
			}
		})
	}
}

func TestFirst(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, out, want string }{
		{"innermost", "--- FAIL: TestA (0.0s)\n    --- FAIL: TestA/deep (0.0s)\nFAIL", "TestA/deep"},
		{"timeout", "panic: test timed out after 2m0s\n--- FAIL: TestA", "a test that came to no end"},
		{"panic", "panic: boom\n\ngoroutine 1", "panic: boom"},
		{"nothing", "FAIL", "a failure without a name"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := (&result{out: tt.out}).first(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// A copy of a small module shows all three ends of a defect: seen, not seen, and one that does not compile.
func TestPlant(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":    "module x\n\ngo 1.26.0\n",
		"a.go":      "package x\n\nfunc one() int { return 1 }\n\nfunc two() int { return 2 }\n",
		"a_test.go": "package x\n\nimport \"testing\"\n\nfunc TestOne(t *testing.T) {\n\tif one() != 1 {\n\t\tt.Error(\"not one\")\n\t}\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name string
		p    patch
		want string
	}{
		{"seen", patch{"one is two", "a.go", "return 1", "return 3", []string{"."}}, "red    one is two (a.go): seen by TestOne"},
		{"not seen", patch{"two is one", "a.go", "return 2", "return 3", []string{"."}}, "GREEN  two is one"},
		{"not compiled", patch{"nonsense", "a.go", "return 2", "return nothing", []string{"."}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			seen, err := plant(t.Context(), dir, tt.p, &out)
			if (err != nil) != (tt.want == "") || !strings.HasPrefix(out.String(), tt.want) || seen != strings.HasPrefix(tt.want, "red") {
				t.Errorf("seen %v, %v, %q; want %q", seen, err, out.String(), tt.want)
			}
			if back, err := os.ReadFile(filepath.Join(dir, "a.go")); err != nil || strings.Contains(string(back), "return 3") {
				t.Errorf("the file was not put back: %q, %v", back, err)
			}
		})
	}
}
