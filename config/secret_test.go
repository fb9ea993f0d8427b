package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"herald/config"
)

const canary = "sk-canary-2f9c17"

// canaryForms are the ways in which a printer could show the canary.
func canaryForms() []string {
	return []string{
		canary, fmt.Sprintf("%x", canary), fmt.Sprintf("%X", canary), fmt.Sprintf("% x", canary),
		fmt.Sprint([]byte(canary)), fmt.Sprintf("%q", []rune(canary)),
	}
}

func leaked(out string) bool {
	for _, form := range canaryForms() {
		if strings.Contains(out, strings.Trim(form, "[]")) {
			return true
		}
	}
	return false
}

func TestNoVerbShowsASecret(t *testing.T) {
	t.Parallel()
	type hidden struct{ s config.Secret }
	s := config.NewSecret(canary)
	values := map[string]any{
		"value": s, "pointer": &s, "slice": []config.Secret{s}, "map": map[string]config.Secret{"k": s},
		"field": config.Provider{APIKey: s}, "unexported field": hidden{s}, "pointer to field": &hidden{s},
		"config": &config.Config{Store: config.Store{Password: s}},
	}
	verbs := []string{
		"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "% x", "%#x", "%d", "%T", "%p", "%t", "%c", "%U", "%e", "%g", "%b", "%o", "%w", "%40s", "%.3s", "%!",
	}
	for name, value := range values {
		for _, verb := range verbs {
			if out := fmt.Sprintf(verb, value); leaked(out) {
				t.Errorf("%s with %s shows the secret: %s", name, verb, out)
			}
		}
		if out := fmt.Sprintln(value); leaked(out) {
			t.Errorf("%s in Sprintln shows the secret: %s", name, out)
		}
	}
}

func TestNoEncoderShowsASecret(t *testing.T) {
	t.Parallel()
	p := config.Provider{Name: "a", APIKey: config.NewSecret(canary)}
	var out bytes.Buffer
	asJSON, err := json.Marshal(p)
	if err != nil {
		t.Fatalf("a secret must not break an encoder: %v", err)
	}
	asTOML, err := toml.Marshal(p)
	if err != nil {
		t.Fatalf("a secret must not break an encoder: %v", err)
	}
	out.Write(asJSON)
	out.Write(asTOML)
	for _, handler := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		slog.New(handler).Info("x", "secret", p.APIKey, "provider", p, "pointer", &p)
	}
	if leaked(out.String()) {
		t.Errorf("an encoder shows the secret: %s", out.String())
	}
	if !strings.Contains(out.String(), "[redacted]") {
		t.Errorf("nothing stands where the secret was: %s", out.String())
	}
}

func TestSecret(t *testing.T) {
	t.Parallel()
	set, unset := config.NewSecret(canary), config.NewSecret("")
	if got := set.Reveal(); got != canary {
		t.Errorf("Reveal() = %q", got)
	}
	if !set.IsSet() || unset.IsSet() || unset.Reveal() != "" {
		t.Error("an empty secret must not be set, any other must be")
	}
	if !set.Equal(config.NewSecret(canary)) || set.Equal(unset) || set.Equal(config.NewSecret("other")) {
		t.Error("secrets are equal when their values are, and only then")
	}
	if set.String() == unset.String() {
		t.Errorf("both print as %s: nobody could see which one is missing", set)
	}
}

