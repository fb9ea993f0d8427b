package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"herald/core/chat"
	"herald/core/memory"
	store "herald/core/store/memory"
	"herald/core/tool"
	"herald/core/tool/builtin"
)

func TestCurrentTime(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	clock := builtin.CurrentTime(berlin, func() time.Time { return time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC) })
	for _, tc := range []struct{ name, args, want, fails string }{
		{"the installation's zone", `{}`, "Wednesday, 1 July 2026, 12:00:00 CEST (+02:00)", ""},
		{"another zone", `{"timezone":"Asia/Tokyo"}`, "Wednesday, 1 July 2026, 19:00:00 JST (+09:00)", ""},
		{"an unknown zone", `{"timezone":"Mars/Base"}`, "", "no time zone"},
		{"arguments that do not fit", `{"timezone":1}`, "", "do not fit"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r, err := clock.Run(t.Context(), tool.Call{Arguments: json.RawMessage(tc.args)})
			if tc.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tc.fails) {
					t.Errorf("got %v, want %q", err, tc.fails)
				}
				return
			}
			if err != nil || r.Text != tc.want {
				t.Errorf("got %q %v, want %q", r.Text, err, tc.want)
			}
		})
	}
}

// Personal notes stay the person's, a channel's are shared by its threads, and neither is seen from the other.
func TestNotesStayWhereTheyWereMade(t *testing.T) {
	t.Parallel()
	tools := (&builtin.Desk{Notes: memory.New(store.New(store.Options{}), nil)}).Tools()
	remember, recall := tools[0], tools[1]
	channel := func(c, thread string) tool.Call {
		return tool.Call{Scope: tool.Scope{Person: "ann", Conversation: chat.Conversation{Workspace: "test:1", Channel: c, Thread: thread}}}
	}
	dm := func(person string) tool.Call {
		c := channel("dm-"+person, "")
		c.Person, c.Direct = person, true
		return c
	}
	note := func(c tool.Call, id, text string) {
		t.Helper()
		c.ID, c.Arguments = id, json.RawMessage(`{"text":"`+text+`"}`)
		for range 2 { // a call that is run again notes nothing twice
			if _, err := remember.Run(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
	}
	note(dm("ann"), "1", "Ann likes tea")
	note(channel("c1", "t1"), "2", "The team meets at nine")
	for _, tc := range []struct {
		name string
		call tool.Call
		want int
	}{
		{"the person's own", dm("ann"), 1},
		{"another person's", dm("bob"), 0},
		{"another thread of the channel", channel("c1", "t2"), 1},
		{"another channel", channel("c2", "t1"), 0},
	} {
		c := tc.call
		c.Arguments = json.RawMessage(`{}`)
		r, err := recall.Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(r.Text, "\n- "); got != tc.want {
			t.Errorf("%s: %d notes in %q, want %d", tc.name, got, r.Text, tc.want)
		}
	}
	empty := dm("ann")
	empty.Arguments = json.RawMessage(`{"text":"  "}`)
	if _, err := remember.Run(t.Context(), empty); err == nil {
		t.Error("an empty note was kept")
	}
}

// A task's notes are those of the conversation that began it; where that cannot be told, nothing that others share is open.
func TestATaskHasTheNotesOfItsOrigin(t *testing.T) {
	t.Parallel()
	origin := chat.Conversation{Workspace: "test:1", Channel: "c1", Thread: "t1"}
	task := chat.Conversation{Workspace: "test:1", Channel: "tasks", Thread: "k1"}
	var fails error
	d := &builtin.Desk{Origin: func(_ context.Context, c chat.Conversation) (chat.Conversation, error) {
		if c == task {
			return origin, fails
		}
		return c, nil
	}}
	c := tool.Call{}
	c.Person, c.Conversation = "ann", task
	if pl, err := d.Room(t.Context(), c).Open(memory.Channel); err != nil || pl != memory.OfChannel(origin) {
		t.Errorf("got %q, %v", pl, err)
	}
	fails = errors.New("the store is away")
	for _, root := range []memory.Root{memory.Channel, memory.Shared} {
		if pl, err := d.Room(t.Context(), c).Open(root); err == nil {
			t.Errorf("%s is open: %q", root, pl)
		}
	}
}
