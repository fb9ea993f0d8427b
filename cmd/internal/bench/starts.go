package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// measureStarts builds the shipped program as it is shipped and starts it n times on an embedded store that exists, with a model
// that is configured and never called. It measures the time from exec to ready, and the memory of the idle program.
func measureStarts(ctx context.Context, n int, dir string, r *report) error {
	program := filepath.Join(dir, "herald")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", program, "herald/cmd/herald")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build it: %w: %s", err, out)
	}
	home, err := os.MkdirTemp(dir, "home")
	if err != nil {
		return err
	}
	for i := range n + 1 {
		cmd := exec.Command(program, "run")
		cmd.Dir = home
		cmd.Env = []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + home, "HERALD_DATA_DIR=" + home, "HERALD_HTTP__LISTEN=127.0.0.1:0",
			"HERALD_PROVIDERS__LAB__BASE_URL=http://127.0.0.1:9/v1", "HERALD_PROVIDERS__LAB__DEFAULT_MODEL=none",
		}
		p, took, err := startProc(ctx, cmd)
		if err != nil {
			return err
		}
		if i > 0 { // the first start makes the store and fills the page cache
			r.start(startReady, ms(took))
		}
		if i == n {
			pause(ctx, 2*time.Second)
			reading, err := p.counters(ctx)
			if err != nil {
				return errors.Join(err, p.stop())
			}
			rss, err := reading.of("process_resident_memory_bytes")
			if err != nil {
				return errors.Join(err, p.stop())
			}
			r.start(startRSS, rss/(1<<20))
		}
		if err := p.stop(); err != nil {
			return err
		}
	}
	return nil
}
