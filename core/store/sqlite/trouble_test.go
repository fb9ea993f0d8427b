package sqlite_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"herald/core/store"
	"herald/core/store/sqlite"
)

// outside runs SQL on the file past the store, as a careless hand does.
func outside(t *testing.T, path, query string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), query); err != nil {
		t.Fatal(err)
	}
}

func big(i int) store.Commit {
	return store.Commit{ID: fmt.Sprint("big", i), Partition: writerPart(1), Ops: []store.Op{store.Append{Log: "l", ID: "e", Kind: "k", Data: bytes.Repeat([]byte("x"), 100_000)}}}
}

// checkFull fills the store until it refuses, and checks that what was acknowledged stands and that it goes on when there is room.
func checkFull(t *testing.T, s store.Store, makeRoom func()) {
	t.Helper()
	acked := 0
	for {
		_, err := s.Commit(t.Context(), big(acked))
		if err != nil {
			if !errors.Is(err, store.ErrFull) || !store.Outage(err) || !strings.Contains(err.Error(), "room") {
				t.Fatalf("a full store says %v", err)
			}
			break
		}
		if acked++; acked > 1000 {
			t.Fatal("the store never fills")
		}
	}
	read := func() int {
		a, err := s.Read(t.Context(), store.Range{Partition: writerPart(1), Log: "l"})
		if err != nil {
			t.Fatalf("a full store cannot be read: %v", err)
		}
		return len(a[0].Entries)
	}
	if n := read(); n != acked || n == 0 {
		t.Errorf("%d entries stand, %d were acknowledged", n, acked)
	}
	// One that is too large for what is left leaves room for less; then there is none at all.
	for n := 0; ; n++ {
		if _, err := s.Commit(t.Context(), store.Commit{ID: fmt.Sprint("small", n), Partition: writerPart(2), Ops: []store.Op{
			store.Append{Log: "l", ID: "e", Kind: "k", Data: make([]byte, 3000)},
		}}); err != nil {
			break
		}
	}
	if _, err := s.Health(t.Context()); err != nil && !errors.Is(err, store.ErrFull) {
		t.Errorf("the health of a full store: %v", err)
	}
	makeRoom()
	if _, err := s.Health(t.Context()); err != nil {
		t.Errorf("the health with room again: %v", err)
	}
	if res, err := s.Commit(t.Context(), big(acked)); err != nil || res.Repeated {
		t.Errorf("with room again: %+v, %v", res, err)
	}
}

func TestFullByLimit(t *testing.T) {
	t.Parallel()
	s := openAt(t, sqlite.Options{Path: filepath.Join(t.TempDir(), "herald.db"), Create: true, MaxBytes: 1 << 20})
	checkFull(t, s, func() {
		if _, err := s.Commit(t.Context(), store.Commit{ID: "trim", Partition: writerPart(1), Ops: []store.Op{store.TrimLog{Log: "l", Before: 6}}}); err != nil {
			t.Fatal(err)
		}
	})
}

// TestFullMeetsOnlyWhomItConcerns puts commits that fit and one that does not into the same groups.
func TestFullMeetsOnlyWhomItConcerns(t *testing.T) {
	t.Parallel()
	s := openAt(t, sqlite.Options{Path: filepath.Join(t.TempDir(), "herald.db"), Create: true, MaxBytes: 600 << 10})
	var wg sync.WaitGroup
	for i := range 60 {
		wg.Go(func() {
			if i%10 == 5 {
				c := big(i)
				for range 9 {
					c.Ops = append(c.Ops, c.Ops[0])
				}
				if _, err := s.Commit(t.Context(), c); !errors.Is(err, store.ErrFull) {
					t.Errorf("commit %d of a megabyte: %v", i, err)
				}
				return
			}
			p := store.Partition(fmt.Sprint("person/p", i))
			res, err := s.Commit(t.Context(), store.Commit{ID: "c", Partition: p, Ops: []store.Op{
				store.Append{Log: "l", ID: "e", Kind: "k"}, store.Take{Agenda: store.Turns, Member: store.Member(p), Holder: "h", Lease: time.Minute},
			}})
			if err != nil || res.Seqs[0] != 1 || res.Taken[0] == nil {
				t.Errorf("commit %d: %+v, %v", i, res, err)
				return
			}
			if _, err := s.Commit(t.Context(), store.Commit{ID: "d", Partition: p, Claim: res.Taken[0], Ops: []store.Op{store.Append{Log: "l", ID: "e", Kind: "k"}}}); err != nil {
				t.Errorf("commit %d under its claim: %v", i, err)
			}
		})
	}
	wg.Wait()
	for i := range 60 {
		a, err := s.Read(t.Context(), store.Range{Partition: store.Partition(fmt.Sprint("person/p", i)), Log: "l"})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(a[0].Entries); i%10 != 5 && n != 2 {
			t.Errorf("partition %d has %d entries", i, n)
		}
	}
}

