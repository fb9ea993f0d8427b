package slack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// CommandName is the slash command.
const CommandName = "/herald"

// ManifestOptions fill the manifest of the app.
type ManifestOptions struct {
	// Name of the app and its bot; "Herald" when empty. At most 35 characters.
	Name string
	Mode Mode
	// RequestURL is where Slack reaches Herald, such as https://herald.example.org/slack/events; needed by the mode HTTP alone.
	RequestURL string
}

// Manifest is the app as Slack is told to make it, in JSON: paste it under "Create New App", "From a manifest".
func Manifest(o ManifestOptions) ([]byte, error) {
	if o.Name == "" {
		o.Name = "Herald"
	}
	if len([]rune(o.Name)) > 35 {
		return nil, fmt.Errorf("make the manifest of the Slack app: the name %q has more than 35 characters", o.Name)
	}
	http := o.Mode == HTTP
	if http && !strings.HasPrefix(o.RequestURL, "https://") {
		return nil, errors.New("make the manifest of the Slack app: events over HTTP need the https address at which Slack reaches Herald")
	}
	command := map[string]any{
		"command": CommandName, "description": "Talk to Herald and tune it", "usage_hint": "ask [agent] TEXT | help | status | stop | new | why", "should_escape": true,
	}
	events := map[string]any{"bot_events": BotEvents()}
	interactivity := map[string]any{"is_enabled": true}
	if http {
		command["url"], events["request_url"], interactivity["request_url"] = o.RequestURL, o.RequestURL, o.RequestURL
	}
	scopes := make([]string, 0, len(BotScopes()))
	for _, s := range BotScopes() {
		scopes = append(scopes, s.Name)
	}
	m := map[string]any{
		"_metadata":           map[string]any{"major_version": 2, "minor_version": 0},
		"display_information": map[string]any{"name": o.Name, "description": "LLM agents for the group of people that you are"},
		"features": map[string]any{
			"app_home":       map[string]any{"home_tab_enabled": false, "messages_tab_enabled": true, "messages_tab_read_only_enabled": false},
			"bot_user":       map[string]any{"display_name": o.Name, "always_online": true},
			"slash_commands": []any{command},
			"agent_view":     map[string]any{"agent_description": "Answers questions, remembers what you ask it to, and works with the tools that your admins allow", "suggested_prompts": Prompts()},
		},
		"oauth_config": map[string]any{"scopes": map[string]any{"bot": scopes}},
		"settings": map[string]any{
			"event_subscriptions": events, "interactivity": interactivity, "org_deploy_enabled": false, "socket_mode_enabled": !http, "token_rotation_enabled": false,
		},
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(m); err != nil {
		return nil, fmt.Errorf("make the manifest of the Slack app: %w", err)
	}
	return b.Bytes(), nil
}
