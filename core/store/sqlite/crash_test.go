package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"herald/core/store"
	"herald/core/store/sqlite"
)

// TestKilledWriterKeepsWhatItAcknowledged kills a process with eight writers again and again, at another count of acknowledgements each
// time, and looks at what stands.
func TestKilledWriterKeepsWhatItAcknowledged(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "herald.db")
	acked := make([]int, writers)
	for round := range 6 {
		lines, kill, pid := child(t, "write", path)
		for range 40 + 37*round {
			if !lines.Scan() {
				t.Fatal("the child ended by itself")
			}
			note(t, acked, lines.Text())
		}
		if p, err := os.FindProcess(pid); err != nil || p.Kill() != nil {
			t.Fatalf("the child cannot be killed: %v", err)
		}
		// What it said until its end counts as well; the last line may be cut off.
		for lines.Scan() {
			note(t, acked, lines.Text())
		}
		kill()
		s := openAt(t, sqlite.Options{Path: path})
		for g, n := range acked {
			checkWriter(t, s, g, n)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// note remembers what a line acknowledges.
func note(t *testing.T, acked []int, line string) {
	t.Helper()
	var g, n int
	if c, _ := fmt.Sscanf(line, "acked %d %d", &g, &n); c < 2 {
		return
	}
	acked[g] = max(acked[g], n)
}

// checkWriter checks that at least n commits of writer g stand, each of them whole.
func checkWriter(t *testing.T, s store.Store, g, n int) {
	t.Helper()
	p := writerPart(g)
	a, err := s.Read(t.Context(), store.Get{Partition: p, Key: countKey}, store.Get{Partition: p, Key: twinKey}, store.Range{Partition: p, Log: "log"},
		store.Scores{Partition: p, Index: "seen", Max: math.Inf(1)})
	if err != nil {
		t.Fatal(err)
	}
	count, _ := a[0].Doc()
	twin, _ := a[1].Doc()
	have, _ := strconv.Atoi(string(count.Value))
	if have < n {
		t.Errorf("writer %d: %d commits were acknowledged and %d stand", g, n, have)
	}
	if string(count.Value) != string(twin.Value) || len(a[2].Entries) != have || len(a[3].Scored) != have || count.Version != int64(2*have-1) && have > 0 {
		t.Errorf("writer %d: half a commit stands: count %s, twin %s, %d entries, %d scores, version %d", g, count.Value, twin.Value, len(a[2].Entries), len(a[3].Scored), count.Version)
	}
	for i, e := range a[2].Entries {
		if e.Seq != int64(i+1) || string(e.Data) != strconv.Itoa(i+1) {
			t.Errorf("writer %d: entry %d is %+v", g, i+1, e)
		}
	}
}

func TestSecondProcessIsKeptOut(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "herald.db")
	_, kill, pid := child(t, "hold", path)
	_, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	if !errors.Is(err, store.ErrInUse) || !strings.Contains(err.Error(), strconv.Itoa(pid)) {
		t.Fatalf("a second process: %v, want ErrInUse with the number %d", err, pid)
	}
	kill()
	s := openAt(t, sqlite.Options{Path: path})
	if _, err := sqlite.Open(t.Context(), sqlite.Options{Path: path}); !errors.Is(err, store.ErrInUse) {
		t.Errorf("a second handle in this process: %v", err)
	}
	if _, err := s.Now(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestKilledHolderCountsAsAttempt kills the holder of a claim: its lease of an hour ends with it, and the attempt counts on.
func TestKilledHolderCountsAsAttempt(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "herald.db")
	for attempt := 1; attempt <= 3; attempt++ {
		lines, kill, _ := child(t, "claim", path)
		if !lines.Scan() || lines.Text() != fmt.Sprint("claimed ", attempt) {
			t.Fatalf("the child said %q, want attempt %d", lines.Text(), attempt)
		}
		kill()
	}
	s := openAt(t, sqlite.Options{Path: path})
	claims, err := s.Claim(t.Context(), store.ClaimRequest{Agenda: store.Turns, Holder: "h", Lease: time.Hour, Limit: 1})
	if err != nil || len(claims) != 1 || claims[0].Attempt != 4 {
		t.Errorf("got %+v, %v", claims, err)
	}
}

// TestTornLog cuts the write-ahead log of a crashed store at many lengths: what stands is always a whole prefix of the commits.
func TestTornLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "herald.db")
	s := openAt(t, sqlite.Options{Path: path, Create: true})
	const commits = 30
	for n := 1; n <= commits; n++ {
		if _, err := s.Commit(t.Context(), counted(writerPart(0), n)); err != nil {
			t.Fatal(err)
		}
	}
	// The files as a crash at this instant leaves them.
	db, wal := mustRead(t, path), mustRead(t, path+"-wal")
	last := commits
	for i, cut := range []int{0, 1, 100, 4096, 5000, len(wal) / 4, len(wal) / 2, len(wal) - 100, len(wal)} {
		at := filepath.Join(dir, fmt.Sprint("torn", i, ".db"))
		mustWrite(t, at, db)
		mustWrite(t, at+"-wal", append(wal[:len(wal)-cut:len(wal)-cut], make([]byte, min(cut, 700))...))
		torn, err := sqlite.Open(t.Context(), sqlite.Options{Path: at})
		if err != nil {
			// A log that is cut to nothing leaves a file from before the store was made in it.
			if cut < len(wal)/2 || !errors.Is(err, store.ErrMissing) && !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("cut by %d: %v", cut, err)
			}
			continue
		}
		checkWriter(t, torn, 0, 0)
		a, err := torn.Read(t.Context(), store.Get{Partition: writerPart(0), Key: countKey})
		if err != nil {
			t.Fatal(err)
		}
		d, _ := a[0].Doc()
		have, _ := strconv.Atoi(string(d.Value))
		if have > last || cut == 0 && have != commits || cut == 1 && have != commits-1 {
			t.Errorf("cut by %d: %d commits stand, %d before", cut, have, last)
		}
		last = have
		if _, err := torn.Commit(t.Context(), counted(writerPart(0), have+1)); err != nil {
			t.Errorf("cut by %d: the store does not go on: %v", cut, err)
		}
		if err := torn.Close(); err != nil {
			t.Error(err)
		}
	}
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mustWrite(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestAbandonedCommit ends the context of a commit that waits: the caller is told that it may stand, and the same id finds out.
func TestAbandonedCommit(t *testing.T) {
	t.Parallel()
	s := openAt(t, sqlite.Options{Path: filepath.Join(t.TempDir(), "herald.db"), Create: true})
	for i := range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		c := counted(writerPart(0), i+1)
		_, err := s.Commit(ctx, c)
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if res, err := s.Commit(t.Context(), c); err != nil || res.Seqs[0] != int64(i+1) {
			t.Fatalf("repeat %d: %+v, %v", i, res, err)
		}
	}
}
