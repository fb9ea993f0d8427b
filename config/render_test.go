package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herald/config"
)

func TestRenderGolden(t *testing.T) {
	t.Parallel()
	golden(t, "render.golden", string(config.Render(config.Answers{
		ProviderName: "local", BaseURL: "http://localhost:11434/v1", Model: "llama3.1:8b",
	})))
}

func TestRenderedFileLoads(t *testing.T) {
	t.Parallel()
	a := config.Answers{
		ProviderName: "my.cloud", ProviderType: "openai", BaseURL: "https://llm.example/v1", APIKeyEnv: "CLOUD_KEY", Model: `odd "id" \ ü`,
		StoreURL: "redis://redis:6379/0", StorePasswordEnv: "REDIS_PASSWORD", Listen: ":9090", Timezone: "Europe/Berlin",
		Admins: []string{"slack:T1/U1", "discord:2"}, DataDir: "/var/lib/herald",
	}
	cfg := mustLoad(t, options(string(config.Render(a)), "CLOUD_KEY=k", "REDIS_PASSWORD=p"))
	got := config.Answers{
		ProviderName: cfg.Providers[0].Name, ProviderType: cfg.Providers[0].Type, BaseURL: cfg.Providers[0].BaseURL,
		APIKeyEnv: cfg.Providers[0].APIKeyEnv, Model: cfg.Models[0].Model,
		StoreURL: cfg.Store.URL, StorePasswordEnv: cfg.Store.PasswordEnv, Listen: cfg.HTTP.Listen, Timezone: cfg.Timezone,
		Admins: cfg.Admins, DataDir: cfg.DataDir,
	}
	if diff := cmp.Diff(a, got); diff != "" {
		t.Errorf("what was answered and what was loaded differ (-answered +loaded):\n%s", diff)
	}
}

func TestRenderedFileWithoutAnswersIsTheDefault(t *testing.T) {
	t.Parallel()
	rendered := mustLoad(t, options(string(config.Render(config.Answers{}))))
	if changes := config.Changes(mustLoad(t, options("")), rendered); len(changes) != 0 {
		t.Errorf("the rendered file changes %v", changes)
	}
}

// Whoever takes a comment mark away must get what the line shows, so each
// commented setting is tried by itself, its section's header with it.
func TestEachCommentedSettingLoads(t *testing.T) {
	t.Parallel()
	base := string(config.Render(config.Answers{
		ProviderName: "NAME", BaseURL: "http://localhost:1/v1", Model: "m", StoreURL: "redis://redis", Listen: ":1",
	}))
	all := strings.Split(base, "\n")
	header, tried := -1, 0
	for i, line := range all {
		code, commented := strings.CutPrefix(line, "# ")
		if strings.HasPrefix(code, "[") {
			header = i
		}
		if !commented || !strings.Contains(code, " = ") {
			continue
		}
		tried++
		key, _, _ := strings.Cut(code, " = ")
		edited := append([]string(nil), all...)
		edited[i] = code
		if header >= 0 {
			edited[header] = strings.TrimPrefix(all[header], "# ")
		}
		for j, l := range edited {
			if strings.HasPrefix(l, `url = "redis`) && key == "sqlite_sync" {
				edited[j] = `url = "sqlite:x.db"`
			}
			if strings.HasPrefix(l, `url = "redis`) && strings.HasPrefix(key, "sentinel_") {
				edited[j] = `url = "redis+sentinel://a,b/main"`
			}
		}
		env := []string{"OPENAI_API_KEY=k", "REDIS_PASSWORD=p", "SENTINEL_PASSWORD=s", "SLACK_BOT_TOKEN=xoxb-1", "SLACK_APP_TOKEN=xapp-1", "SLACK_SIGNING_SECRET=s", "SEARCH_API_KEY=k"}
		// Slack's secrets come together, so the line's companions stand in the environment.
		if strings.HasPrefix(key, "bot_token") {
			env = append(env, "HERALD_SLACK__APP_TOKEN_ENV=SLACK_APP_TOKEN")
		}
		if strings.HasPrefix(key, "app_token") || strings.HasPrefix(key, "signing_secret") {
			env = append(env, "HERALD_SLACK__BOT_TOKEN_ENV=SLACK_BOT_TOKEN")
		}
		if strings.HasPrefix(key, "signing_secret") {
			env = append(env, "HERALD_SLACK__MODE=http")
		}
		// A rule needs these two, whichever of its keys the line is.
		if header >= 0 && all[header] == "# [[rules]]" {
			env = append(env, "HERALD_RULES__1__TOOL=x", "HERALD_RULES__1__ACTION=require")
		}
		opts := options(strings.Join(edited, "\n"), env...)
		opts.ReadFile = both(opts.ReadFile, disk{
			"/run/secrets/redis_password": "p", "/run/secrets/openai_api_key": "k", "/run/secrets/sentinel_password": "s",
			"/run/secrets/slack_bot_token": "xoxb-1", "/run/secrets/slack_app_token": "xapp-1", "/run/secrets/slack_signing_secret": "s", "/run/secrets/search_api_key": "k",
		}.read)
		if _, err := config.Load(opts); err != nil {
			t.Errorf("line %d, %s: %v", i+1, code, err)
		}
	}
	if tried < 35 {
		t.Errorf("only %d settings are shown as comments", tried)
	}
}
