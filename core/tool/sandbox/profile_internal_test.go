package sandbox

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden file")

// The profile as it is shipped: a change to it is looked at.
func TestProfile(t *testing.T) {
	t.Parallel()
	h := host{dirs: map[string]string{"/bin": "usr/bin", "/lib": "usr/lib", "/lib64": "usr/lib64", "/sbin": ""}}
	c := Command{Env: map[string]string{"PATH": "/evil", "KEY": "a b"}}.prepared()
	got := strings.ReplaceAll(strings.Join((&profile{bwrap: "bwrap", proc: true}).options(h, c, "/tmp/x/files"), " "), " --", "\n--") + "\n"
	golden := filepath.Join("testdata", "profile.txt")
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(golden, []byte(got), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Error(d)
	}
}

func TestCopyTree(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "secret")
	from := t.TempDir()
	if err := errors.Join(
		os.WriteFile(outside, []byte("canary"), 0o644),
		os.MkdirAll(filepath.Join(from, "a/b"), 0o755),
		os.WriteFile(filepath.Join(from, "a/b/run"), []byte("x"), 0o755),
		os.WriteFile(filepath.Join(from, "plain"), []byte("y"), 0o644),
		os.Symlink(outside, filepath.Join(from, "link")),
		os.Symlink(filepath.Dir(outside), filepath.Join(from, "dir")),
	); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "copy")
	root, err := os.OpenRoot(from)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := copyTree(root.FS(), to); err != nil {
		t.Fatal(err)
	}
	var got []string
	err = filepath.WalkDir(to, func(path string, d os.DirEntry, err error) error {
		info, e := d.Info()
		got = append(got, strings.TrimPrefix(path, to)+" "+info.Mode().String())
		return errors.Join(err, e)
	})
	want := []string{" drwx------", "/a drwx------", "/a/b drwx------", "/a/b/run -rwx------", "/plain -rw-------"}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(d, err)
	}
	if err := os.WriteFile(filepath.Join(from, "big"), make([]byte, maxCopyBytes+1), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := copyTree(root.FS(), filepath.Join(t.TempDir(), "copy")); err == nil || !strings.Contains(err.Error(), "more than 64 MiB") {
		t.Errorf("got %v", err)
	}
}
