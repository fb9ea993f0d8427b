package control_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"herald/cmd/internal/control"
)

// short is a folder whose path leaves room for a socket's name, which t.TempDir does not everywhere.
func short(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "hc")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func serve(t *testing.T, l net.Listener, h http.Handler) {
	t.Helper()
	s := &http.Server{Handler: h}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l)
	}()
	t.Cleanup(func() {
		_ = s.Close()
		<-done
	})
}

func TestAsk(t *testing.T) {
	t.Parallel()
	path := filepath.Join(short(t), "new", "herald.sock")
	c := control.NewClient(path)
	defer c.Close()
	var got struct{ Name string }
	if err := c.Get(t.Context(), "/x", &got); !errors.Is(err, control.ErrNotRunning) {
		t.Fatalf("before: %v", err)
	}
	l, err := control.Listen(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/x", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{"Name": "herald"})
	})
	mux.HandleFunc("/odd", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) })
	serve(t, l, mux)
	if err := c.Get(t.Context(), "/x", &got); err != nil || got.Name != "herald" {
		t.Errorf("got %+v, %v", got, err)
	}
	if err := c.Get(t.Context(), "/none", &got); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("a missing route: %v", err)
	}
	if err := c.Get(t.Context(), "/odd", &got); err == nil || !strings.Contains(err.Error(), "another version") {
		t.Errorf("an odd answer: %v", err)
	}
	conn, err := c.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Get(ctx, "/x", &got); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v", err)
	}
}

func TestRights(t *testing.T) {
	t.Parallel()
	dir := short(t)
	path := filepath.Join(dir, "herald.sock")
	l, err := control.Listen(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("something was left beside it: %v, %v", entries, err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it stays after the end: %v", err)
	}
}

func TestSecondService(t *testing.T) {
	t.Parallel()
	path := filepath.Join(short(t), "herald.sock")
	l, err := control.Listen(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	serve(t, l, http.NotFoundHandler())
	if _, err := control.Listen(t.Context(), path); !errors.Is(err, control.ErrInUse) || !strings.Contains(err.Error(), "set socket") {
		t.Errorf("got %v", err)
	}
}

// What a service that was killed left behind is no obstacle, and its successor's socket outlives its late end.
func TestLeftBehind(t *testing.T) {
	t.Parallel()
	path := filepath.Join(short(t), "herald.sock")
	old, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	old.SetUnlinkOnClose(false)
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	if err := control.NewClient(path).Get(t.Context(), "/", nil); !errors.Is(err, control.ErrNotRunning) {
		t.Errorf("a socket without a service: %v", err)
	}
	first, err := control.Listen(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	second, err := control.Listen(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	_ = first.Close()
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the end of the first removed the socket of the second: %v", err)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	dir := short(t)
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, path, want string }{
		{"a file where the folder belongs", filepath.Join(file, "herald.sock"), "folder cannot be made"},
		{"a path that is too long", filepath.Join(dir, strings.Repeat("x", 120)), "too long"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := control.Listen(t.Context(), tt.path)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	if err := control.NewClient(filepath.Join(file, "x")).Get(t.Context(), "/", nil); !errors.Is(err, control.ErrNotRunning) {
		t.Errorf("got %v", err)
	}
}
