package service

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"herald/cmd/internal/redact"
	"herald/core/tool"
	"herald/skills"
)

func TestListSkills(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"invoices", "reports"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		text := "---\nname: " + name + "\ndescription: Writes " + name + ".\n---\nDo it.\n"
		if err := os.WriteFile(filepath.Join(dir, name, "SKILL.md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := &Service{opts: Options{Secrets: &redact.Secrets{}}, authors: &authors{
		skills: skills.Open(skills.Options{Shared: []skills.Folder{{Path: dir}}, Clock: time.Now, Log: slog.New(slog.DiscardHandler)}),
		use: skills.Use{Selector: func(_ context.Context, agent string) (skills.Selector, error) {
			return skills.Selector{Chosen: agent == "one", Names: []string{"reports"}}, nil
		}},
	}}
	for agent, want := range map[string]string{
		"main": "- **invoices** — Writes invoices.\n- **reports** — Writes reports.", "one": "- **reports** — Writes reports.",
	} {
		if got, err := s.listSkills(t.Context(), tool.Scope{Agent: agent}); got != want || err != nil {
			t.Errorf("%s: %q, %v", agent, got, err)
		}
	}
}
