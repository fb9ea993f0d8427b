package redis_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	goredis "github.com/redis/go-redis/v9"

	"herald/core/store"
	"herald/core/store/redis"
)

func TestHintText(t *testing.T) {
	t.Parallel()
	for _, h := range []store.Hint{
		{Agenda: store.Turns, Member: "conversation/x#y"},
		{Topic: "config", Payload: ""},
		{Topic: "cancel", Payload: "a\nb\n\x00"},
	} {
		if got, ok := redis.DecodeHint(redis.EncodeHint(h)); !ok || got != h {
			t.Errorf("%+v came back as %+v, %v", h, got, ok)
		}
	}
	for _, text := range []string{"", "wake", "wake\nturns", "another\nkind\nof hint", "\n\n"} {
		if h, ok := redis.DecodeHint(text); ok {
			t.Errorf("%q was taken for %+v", text, h)
		}
	}
}

// TestAnswers reads what commit.lua says, also what it should never say.
func TestAnswers(t *testing.T) {
	t.Parallel()
	c := store.Commit{ID: "c", Partition: conv, Claim: &store.Claim{Token: 3}, Ops: []store.Op{
		store.Take{Agenda: store.Turns, Member: "m", Holder: "h", Lease: 1}, store.Take{Agenda: store.Turns, Member: "n", Holder: "h", Lease: 1},
	}}
	at := func(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
	good := store.Result{Now: at(1700000000123), Versions: []int64{4, 5}, Seqs: []int64{9}, Taken: []*store.Claim{nil, {
		Agenda: store.Turns, Member: "n", Token: 7, Holder: "h", Attempt: 2, Since: at(10), Until: at(20),
	}}}
	again := good
	again.Repeated = true
	const text = "1700000000123\n4 5\n9\n-\n7 2 10 20"
	for _, r := range []struct {
		name   string
		answer any
		want   store.Result
		err    error
	}{
		{"done", []any{"done", text}, good, nil},
		{"again", []any{"again", text}, again, nil},
		{"fenced", []any{"fenced", "token 4 stands"}, store.Result{}, store.ErrFenced},
		{"conflict", []any{"conflict", int64(2), int64(8)}, store.Result{}, store.ErrConflict},
		{"nothing", nil, store.Result{}, store.ErrCorrupt},
		{"no list", "done", store.Result{}, store.ErrCorrupt},
		{"too short", []any{"done"}, store.Result{}, store.ErrCorrupt},
		{"another kind", []any{"perhaps", text}, store.Result{}, store.ErrCorrupt},
		{"no text", []any{"done", int64(1)}, store.Result{}, store.ErrCorrupt},
		{"no time", []any{"done", "\n\n\n-\n-"}, store.Result{}, store.ErrCorrupt},
		{"versions that are none", []any{"done", "1\nx\n\n-\n-"}, store.Result{}, store.ErrCorrupt},
		{"sequences that are none", []any{"done", "1\n\nx\n-\n-"}, store.Result{}, store.ErrCorrupt},
		{"a take is missing", []any{"done", "1\n\n\n-"}, store.Result{}, store.ErrCorrupt},
		{"a take that is none", []any{"done", "1\n\n\n-\n7 2"}, store.Result{}, store.ErrCorrupt},
		{"a broken conflict", []any{"conflict", "x", int64(1)}, store.Result{}, store.ErrCorrupt},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			got, err := redis.CommitResult(&c, r.answer)
			if !errors.Is(err, r.err) {
				t.Fatalf("got %v, want %v", err, r.err)
			}
			if d := cmp.Diff(r.want, got); err == nil && d != "" {
				t.Error(d)
			}
			if conflict, ok := errors.AsType[*store.ConflictError](err); r.name == "conflict" && (!ok || conflict.Guard != 2 || conflict.Version != 8) {
				t.Errorf("got %+v", conflict)
			}
		})
	}
}

// TestTrouble: each of Redis' refusals is one of the port's kinds, with something to do.
func TestTrouble(t *testing.T) {
	t.Parallel()
	said := func(text string) error { return fmt.Errorf("pipeline: %w", redisError(text)) }
	for _, c := range []struct {
		err  error
		want error
	}{
		{said("LOADING Redis is loading the dataset in memory"), store.ErrUnavailable},
		{said("CLUSTERDOWN Hash slot not served"), store.ErrUnavailable},
		{said("MASTERDOWN Link with MASTER is down"), store.ErrUnavailable},
		{said("TRYAGAIN Multiple keys request during rehashing of slot"), store.ErrUnavailable},
		{said("NOREPLICAS Not enough good replicas to write."), store.ErrUnavailable},
		{said("ERR max number of clients reached"), store.ErrUnavailable},
		{said("NOAUTH Authentication required."), store.ErrUnavailable},
		{said("OOM command not allowed when used memory > 'maxmemory'."), store.ErrFull},
		{said("MISCONF Errors writing to the AOF file: No space left on device"), store.ErrFull},
		{said("MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk."), store.ErrReadOnly},
		{said("READONLY You can't write against a read only replica."), store.ErrReadOnly},
		{said("WRONGTYPE Operation against a key holding the wrong kind of value"), store.ErrCorrupt},
		{said("CHANGED no mark"), store.ErrChanged},
		{said("ERR Error compiling script (new function): user_script:1: unexpected symbol near '#'"), store.ErrUnavailable},
		{io.EOF, store.ErrUnavailable},
	} {
		t.Run(c.err.Error(), func(t *testing.T) {
			t.Parallel()
			got := redis.Trouble(c.err)
			if !errors.Is(got, c.want) || !errors.Is(got, c.err) {
				t.Errorf("got %v, want %v", got, c.want)
			}
			if old := strings.Contains(c.err.Error(), "compiling"); old != strings.Contains(got.Error(), "needs Redis 7.0") {
				t.Errorf("of an old server: %v", got)
			}
		})
	}
}

// redisError is an error as go-redis gives it for an answer that begins with '-'.
type redisError string

func (e redisError) Error() string { return string(e) }
func (redisError) RedisError()     {}

var _ goredis.Error = redisError("")
