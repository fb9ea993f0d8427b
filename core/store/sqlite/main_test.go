package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/core/store"
	"herald/core/store/sqlite"
)

// childEnv makes this test binary a writer on a store: "mode path".
const childEnv = "HERALD_TEST_SQLITE_CHILD"

func TestMain(m *testing.M) {
	if job := os.Getenv(childEnv); job != "" {
		mode, path, _ := strings.Cut(job, " ")
		if err := childMain(mode, path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// childMain opens the store and says so; a writer then commits until it is killed, and says what was acknowledged.
func childMain(mode, path string) error {
	ctx := context.Background()
	s, err := sqlite.Open(ctx, sqlite.Options{Path: path, Create: true})
	if err != nil {
		return err
	}
	fmt.Println("open")
	switch mode {
	case "hold":
		select {}
	case "claim":
		return holdClaim(ctx, s)
	}
	var (
		wg  sync.WaitGroup
		out sync.Mutex
	)
	for g := range writers {
		wg.Go(func() {
			p := writerPart(g)
			a, err := s.Read(ctx, store.Get{Partition: p, Key: countKey})
			if err != nil {
				panic(err)
			}
			d, _ := a[0].Doc()
			n := 0
			_, _ = fmt.Sscan(string(d.Value), &n)
			for {
				n++
				if _, err := s.Commit(ctx, counted(p, n)); err != nil {
					panic(err)
				}
				out.Lock()
				fmt.Println("acked", g, n)
				out.Unlock()
			}
		})
	}
	wg.Wait()
	return nil
}

// holdClaim claims the one member there is, making it at first, says at which attempt, and holds it until the end.
func holdClaim(ctx context.Context, s store.Store) error {
	p := writerPart(0)
	made := store.Commit{ID: "make", Partition: p, Guards: []store.Guard{store.At{Key: countKey}}, Ops: []store.Op{
		store.Put{Key: countKey, Value: []byte("1")}, store.Wake{Agenda: store.Turns, Member: store.Member(p)},
	}}
	if _, err := s.Commit(ctx, made); err != nil && !errors.Is(err, store.ErrConflict) {
		return err
	}
	claims, err := s.Claim(ctx, store.ClaimRequest{Agenda: store.Turns, Holder: "child", Lease: time.Hour, Limit: 1})
	if err != nil || len(claims) != 1 {
		return fmt.Errorf("claimed %d: %w", len(claims), err)
	}
	fmt.Println("claimed", claims[0].Attempt)
	select {}
}

const writers = 8

var (
	countKey = store.Key{Collection: "state", Name: "count"}
	twinKey  = store.Key{Collection: "state", Name: "twin"}
)

func writerPart(g int) store.Partition { return store.Partition(fmt.Sprintf("conversation/w%d", g)) }

// counted is the n-th commit to p: all of its parts say n, so a half commit shows.
func counted(p store.Partition, n int) store.Commit {
	v := fmt.Append(nil, n)
	return store.Commit{ID: fmt.Sprint("c", n), Partition: p, Ops: []store.Op{
		store.Put{Key: countKey, Value: v},
		store.Append{Log: "log", ID: fmt.Sprint("e", n), Kind: "k", Data: v},
		store.Score{Index: "seen", Member: fmt.Sprint("e", n), Score: float64(n)},
		store.Put{Key: twinKey, Value: v},
		store.Wake{Agenda: store.Turns, Member: store.Member(p)},
	}}
}

// child starts this binary as a process of its own on the store at path.
func child(t *testing.T, mode, path string) (lines *bufio.Scanner, kill func(), pid int) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), childEnv+"="+mode+" "+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines = bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "open" {
		t.Fatalf("the child said %q, %v", lines.Text(), lines.Err())
	}
	var once sync.Once
	kill = func() {
		once.Do(func() {
			_ = cmd.Process.Kill()
			// What it had said before the end is part of what it acknowledged.
			for lines.Scan() {
				t.Log("late:", lines.Text())
			}
			_ = cmd.Wait()
		})
	}
	t.Cleanup(kill)
	return lines, kill, cmd.Process.Pid
}
