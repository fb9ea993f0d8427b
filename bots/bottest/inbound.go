package bottest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"herald/core/chat"
)

func (s *suite) await(t *testing.T, f Fixture, name string) {
	t.Helper()
	if err := f.Await(s.within(t), name); err != nil {
		t.Fatalf("the message was not acknowledged: %v", err)
	}
}

func (s *suite) normalised(t *testing.T) {
	r := newRecorder(nil)
	f := s.New(t, r)
	const text = "Grüße,\nzwei Zeilen 👩‍👩‍👧 with \"quotes\" and a \\ backslash"
	s.await(t, f, f.Say(1, text))
	in := r.until(s.within(t), t, "the message came", atLeast(1))[0]
	if in.Kind != chat.Message || in.Text != text || in.Conversation != f.Place(1) {
		t.Errorf("received %+v, want the message %q in %+v", in, text, f.Place(1))
	}
	if in.App == "" || in.MessageID == "" || in.Order == "" || in.SentAt.IsZero() {
		t.Errorf("app, message, order or time is missing: %+v", in)
	}
	if in.Sender.Self || in.Sender.Bot || in.Sender.Identity == "" {
		t.Errorf("the sender is a person: %+v", in.Sender)
	}
	if p, _, _ := strings.Cut(string(in.Sender.Identity), ":"); chat.Platform(p) != s.Traits.Platform || in.Conversation.Workspace.Platform() != s.Traits.Platform {
		t.Errorf("identity %s and workspace %s, want the platform %s", in.Sender.Identity, in.Conversation.Workspace, s.Traits.Platform)
	}
}

