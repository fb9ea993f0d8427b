package config

import (
	"fmt"
	"io"
	"strings"
)

// Summary writes what `config check` shows for a configuration without
// problems. agents are the ids of the agents that were found, which this
// package does not know by itself; without any, their section is left out.
func (c *Config) Summary(w io.Writer, agents ...string) error {
	var b strings.Builder
	b.WriteString("✓ Configuration is valid!\n\nConfiguration Summary\n")
	file := c.File
	if file == "" {
		file = "none (defaults and environment)"
	}
	fmt.Fprintf(&b, "Config file: %s\n", file)
	fmt.Fprintf(&b, "Server: %s\n", c.HTTP.Listen)
	fmt.Fprintf(&b, "Log level: %s\n", c.Log.Level)
	fmt.Fprintf(&b, "Store: %s\n", c.origin["store.url"].text)
	fmt.Fprintf(&b, "Data folder: %s\n", c.DataDir)
	fmt.Fprintf(&b, "Agents folder: %s\n", c.Agents.Dir)
	fmt.Fprintf(&b, "Skills folder: %s\n", c.Skills.Dir)
	fmt.Fprintf(&b, "Time zone: %s\n", c.Timezone)

	var providers, models []string
	for _, p := range c.Providers {
		providers = append(providers, fmt.Sprintf("%s (%s, %s)", p.Name, p.Type, p.BaseURL))
	}
	for _, m := range c.Models {
		strength := m.Strength
		if strength == "" {
			strength = "unrated"
		}
		models = append(models, fmt.Sprintf("%s (%s at %s, %s)", m.Name, m.Model, m.Provider, strength))
	}
	bullets(&b, "Providers", providers)
	bullets(&b, "Models", models)
	if len(agents) > 0 {
		bullets(&b, "Agents", agents)
	}
	if hint := c.NoModelHint(); hint != "" {
		b.WriteString("\n" + hint)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func bullets(b *strings.Builder, title string, items []string) {
	fmt.Fprintln(b, title)
	if len(items) == 0 {
		fmt.Fprintln(b, "• none")
	}
	for _, item := range items {
		fmt.Fprintln(b, "• "+item)
	}
}

// NoModelHint returns how to name a model, as lines for a person; "" when one
// is configured.
func (c *Config) NoModelHint() string {
	if len(c.Models) > 0 {
		return ""
	}
	where := c.File
	if where == "" {
		where = fileName
	}
	return fmt.Sprintf(`No model is configured, so Herald cannot answer yet. Name one in the environment:

%s
or in %s:

%s
Any server that speaks OpenAI's protocol will do: set base_url to its address, and leave api_key_env out where no key is asked for.
`, indent(hintEnv), where, indent(hintFile))
}

// The two ways to name a model. A test loads both.
const (
	hintEnv = `export HERALD_PROVIDERS__OPENAI__API_KEY_ENV=OPENAI_API_KEY HERALD_PROVIDERS__OPENAI__DEFAULT_MODEL=gpt-4.1-mini
`
	hintFile = `[providers.local]
base_url = "http://localhost:11434/v1"
default_model = "llama3.1:8b"
`
)

func indent(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString("    " + line)
	}
	return b.String()
}
