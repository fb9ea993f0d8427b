package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"herald/config"
)

func TestChanges(t *testing.T) {
	t.Parallel()
	base := options(local+"api_key_env = \"KEY\"\n", "KEY=a")
	tests := []struct {
		name string
		to   config.Options
		want []config.Change
	}{
		{"none", base, nil},
		{"comments and order are no change", options("# x\n"+local+"\napi_key_env = \"KEY\"\n", "KEY=a"), nil},
		{"a value that is the default", options(local+"api_key_env = \"KEY\"\n[log]\nlevel = \"info\"\n", "KEY=a"), nil},
		{
			"one that counts at once and one that does not",
			options(local+"api_key_env = \"KEY\"\n[log]\nlevel = \"warn\"\nformat = \"json\"\n", "KEY=a"),
			[]config.Change{{Key: "log.level"}, {Key: "log.format", Restart: true}},
		},
		{"a key's content", options(local+"api_key_env = \"KEY\"\n", "KEY=b"), []config.Change{{Key: "providers.local.api_key_env"}}},
		{
			"a model that came", options(local+"api_key_env = \"KEY\"\n[models.local]\nstrength = \"low\"\n", "KEY=a"),
			[]config.Change{{Key: "models.local.strength"}},
		},
		{
			"a provider that went", options("", "KEY=a"),
			[]config.Change{
				{Key: "providers.local.type"},
				{Key: "providers.local.base_url"},
				{Key: "providers.local.api_key_env"},
				{Key: "providers.local.default_model"},
				{Key: "providers.local.stream_usage"},
				{Key: "models.local.provider"},
				{Key: "models.local.model"},
				{Key: "models.local.priority"},
				{Key: "models.local.context_tokens"},
				{Key: "models.local.images"},
				{Key: "models.local.thinking"},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			from, to := mustLoad(t, base), mustLoad(t, tt.to)
			if diff := cmp.Diff(tt.want, config.Changes(from, to)); diff != "" {
				t.Errorf("changes differ (-want +got):\n%s", diff)
			}
			if back := config.Changes(to, from); len(back) != len(tt.want) {
				t.Errorf("the way back has other changes: %v", back)
			}
		})
	}
}

func TestChangedPasswordOfTheStore(t *testing.T) {
	t.Parallel()
	inURL := func(password string) config.Options {
		return options("[store]\nurl = \"redis://:" + password + "@redis\"\n")
	}
	inEnv := func(password string) config.Options {
		return options("[store]\nurl = \"redis://redis\"\npassword_env = \"P\"\n", "P="+password)
	}
	ofSentinels := func(password string) config.Options {
		return options("[store]\nurl = \"redis+sentinel://s/m\"\nsentinel_password_env = \"P\"\n", "P="+password)
	}
	for name, load := range map[string]func(string) config.Options{
		"in the URL": inURL, "in a variable": inEnv, "of the sentinels": ofSentinels,
	} {
		changes := config.Changes(mustLoad(t, load("a")), mustLoad(t, load("b")))
		if len(changes) == 0 || !changes[0].Restart {
			t.Errorf("%s: changes are %v, want one that needs a restart", name, changes)
		}
	}
}

func TestRestartError(t *testing.T) {
	t.Parallel()
	err := &config.RestartError{Keys: []string{"store.url", "http.listen"}}
	const want = "changed in the configuration, but needs a restart to take effect: store.url, http.listen; restart Herald, or take the change back"
	if err.Error() != want {
		t.Errorf("text: %s", err)
	}
}