// The canary stands in every place where an operator may put a secret, by
// right or by mistake; it must show in no output.
func TestNoOutputShowsASecret(t *testing.T) {
	t.Parallel()
	good := options(`
[store]
url = "redis://ada:`+canary+`@redis:6379/1"
[providers.a]
api_key_env = "A_KEY"
default_model = "m"
[providers.b]
api_key_file = "/run/secrets/b"
base_url = "https://b.example/v1"
default_model = "m"
`, "A_KEY="+canary)
	good.ReadFile = both(good.ReadFile, disk{"/run/secrets/b": canary + "\n"}.read)
	cfg := mustLoad(t, good)
	if cfg.Store.Password.Reveal() != canary || cfg.Providers[0].APIKey.Reveal() != canary || cfg.Providers[1].APIKey.Reveal() != canary {
		t.Fatal("the canary is not where the test needs it")
	}
	var out bytes.Buffer
	if err := cfg.Explain(&out); err != nil {
		t.Fatal(err)
	}
	if err := cfg.Summary(&out); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&out, "%v %+v %#v", cfg, *cfg, cfg)
	for _, change := range config.Changes(cfg, mustLoad(t, options(local))) {
		fmt.Fprintln(&out, change)
	}
	if leaked(out.String()) {
		t.Errorf("an output of a good configuration shows the secret:\n%s", out.String())
	}
	if !strings.Contains(out.String(), "redis://ada:[redacted]@redis:6379/1") {
		t.Errorf("the store's address is not explained:\n%s", out.String())
	}
}

func both(first, second func(string) ([]byte, error)) func(string) ([]byte, error) {
	return func(path string) ([]byte, error) {
		if data, err := first(path); err == nil {
			return data, nil
		}
		return second(path)
	}
}

func TestNoProblemShowsASecret(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, document, env string }{
		{"literal key", "[providers.a]\napi_key = \"CANARY\"", ""},
		{"literal key in the environment", "", "HERALD_PROVIDERS__A__API_KEY=CANARY"},
		{"key in place of a variable", "[providers.a]\napi_key_env = \"CANARY\"", ""},
		{"key that looks like a variable", "[providers.a]\napi_key_env = \"skcanary2f9c17x\"", ""},
		{"key in place of a variable, environment", "", "HERALD_PROVIDERS__A__API_KEY_ENV=CANARY"},
		{"key in place of a file", "[providers.a]\napi_key_file = \"CANARY\"", ""},
		{"key of the wrong type", "[providers.a]\napi_key_env = [\"CANARY\"]", ""},
		{"unknown secret", "[store]\ntoken = \"CANARY\"", ""},
		{"unknown secret in the environment", "", "HERALD_SLACK__TOKEN=CANARY"},
		{"literal password", "[store]\npassword = \"CANARY\"", ""},
		{"password with a slash", "[store]\nurl = \"redis://:a/CANARY@redis\"", ""},
		{"password with a hash", "[store]\nurl = \"redis://:CANARY#a@redis\"", ""},
		{"password with a percent", "[store]\nurl = \"redis://:CANARY%zz@redis\"", ""},
		{"password without an at", "[store]\nurl = \"redis://:CANARY\"", ""},
		{"password as an option", "[store]\nurl = \"redis://redis?password=CANARY\"", ""},
		{"password for another store", "[store]\nurl = \"postgres://a:CANARY@b/c\"", ""},
		{"password with a bad port", "[store]\nurl = \"redis://:CANARY@redis:99999\"", ""},
		{"key in an address", "[providers.a]\nbase_url = \"https://CANARY@host/v1\"", ""},
		{"key in an address's options", "[providers.a]\nbase_url = \"https://host/v1?key=CANARY\"", ""},
		{"key as an address", "[providers.a]\nbase_url = \"CANARY\"", ""},
		{"key without quotes", "[providers.a]\napi_key = CANARY", ""},
		{"key without a closing quote", "[providers.a]\napi_key = \"CANARY", ""},
		{"secret of two lines", "[providers.a]\napi_key_env = \"A\"", "A=CANARY\nx"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			opts := options(strings.ReplaceAll(tt.document, "CANARY", canary), strings.ReplaceAll(tt.env, "CANARY", canary))
			problems := problemsOf(t, opts)
			if out := fmt.Sprintf("%v %+v %#v", problems.Error(), problems, problems); leaked(out) || strings.Contains(out, "skcanary") {
				t.Errorf("a problem shows the secret: %s", out)
			}
		})
	}
}
