package redact_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"herald/cmd/internal/redact"
)

const canary = "sk-canary/4711+&x"

type printed struct{ key string }

func (p printed) String() string { return "key=" + p.key }

type valued struct{ key string }

func (v valued) LogValue() slog.Value { return slog.StringValue(v.key) }

func TestHandler(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		log  func(l *slog.Logger)
	}{
		{"message", func(l *slog.Logger) { l.Info("key " + canary) }},
		{"text", func(l *slog.Logger) { l.Info("x", "key", canary) }},
		{"error", func(l *slog.Logger) { l.Info("x", "err", fmt.Errorf("call: %w", errors.New(canary))) }},
		{"struct", func(l *slog.Logger) { l.Info("x", "v", struct{ K string }{canary}) }},
		{"map", func(l *slog.Logger) { l.Info("x", "v", map[string]string{"k": canary}) }},
		{"Stringer", func(l *slog.Logger) { l.Info("x", "v", printed{canary}) }},
		{"LogValuer", func(l *slog.Logger) { l.Info("x", "v", valued{canary}) }},
		{"group", func(l *slog.Logger) { l.Info("x", slog.Group("g", slog.Group("h", "k", canary))) }},
		{"With", func(l *slog.Logger) { l.With("k", canary).WithGroup("g").Info("x") }},
		{"in a URL", func(l *slog.Logger) { l.Info("x", "u", "redis://:"+url.QueryEscape(canary)+"@h") }},
		{"in base64", func(l *slog.Logger) { l.Info("x", "h", base64.StdEncoding.EncodeToString([]byte(canary))) }},
		{"within a longer secret", func(l *slog.Logger) { l.Info("x", "v", canary+"-and-more") }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var s redact.Secrets
			s.Set(canary, canary+"-and-more", "")
			var buf bytes.Buffer
			tt.log(slog.New(s.Handler(slog.NewJSONHandler(&buf, nil))))
			for _, part := range []string{"canary", url.QueryEscape(canary), base64.StdEncoding.EncodeToString([]byte(canary)), "and-more"} {
				if strings.Contains(buf.String(), part) {
					t.Errorf("%q leaked: %s", part, &buf)
				}
			}
			if !strings.Contains(buf.String(), redact.Placeholder) {
				t.Errorf("no placeholder: %s", &buf)
			}
		})
	}
}

func TestKeepsTheRest(t *testing.T) {
	t.Parallel()
	var s redact.Secrets
	var buf bytes.Buffer
	l := slog.New(s.Handler(slog.NewTextHandler(&buf, &slog.HandlerOptions{Level: slog.LevelWarn})))
	l.Warn("one", "n", 7, "ok", true)
	if got := buf.String(); !strings.Contains(got, "msg=one n=7 ok=true") {
		t.Errorf("without secrets: %s", got)
	}
	s.Set("ab") // too short: it would be cut out of ordinary words
	buf.Reset()
	l.Info("not enabled")
	l.Warn("abc")
	if got := buf.String(); strings.Contains(got, "not enabled") || !strings.Contains(got, "abc") {
		t.Errorf("got %s", got)
	}
	s.Set("secret-one")
	s.Set("secret-two")
	if got := s.Clean("secret-one secret-two"); got != "secret-one "+redact.Placeholder {
		t.Errorf("after a change: %q", got)
	}
}