func (s *suite) ackAfterReceive(t *testing.T) {
	release := make(chan struct{})
	r := newRecorder(func(ctx context.Context, _ int, _ *chat.Inbound) error {
		select {
		case <-release:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	f := s.New(t, r)
	name := f.Say(0, "hello")
	r.until(s.within(t), t, "the message came", atLeast(1))
	if f.Acked(name) {
		t.Error("acknowledged before the receiver had it")
	}
	close(release)
	s.await(t, f, name)
}

func (s *suite) noAckAfterError(t *testing.T) {
	away := errors.New("the store is away")
	const failures = 2
	r := newRecorder(func(_ context.Context, nth int, _ *chat.Inbound) error {
		if nth < failures {
			return away
		}
		return nil
	})
	f := s.New(t, r)
	name := f.Say(0, "hello")
	if !s.Traits.Redelivers { // the sender is told each time and repeats it
		for range failures {
			if err := f.Await(s.within(t), name); err == nil {
				t.Error("the receiver failed, but the sender was told that all is well")
			}
			f.Again(name)
		}
	}
	s.await(t, f, name)
	got := others(r.until(s.within(t), t, "the message was taken", atLeast(failures+1)))
	if len(got) > failures+1 && !s.Traits.Redelivers { // an impatient platform may have sent it once more
		t.Errorf("received %d times, want %d failures and a success", len(got), failures)
	}
	s.same(t, got)
}

// same checks that all are one event for the receiver.
func (s *suite) same(t *testing.T, got []chat.Inbound) {
	t.Helper()
	for _, in := range got[1:] {
		if in.DedupeKey() != got[0].DedupeKey() || in.Order != got[0].Order {
			t.Errorf("sent again it is another event: %s (%s), then %s (%s)", got[0].DedupeKey(), got[0].Order, in.DedupeKey(), in.Order)
		}
	}
}

func (s *suite) sentAgain(t *testing.T) {
	r := newRecorder(nil)
	f := s.New(t, r)
	name := f.Say(0, "hello")
	s.await(t, f, name)
	f.Again(name)
	s.same(t, others(r.until(s.within(t), t, "it came once more", atLeast(2))))
	other := f.Say(0, "hello")
	s.await(t, f, other)
	got := others(r.until(s.within(t), t, "another one came", atLeast(3)))
	if got[2].DedupeKey() == got[0].DedupeKey() {
		t.Error("the same words said twice are taken for one message")
	}
}

func (s *suite) order(t *testing.T) {
	const places, each = 3, 60
	r := newRecorder(nil)
	f := s.New(t, r)
	var names []string
	for i := range each {
		for p := range places {
			names = append(names, f.Say(p, number("m", i)))
		}
	}
	for _, n := range names {
		s.await(t, f, n)
	}
	next, last, seen := map[chat.Conversation]int{}, map[chat.Conversation]string{}, map[string]bool{}
	for _, in := range others(r.until(s.within(t), t, "all came", atLeast(places*each))) {
		c := in.Conversation
		if seen[in.DedupeKey()] { // the platform was impatient
			continue
		}
		seen[in.DedupeKey()] = true
		if want := number("m", next[c]); in.Text != want {
			t.Fatalf("in %s came %q, want %q", c.Key(), in.Text, want)
		}
		if in.Order <= last[c] {
			t.Errorf("in %s the order %q does not sort after %q", c.Key(), in.Order, last[c])
		}
		next[c]++
		last[c] = in.Order
	}
	for p := range places {
		if n := next[f.Place(p)]; n != each {
			t.Errorf("in place %d came %d messages, want %d", p, n, each)
		}
	}
}

func (s *suite) concurrent(t *testing.T) {
	stuck := make(chan struct{})
	var once sync.Once
	free := func() { once.Do(func() { close(stuck) }) }
	t.Cleanup(free)
	var f Fixture
	r := newRecorder(func(ctx context.Context, _ int, in *chat.Inbound) error {
		if in.Text != "stuck" {
			return nil
		}
		select {
		case <-stuck:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	f = s.New(t, r)
	held := f.Say(0, "stuck")
	r.until(s.within(t), t, "the stuck one came", atLeast(1))
	behind := f.Say(0, "behind")
	for i := range 20 {
		s.await(t, f, f.Say(1+i%5, number("free", i)))
	}
	if f.Acked(held) || f.Acked(behind) {
		t.Error("the stuck conversation was acknowledged")
	}
	for _, in := range r.until(s.within(t), t, "the free ones came", atLeast(21)) {
		if in.Text == "behind" {
			t.Error("a message overtook the one before it in its conversation")
		}
	}
	free()
	s.await(t, f, held)
	s.await(t, f, behind)
}

func (s *suite) own(t *testing.T) {
	r := newRecorder(nil)
	f := s.New(t, r)
	s.mustSend(t, f, post(f, 0, "d1", "my own words"))
	s.await(t, f, f.Say(0, "after it"))
	got := r.until(s.within(t), t, "all came", func(all []chat.Inbound) bool {
		said := func(text string) bool {
			return slices.ContainsFunc(all, func(in chat.Inbound) bool { return in.Text == text })
		}
		return said("after it") && (!s.Traits.Echoes || said("my own words"))
	})
	for _, in := range got {
		if in.Sender.Self != (in.Text == "my own words") {
			t.Errorf("%q comes with self = %v", in.Text, in.Sender.Self)
		}
	}
	if self := len(got) - len(others(got)); !s.Traits.Echoes && self != 0 {
		t.Errorf("this platform does not echo, but %d own messages came", self)
	}
}

// broken breaks the connection while one message is on its way and says another: both arrive, in order. Without a connection that can
// break the same must hold.
func (s *suite) broken(t *testing.T) {
	entered, release := make(chan struct{}, 16), make(chan struct{})
	r := newRecorder(func(ctx context.Context, _ int, in *chat.Inbound) error {
		if in.Text != "first" {
			return nil
		}
		entered <- struct{}{}
		select {
		case <-release:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	f := s.New(t, r)
	first := f.Say(0, "first")
	<-entered
	if s.Traits.Breaks {
		f.Break()
	}
	second, third := f.Say(0, "second"), f.Say(1, "elsewhere")
	s.await(t, f, third)
	close(release)
	s.await(t, f, first)
	s.await(t, f, second)
	var texts []string
	for _, in := range others(r.until(s.within(t), t, "both came", atLeast(3))) {
		if in.Conversation == f.Place(0) && (len(texts) == 0 || texts[len(texts)-1] != in.Text) {
			texts = append(texts, in.Text)
		}
	}
	if len(texts) < 2 || texts[0] != "first" || texts[1] != "second" {
		t.Errorf("handed on as %q, want first, second", texts)
	}
}

func (s *suite) stop(t *testing.T) {
	r := newRecorder(func(ctx context.Context, _ int, _ *chat.Inbound) error {
		<-ctx.Done()
		return context.Cause(ctx)
	})
	f := s.New(t, r)
	name := f.Say(0, "never taken")
	r.until(s.within(t), t, "it came", atLeast(1))
	if err := f.Stop(s.within(t)); err != nil {
		t.Errorf("stop: %v", err)
	}
	if f.Acked(name) {
		t.Error("what was not taken was acknowledged at the end")
	}
}
