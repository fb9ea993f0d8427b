package hostile_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// secret is a canary: a value that must be seen nowhere. Half of its core is a trace already, and what follows the core is written
// differently in URLs, in JSON and in quotes. One with a prefix looks like a token, which has no such tail.
type secret struct{ name, core, prefix string }

func (s secret) value() string {
	if s.prefix != "" {
		return s.prefix + s.core
	}
	return s.core + `/+="&<\é`
}

// newSecrets are canaries with cores that have nothing in common.
func newSecrets(names ...string) []secret {
	var all []secret
	for i, n := range names {
		sum := []byte(fmt.Sprintf("%c%s", 'A'+i, strings.Repeat(n, 20)))
		core := make([]byte, 28)
		for j := range core {
			core[j] = "bcdfghjklmnpqrstvwxz23456789"[(int(sum[j%len(sum)])*(j+3)+i*7+j*j)%28]
		}
		all = append(all, secret{name: n, core: string(core)})
	}
	return all
}

// traces are the texts by which a secret is found, in part or encoded.
func (s secret) traces() []string {
	half := len(s.core) / 2
	all := []string{s.core[:half], s.core[half:], hex.EncodeToString([]byte(s.core[:half]))}
	for shift := range 3 {
		// The same bytes look different in base64 by where they begin.
		b := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("-", shift) + s.core))
		all = append(all, b[4:len(b)-4])
	}
	return all
}

// hunt looks for secrets and says where one was seen.
func hunt(t *testing.T, secrets []secret, where string, data []byte) {
	t.Helper()
	for _, s := range secrets {
		if at := find(s, data); at >= 0 {
			t.Errorf("%s holds the %s: …%q…", where, s.name, data[max(0, at-120):min(len(data), at+60)])
		}
	}
}

func find(s secret, data []byte) int {
	for _, trace := range s.traces() {
		if at := bytes.Index(data, []byte(trace)); at >= 0 {
			return at
		}
	}
	return -1
}

// huntFiles looks through all files below dir but the named ones, and returns all that it read.
func huntFiles(t *testing.T, secrets []secret, dir string, but ...string) []byte {
	t.Helper()
	var all []byte
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		for _, name := range but {
			if d.Name() == name {
				return nil
			}
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		all = append(all, data...)
		hunt(t, secrets, path, data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A search that finds nothing proves something only when it would have found it.
func TestTheHuntFinds(t *testing.T) {
	t.Parallel()
	all := newSecrets("key of a variable", "key of a file", "password")
	s := all[0]
	for name, text := range map[string]string{
		"whole": s.value(), "in quotes": fmt.Sprintf("%q", s.value()), "half": s.core[:len(s.core)/2], "the other half": s.core[len(s.core)/2:],
		"base64": base64.StdEncoding.EncodeToString([]byte(s.value())), "basic": base64.StdEncoding.EncodeToString([]byte(":" + s.value())),
		"with a user": base64.StdEncoding.EncodeToString([]byte("me:" + s.value())), "hex": hex.EncodeToString([]byte(s.value())),
	} {
		if find(s, []byte("before "+text+" behind")) < 0 {
			t.Errorf("%s: %q is not found", name, text)
		}
		for _, o := range all[1:] {
			if find(o, []byte(text)) >= 0 {
				t.Errorf("%s: %s is taken for %s", name, s.name, o.name)
			}
		}
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "a", "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a", "b", "f"), []byte("x"+s.value()), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := huntFiles(t, all[1:], dir); find(s, got) < 0 {
		t.Error("a file below a folder is not read")
	}
}
