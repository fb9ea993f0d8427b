package redistest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// MasterName is what a Sentinel calls the master that it watches.
const MasterName = "mymaster"

// Sentinel is a lone Sentinel (of a quorum of one) that watches a master and its replicas.
type Sentinel struct{ *Server }

// RunSentinel starts a Sentinel for a test and stops it at its end.
func RunSentinel(t testing.TB, master *Server) *Sentinel {
	t.Helper()
	s, err := startSentinel(context.Background(), master, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func startSentinel(ctx context.Context, master *Server, dir string) (*Sentinel, error) {
	s, err := prepare(Options{Dir: dir}, false)
	if err != nil {
		return nil, err
	}
	if s.port, err = freePort(); err != nil {
		return nil, err
	}
	// A Sentinel keeps what it learns in its own file, so it must have one.
	conf := filepath.Join(dir, "sentinel.conf")
	lines := []string{
		fmt.Sprintf("port %d", s.port), "bind 127.0.0.1", "dir " + dir, `logfile ""`,
		fmt.Sprintf("sentinel monitor %s 127.0.0.1 %d 1", MasterName, master.port),
		"sentinel down-after-milliseconds " + MasterName + " 500",
		"sentinel failover-timeout " + MasterName + " 2000",
	}
	if err := os.WriteFile(conf, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		return nil, err
	}
	p, err := start(s.path, []string{conf, "--sentinel"}, "+monitor master")
	if err != nil {
		return nil, err
	}
	s.proc = p
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if err := s.Ready(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	// By default it looks for replicas every ten seconds.
	if _, err := s.Do(ctx, "sentinel", "debug", "info-period", 200, "publish-period", 200, "ping-period", 100); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &Sentinel{s}, nil
}

// URL is that of a store whose master this Sentinel knows.
func (s *Sentinel) URL() string { return "redis+sentinel://" + s.Addr() + "/" + MasterName }

// Failover makes a replica the master, and returns when the Sentinel says that it is. It waits until the Sentinel has a replica to choose.
func (s *Sentinel) Failover(ctx context.Context) error {
	before, err := s.master(ctx)
	if err != nil {
		return err
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for asked := false; ; {
		if !asked {
			_, err := s.Do(ctx, "sentinel", "failover", MasterName)
			if err != nil && !strings.Contains(err.Error(), "NOGOODSLAVE") {
				return err
			}
			asked = err == nil
		}
		if now, err := s.master(ctx); err != nil || now != before {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("no failover: %w", ctx.Err())
		}
	}
}

func (s *Sentinel) master(ctx context.Context) (string, error) {
	addr, err := s.Do(ctx, "sentinel", "get-master-addr-by-name", MasterName)
	return fmt.Sprint(addr), err
}
