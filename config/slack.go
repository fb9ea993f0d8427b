package config

import "strings"

// Slack configures the connection to one Slack workspace.
type Slack struct {
	Mode              string `key:"mode"` // "socket" or "http"
	BotTokenEnv       string `key:"bot_token_env"`
	BotTokenFile      string `key:"bot_token_file"`
	AppTokenEnv       string `key:"app_token_env"`
	AppTokenFile      string `key:"app_token_file"`
	SigningSecretEnv  string `key:"signing_secret_env"`
	SigningSecretFile string `key:"signing_secret_file"`
	APIURL            string `key:"api_url"`
	Threads           string `key:"threads"` // "always" or "mention"
	// ThreadChannels are exceptions from Threads, each as "CHANNEL=always" or "CHANNEL=mention".
	ThreadChannels []string `key:"thread_channels"`
	Bots           string   `key:"bots"` // "ignore" or "mention"
	// Introduce: Herald introduces itself once where it is met.
	Introduce bool `key:"introduce"`

	// BotToken is set when Slack is connected at all. AppToken and SigningSecret are what the mode needs.
	BotToken      Secret
	AppToken      Secret
	SigningSecret Secret
}

// Enabled reports whether Herald connects to Slack.
func (s Slack) Enabled() bool { return s.BotToken.IsSet() }

// ChannelThreads returns the exceptions from Threads by channel.
func (s Slack) ChannelThreads() map[string]string {
	out := map[string]string{}
	for _, e := range s.ThreadChannels {
		channel, policy, _ := strings.Cut(e, "=")
		out[channel] = policy
	}
	return out
}

func slackSettings() []setting {
	return []setting{
		{
			key: "slack.bot_token_env", kind: envName, optional: true, sample: "SLACK_BOT_TOKEN", form: "name of a variable", check: checkEnvName, restart: true,
			doc: "Environment variable that holds the bot token (xoxb-…). With it Herald connects to Slack.",
		},
		{
			key: "slack.bot_token_file", kind: secretFile, optional: true, sample: "/run/secrets/slack_bot_token", restart: true,
			doc: "File that holds the bot token, instead of bot_token_env.",
		},
		{
			key: "slack.mode", kind: text, choices: []string{slackSocket, slackHTTP}, def: slackSocket, restart: true,
			doc: "How events come: socket opens a connection to Slack and needs no public address, http takes signed requests at /slack/events of http.listen.",
		},
		{
			key: "slack.app_token_env", kind: envName, optional: true, sample: "SLACK_APP_TOKEN", form: "name of a variable", check: checkEnvName, restart: true,
			doc: "Environment variable that holds the app-level token (xapp-…) for the mode socket.",
		},
		{
			key: "slack.app_token_file", kind: secretFile, optional: true, sample: "/run/secrets/slack_app_token", restart: true,
			doc: "File that holds the app-level token, instead of app_token_env.",
		},
		{
			key: "slack.signing_secret_env", kind: envName, optional: true, sample: "SLACK_SIGNING_SECRET", form: "name of a variable", check: checkEnvName, restart: true,
			doc: "Environment variable that holds the app's signing secret for the mode http.",
		},
		{
			key: "slack.signing_secret_file", kind: secretFile, optional: true, sample: "/run/secrets/slack_signing_secret", restart: true,
			doc: "File that holds the signing secret, instead of signing_secret_env.",
		},
		{
			key: "slack.api_url", kind: text, def: "https://slack.com/api/", form: "http(s)://HOST/PATH", check: checkBaseURL, restart: true,
			doc: "Address of Slack's Web API. Change it for GovSlack or for tests.",
		},
		{
			key: "slack.threads", kind: text, choices: []string{slackAlways, slackMention}, def: slackAlways, restart: true,
			doc: "Which messages of a thread that Herald takes part in it answers: always all that mention nobody else, mention only those that mention it.",
		},
		{
			key: "slack.thread_channels", kind: list, optional: true, sample: "C0123456789=mention", form: "CHANNEL=always | CHANNEL=mention", check: checkThreadChannel, restart: true,
			doc: "Channels in which another value of threads holds.",
		},
		{
			key: "slack.bots", kind: text, choices: []string{"ignore", slackMention}, def: "ignore", restart: true,
			doc: "Whether other bots are answered: ignore, or mention for those that mention Herald, within the limits of intake.bot_exchanges.",
		},
		{
			key: "slack.introduce", kind: truth, def: "true", restart: true,
			doc: "Herald says once what it is, what it keeps and who can review it: at a person's first direct message, at the first mention in a channel, and to the admins after it was installed.",
		},
	}
}

