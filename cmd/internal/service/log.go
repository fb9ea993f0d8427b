package service

import (
	"io"
	"log/slog"

	"herald/cmd/internal/redact"
	"herald/config"
)

// NewLogger makes the log of a configuration on w: its level can be changed through level, and no secret of secrets passes.
func NewLogger(w io.Writer, format string, level *slog.LevelVar, secrets *redact.Secrets) *slog.Logger {
	o := &slog.HandlerOptions{Level: level}
	var h slog.Handler = slog.NewTextHandler(w, o)
	if format == "json" {
		h = slog.NewJSONHandler(w, o)
	}
	return slog.New(secrets.Handler(h))
}

// Level is the level that a configuration names.
func Level(cfg *config.Config) slog.Level {
	var l slog.Level
	// The configuration was checked: an unknown word cannot come here, and would mean "info".
	_ = l.UnmarshalText([]byte(cfg.Log.Level))
	return l
}

// SecretsOf are the secrets that a configuration holds.
func SecretsOf(cfg *config.Config) []string {
	out := []string{cfg.Store.Password.Reveal(), cfg.Store.SentinelPassword.Reveal()}
	out = append(out, cfg.Slack.BotToken.Reveal(), cfg.Slack.AppToken.Reveal(), cfg.Slack.SigningSecret.Reveal())
	out = append(out, cfg.Web.SearchKey.Reveal())
	for _, p := range cfg.Providers {
		out = append(out, p.APIKey.Reveal())
	}
	return out
}
