package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herald/config"
)

func TestSlack(t *testing.T) {
	t.Parallel()
	env := []string{"BOT=xoxb-1", "APP=xapp-1", "SIGN=s3", "OTHER=xoxp-9"}
	for _, tt := range []struct {
		name, text string
		// want is a part of the problem; empty for none.
		want string
	}{
		{"off", "", ""},
		{"socket", "[slack]\nbot_token_env = 'BOT'\napp_token_env = 'APP'", ""},
		{"http", "[slack]\nmode = 'http'\nbot_token_env = 'BOT'\nsigning_secret_env = 'SIGN'", ""},
		{"socket without app token", "[slack]\nbot_token_env = 'BOT'", "slack.app_token_env: is missing"},
		{"http without signing secret", "[slack]\nmode = 'http'\nbot_token_env = 'BOT'\napp_token_env = 'APP'", "slack.signing_secret_env: is missing"},
		{"http without a listener", "[http]\nlisten = 'off'\n[slack]\nmode = 'http'\nbot_token_env = 'BOT'\nsigning_secret_env = 'SIGN'", "http.listen is off"},
		{"app token alone", "[slack]\napp_token_env = 'APP'", "no bot token"},
		{"a person's token", "[slack]\nbot_token_env = 'OTHER'\napp_token_env = 'APP'", "token of another kind"},
		{"the tokens swapped", "[slack]\nbot_token_env = 'APP'\napp_token_env = 'BOT'", "token of another kind"},
		{"unset", "[slack]\nbot_token_env = 'NO_BOT'\napp_token_env = 'APP'", "NO_BOT is not set"},
		{"literal token", "[slack]\nbot_token = 'xoxb-1'", "bot_token"},
		{"mode", "[slack]\nmode = 'rtm'", "slack.mode"},
		{"channel", "[slack]\nthread_channels = ['general=mention']", "no id of a channel"},
		{"policy", "[slack]\nthread_channels = ['C1=never']", "does not say what holds"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Load(options(tt.text, env...))
			if tt.want == "" && err != nil {
				t.Fatal(err)
			}
			if tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want a problem with %q", err, tt.want)
			}
			if err != nil && (strings.Contains(err.Error(), "xoxp-9") || strings.Contains(err.Error(), "xoxb-1")) {
				t.Errorf("the problem repeats a secret: %v", err)
			}
		})
	}
}

func TestSlackValues(t *testing.T) {
	t.Parallel()
	cfg := mustLoad(t, options("[slack]\nbot_token_env = 'BOT'\napp_token_env = 'APP'\nthread_channels = ['C1=mention', 'C2=always']\nbots = 'mention'", "BOT=xoxb-1", "APP=xapp-1"))
	if !cfg.Slack.Enabled() || cfg.Slack.BotToken.Reveal() != "xoxb-1" || cfg.Slack.AppToken.Reveal() != "xapp-1" {
		t.Error("the tokens did not arrive")
	}
	if diff := cmp.Diff(map[string]string{"C1": "mention", "C2": "always"}, cfg.Slack.ChannelThreads()); diff != "" {
		t.Error(diff)
	}
	if cfg.Slack.Bots != "mention" || cfg.Slack.Threads != "always" || cfg.Slack.APIURL == "" {
		t.Errorf("got %+v", cfg.Slack)
	}
	if mustLoad(t, options("")).Slack.Enabled() {
		t.Error("without a token Slack is connected")
	}
}
