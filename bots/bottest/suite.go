package bottest

import (
	"context"
	"strconv"
	"testing"
	"time"
	"unicode/utf8"

	"herald/core/chat"
)

// Fault is a trouble of a platform that a [Fixture] can cause.
type Fault string

// The faults. Each hits the next send alone, unless it says otherwise.
const (
	RateLimited Fault = "rate limited" // refused for two seconds; nothing was done
	Unavailable Fault = "unavailable"  // an error of the platform's own; nothing says whether it was done
	LostReply   Fault = "lost reply"   // done, but the connection broke before the answer
	CutReply    Fault = "cut reply"    // done, but the answer ended in the middle
	Rejected    Fault = "rejected"     // the platform will never take this post
	DeadToken   Fault = "dead token"   // the app may not speak any more
	Hang        Fault = "hang"         // no answer at all
)

// Traits are what an adapter's platform does by its nature.
type Traits struct {
	// Platform is the part before the colon of its workspaces.
	Platform chat.Platform
	// Redelivers: an event that was not acknowledged is sent again by the platform. Otherwise its sender is told and may send it again.
	Redelivers bool
	// Breaks: the adapter holds a connection that can break, and opens it again.
	Breaks bool
	// Echoes: the platform tells the app of its own messages.
	Echoes bool
	// Faults are the troubles that a send can meet.
	Faults []Fault
	// Length measures a piece in the unit of the text limit; runes when nil.
	Length func(string) int
}

// Standing is one of the app's messages on the platform.
type Standing struct {
	ID   string
	Text string
	Live bool
}

// Fixture is one fresh platform with the adapter connected to it. All ends with the test that made it.
type Fixture interface {
	Adapter() chat.Adapter
	// Place is the i-th conversation; different numbers are different conversations.
	Place(i int) chat.Conversation
	// Say is a person's message. It does not wait; messages of one place reach the platform in the order of the calls. The result names it.
	Say(place int, text string) string
	// Await returns when a message was acknowledged, or with an error when its sender was told that it was not taken.
	Await(ctx context.Context, name string) error
	// Acked reports whether a message was acknowledged by now.
	Acked(name string) bool
	// Again makes the platform (or its sender) send the same message once more.
	Again(name string)
	// Standing are the app's messages in a place, in the platform's order.
	Standing(place int) []Standing
	// Inject causes a fault of those that the traits name.
	Inject(f Fault)
	// Break breaks the adapter's connection, where the traits say that it can.
	Break()
	// Stop ends the adapter's loop and waits for it.
	Stop(ctx context.Context) error
}

// Harness makes fixtures.
type Harness struct {
	Traits Traits
	// Patience is how long the suite waits for what must come; 20 s when 0.
	Patience time.Duration
	// New connects a fresh adapter whose events go to r.
	New func(t *testing.T, r chat.Receiver) Fixture
}

// Run drives an adapter through the suite.
func Run(t *testing.T, h Harness) {
	t.Helper()
	if h.Traits.Length == nil {
		h.Traits.Length = utf8.RuneCountInString
	}
	if h.Patience == 0 {
		h.Patience = patience
	}
	s := &suite{h}
	for _, c := range []struct {
		name string
		f    func(*testing.T)
	}{
		{"capabilities", s.capabilities},
		{"inbound/normalised", s.normalised},
		{"inbound/acknowledged after receive", s.ackAfterReceive},
		{"inbound/not acknowledged after an error", s.noAckAfterError},
		{"inbound/sent again", s.sentAgain},
		{"inbound/order", s.order},
		{"inbound/no conversation waits for another", s.concurrent},
		{"inbound/own messages", s.own},
		{"inbound/broken connection", s.broken},
		{"inbound/stop", s.stop},
		{"outbound/send", s.send},
		{"outbound/repeat", s.repeat},
		{"outbound/find", s.find},
		{"outbound/edit", s.edit},
		{"outbound/card", s.card},
		{"outbound/side by side", s.sideBySide},
		{"outbound/ended context", s.ended},
		{"outbound/faults", s.faults},
		{"cut/property", s.cutProperty},
		{"cut/pieces stand", s.cutStands},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.f(t)
		})
	}
}

type suite struct{ Harness }

// patience is how long the suite waits for what must come, where the harness names no time.
const patience = 20 * time.Second

func (s *suite) within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), s.Patience)
	t.Cleanup(cancel)
	return ctx
}

func post(f Fixture, place int, delivery, text string) *chat.Post {
	return &chat.Post{Conversation: f.Place(place), DeliveryID: delivery, Text: text, After: time.Now().Add(-time.Minute)}
}

// mustSend posts and checks the receipt.
func (s *suite) mustSend(t *testing.T, f Fixture, p *chat.Post) chat.Receipt {
	t.Helper()
	r, err := f.Adapter().Send(s.within(t), p)
	if err != nil {
		t.Fatalf("send %s piece %d: %v", p.DeliveryID, p.Piece, err)
	}
	if r.MessageID == "" {
		t.Fatalf("send %s piece %d: a receipt without an id", p.DeliveryID, p.Piece)
	}
	return r
}

func (s *suite) capabilities(t *testing.T) {
	f := s.New(t, newRecorder(nil))
	for i := range 2 {
		c := f.Adapter().Capabilities(f.Place(i))
		if c.SendTimeout <= 0 {
			t.Error("a send must have a time-out: without it nobody knows when to look for it")
		}
		if c.Nonce != (c.NonceFor > 0) {
			t.Errorf("nonce %v, but it holds for %s", c.Nonce, c.NonceFor)
		}
		if c.TextLimit < 0 || c.EditEvery < 0 || c.EditEvery > 0 && !c.Edits {
			t.Errorf("contradictory: %+v", c)
		}
		if key := f.Place(i).Key(); key == f.Place(i+1).Key() {
			t.Errorf("places %d and %d are one: %s", i, i+1, key)
		} else if back, ok := chat.ParseConversation(key); !ok || back != f.Place(i) {
			t.Errorf("the key %s reads as %+v", key, back)
		}
	}
}

func number(prefix string, i int) string { return prefix + strconv.Itoa(i) }