const (
	slackSocket  = "socket"
	slackHTTP    = "http"
	slackAlways  = "always"
	slackMention = "mention"
)

func checkThreadChannel(s string) *fault {
	channel, policy, ok := strings.Cut(s, "=")
	if !ok || policy != slackAlways && policy != slackMention {
		return faultf("%q does not say what holds in a channel", shorten(s)).withHint("write CHANNEL=always or CHANNEL=mention")
	}
	if len(channel) < 2 || strings.Trim(channel, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != "" {
		return faultf("%q is no id of a channel", shorten(channel)).withHint("take the id from the end of the channel's details in Slack, such as C0123456789")
	}
	return nil
}

// checkSlack fetches Slack's secrets and judges whether they fit the mode.
func (l *loader) checkSlack(cfg *Config) {
	s := &cfg.Slack
	s.BotToken = l.slackSecret("slack.bot_token", s.BotTokenEnv, s.BotTokenFile, "xoxb-", "a bot token begins with xoxb-; find it under OAuth & Permissions of the app")
	s.AppToken = l.slackSecret("slack.app_token", s.AppTokenEnv, s.AppTokenFile, "xapp-", "an app-level token begins with xapp-; make one under Basic Information of the app with the scope connections:write")
	s.SigningSecret = l.secret("slack.signing_secret", s.SigningSecretEnv, s.SigningSecretFile)
	bot, named := l.namedSecret("slack.bot_token")
	if !named {
		for _, key := range []string{"slack.app_token", "slack.signing_secret"} {
			if src, ok := l.namedSecret(key); ok && !l.spoiledSecret("slack.bot_token") {
				l.report(src.problem(key+"_env", faultf("is set, but no bot token").withHint("set slack.bot_token_env, or leave this out")))
			}
		}
		return
	}
	need, why := "slack.app_token", "Socket Mode"
	if s.Mode == slackHTTP {
		need, why = "slack.signing_secret", "events over HTTP"
	}
	if _, ok := l.namedSecret(need); !ok && !l.spoiledSecret(need) && !l.spoiled["slack.mode"] {
		l.report(bot.problem(need+"_env", faultf("is missing, and slack.mode = %q needs it for %s", s.Mode, why).
			withHint("set it to the name of a variable, or change slack.mode")))
	}
	if s.Mode == slackHTTP && cfg.HTTP.Listen == "off" {
		l.report(bot.problem("slack.mode", faultf("is http, but http.listen is off, so nothing can take Slack's requests").
			withHint("set http.listen, or slack.mode = \"socket\"")))
	}
}

// slackSecret fetches a token and refuses one of another kind, which Slack would only refuse at the first call.
func (l *loader) slackSecret(key, variable, file, prefix, hint string) Secret {
	v := l.secret(key, variable, file)
	if v.IsSet() && !strings.HasPrefix(v.Reveal(), prefix) {
		src, _ := l.namedSecret(key)
		ending := "_env"
		if _, ok := l.given[key+"_env"]; !ok {
			ending = "_file"
		}
		l.report(src.problem(key+ending, faultf("names a token of another kind").withHint("%s", hint)))
		return Secret{}
	}
	return v
}
