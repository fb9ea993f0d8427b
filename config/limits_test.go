package config_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"herald/config"
)

// A file that no person wrote is refused soon, in few words, whatever it holds.
func TestLimitsOfAFile(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text, want string
		// most bounds the problems that are told.
		most int
	}{
		{"unknown keys without end", strings.Repeat("k = 1\n", 100_000), "there may be more problems", 250},
		{"a section of many parts", "[" + strings.Repeat("a.", 100_000) + "b]\n", "too many parts", 3},
		{"a key of many parts", strings.Repeat("a.", 100_000) + "b = 1\n", "too many parts", 3},
		{"tables in tables", "a = " + strings.Repeat("{a = ", 50_000), "herald.toml", 30},
		{"a slip behind a deep key", "[" + strings.Repeat("a.", 100) + "b]\n[log]\nlevle = \"info\"\n", "log.level", 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			problems := problemsOf(t, config.Options{
				File: "herald.toml", Dir: t.TempDir(), ReadFile: func(string) ([]byte, error) { return []byte(tc.text), nil },
			})
			if text := problems.Error(); !strings.Contains(text, tc.want) || len(problems) > tc.most || len(text) > 1<<16 {
				t.Errorf("%d problems, %d bytes, want %q: %.500s", len(problems), len(text), tc.want, text)
			}
			if d := time.Since(began); d > 10*time.Second {
				t.Errorf("it took %s", d)
			}
		})
	}
}

// A device has no end; reading it must have one.
func TestDeviceAsAFile(t *testing.T) {
	t.Parallel()
	problems := problemsOf(t, config.Options{File: "/dev/zero", Dir: filepath.Dir("/")})
	if text := problems.Error(); !strings.Contains(text, "/dev/zero") {
		t.Error(text)
	}
}
