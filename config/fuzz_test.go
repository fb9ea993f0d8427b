package config_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"herald/config"
)

func FuzzLoad(f *testing.F) {
	for _, name := range []string{"testdata/problems.toml", "testdata/syntax.toml"} {
		document, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(document, "HERALD_LOG__LEVEL", "info")
	}
	f.Add([]byte(full), "HERALD_PROVIDERS__LOCAL__API_KEY_ENV", "CLOUD_KEY")
	f.Add([]byte(local), "HERALD_MODELS____MODEL", "x")
	f.Add(config.Render(config.Answers{ProviderName: "a"}), "HERALD_", "")
	f.Add([]byte("a.\"b.c\".'*' = [1, {x = 2}]\n[[providers.*]]\n"), "HERALD_PROVIDERS__*__TYPE", "openai")
	f.Add([]byte("store = {url = \"redis://a:b@[::1]:1,c/x?y#z\"}\r\nx = 1979-05-27"), "HERALD_ADMINS", ",,")
	f.Add([]byte("x = \"\"\"\n\xff"), "HERALD__", "=")
	f.Fuzz(func(t *testing.T, document []byte, name, value string) {
		opts := options(string(document), name+"="+value)
		cfg, err := config.Load(opts)
		if err == nil {
			var any map[string]any
			if err := toml.Unmarshal(document, &any); err != nil {
				t.Fatalf("took what is no TOML: %v", err)
			}
			var out bytes.Buffer
			if err := errors.Join(cfg.Explain(&out), cfg.Summary(&out)); err != nil {
				t.Fatal(err)
			}
			if changes := config.Changes(cfg, cfg); len(changes) != 0 {
				t.Fatalf("differs from itself: %v", changes)
			}
			if cfg.Location() == nil || cfg.Store.Target.Driver == "" {
				t.Fatalf("incomplete: %+v", cfg)
			}
			return
		}
		problems, ok := errors.AsType[config.Problems](err)
		if !ok || len(problems) == 0 || cfg != nil {
			t.Fatalf("configuration %v with error %v", cfg, err)
		}
		count := bytes.Count(document, []byte("\n")) + 1
		for _, p := range problems {
			if p.Env == "" && (p.Line < 1 || p.Line > count || p.Column < 1 || p.File == "") {
				t.Fatalf("a problem without a place: %+v", p)
			}
			if p.Text == "" || strings.ContainsAny(p.Text, "\n\x00") {
				t.Fatalf("a problem without a proper text: %+v", p)
			}
		}
	})
}
