package alarm_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"herald/core/alarm"
	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/store"
	"herald/core/store/memory"
)

var update = flag.Bool("update", false, "write the golden files anew")

// world is an installation of several processes.
type world struct {
	t     *testing.T
	store *memory.Store
	ms    atomic.Int64
	ids   atomic.Int64

	mu     sync.Mutex
	closed bool
	fault  string // the site whose commits lose their reply
	seen   map[string][]alarm.Trouble
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, seen: map[string][]alarm.Trouble{}}
	w.ms.Store(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixMilli())
	w.store = memory.New(memory.Options{
		Clock: func() time.Time { return time.UnixMilli(w.ms.Load()).UTC() },
		Faults: memory.FaultFunc(func(c memory.Call) memory.Effect {
			w.mu.Lock()
			defer w.mu.Unlock()
			if c.Commit != nil && w.fault != "" && strings.HasPrefix(c.Commit.ID, w.fault) {
				return memory.Effect{After: memory.Unavailable("the reply is lost")}
			}
			return memory.Effect{}
		}),
	})
	return w
}

func (w *world) watch(holder string, welcome bool) *alarm.Watch {
	return alarm.New(alarm.Options{
		Store: w.store, Holder: holder, NewID: func() string { return fmt.Sprint(w.ids.Add(1)) }, Welcome: welcome,
		Admins: func() []chat.IdentityID { return []chat.IdentityID{"test:w/ada", "test:w/bob", "other:x/eve"} },
		Open: func(_ context.Context, id chat.IdentityID) (chat.Conversation, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.closed {
				return chat.Conversation{}, errors.New("the platform is away")
			}
			_, user, _ := strings.Cut(string(id), "/")
			if !strings.HasPrefix(string(id), "test:") {
				return chat.Conversation{}, &chat.Refused{Code: "other_workspace"}
			}
			return chat.Conversation{Workspace: "test:w", Channel: "D-" + user}, nil
		},
		Look: func(context.Context) []alarm.Trouble {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.seen[holder]
		},
	})
}

func (w *world) sees(holder string, all ...alarm.Trouble) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen[holder] = all
}

// told is what is owed to a person's direct messages, in no order.
func (w *world) told(user string) (out []string) {
	w.t.Helper()
	as, err := w.store.Read(w.t.Context(), store.List{Partition: alarm.Partition, Collection: conversation.Handovers})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, d := range as[0].Docs {
		var o conversation.Owed
		var say conversation.Delivery
		if err := errors.Join(conversation.Decode(d, &o), conversation.Decode(store.Doc{Value: o.Data}, &say)); err != nil {
			w.t.Fatal(err)
		}
		if c, _ := conversation.Of(o.To); c.Channel == "D-"+user {
			out = append(out, say.Text)
		}
	}
	return out
}

func (w *world) pass(watch *alarm.Watch) {
	w.t.Helper()
	if err := watch.Pass(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

var bad = alarm.Trouble{Kind: "models", Text: "No model answers: fast (unavailable)."}

// Two processes in the same trouble tell each admin once, and once that it is over.
func TestOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.watch("a", false), w.watch("b", false)
	w.sees("a", bad)
	w.sees("b", bad)
	both := func() {
		var all sync.WaitGroup
		for _, watch := range []*alarm.Watch{a, b} {
			all.Go(func() { w.pass(watch) })
		}
		all.Wait()
	}
	for range 5 {
		both()
		w.ms.Add(60_000)
	}
	for _, user := range []string{"ada", "bob"} {
		if got := w.told(user); len(got) != 1 || !strings.Contains(got[0], bad.Text) {
			t.Errorf("%s is told %q", user, got)
		}
	}
	w.sees("a")
	both()
	if got := w.told("ada"); len(got) != 1 {
		t.Errorf("while one process is in trouble still, they are told %q", got)
	}
	w.sees("b")
	both()
	both()
	if got := w.told("ada"); len(got) != 2 {
		t.Errorf("when it is over, they are told %q", got)
	}
}

// A reply that is lost makes nothing be told twice.
func TestLostReply(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.watch("a", true)
	w.sees("a", bad)
	for _, site := range []string{"alarm.trouble", "alarm.welcome", "alarm.address"} {
		w.fault = site
		if err := a.Pass(t.Context()); !errors.Is(err, store.ErrUnavailable) {
			// Later sites meet nothing to do when the one before was done after all.
			t.Logf("%s: %v", site, err)
		}
		w.ms.Add(60_000)
	}
	w.fault = ""
	w.pass(a)
	if got := w.told("ada"); len(got) != 2 {
		t.Errorf("they are told %q", got)
	}
}

// Trouble of the platform itself is told where the admins were found before; where nobody was found it waits.
func TestPlatformAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.watch("a", false)
	w.closed = true
	w.sees("a", bad)
	if err := a.Pass(t.Context()); err == nil || len(w.told("ada")) != 0 {
		t.Errorf("nobody can be told: %v, %q", err, w.told("ada"))
	}
	w.closed = false
	w.pass(a)
	w.closed = true
	w.sees("a")
	if err := a.Pass(t.Context()); len(w.told("ada")) != 2 {
		t.Errorf("they are told %q, %v", w.told("ada"), err)
	}
}

func TestWelcome(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.watch("a", true), w.watch("b", true)
	for range 2 {
		w.pass(a)
		w.pass(b)
	}
	got := w.told("ada")
	if len(got) != 1 || len(w.told("bob")) != 1 {
		t.Fatalf("they are told %q", got)
	}
	w.sees("a", bad)
	w.pass(a)
	w.ms.Add(120_000)
	w.sees("a")
	w.pass(a)
	all := map[string]string{"welcome.golden": got[0]}
	for _, text := range w.told("ada") {
		switch {
		case strings.HasPrefix(text, "**Trouble"):
			all["trouble.golden"] = text
		case strings.HasPrefix(text, "**Over"):
			all["over.golden"] = text
		}
	}
	if len(all) != 3 {
		t.Fatalf("they are told %q", w.told("ada"))
	}
	for name, text := range all {
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if text+"\n" != string(want) {
			t.Errorf("it differs from %s; write it anew with -update:\n%s", path, text)
		}
	}
}

func TestSettle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sees("a", bad)
	a := alarm.New(alarm.Options{
		Store: w.store, Holder: "a", NewID: func() string { return fmt.Sprint(w.ids.Add(1)) }, Settle: time.Hour,
		Admins: func() []chat.IdentityID { return []chat.IdentityID{"test:w/ada"} },
		Open: func(context.Context, chat.IdentityID) (chat.Conversation, error) {
			return chat.Conversation{Workspace: "test:w", Channel: "D-ada"}, nil
		},
		Look: func(context.Context) []alarm.Trouble { return w.seen["a"] },
	})
	w.pass(a)
	w.pass(a)
	if got := w.told("ada"); len(got) != 0 {
		t.Errorf("what may pass by itself is told: %q", got)
	}
}
