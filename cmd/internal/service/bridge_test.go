package service

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"herald/bots/console"
	"herald/config"
	"herald/core/chat"
	"herald/core/people"
	"herald/core/store"
	"herald/core/store/memory"
)

// limited is an adapter that only says what it can do.
type limited struct {
	chat.Adapter
	caps chat.Capabilities
}

func (l limited) Capabilities(chat.Conversation) chat.Capabilities { return l.caps }

func TestPaced(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ platform, operator, want time.Duration }{
		{time.Second, 50 * time.Millisecond, time.Second},
		{50 * time.Millisecond, time.Second, time.Second},
	} {
		a := paced{limited{caps: chat.Capabilities{Edits: true, EditEvery: tt.platform, TextLimit: 7}}, tt.operator}
		if got := a.Capabilities(chat.Conversation{}); got.EditEvery != tt.want || got.TextLimit != 7 || !got.Edits {
			t.Errorf("platform %v, operator %v: %+v", tt.platform, tt.operator, got)
		}
	}
}

// A terminal's person types as fast as they like and is answered at once; a platform's limits hold for platforms.
func TestTheTerminalHasNoPace(t *testing.T) {
	t.Parallel()
	s := &Service{cfg: &config.Config{Outbox: config.Outbox{ChannelInterval: time.Hour, WorkspaceInterval: time.Hour}}, store: observe(memory.New(memory.Options{}), func(string) {})}
	for _, tt := range []struct {
		workspace chat.Workspace
		room      bool // for a second post at once
	}{{console.Workspace, true}, {"test:lab", false}} {
		o := outgoing{pacer: s.pacer()}
		c := chat.Conversation{Workspace: tt.workspace, Channel: "c"}
		for i, want := range []bool{true, tt.room} {
			if got, err := o.Room(t.Context(), c); got != want || err != nil {
				t.Errorf("%s, post %d: room %v, error %v; want %v", tt.workspace, i+1, got, err, want)
			}
		}
	}
}

func TestIsAdmin(t *testing.T) {
	t.Parallel()
	st := memory.New(memory.Options{})
	s := &Service{store: observe(st, func(string) {})}
	put := func(p store.Partition, k store.Key, v any) {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := st.Commit(t.Context(), store.Commit{ID: string(p), Partition: p, Ops: []store.Op{store.Put{Key: k, Value: b}}}); err != nil {
			t.Fatal(err)
		}
	}
	is := func(person string) bool {
		got, err := s.isAdmin(t.Context(), person)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	put(people.PersonPartition("p1"), people.PersonKey, people.Record{V: 1, ID: "p1", Identities: []chat.IdentityID{"x:1", "x:2"}})
	put(people.PersonPartition("p2"), people.PersonKey, people.Record{V: 1, ID: "p2", Identities: []chat.IdentityID{"x:3"}})
	if is("p1") {
		t.Error("nobody is named, and p1 is an admin")
	}
	put(people.System, people.AdminsKey, people.Admins{V: 1, Identities: []chat.IdentityID{"x:2"}})
	if !is("p1") || is("p2") || is("nobody") {
		t.Errorf("p1 %v, p2 %v, nobody %v", is("p1"), is("p2"), is("nobody"))
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.isAdmin(context.Background(), "p1"); !errors.Is(err, store.ErrClosed) {
		t.Errorf("a store that fails gives rights: %v", err)
	}
}
