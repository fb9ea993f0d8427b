package hostile_test

import (
	"compress/gzip"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"herald/bots/bottest/platform"
	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/store"
	"herald/core/store/redis"
	"herald/core/store/redis/redistest"
	"herald/core/store/sqlite"
)

// The fixtures are stores that a version of Herald wrote and was killed at. One that was released is never written again: a later
// version adds its own beside it.
var write = flag.String("write", "", "write the fixtures of this name into testdata, as format1")

func fixtures(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("testdata/*.json")
	if err != nil || len(all) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for i := range all {
		all[i] = strings.TrimSuffix(all[i], ".json")
	}
	return all
}

// since is a clock that goes on from at.
func since(at time.Time) func() time.Time {
	began := time.Now()
	return func() time.Time { return at.Add(time.Since(began)) }
}

func save(t *testing.T, path string, data []byte) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func unpack(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func saveFixture(t *testing.T, path string, fix fixture) {
	t.Helper()
	data, err := json.MarshalIndent(fix, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(data, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readFixture(t *testing.T, path string) (fix fixture) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &fix)
	}
	if err != nil {
		t.Fatal(err)
	}
	return fix
}

// closing closes a store once: when it is called, or at the end of the test, behind the service that used it.
func closing(t *testing.T, st store.Store) func() {
	var once sync.Once
	closed := func() {
		once.Do(func() {
			if err := st.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(closed)
	return closed
}

func openSQLite(t *testing.T, path string, create bool, clock func() time.Time) (*sqlite.Store, func()) {
	t.Helper()
	st, err := sqlite.Open(t.Context(), sqlite.Options{Path: path, Create: create, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	return st, closing(t, st)
}

// sqliteFile is a fixture as a file.
func sqliteFile(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "herald.db")
	if err := os.WriteFile(path, unpack(t, name+".db.gz"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func openRedis(t *testing.T, s *redistest.Server, create bool, clock func() time.Time) (*redis.Store, func()) {
	t.Helper()
	st, err := redis.Open(t.Context(), redis.Options{URL: s.URL(), Create: create, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	return st, closing(t, st)
}

// TestWriteFixtures writes the fixtures when it is told to; else it sees that they can be written, and read by the version that wrote them.
func TestWriteFixtures(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "herald.db")
		st, closed := openSQLite(t, path, true, nil)
		fix := makeStates(t, st)
		closed()
		if *write != "" {
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec("VACUUM"); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			save(t, filepath.Join("testdata", "sqlite-"+*write+".db.gz"), data)
			saveFixture(t, filepath.Join("testdata", "sqlite-"+*write+".json"), fix)
		}
		st, _ = openSQLite(t, path, false, since(fix.At))
		goOn(t, st, fix)
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		s := redistest.Run(t, redistest.Options{})
		st, closed := openRedis(t, s, true, nil)
		fix := makeStates(t, st)
		closed()
		commands := dump(t, s)
		if *write != "" {
			data, err := json.Marshal(commands)
			if err != nil {
				t.Fatal(err)
			}
			save(t, filepath.Join("testdata", "redis-"+*write+".commands.gz"), data)
			saveFixture(t, filepath.Join("testdata", "redis-"+*write+".json"), fix)
		}
		other := redistest.Run(t, redistest.Options{})
		restore(t, other, commands)
		st, _ = openRedis(t, other, false, since(fix.At))
		goOn(t, st, fix)
	})
}

// TestFixturesGoOn opens what earlier versions wrote.
func TestFixturesGoOn(t *testing.T) {
	t.Parallel()
	for _, name := range fixtures(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			fix := readFixture(t, name+".json")
			var st store.Store
			if strings.Contains(name, "sqlite") {
				st, _ = openSQLite(t, sqliteFile(t, name), false, since(fix.At))
			} else {
				s := redistest.Run(t, redistest.Options{})
				restore(t, s, redisCommands(t, name))
				st, _ = openRedis(t, s, false, since(fix.At))
			}
			goOn(t, st, fix)
		})
	}
}

func redisCommands(t *testing.T, name string) (commands [][][]byte) {
	t.Helper()
	if err := json.Unmarshal(unpack(t, name+".commands.gz"), &commands); err != nil {
		t.Fatal(err)
	}
	return commands
}

// dump are the commands that make what a Redis holds, without what ends by itself.
func dump(t *testing.T, s *redistest.Server) (commands [][][]byte) {
	t.Helper()
	do := func(args ...any) any {
		v, err := s.Do(t.Context(), args...)
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		return v
	}
	words := func(v any) []string {
		var out []string
		for _, x := range v.([]any) {
			out = append(out, fmt.Sprint(x))
		}
		return out
	}
	keys := words(do("KEYS", "*"))
	slices.Sort(keys)
	for _, key := range keys {
		if do("PTTL", key).(int64) >= 0 {
			continue
		}
		var command []string
		switch kind := do("TYPE", key); kind {
		case "string":
			command = []string{"SET", key, do("GET", key).(string)}
		case "hash":
			command = append([]string{"HSET", key}, words(do("HGETALL", key))...)
		case "list":
			command = append([]string{"RPUSH", key}, words(do("LRANGE", key, 0, -1))...)
		case "set":
			command = append([]string{"SADD", key}, words(do("SMEMBERS", key))...)
		case "zset":
			all := words(do("ZRANGE", key, 0, -1, "WITHSCORES"))
			command = []string{"ZADD", key}
			for i := 0; i+1 < len(all); i += 2 {
				command = append(command, all[i+1], all[i])
			}
		default:
			t.Fatalf("key %s is a %v, which the dump does not know", key, kind)
		}
		var raw [][]byte
		for _, w := range command {
			raw = append(raw, []byte(w))
		}
		commands = append(commands, raw)
	}
	return commands
}

func restore(t *testing.T, s *redistest.Server, commands [][][]byte) {
	t.Helper()
	c := s.Client()
	defer c.Close()
	for _, command := range commands {
		args := make([]any, len(command))
		for i := range command {
			args[i] = command[i]
		}
		if err := c.Do(t.Context(), args...).Err(); err != nil {
			t.Fatalf("%s: %v", command[0], err)
		}
	}
}

// A store of a later version is left alone, by every command, with the reason and the exit code that scripts know.
func TestNewerStoreIsRefused(t *testing.T) {
	t.Parallel()
	for _, name := range fixtures(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			url := ""
			if strings.Contains(name, "sqlite") {
				path := sqliteFile(t, name)
				url = "sqlite:" + path
				alter(t, path, "UPDATE meta SET value = '999' WHERE key = 'format'")
			} else {
				s := redistest.Run(t, redistest.Options{})
				restore(t, s, redisCommands(t, name))
				// A newer version was stopped in the middle of its change of all buckets.
				if _, err := s.Do(t.Context(), "HSET", "herald:{b77}:mark", "format", "999"); err != nil {
					t.Fatal(err)
				}
				url = s.URL()
			}
			h := newHome(t, "HERALD_STORE__URL="+url, "HERALD_PROVIDERS__P__BASE_URL=http://127.0.0.1:1/v1", "HERALD_PROVIDERS__P__DEFAULT_MODEL=m")
			for _, args := range [][]string{{"run"}, {"store", "create"}, {"chat", "--once", "hello"}, {"doctor"}} {
				r := h.do("", args...)
				if r.code != 4 || !strings.Contains(r.out+r.err, "newer") {
					t.Errorf("herald %s: code %d, want 4 and the reason: %s%s", strings.Join(args, " "), r.code, r.out, r.err)
				}
			}
		})
	}
}

func alter(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

// A conversation in which a newer replica has written what this one does not know is left to that one: nothing is counted, changed or
// buried, and the conversations beside it go on.
func TestNewerDocumentIsLeft(t *testing.T) {
	t.Parallel()
	for _, name := range fixtures(t) {
		if !strings.Contains(name, "sqlite") {
			continue // what is tried lies above the stores
		}
		fix := readFixture(t, name+".json")
		st, _ := openSQLite(t, sqliteFile(t, name), false, since(fix.At))
		p := conversation.Partition(chat.Conversation{Workspace: "test:lab", Channel: "c", Thread: idle})
		as, err := st.Read(t.Context(), store.Get{Partition: p, Key: conversation.CurrentKey})
		if err != nil {
			t.Fatal(err)
		}
		doc, ok := as[0].Doc()
		if !ok {
			t.Fatal("the fixture has no idle session")
		}
		newer := []byte(strings.Replace(string(doc.Value), `"v":1`, `"v":99`, 1))
		if _, err := st.Commit(t.Context(), store.Commit{ID: "newer", Partition: p, Ops: []store.Op{store.Put{Key: conversation.CurrentKey, Value: newer}}}); err != nil {
			t.Fatal(err)
		}
		var runs [2]atomic.Int32
		s := stateSetup(true, &runs, st)
		s.held = true
		r := begin(t, s)
		r.pass(fix.ID)
		r.serve(s.change)
		told := r.say(idle, "what is it called?")
		r.until("told of the newer document", func() bool { return strings.Contains(r.log.String(), "a newer Herald wrote") })
		r.answer(r.say("beside", "hello"), "a conversation beside it")
		r.chat.Look(func(v platform.View) {
			if n := len(v.Answers(told.Message)); n != 0 {
				t.Errorf("%d answers stand in a conversation that cannot be understood", n)
			}
		})
		as, err = st.Read(t.Context(), store.Get{Partition: p, Key: conversation.CurrentKey}, store.List{Partition: p, Collection: conversation.Inbox})
		if err != nil {
			t.Fatal(err)
		}
		if now, ok := as[0].Doc(); !ok || string(now.Value) != string(newer) {
			t.Errorf("the newer document was changed to %s", now.Value)
		}
		if len(as[1].Docs) != 1 || len(letters(t, st)) != 2 {
			t.Errorf("%d messages wait, %d letters; want 1 and 2", len(as[1].Docs), len(letters(t, st)))
		}
	}
}
