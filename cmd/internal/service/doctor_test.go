package service_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"herald/agents"
	"herald/cmd/internal/service"
	"herald/config"
	"herald/core/model"
	"herald/core/model/modeltest"
	"herald/core/store"
	"herald/core/store/memory"
)

// find is the worst check of a name.
func find(t *testing.T, checks service.Checks, name string) service.Check {
	t.Helper()
	var found *service.Check
	for i, c := range checks {
		if c.Status != service.Good && c.Remedy == "" {
			t.Errorf("%s: %q has no remedy", c.Name, c.Text)
		}
		if c.Name == name && (found == nil || found.Status == service.Good) {
			found = &checks[i]
		}
	}
	if found == nil {
		t.Fatalf("no check %q among %+v", name, checks)
	}
	return *found
}

func TestCheckStore(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	st := memory.New(memory.Options{Clock: func() time.Time { return at }})
	tests := []struct {
		name  string
		skew  time.Duration
		clock service.Status
	}{
		{"agrees", 0, service.Good},
		{"a little off", -1900 * time.Millisecond, service.Good},
		{"ahead", 10 * time.Minute, service.Warn},
		{"behind", -10 * time.Minute, service.Warn},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			checks := service.CheckStore(t.Context(), st, func() time.Time { return at.Add(tt.skew) })
			if c := find(t, checks, "clock"); c.Status != tt.clock {
				t.Errorf("clock: %+v", c)
			}
			if c := find(t, checks, "store"); c.Status != service.Warn {
				t.Errorf("a store in memory passes without a warning: %+v", c)
			}
		})
	}
	closed := memory.New(memory.Options{})
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	if c := find(t, service.CheckStore(t.Context(), closed, time.Now), "store"); c.Status != service.Bad {
		t.Errorf("a store that is closed: %+v", c)
	}
}

func TestStoreFault(t *testing.T) {
	t.Parallel()
	tests := []struct {
		err  error
		want string
	}{
		{store.ErrMissing, "herald store create"},
		{store.ErrInUse, "socket"},
		{store.ErrNewer, "newer"},
		{store.ErrChanged, "backup"},
		{store.ErrFull, "make room"},
		{store.ErrReadOnly, "primary"},
		{store.ErrCorrupt, "backup"},
		{store.ErrUnavailable, "store.url"},
		{fs.ErrPermission, "right"},
		{errors.New("anything"), "message"},
	}
	for _, tt := range tests {
		c := service.StoreFault(fmt.Errorf("open: %w", tt.err))
		if c.Status != service.Bad || !strings.Contains(c.Remedy, tt.want) || !strings.Contains(c.Text, tt.err.Error()) {
			t.Errorf("%v: %+v", tt.err, c)
		}
	}
}

func TestCheckModels(t *testing.T) {
	t.Parallel()
	cfg := load(t)
	failing := modeltest.Always(modeltest.Fail(&model.Error{Kind: model.Auth, Model: "script", Status: 401}))
	tests := []struct {
		name   string
		models []model.Configured
		ask    bool
		status service.Status
		want   string
	}{
		{"none", nil, false, service.Bad, "no model is configured"},
		{"not asked", scripted(failing), false, service.Good, "--ask"},
		{"answers", scripted(modeltest.Echo()), true, service.Good, "answered"},
		{"refuses", scripted(failing), true, service.Bad, "auth"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := find(t, service.CheckModels(t.Context(), cfg, tt.models, tt.ask), "models")
			if c.Status != tt.status || !strings.Contains(c.Text, tt.want) {
				t.Errorf("got %+v", c)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	slow := scripted(modeltest.Always(modeltest.Reply{Text: "x", FirstDelay: time.Hour}))
	if c := service.AskModel(ctx, slow[0]); c.Status != service.Bad {
		t.Errorf("an ended call: %+v", c)
	}
}

func TestCheckAgents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(id, text string) {
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, id), 0o755), os.WriteFile(filepath.Join(dir, id, "AGENT.md"), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	cfg := load(t, "HERALD_AGENTS__DIR="+dir)
	check := func() service.Check {
		return find(t, service.CheckAgents(cfg, agents.Open(service.AgentOptions(cfg, slog.New(slog.DiscardHandler)))), "agents")
	}
	if c := check(); c.Status != service.Good || !strings.HasSuffix(c.Text, " found") {
		t.Errorf("built-ins alone: %+v", c)
	}
	write("ada", "---\ntype: chat\nmodel: fast\n---\nHello.")
	if c := check(); c.Status != service.Bad || !strings.Contains(c.Text, `the model "fast"`) || !strings.Contains(c.Remedy, "[models.fast]") {
		t.Errorf("a model that is none: %+v", c)
	}
	write("ada", "broken")
	if c := check(); c.Status != service.Bad || !strings.Contains(c.Text, "AGENT.md:1") {
		t.Errorf("a broken file: %+v", c)
	}
	write("ada", "---\ntype: chat\n---\nHello.")
	write("main", "broken")
	if c := check(); c.Status != service.Warn || !strings.Contains(c.Text, "stands in, without tools") {
		t.Errorf("a broken file with a built-in behind it: %+v", c)
	}
}

func TestCheckDataDir(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	open := t.TempDir()
	if err := os.Chmod(open, 0o755); err != nil {
		t.Fatal(err)
	}
	private := t.TempDir()
	if err := os.Chmod(private, 0o700); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, dir string
		want      service.Status
	}{
		{"private", private, service.Good},
		{"open to all", open, service.Warn},
		{"not there yet", filepath.Join(private, "new"), service.Good},
		{"a file", file, service.Bad},
		{"below a file", filepath.Join(file, "x"), service.Bad},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := service.CheckDataDir(&config.Config{DataDir: tt.dir})
			if c.Status != tt.want || c.Status != service.Good && c.Remedy == "" {
				t.Errorf("got %+v", c)
			}
		})
	}
	left, err := os.ReadDir(private)
	if err != nil || len(left) > 0 {
		t.Errorf("the check left something behind: %v, %v", left, err)
	}
}
