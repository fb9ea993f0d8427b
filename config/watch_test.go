package config_test

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"herald/config"
)

// served runs Watch on real files and returns the levels that it applies.
func served(t *testing.T, dir string) (applied chan string, signal chan os.Signal) {
	t.Helper()
	opts := config.Options{File: filepath.Join(dir, "herald.toml"), Dir: dir, Env: []string{"HOME=/home/ada"}}
	current, err := config.Load(opts)
	if err != nil {
		t.Fatal(err)
	}
	applied, signal = make(chan string, 10), make(chan os.Signal)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- config.Watch(ctx, config.WatchOptions{
			Load: opts, Current: current, Signal: signal, Settle: 5 * time.Millisecond,
			Apply:  func(c *config.Config) { applied <- c.Log.Level },
			Report: func(err error) { t.Logf("report: %v", err) },
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Watch ended with %v", err)
		}
	})
	return applied, signal
}

func await(t *testing.T, applied <-chan string, want string) {
	t.Helper()
	// A file may be seen twice, so earlier levels are let pass.
	timeout := time.After(20 * time.Second)
	for {
		select {
		case got := <-applied:
			if got == want {
				return
			}
		case <-timeout:
			t.Fatalf("level %q was not applied", want)
		}
	}
}

func write(t *testing.T, path, level string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("[log]\nlevel = \""+level+"\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestWatchOnDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "herald.toml")
	write(t, file, "info")
	applied, signal := served(t, dir)

	write(t, file, "warn")
	await(t, applied, "warn")

	// As editors do it: write beside, then rename over.
	for _, level := range []string{"debug", "error"} {
		write(t, file+".tmp", level)
		if err := os.Rename(file+".tmp", file); err != nil {
			t.Fatal(err)
		}
		await(t, applied, level)
	}

	signal <- syscall.SIGHUP
	await(t, applied, "error")
}

// Kubernetes mounts a ConfigMap as links over links and swaps the middle one.
func TestWatchOnAMountedConfigMap(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	version := func(name, level string) {
		t.Helper()
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name, "herald.toml"), level)
		if err := os.Symlink(name, filepath.Join(dir, "..data_tmp")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")); err != nil {
			t.Fatal(err)
		}
	}
	version("..1", "info")
	if err := os.Symlink(filepath.Join("..data", "herald.toml"), filepath.Join(dir, "herald.toml")); err != nil {
		t.Fatal(err)
	}
	applied, _ := served(t, dir)
	version("..2", "warn")
	await(t, applied, "warn")
	version("..3", "debug")
	await(t, applied, "debug")
}
