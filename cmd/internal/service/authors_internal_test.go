package service

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"herald/cmd/internal/redact"
	"herald/config"
	"herald/core/tool/sandbox"
)

// A secret that an author's tool has read shows nowhere from then on, also after the configuration has changed; Herald's own are not handed out.
func TestAuthorSecrets(t *testing.T) {
	t.Setenv("SHOP_KEY", "canary-4711")
	t.Setenv("OWN_KEY", "own-canary-1234")
	t.Setenv("OTHER_NAME", "own-canary-1234")
	t.Setenv("HERALD_THING", "thing-5678")
	load := func() *config.Config {
		cfg, err := config.Load(config.Options{
			Env: []string{"HOME=" + t.TempDir(), "OWN_KEY=own-canary-1234", "HERALD_PROVIDERS__MAIN__API_KEY_ENV=OWN_KEY", "HERALD_PROVIDERS__MAIN__DEFAULT_MODEL=m"},
			Dir: t.TempDir(),
		})
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}
	s := &Service{cfg: load(), log: slog.New(slog.DiscardHandler), opts: Options{Secrets: new(redact.Secrets)}}
	s.now.Store(s.cfg)
	s.setSecrets(s.cfg)
	if v, err := s.authorSecret("SHOP_KEY"); v != "canary-4711" || err != nil {
		t.Errorf("%q, %v", v, err)
	}
	for _, name := range []string{"OWN_KEY", "OTHER_NAME", "HERALD_THING", "UNSET_VARIABLE"} {
		if v, err := s.authorSecret(name); v != "" || err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %q, %v", name, v, err)
		}
	}
	for _, when := range []string{"at once", "after a change"} {
		if got := s.opts.Secrets.Clean("canary-4711 own-canary-1234 words"); strings.Contains(got, "canary") || !strings.Contains(got, "words") {
			t.Errorf("%s: %q", when, got)
		}
		s.setSecrets(load())
	}
}

// Secrets that are met at the same time are all hidden, and one that was in force between two changes of the configuration stays so: calls
// that were begun with it may still be under way.
func TestSecretsStayHidden(t *testing.T) {
	load := func(key string) *config.Config {
		cfg, err := config.Load(config.Options{
			Env: []string{"HOME=" + t.TempDir(), "OWN_KEY=" + key, "HERALD_PROVIDERS__MAIN__API_KEY_ENV=OWN_KEY", "HERALD_PROVIDERS__MAIN__DEFAULT_MODEL=m"},
			Dir: t.TempDir(),
		})
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}
	s := &Service{cfg: load("first-key-1"), opts: Options{Secrets: new(redact.Secrets)}}
	for _, cfg := range []*config.Config{s.cfg, load("second-key-2"), load("third-key-3")} {
		s.setSecrets(cfg)
		s.now.Store(cfg)
	}
	want := []string{"first-key-1", "second-key-2", "third-key-3"}
	for i := range 200 {
		var wg sync.WaitGroup
		for j := range 4 {
			name, value := fmt.Sprintf("SHOP_%d_%d", i, j), fmt.Sprintf("value-%d-%d-canary", i, j)
			t.Setenv(name, value)
			want = append(want, value)
			wg.Go(func() {
				if _, err := s.authorSecret(name); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for _, secret := range want[max(0, len(want)-4):] {
			if got := s.opts.Secrets.Clean(secret); got != redact.Placeholder {
				t.Fatalf("round %d: shown: %q", i, got)
			}
		}
	}
	for _, secret := range want {
		if got := s.opts.Secrets.Clean(secret); got != redact.Placeholder {
			t.Errorf("shown: %q", got)
		}
	}
}

// Where programs are off, none is run.
func TestShut(t *testing.T) {
	t.Parallel()
	off := errors.New("another folder")
	r := shut{sandbox.New(sandbox.Options{}), func() error { return off }}
	if res, err := r.Run(t.Context(), sandbox.Command{Program: []string{"true"}}); !errors.Is(err, off) {
		t.Errorf("%+v, %v", res, err)
	}
}
