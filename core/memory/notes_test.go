package memory_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herald/core/memory"
	"herald/core/store"
	fake "herald/core/store/memory"
)

func TestFind(t *testing.T) {
	t.Parallel()
	n := memory.New(fake.New(fake.Options{}), nil)
	place := memory.Of("ann")
	for i, text := range []string{"Café at noon", "noon noon noon", "Nothing", "CAFÉ later"} {
		if err := n.Add(t.Context(), place, memory.Note{ID: fmt.Sprint(i), Text: text, By: "ann"}); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		words string
		limit int
		want  []string
	}{
		{"cafe", 10, []string{"CAFÉ later", "Café at noon"}},
		{"NOON", 10, []string{"noon noon noon", "Café at noon"}},
		{"noon café", 10, []string{"Café at noon"}},
		{"absent", 10, nil},
		{"", 2, []string{"CAFÉ later", "Nothing"}},
	} {
		found, err := n.Find(t.Context(), place, tc.words, tc.limit)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range found {
			got = append(got, f.Text)
		}
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("%q (-want +got)\n%s", tc.words, d)
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	n := memory.New(fake.New(fake.Options{}), nil)
	if err := n.Add(t.Context(), memory.Of("ann"), memory.Note{ID: "x", Text: strings.Repeat("a", memory.MaxRunes+1)}); err == nil {
		t.Error("a note that is too long was kept")
	}
	for i := range memory.MaxNotes {
		if err := n.Add(t.Context(), memory.Of("ann"), memory.Note{ID: fmt.Sprint(i), Text: "a"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.Add(t.Context(), memory.Of("ann"), memory.Note{ID: "more", Text: "a"}); err == nil || !strings.Contains(err.Error(), "limit") {
		t.Errorf("got %v, want the limit", err)
	}
	if err := n.Add(t.Context(), memory.Of("ann"), memory.Note{ID: "0", Text: "a"}); err != nil {
		t.Errorf("the same note again: %v", err)
	}
}

// The footprint comes before the words.
func TestFootprintComesFirst(t *testing.T) {
	t.Parallel()
	st := fake.New(fake.Options{})
	var noted store.Partition
	n := memory.New(st, func(_ context.Context, person string, p store.Partition) error {
		noted = p
		return fmt.Errorf("no footprint for %s", person)
	})
	if err := n.Add(t.Context(), memory.Of("ann"), memory.Note{ID: "x", Text: "a", By: "ann"}); err == nil {
		t.Fatal("the note was kept without its footprint")
	}
	if noted != "person/ann" {
		t.Errorf("noted %q", noted)
	}
	if as, _ := st.Read(t.Context(), store.List{Partition: "person/ann", Collection: "note"}); len(as[0].Docs) != 0 {
		t.Error("the note was kept without its footprint")
	}
}
