package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	lib "modernc.org/sqlite/lib"

	"herald/core/store"
	"herald/core/store/storetest"
)

func openTest(t *testing.T, o Options, steps []migration) *Store {
	t.Helper()
	s, err := open(t.Context(), o, steps)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func commitN(t *testing.T, s *Store, id string) store.Result {
	t.Helper()
	res, err := s.Commit(t.Context(), store.Commit{ID: id, Partition: "conversation/a", Ops: []store.Op{
		store.Append{Log: "l", ID: "e", Kind: "k", Data: []byte("data")}, store.Wake{Agenda: store.Turns, Member: "conversation/a"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// TestFormats opens a store of today with a Herald of tomorrow, which brings it to its format, and then with today's again, which refuses.
func TestFormats(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "herald.db")
	s := openTest(t, Options{Path: path, Create: true}, migrations())
	commitN(t, s, "1")
	id := s.id
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	broken := append(migrations(), migration{2, `CREATE TABLE extra (a); INSERT INTO nowhere VALUES (1)`})
	if _, err := open(t.Context(), Options{Path: path}, broken); err == nil || !strings.Contains(err.Error(), "migration to format 2") {
		t.Fatalf("a migration that fails: %v", err)
	}
	// The failed migration left nothing: the next one makes the same table.
	tomorrow := append(migrations(), migration{2, `CREATE TABLE extra (a)`}, migration{3, `ALTER TABLE extra ADD COLUMN b`})
	s = openTest(t, Options{Path: path}, tomorrow)
	if h, err := s.Health(t.Context()); err != nil || h.Format != 3 || h.ID != id {
		t.Errorf("health %+v, %v", h, err)
	}
	if res := commitN(t, s, "2"); res.Seqs[0] != 2 {
		t.Errorf("the migrated store goes on with %+v", res)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := open(t.Context(), Options{Path: path}, migrations())
	if !errors.Is(err, store.ErrNewer) || !strings.Contains(err.Error(), "format 3") {
		t.Errorf("a newer store: %v", err)
	}
	// A refused store is not changed.
	openTest(t, Options{Path: path}, tomorrow)
}

func TestForeignDatabaseIsLeftAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "photos.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := dial(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.once(`CREATE TABLE photos (name)`), c.close()); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(path)
	if _, err := Open(t.Context(), Options{Path: path, Create: true}); !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), "another program") {
		t.Errorf("got %v", err)
	}
	if after, _ := os.ReadFile(path); string(after) != string(before) {
		t.Error("the other program's database was changed")
	}
}

// TestPreparedOnce checks that a bound limit does not make SQLite read a statement anew.
func TestPreparedOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := dial(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.close(); err != nil {
			t.Error(err)
		}
	}()
	if err := c.once(`CREATE TABLE a (k TEXT PRIMARY KEY) WITHOUT ROWID; INSERT INTO a VALUES ('x'), ('y'), ('z')`); err != nil {
		t.Fatal(err)
	}
	const query = "SELECT k FROM a WHERE k > ? ORDER BY k LIMIT ?"
	for i := range 3 {
		rows := 0
		if err := c.query(query, func(row) error { rows++; return nil }, "", int64(i+1)); err != nil || rows != i+1 {
			t.Fatalf("%d rows, %v", rows, err)
		}
	}
	if n := lib.Xsqlite3_stmt_status(c.tls, c.stmts[query].p, lib.SQLITE_STMTSTATUS_REPREPARE, 0); n != 0 {
		t.Errorf("the statement was prepared anew %d times", n)
	}
}

// TestPlans checks that no statement on the way of a message or a poll walks a table.
func TestPlans(t *testing.T) {
	t.Parallel()
	s := openTest(t, Options{Path: filepath.Join(t.TempDir(), "herald.db"), Create: true}, migrations())
	plan := func(query string) string {
		var out []string
		err := s.withReader(t.Context(), "plan", func(c *conn) error {
			args := make([]any, 0, 8)
			// The same statement takes any number of arguments that it has places for; the rest are not looked at.
			for range 8 {
				args = append(args, int64(1))
			}
			return c.query("EXPLAIN QUERY PLAN "+query, func(r row) error { out = append(out, r.text(3)); return nil }, args...)
		})
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		return strings.Join(out, "; ")
	}
	for query, index := range map[string]string{
		allDue: "agenda_due (held=? AND agenda=? AND due<?)", nextDue: "agenda_due (held=? AND agenda=?)", endClaims: "agenda_due (held=?)", getItem: "PRIMARY KEY",
		listParts: "partitions_written (bucket=? AND", maxPart: "partitions_written (bucket=?)", getPart: "sqlite_autoindex_partitions_1 (name=?)", partAt: "sqlite_autoindex_partitions_1 (name=?)",
		readDoc: "PRIMARY KEY", readDocs: "PRIMARY KEY", readLog: "PRIMARY KEY", readTail: "PRIMARY KEY", readIdx: "scores_order", readOne: "PRIMARY KEY",
		getDoc: "PRIMARY KEY", countDoc: "PRIMARY KEY", delDoc: "PRIMARY KEY", lastEntry: "PRIMARY KEY", blank: "PRIMARY KEY", trimLog: "PRIMARY KEY", getScore: "PRIMARY KEY",
		delScore: "PRIMARY KEY", trimScore: "scores_order (part=? AND name=? AND score<?)", unbury: "PRIMARY KEY", letGo: "PRIMARY KEY", leave: "PRIMARY KEY",
		setPart: "INTEGER PRIMARY KEY", findRepeat: "PRIMARY KEY", listLetters: "letters_age", getMeta: "PRIMARY KEY",
	} {
		got := plan(query)
		if !strings.Contains(got, index) {
			t.Errorf("%s\n\tis done by %s, want %s", query, got, index)
		}
		// A list of dead letters walks their index from its end, and a bounded count counts what it found.
		if scans := strings.ReplaceAll(got, "SCAN l USING INDEX letters_age", ""); strings.Contains(scans, "SCAN") && !strings.Contains(got, "SCAN (subquery") && !strings.Contains(got, "SCAN CONSTANT ROW") {
			t.Errorf("%s\n\twalks a table: %s", query, got)
		}
		if strings.Contains(got, "TEMP B-TREE FOR ORDER BY") && query != listLetters {
			t.Errorf("%s\n\tsorts: %s", query, got)
		}
	}
}

func TestOldRepeatsAreEmptied(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	s := openTest(t, Options{Path: filepath.Join(t.TempDir(), "herald.db"), Create: true, Clock: clock.Now, Sync: SyncNormal}, migrations())
	rows := func() (n int64) {
		err := s.withReader(t.Context(), "count", func(c *conn) error {
			return c.query(`SELECT (SELECT count(*) FROM repeats0) + (SELECT count(*) FROM repeats1)`, func(r row) error { n = r.int(0); return nil })
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for i := range 100 {
		commitN(t, s, fmt.Sprint("c", i))
		// Whatever is younger than ten minutes is known.
		if i > 0 {
			if res := commitN(t, s, fmt.Sprint("c", max(0, i-9))); !res.Repeated {
				t.Fatalf("commit %d is forgotten after %d minutes", max(0, i-9), min(i, 9))
			}
		}
		clock.Advance(time.Minute)
		if n := rows(); n > 21 {
			t.Fatalf("%d answers are kept after %d minutes", n, i)
		}
	}
	clock.Advance(24 * time.Hour)
	commitN(t, s, "late")
	if n := rows(); n != 1 {
		t.Errorf("%d answers are kept after a day", n)
	}
}

// TestCheckpointOutsideOfCommits waits for the log to be folded after a write, and checks that nothing runs when nothing was written.
func TestCheckpointOutsideOfCommits(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "herald.db")
	s := openTest(t, Options{Path: path, Create: true}, migrations())
	size := func() int64 {
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return st.Size()
	}
	before := size()
	if _, err := s.Commit(t.Context(), store.Commit{ID: "1", Partition: "conversation/a", Ops: []store.Op{
		store.Put{Key: store.Key{Collection: "c", Name: "n"}, Value: make([]byte, 200_000)},
	}}); err != nil {
		t.Fatal(err)
	}
	if n := size(); n != before {
		t.Errorf("the commit itself folded the log: %d bytes became %d", before, n)
	}
	deadline, tick := time.Now().Add(20*time.Second), time.NewTicker(20*time.Millisecond)
	defer tick.Stop()
	for size() < before+200_000 {
		if time.Now().After(deadline) {
			t.Fatal("the log was never folded")
		}
		<-tick.C
	}
}

// TestLongLogIsFoldedByTheWriter lets the log grow past its bound and checks that it begins anew.
func TestLongLogIsFoldedByTheWriter(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "herald.db")
	s := openTest(t, Options{Path: path, Create: true, Sync: SyncNormal}, migrations())
	put := func(i int) {
		if _, err := s.Commit(t.Context(), store.Commit{ID: fmt.Sprint(i), Partition: "conversation/a", Ops: []store.Op{
			store.Put{Key: store.Key{Collection: "c", Name: "n"}, Value: make([]byte, 500_000)},
		}}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 10 {
		put(i)
	}
	s.w.fold.Store(true)
	put(10)
	st, err := os.Stat(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	put(11)
	after, err := os.Stat(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	if after.Size() > st.Size() {
		t.Errorf("the log grew from %d to %d bytes after it was folded", st.Size(), after.Size())
	}
	if s.w.fold.Load() {
		t.Error("the request to fold still stands")
	}
}

// TestEmbeddedVersion holds the SQLite inside to one without the known corruption of logs that begin anew.
func TestEmbeddedVersion(t *testing.T) {
	t.Parallel()
	s := openTest(t, Options{Path: filepath.Join(t.TempDir(), "herald.db"), Create: true}, migrations())
	err := s.withReader(t.Context(), "version", func(c *conn) error {
		return c.query(`SELECT sqlite_version()`, func(r row) error {
			var major, minor int
			if _, err := fmt.Sscanf(r.text(0), "%d.%d", &major, &minor); err != nil || major != 3 || minor < 53 {
				t.Errorf("SQLite %s, %v", r.text(0), err)
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestIdleStore checks that an open store is two goroutines, however many claims it gave. It is not parallel: it counts.
func TestIdleStore(t *testing.T) {
	before := runtime.NumGoroutine()
	s := openTest(t, Options{Path: filepath.Join(t.TempDir(), "herald.db"), Create: true}, migrations())
	commitN(t, s, "1")
	if _, err := s.Claim(t.Context(), store.ClaimRequest{Agenda: store.Turns, Holder: "h", Lease: time.Minute, Limit: 1}); err != nil {
		t.Fatal(err)
	}
	if n := runtime.NumGoroutine() - before; n > 2 {
		t.Errorf("%d goroutines more than without a store", n)
	}
}
