package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"herald/bots/slack"
	"herald/cmd/internal/service"
	"herald/config"
)

// The variables that init proposes for Slack's secrets.
const (
	slackBotTokenEnv      = "SLACK_BOT_TOKEN"
	slackAppTokenEnv      = "SLACK_APP_TOKEN"
	slackSigningSecretEnv = "SLACK_SIGNING_SECRET"
)

// slack asks whether to connect to Slack, prints the manifest of the app and tries what it is given. A person who says nothing, or whose input has
// ended, connects none.
func (w *wizard) slack() error {
	if !w.Slack {
		a, err := w.optional("Connect to a Slack workspace (y/n)?", "n")
		if err != nil || !strings.HasPrefix(strings.ToLower(a), "y") {
			return err
		}
	}
	o := slack.ManifestOptions{Mode: slack.Socket}
	mode, err := w.ask("How events come: socket needs no public address, http needs one", "", string(o.Mode))
	if err != nil {
		return err
	}
	if o.Mode = slack.Mode(mode); o.Mode == slack.HTTP {
		if o.RequestURL, err = w.ask("The https address at which Slack reaches Herald, with /slack/events", "", ""); err != nil {
			return err
		}
	}
	if o.Name, err = w.ask("Name of the app in Slack", "", "Herald"); err != nil {
		return err
	}
	manifest, err := slack.Manifest(o)
	if err != nil {
		return usagef("%v", err)
	}
	fmt.Fprintf(w.env.Err, "Make the app at https://api.slack.com/apps with \"Create New App\", \"From a manifest\", and this manifest, then install it:\n\n%s\n", manifest)
	for {
		if err := w.askSlack(o.Mode); err != nil {
			return err
		}
		err := w.trySlack()
		if err == nil {
			return nil
		}
		retry, err := w.again(err)
		if err != nil || !retry {
			return err
		}
	}
}

// askSlack asks where the app's secrets stand.
func (w *wizard) askSlack(mode slack.Mode) error {
	w.answers.SlackMode, w.answers.SlackAppTokenEnv, w.answers.SlackSigningSecretEnv = string(mode), "", ""
	setBot := func(name string) { w.answers.SlackBotTokenEnv = name }
	if err := w.secret("Environment variable that holds the bot token (xoxb-…, under OAuth & Permissions)", "", slackBotTokenEnv, "xoxb-later", setBot,
		"slack.bot_token_env"); err != nil {
		return err
	}
	if mode == slack.HTTP {
		set := func(name string) { w.answers.SlackSigningSecretEnv = name }
		return w.secret("Environment variable that holds the signing secret (under Basic Information)", "", slackSigningSecretEnv, "later", set,
			"slack.signing_secret_env")
	}
	set := func(name string) { w.answers.SlackAppTokenEnv = name }
	return w.secret("Environment variable that holds the app-level token (xapp-…, under Basic Information, with "+slack.AppScope+")", "", slackAppTokenEnv,
		"xapp-later", set, "slack.app_token_env")
}

// optional asks what need not be answered: without a person, or at the end of the input, it is def.
func (w *wizard) optional(question, def string) (string, error) {
	if w.Yes {
		return def, nil
	}
	fmt.Fprintf(w.env.Err, "%s [%s]: ", question, def)
	line, err := w.in.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return cmp.Or(strings.TrimSpace(line), def), nil
}

func (w *wizard) trySlack() error {
	cfg, err := w.try()
	if err != nil || w.NoTest {
		return err
	}
	if names := w.unset(w.answers.SlackBotTokenEnv, w.answers.SlackAppTokenEnv, w.answers.SlackSigningSecretEnv); len(names) > 0 {
		fmt.Fprintf(w.env.Err, "Slack is not asked: nothing stands in %s yet\n", strings.Join(names, " and "))
		return nil
	}
	return slackTrouble(service.CheckSlack(w.env.ctx, cfg), cfg)
}

// slackTrouble is the first thing that does not work.
func slackTrouble(checks service.Checks, cfg *config.Config) error {
	if !cfg.Slack.Enabled() {
		return usagef("no bot token was named")
	}
	for _, c := range checks {
		if c.Status == service.Bad {
			return codeError{Failed, errors.New(c.Text + "; " + c.Remedy)}
		}
	}
	return nil
}
