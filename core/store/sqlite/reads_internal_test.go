package sqlite

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"herald/core/store"
)

// TestReadsBySize checks that a small read opens no connection of its own, and that a large one has one and gives everything.
func TestReadsBySize(t *testing.T) {
	t.Parallel()
	s := openTest(t, Options{Path: filepath.Join(t.TempDir(), "herald.db"), Create: true, Readers: 1, Sync: SyncNormal}, migrations())
	value := bytes.Repeat([]byte("x"), small/4)
	for i := range 6 {
		commit := store.Commit{ID: fmt.Sprint(i), Partition: "conversation/a", Ops: []store.Op{
			store.Put{Key: store.Key{Collection: "c", Name: fmt.Sprint(i)}, Value: value},
			store.Append{Log: "l", ID: fmt.Sprint(i), Kind: "k", Data: value},
		}}
		if _, err := s.Commit(t.Context(), commit); err != nil {
			t.Fatal(err)
		}
	}
	opened := func() bool {
		c := <-s.readers
		s.readers <- c
		return c != nil
	}
	first := store.Get{Partition: "conversation/a", Key: store.Key{Collection: "c", Name: "0"}}
	as, err := s.Read(t.Context(), first, store.Tail{Partition: "conversation/a", Log: "l", N: 2})
	if err != nil || len(as[0].Docs) != 1 || len(as[1].Entries) != 2 {
		t.Fatalf("a small read: %v, %v", as, err)
	}
	if opened() {
		t.Error("a small read opened a connection")
	}
	as, err = s.Read(t.Context(), first, store.List{Partition: "conversation/a", Collection: "c"}, store.Range{Partition: "conversation/a", Log: "l"})
	if err != nil || len(as) != 3 || len(as[0].Docs) != 1 || len(as[1].Docs) != 6 || len(as[2].Entries) != 6 {
		t.Fatalf("a large read: %d answers, %v", len(as), err)
	}
	if !bytes.Equal(as[1].Docs[5].Value, value) || as[1].Docs[5].Key.Name != "5" {
		t.Error("the last document is not whole")
	}
	if !opened() {
		t.Error("a large read held up the writer")
	}
}
