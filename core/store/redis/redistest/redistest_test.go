package redistest_test

import (
	"context"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"herald/core/store/redis/redistest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func do(t *testing.T, s *redistest.Server, args ...any) any {
	t.Helper()
	v, err := s.Do(t.Context(), args...)
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return v
}

func TestServerKeepsItsDataOverACrash(t *testing.T) {
	t.Parallel()
	for aof, kept := range map[string]bool{"everysec": true, "always": true, "none": false} {
		t.Run(aof, func(t *testing.T) {
			t.Parallel()
			s := redistest.Run(t, redistest.Options{AOF: aof})
			addr := s.Addr()
			do(t, s, "set", "k", "v")
			if aof != "none" {
				if err := s.Written(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			s.Kill()
			if s.PID() != 0 {
				t.Error("a killed server has a process")
			}
			if c, err := net.Dial("tcp", addr); err == nil {
				_ = c.Close()
				t.Error("somebody still listens")
			}
			if err := s.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := do(t, s, "exists", "k"); n != int64(map[bool]int{true: 1}[kept]) || s.Addr() != addr {
				t.Errorf("at %s (before %s) there are %v keys", s.Addr(), addr, n)
			}
			if err := s.Wipe(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := do(t, s, "dbsize"); n != int64(0) {
				t.Errorf("%v keys after wiping", n)
			}
		})
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	s := redistest.Run(t, redistest.Options{MaxMemory: "8mb", Password: "secret", Args: []string{"--databases", "3"}})
	for name, want := range map[string]string{"maxmemory": "8388608", "maxmemory-policy": "noeviction", "databases": "3", "appendonly": "yes", "appendfsync": "everysec"} {
		if got := do(t, s, "config", "get", name).([]any); got[1] != want {
			t.Errorf("%s is %v, want %s", name, got[1], want)
		}
	}
	if strings.Contains(s.URL(), "secret") {
		t.Error("the URL has the password")
	}
}

func TestStopAndCont(t *testing.T) {
	t.Parallel()
	s := redistest.Run(t, redistest.Options{AOF: "none"})
	s.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	c := s.Client()
	defer c.Close()
	got := make(chan error, 1)
	go func() { got <- c.Ping(context.WithoutCancel(ctx)).Err() }()
	select {
	case err := <-got:
		t.Errorf("a frozen server answered: %v", err)
	case <-ctx.Done():
	}
	s.Cont()
	if err := <-got; err != nil {
		t.Error(err)
	}
}

func TestStartWithoutATest(t *testing.T) {
	t.Parallel()
	s, err := redistest.Start(t.Context(), redistest.Options{AOF: "none"})
	if err != nil {
		t.Fatal(err)
	}
	dir := s.Dir()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
}

func TestStartFails(t *testing.T) {
	t.Parallel()
	_, err := redistest.Start(t.Context(), redistest.Options{Args: []string{"--no-such-setting", "1"}})
	if err == nil || !strings.Contains(err.Error(), "no-such-setting") {
		t.Errorf("got %v, want what the server said", err)
	}
}

func TestFindSaysWhatToInstall(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := redistest.Find(); err == nil || !strings.Contains(err.Error(), "apt-get install redis-server") {
		t.Errorf("got %v", err)
	}
	if _, err := redistest.Start(t.Context(), redistest.Options{}); err == nil || !strings.Contains(err.Error(), "not installed") {
		t.Errorf("start: %v", err)
	}
}

func TestCluster(t *testing.T) {
	t.Parallel()
	c := redistest.RunCluster(t, redistest.Options{AOF: "none"})
	client := c.Client()
	defer client.Close()
	for _, key := range []string{"a", "b", "c", "d"} {
		if err := client.Set(t.Context(), key, key, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	from, _, err := c.Owner(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	m, err := c.BeginMove(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if to, _, err := c.Owner(t.Context(), "a"); err != nil || to == from {
		t.Errorf("the slot is at node %d, was at %d: %v", to, from, err)
	}
	if v, err := client.Get(t.Context(), "a").Result(); err != nil || v != "a" {
		t.Errorf("after the move: %q, %v", v, err)
	}
}

func TestProxy(t *testing.T) {
	t.Parallel()
	s := redistest.Run(t, redistest.Options{AOF: "none"})
	p := redistest.RunProxy(t, s.Addr())
	ask := func(command string) (string, error) {
		c, err := net.Dial("tcp", p.Addr())
		if err != nil {
			return "", err
		}
		defer c.Close()
		if _, err := c.Write([]byte(command + "\r\n")); err != nil {
			return "", err
		}
		buf := make([]byte, 100)
		n, err := c.Read(buf)
		return string(buf[:n]), err
	}
	if got, err := ask("INCR n"); err != nil || got != ":1\r\n" {
		t.Fatalf("got %q, %v", got, err)
	}
	p.CutRepliesAfter(1, 1)
	if got, err := ask("INCR n"); err != nil || got != ":2\r\n" {
		t.Errorf("the answer that may pass: %q, %v", got, err)
	}
	if got, err := ask("INCR n"); err == nil {
		t.Errorf("a lost answer came: %q", got)
	}
	if got, err := ask("GET n"); err != nil || !strings.Contains(got, "3") || p.Cut() != 1 {
		t.Errorf("the command whose answer was lost was not done: %q, %v, %d", got, err, p.Cut())
	}
	p.Delay(100 * time.Millisecond)
	begin := time.Now()
	if _, err := ask("PING"); err != nil || time.Since(begin) < 100*time.Millisecond {
		t.Errorf("a delayed answer after %v: %v", time.Since(begin), err)
	}
	p.Delay(0)
	p.Drop(true)
	if got, err := ask("PING"); err == nil {
		t.Errorf("a refused connection answered %q", got)
	}
	p.Drop(false)
	if _, err := ask("PING"); err != nil {
		t.Error(err)
	}
}
