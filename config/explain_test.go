package config_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"herald/config"
)

const full = `
timezone = "Europe/Berlin"
admins = ["slack:T123/U1", "discord:789"]

[store]
url = "rediss+sentinel://ada:pass@s1,s2/main?db=1"
wait_replicas = 1

[providers.local]
base_url = "http://localhost:11434/v1"
default_model = "llama3.1:8b"

[providers.cloud]
api_key_env = "CLOUD_KEY"

[models."gpt-4.1"]
provider = "cloud"
model = "gpt-4.1"
strength = "high"
scope = "hard questions"
input_price = 2

[log]
level = "debug"
`

func fullConfig(t *testing.T) *config.Config {
	t.Helper()
	return mustLoad(t, options(full, "CLOUD_KEY=sk-secret", "HERALD_HTTP__LISTEN=:9090"))
}

func TestExplainGolden(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := fullConfig(t).Explain(&out); err != nil {
		t.Fatal(err)
	}
	golden(t, "explain.golden", out.String())
}

func TestExplainDefaultsGolden(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := mustLoad(t, config.Options{Dir: "/w", Env: []string{home}, ReadFile: disk{}.read}).Explain(&out); err != nil {
		t.Fatal(err)
	}
	golden(t, "explain-defaults.golden", out.String())
}

func TestSummaryGolden(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := fullConfig(t).Summary(&out, "main", "researcher"); err != nil {
		t.Fatal(err)
	}
	golden(t, "summary.golden", out.String())
}

func TestSummaryWithoutAFileGolden(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := mustLoad(t, config.Options{Dir: "/w", Env: []string{home}, ReadFile: disk{}.read}).Summary(&out); err != nil {
		t.Fatal(err)
	}
	golden(t, "summary-defaults.golden", out.String())
}

type brokenWriter struct{}

var errBroken = errors.New("broken")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestWritersReportErrors(t *testing.T) {
	t.Parallel()
	cfg := mustLoad(t, options(""))
	if err := cfg.Explain(brokenWriter{}); !errors.Is(err, errBroken) {
		t.Errorf("Explain: %v", err)
	}
	if err := cfg.Summary(brokenWriter{}); !errors.Is(err, errBroken) {
		t.Errorf("Summary: %v", err)
	}
}

// Both ways that the hint shows must lead to a model.
func TestNoModelHintIsTrue(t *testing.T) {
	t.Parallel()
	hint := mustLoad(t, options("")).NoModelHint()
	var env []string
	var document strings.Builder
	for line := range strings.Lines(hint) {
		code, isCode := strings.CutPrefix(line, "    ")
		if vars, isEnv := strings.CutPrefix(code, "export "); isCode && isEnv {
			env = strings.Fields(vars)
		} else if isCode {
			document.WriteString(code)
		}
	}
	if len(env) == 0 || document.Len() == 0 {
		t.Fatalf("the hint shows no code:\n%s", hint)
	}
	for name, opts := range map[string]config.Options{
		"environment": options("", append(env, "OPENAI_API_KEY=k")...),
		"file":        options(document.String()),
	} {
		cfg := mustLoad(t, opts)
		if len(cfg.Models) != 1 || cfg.NoModelHint() != "" {
			t.Errorf("%s: models %+v, hint %q", name, cfg.Models, cfg.NoModelHint())
		}
	}
}