func TestFileGoneOrReplacedWhileOpen(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(t *testing.T, path string){
		"deleted": func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		},
		"moved": func(t *testing.T, path string) {
			if err := os.Rename(path, path+".old"); err != nil {
				t.Fatal(err)
			}
		},
		"replaced": func(t *testing.T, path string) {
			if err := os.Rename(path, path+".old"); err != nil {
				t.Fatal(err)
			}
			mustWrite(t, path, mustRead(t, path+".old"))
		},
		"emptied":       func(t *testing.T, path string) { outside(t, path, `DELETE FROM meta`) },
		"another's id":  func(t *testing.T, path string) { outside(t, path, `UPDATE meta SET value = 'other' WHERE key = 'id'`) },
		"without table": func(t *testing.T, path string) { outside(t, path, `DROP TABLE meta`) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "herald.db")
			s := openAt(t, sqlite.Options{Path: path, Create: true})
			if _, err := s.Commit(t.Context(), counted(writerPart(0), 1)); err != nil {
				t.Fatal(err)
			}
			harm(t, path)
			if _, err := s.Commit(t.Context(), counted(writerPart(0), 2)); !errors.Is(err, store.ErrChanged) {
				t.Errorf("commit: %v", err)
			}
			if _, err := s.Claim(t.Context(), store.ClaimRequest{Agenda: store.Turns, Holder: "h", Lease: time.Minute, Limit: 1}); !errors.Is(err, store.ErrChanged) {
				t.Errorf("claim: %v", err)
			}
			if _, err := s.Health(t.Context()); !errors.Is(err, store.ErrChanged) {
				t.Errorf("health: %v", err)
			}
		})
	}
}

// TestDamage overwrites the middle of the file: reads and commits that meet the damage say so, and nothing makes it worse in silence.
func TestDamage(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "herald.db")
	o := sqlite.Options{Path: path, Create: true}
	s := openAt(t, o)
	for i := range 20 {
		if _, err := s.Commit(t.Context(), big(i)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Commit(t.Context(), counted(writerPart(0), i+1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b := mustRead(t, path)
	for i := 3 * 4096; i < len(b); i++ {
		b[i] = 0xEE
	}
	mustWrite(t, path, b)
	damaged, err := sqlite.Open(t.Context(), o)
	if err == nil {
		defer damaged.Close()
		if _, err = damaged.Commit(t.Context(), counted(writerPart(0), 21)); err == nil {
			_, err = damaged.Read(t.Context(), store.Range{Partition: writerPart(1), Log: "l"})
		}
	}
	if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), "backup") {
		t.Errorf("a damaged file: %v", err)
	}
}

func TestDumpAndBackupHaveEverything(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openAt(t, sqlite.Options{Path: filepath.Join(dir, "herald.db"), Create: true})
	p := store.Partition("conversation/canary-part")
	if _, err := s.Commit(t.Context(), store.Commit{ID: "canary-commit", Partition: p, Ops: []store.Op{
		store.Put{Key: store.Key{Collection: "c", Name: "n"}, Value: []byte("canary-doc")},
		store.Append{Log: "l", ID: "e", Kind: "k", Data: []byte("canary-entry")},
		store.Score{Index: "i", Member: "canary-member", Score: 1},
		store.Wake{Agenda: "canary-agenda", Member: store.Member(p)},
		store.Bury{ID: "b", Note: []byte("canary-note")},
	}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Backup(t.Context(), filepath.Join(dir, "copy.db")); err != nil {
		t.Fatal(err)
	}
	if err := s.Backup(t.Context(), filepath.Join(dir, "copy.db")); err == nil {
		t.Error("a backup overwrote a file")
	}
	for name, s := range map[string]*sqlite.Store{"store": s, "backup": openAt(t, sqlite.Options{Path: filepath.Join(dir, "copy.db")})} {
		var dump strings.Builder
		if err := s.Dump(t.Context(), &dump); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"part", "commit", "doc", "entry", "member", "agenda", "note"} {
			if !strings.Contains(dump.String(), "canary-"+want) {
				t.Errorf("the dump of the %s lacks canary-%s", name, want)
			}
		}
	}
}
