package redis_test

import (
	"strings"
	"testing"
	"time"

	"herald/core/store"
	"herald/core/store/redis/redistest"
)

// bucketKey names a key of conv's bucket.
func bucketKey(name string) string { return bucketPrefix(conv) + name }

// everyOp is a commit that touches every kind of key.
func everyOp(id string) store.Commit {
	c := line(conv, id)
	c.Guards = []store.Guard{store.Fewer{Collection: "lines", N: 100}, store.Absent{Index: "other", Member: "x"}}
	c.Ops = append(c.Ops,
		store.Wake{Agenda: store.Turns, Member: store.Member(conv)},
		store.Bury{ID: id, Note: []byte(`{}`)},
		store.TrimLog{Log: "log", Before: 1},
	)
	return c
}

// TestWrongTypeUnderAKey: whatever a stranger wrote under one of Herald's names, the commit is refused whole and the key is named.
func TestWrongTypeUnderAKey(t *testing.T) {
	t.Parallel()
	part := "part:" + string(conv) + "#"
	hash, text := []any{"hset", "", "field", "value"}, []any{"set", "", "a stranger's"}
	for key, write := range map[string][]any{
		"mark": text, "partitions": text, "due:turns": text, "claims:turns": text, "dead": text, "letters": text,
		part + "meta": text, part + "docs:lines": text, part + "log:log": text, part + "index:seen": hash, part + "index:other": hash,
		part + "commit:probe": hash,
	} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			srv, s := fresh(t, redistest.Options{AOF: "none"})
			name := bucketKey(key)
			args := append([]any{}, write...)
			args[1] = name
			if _, err := srv.Do(t.Context(), "del", name); err != nil {
				t.Fatal(err)
			}
			if _, err := srv.Do(t.Context(), args...); err != nil {
				t.Fatal(err)
			}
			before := dump(t, srv)
			_, err := s.Commit(t.Context(), everyOp("probe"))
			wants(t, err, store.ErrCorrupt, name, "redis-cli")
			if after := dump(t, srv); after != before {
				t.Errorf("half a commit was written:\n%s\nbefore:\n%s", after, before)
			}
			if _, err := srv.Do(t.Context(), "del", name); err != nil {
				t.Fatal(err)
			}
			if key != "mark" {
				commit(t, s, everyOp("probe"))
			}
		})
	}
}

// TestStrangeValues: the type is right and the content is not.
func TestStrangeValues(t *testing.T) {
	t.Parallel()
	part := "part:" + string(conv) + "#"
	member := string(conv)
	reads := func(q store.Query) func(*testing.T, store.Store) error {
		return func(t *testing.T, s store.Store) error { _, err := s.Read(t.Context(), q); return err }
	}
	writes := func(t *testing.T, s store.Store) error { _, err := s.Commit(t.Context(), everyOp("probe")); return err }
	for name, c := range map[string]struct {
		command []any
		use     func(*testing.T, store.Store) error
	}{
		"a document without versions, read":    {[]any{"hset", bucketKey(part + "docs:lines"), "probe", "{}"}, reads(store.Get{Partition: conv, Key: store.Key{Collection: "lines", Name: "probe"}})},
		"a document without versions, listed":  {[]any{"hset", bucketKey(part + "docs:lines"), "probe", "1 x {}"}, reads(store.List{Partition: conv, Collection: "lines"})},
		"a document without versions, written": {[]any{"hset", bucketKey(part + "docs:lines"), "probe", "{}"}, writes},
		"an entry without a time":              {[]any{"rpush", bucketKey(part + "log:log"), "hello"}, reads(store.Tail{Partition: conv, Log: "log", N: 1})},
		"a claim that is none":                 {[]any{"hset", bucketKey("claims:turns"), member, "mine"}, writes},
		"a pace that is none": {[]any{"set", paceKey("k"), "soon"}, func(t *testing.T, s store.Store) error {
			return s.Hold(t.Context(), "k", time.Second)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv, s := fresh(t, redistest.Options{AOF: "none"})
			if _, err := srv.Do(t.Context(), c.command...); err != nil {
				t.Fatal(err)
			}
			before := dump(t, srv)
			wants(t, c.use(t, s), store.ErrCorrupt)
			if after := dump(t, srv); after != before {
				t.Errorf("something was written:\n%s", after)
			}
		})
	}
}

// TestLayout shows what stands in Redis, as a person with redis-cli sees it.
func TestLayout(t *testing.T) {
	t.Parallel()
	srv, s := fresh(t, redistest.Options{AOF: "none"})
	res := commit(t, s, store.Commit{ID: "c1", Partition: conv, Ops: []store.Op{
		store.Put{Key: store.Key{Collection: "inbox", Name: "m1"}, Value: []byte(`{"text":"hi"}`)},
		store.Append{Log: "events", ID: "e1", Kind: "user_message", Data: []byte(`{"v":1}`)},
		store.Score{Index: "dedupe", Member: "m1", Score: 12.5},
		store.Take{Agenda: store.Turns, Member: store.Member(conv), Holder: "h1", Lease: time.Second},
		store.Bury{ID: "l1", Note: []byte(`{"reason":"why"}`)},
	}})
	commit(t, s, store.Commit{ID: "c2", Partition: conv, Ops: []store.Op{
		store.Append{Log: "events", ID: "e2", Kind: "model_answer", Data: []byte(`{}`)}, store.Blank{Log: "events", Seq: 2}, store.TrimLog{Log: "events", Before: 2},
	}})
	all := dump(t, srv)
	ms := func(d time.Duration) string { return formatMillis(res.Now.Add(d)) }
	part := bucketPrefix(conv) + "part:" + string(conv) + "#"
	for _, want := range []string{
		part + `docs:inbox m1 = "1 1 {\"text\":\"hi\"}"`,
		part + `meta rev = "1"`, part + `meta base:events = "1"`,
		part + `index:dedupe = "[{12.5 m1}]"`,
		bucketPrefix(conv) + "claims:turns " + string(conv) + ` = "1 1 ` + ms(0) + " " + ms(time.Second) + ` - - h1"`,
		bucketPrefix(conv) + "letters " + string(conv) + `#l1 = "{\"reason\":\"why\"}"`,
		bucketPrefix(conv) + `mark token = "1"`,
		bucketPrefix(conv) + `mark format = "1"`,
		part + "commit:c1 = ",
		`\nmodel_answer\ne2]`,
	} {
		if !strings.Contains(all, want) {
			t.Errorf("nowhere stands %s", want)
		}
	}
	for line := range strings.Lines(all) {
		if !strings.HasPrefix(line, "herald:{b") {
			t.Errorf("a key without its bucket's tag: %s", line)
		}
	}
	if t.Failed() {
		t.Log(strings.ReplaceAll(all, "herald:{b", "\n{b"))
	}
}
