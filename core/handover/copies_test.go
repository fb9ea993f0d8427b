package handover_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/handover"
	"herald/core/store"
	"herald/core/store/memory"
)

const thread store.Partition = "conversation/test:w/c/t"

// desk is a store with the direct messages of Bob.
type desk struct {
	*testing.T
	*memory.Store
	handover.Copies
	dm    store.Partition
	noted []string
	fails error
}

func newDesk(t *testing.T) *desk {
	st := memory.New(memory.Options{})
	at := chat.Conversation{Workspace: "test:w", Channel: "D1"}
	d := &desk{T: t, Store: st, dm: conversation.Partition(at)}
	d.Copies = handover.Copies{
		Store: st,
		Open:  func(context.Context, chat.IdentityID) (chat.Conversation, error) { return at, d.fails },
		Note: func(_ context.Context, person string, p store.Partition) error {
			d.noted = append(d.noted, person+" in "+string(p))
			return nil
		},
	}
	return d
}

func (d *desk) owe(kind string, c conversation.Copy) (bool, error) {
	d.Helper()
	c.V, c.Wait, c.To, c.Person = 1, "w1", "test:w/bob", "ann"
	return d.Take(d.Context(), thread, &conversation.Owed{ID: kind + ".w1", Kind: kind, Data: conversation.Encode(c)})
}

func (d *desk) begin() (bool, error) {
	return d.owe(conversation.CopyKind, conversation.Copy{Delivery: &conversation.Delivery{ID: "d1", Kind: conversation.Ask, Text: "May I?", Card: &chat.Card{Title: "May I?"}}})
}

func (d *desk) finish() (bool, error) {
	return d.owe(conversation.CopyEndKind, conversation.Copy{How: "Approved by BOB."})
}

// stands is the delivery where it waits or was sent, and how many there are of it.
func (d *desk) stands() (out conversation.Delivery, n int) {
	d.Helper()
	as, err := d.Read(d.Context(), store.List{Partition: d.dm, Collection: conversation.Outgoing}, store.List{Partition: d.dm, Collection: conversation.Sent})
	if err != nil {
		d.Fatal(err)
	}
	for _, a := range as {
		for _, doc := range a.Docs {
			if err := json.Unmarshal(doc.Value, &out); err != nil {
				d.Fatal(err)
			}
			n++
		}
	}
	return out, n
}

// sent is what the outbox leaves.
func (d *desk) sent() {
	d.Helper()
	out, _ := d.stands()
	out.Pieces = []conversation.Piece{{Text: out.Text, Attempts: 1, Settled: true, Receipt: &chat.Receipt{MessageID: "m1"}}}
	_, err := d.Commit(d.Context(), store.Commit{ID: "sent", Partition: d.dm, Ops: []store.Op{
		store.Delete{Key: out.Key()}, store.Put{Key: out.SentKey(), Value: conversation.Encode(out)},
	}})
	if err != nil {
		d.Fatal(err)
	}
}

func TestACopyOfACard(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		do   func(*desk)
		n    int
		text string
		card bool
	}{
		{"sent and decided", func(d *desk) { d.must(d.begin()); d.sent(); d.must(d.finish()) }, 1, "May I?\n\n**Approved by BOB.**", false},
		{"decided before it was sent", func(d *desk) { d.must(d.begin()); d.must(d.finish()) }, 1, "May I?\n\n**Approved by BOB.**", false},
		{"decided before it came", func(d *desk) {
			d.must(d.finish())
			if taken, err := d.begin(); taken || err != nil {
				d.Errorf("the card was posted after its end: %v %v", taken, err)
			}
		}, 0, "", false},
		{"sent where nothing can be changed", func(d *desk) {
			d.Edits = func(chat.Conversation) bool { return false }
			d.must(d.begin())
			d.sent()
			d.must(d.finish())
		}, 1, "May I?", true},
		{"not yet sent where nothing can be changed", func(d *desk) {
			d.Edits = func(chat.Conversation) bool { return false }
			d.must(d.begin())
			d.must(d.finish())
		}, 1, "May I?\n\n**Approved by BOB.**", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			tc.do(d)
			got, n := d.stands()
			if n != tc.n || got.Text != tc.text || (got.Card != nil) != tc.card {
				t.Errorf("%d deliveries, the last %+v", n, got)
			}
			if n > 0 && len(got.Pieces) > 0 && (got.Pieces[0].Receipt == nil || got.Pieces[0].Settled != tc.card || got.Uncut == tc.card) {
				t.Errorf("the message that stands is not changed: %+v", got)
			}
			// Offered again, both change nothing.
			for _, again := range []func() (bool, error){d.begin, d.finish} {
				if taken, err := again(); taken || err != nil {
					t.Errorf("offered again: %v %v", taken, err)
				}
			}
		})
	}
}

func (d *desk) must(taken bool, err error) {
	d.Helper()
	if err != nil || !taken {
		d.Fatalf("it was not taken: %v %v", taken, err)
	}
}

func TestACopyIsNotedAndNamesItsOrigin(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.must(d.begin())
	if len(d.noted) != 1 || d.noted[0] != "ann in "+string(d.dm) {
		t.Errorf("noted %q", d.noted)
	}
	as, err := d.Read(t.Context(), store.Get{Partition: d.dm, Key: conversation.CopiedKey("w1")})
	if err != nil {
		t.Fatal(err)
	}
	var c conversation.Copied
	doc, _ := as[0].Doc()
	if err := conversation.Decode(doc, &c); err != nil || c.Origin != thread || c.Delivery != "d1" || c.Ended {
		t.Errorf("the copy is %+v %v", c, err)
	}
}

func TestACopyThatCannotBePosted(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		fails error
		want  error
	}{
		{"nobody can write to them", &chat.Refused{Code: "user_disabled"}, handover.ErrGone},
		{"the platform is away", &chat.Outage{Reason: "away"}, handover.ErrBusy},
		{"the outcome is not known", errors.New("?"), handover.ErrBusy},
	} {
		d := newDesk(t)
		d.fails = tc.fails
		if _, err := d.begin(); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
	d := newDesk(t)
	for name, data := range map[string]string{"no JSON": "{", "no wait": `{"v":1,"to":"x","person":"y"}`, "no card": `{"v":1,"wait":"w","to":"x","person":"y"}`} {
		if _, err := d.Take(t.Context(), thread, &conversation.Owed{ID: "x", Kind: conversation.CopyKind, Data: []byte(data)}); !errors.Is(err, handover.ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := d.Take(t.Context(), thread, &conversation.Owed{ID: "x", Kind: conversation.CopyEndKind, Data: []byte(`{"v":99,"wait":"w","to":"x","person":"y"}`)}); !errors.Is(err, conversation.ErrNewer) {
		t.Errorf("newer: %v", err)
	}
}
