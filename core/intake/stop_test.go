package intake_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/intake"
	"herald/core/session"
	"herald/core/store"
)

// underway puts a turn into a thread, as its holder would, with the footprint of who wrote there.
func (r *rig) underway(thread string, opener, writer chat.Sender, waits ...session.Wait) chat.Conversation {
	r.t.Helper()
	c := place
	c.Thread = thread
	in := message(len(thread)*100+int(thread[len(thread)-1]), "go")
	in.MessageID, in.Conversation, in.Sender = "m-"+thread, c, writer
	if _, err := r.Receive(r.t.Context(), in); err != nil {
		r.t.Fatal(err)
	}
	taken := store.Delete{Key: (&conversation.Message{Order: in.Order, MessageID: in.MessageID}).Key()}
	cur := conversation.Current{V: conversation.Version, BeganAt: start, State: session.State{
		Session: "s", Agent: "main", Opener: personOf(opener), Turn: &session.Turn{ID: "t", Covers: []session.Cover{{MessageID: in.MessageID, Person: personOf(writer)}}}, Waits: waits,
	}}
	_, err := r.seen.Commit(r.t.Context(), store.Commit{
		ID: "cur-" + thread, Partition: conversation.Partition(c), Ops: []store.Op{taken, store.Put{Key: conversation.CurrentKey, Value: conversation.Encode(cur)}},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

func slashStop(n int, who chat.Sender) *chat.Inbound {
	in := message(n, "stop")
	in.Kind, in.Sender, in.MessageID = chat.Command, who, fmt.Sprintf("slash%d", n)
	in.Conversation.Thread = ""
	return in
}

// said are the notices of the channel itself.
func (r *rig) said() (out []conversation.Delivery) {
	r.t.Helper()
	c := place
	c.Thread = ""
	as, err := r.seen.Read(r.t.Context(), store.List{Partition: conversation.Partition(c), Collection: conversation.Outgoing})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, d := range as[0].Docs {
		var v conversation.Delivery
		if err := conversation.Decode(d, &v); err != nil {
			r.t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

// A stop without a thread lists the caller's running turns of the channel; pressing a button is a stop in that thread, under its rights.
func TestStopWithoutThread(t *testing.T) {
	t.Parallel()
	r := newRig(t, withPolicy(intake.Policy{Threadless: true}))
	mine := r.underway("mine", ada, ada)
	r.underway("joined", bob, ada, session.Wait{ID: "w", Kind: session.Approval})
	r.underway("bobs", bob, bob)
	r.underway("adas", ada, bob) // she opened it, and wrote nothing that would be found
	if _, err := r.Receive(t.Context(), slashStop(1, ada)); err != nil {
		t.Fatal(err)
	}
	got := r.said()
	if len(got) != 1 || got[0].Card == nil || got[0].Only != ada.Identity || got[0].Interaction != "" {
		t.Fatalf("it says %+v", got)
	}
	var actions []string
	for _, b := range got[0].Card.Buttons {
		actions = append(actions, b.Action)
	}
	slices.Sort(actions)
	if want := []string{"stop:joined", "stop:mine"}; !slices.Equal(actions, want) {
		t.Errorf("its buttons are %q, want %q", actions, want)
	}
	if f := fmt.Sprint(got[0].Card.Fields); !strings.Contains(f, "12:00:00 UTC, at work") || !strings.Contains(f, "waiting for a person") {
		t.Errorf("it lists %s", f)
	}
	// A message whose turn has committed no step yet counts as well.
	waiting := message(77, "go")
	waiting.Conversation.Thread = "begins"
	for _, in := range []*chat.Inbound{waiting, slashStop(9, ada)} {
		if _, err := r.Receive(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.said(); len(got) != 2 || !strings.Contains(fmt.Sprintf("%+v %+v", *got[0].Card, *got[1].Card), "stop:begins") {
		t.Errorf("it says %+v", got)
	}
	press := slashStop(2, ada)
	press.Kind, press.Text, press.Action = chat.Click, "", "stop:mine"
	for range 2 { // a press comes once; twice makes no second stop
		if _, err := r.Receive(t.Context(), press); err != nil {
			t.Fatal(err)
		}
	}
	as, err := r.seen.Read(t.Context(), store.List{Partition: conversation.Partition(mine), Collection: conversation.Controls}, store.Get{Partition: conversation.Partition(mine), Key: conversation.HeadKey})
	if err != nil {
		t.Fatal(err)
	}
	var c conversation.Control
	if len(as[0].Docs) != 1 {
		t.Fatalf("%d controls stand in the thread", len(as[0].Docs))
	}
	if err := conversation.Decode(as[0].Docs[0], &c); err != nil {
		t.Fatal(err)
	}
	if _, head := as[1].Doc(); c.Kind != conversation.Stop || c.By != personOf(ada) || c.Interaction == "" || !head {
		t.Errorf("the control is %+v", c)
	}
}

func TestStopWithoutThreadFindsNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, withPolicy(intake.Policy{Threadless: true}))
	r.underway("bobs", bob, bob)
	r.underway("old", ada, ada)
	r.clock.advance(8 * 24 * time.Hour)
	in := slashStop(1, ada)
	in.SentAt = r.clock.now()
	if _, err := r.Receive(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	if got := r.said(); len(got) != 1 || got[0].Card != nil || !strings.Contains(got[0].Text, "No turn of yours") || got[0].Interaction == "" {
		t.Errorf("it says %+v", got)
	}
	// In a thread, in direct messages and where commands carry their thread it is a stop as ever.
	for name, change := range map[string]func(*chat.Inbound){
		"in a thread":        func(in *chat.Inbound) { in.Conversation.Thread = "x" },
		"in direct messages": func(in *chat.Inbound) { in.Direct = true },
	} {
		in := slashStop(2, ada)
		change(in)
		in.MessageID, in.SentAt = name, r.clock.now()
		if _, err := r.Receive(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		as, err := r.seen.Read(t.Context(), store.List{Partition: conversation.Partition(in.Conversation), Collection: conversation.Controls})
		if err != nil || len(as[0].Docs) != 1 {
			t.Errorf("%s: %d controls, %v", name, len(as[0].Docs), err)
		}
	}
}
