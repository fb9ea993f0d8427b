package bottest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"herald/core/chat"
)

// texts of what stands in a place.
func texts(f Fixture, place int) (out []string) {
	for _, m := range f.Standing(place) {
		out = append(out, m.Text)
	}
	return out
}

func (s *suite) send(t *testing.T) {
	f := s.New(t, newRecorder(nil))
	one := s.mustSend(t, f, post(f, 0, "d1", "one"))
	two := s.mustSend(t, f, post(f, 0, "d2", "two"))
	s.mustSend(t, f, post(f, 1, "d3", "elsewhere"))
	if got := texts(f, 0); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("in the first place stand %q", got)
	}
	if got := texts(f, 1); !slices.Equal(got, []string{"elsewhere"}) {
		t.Errorf("in the second place stand %q", got)
	}
	if all := f.Standing(0); one.MessageID == two.MessageID || all[0].ID != one.MessageID || all[1].ID != two.MessageID {
		t.Errorf("receipts %s, %s for %+v", one.MessageID, two.MessageID, all)
	}
}

func (s *suite) repeat(t *testing.T) {
	f := s.New(t, newRecorder(nil))
	first := s.mustSend(t, f, post(f, 0, "d1", "once"))
	again := s.mustSend(t, f, post(f, 0, "d1", "once"))
	next := post(f, 0, "d1", "its second piece")
	next.Piece = 1
	s.mustSend(t, f, next)
	stand := len(f.Standing(0))
	if f.Adapter().Capabilities(f.Place(0)).Nonce {
		if stand != 2 || first.MessageID != again.MessageID {
			t.Errorf("with a nonce: %d messages stand, receipts %s and %s; want two pieces and one receipt", stand, first.MessageID, again.MessageID)
		}
	} else if stand != 3 || first.MessageID == again.MessageID {
		t.Errorf("without a nonce: %d messages stand, receipts %s and %s; want three and two", stand, first.MessageID, again.MessageID)
	}
}

func (s *suite) find(t *testing.T) {
	f := s.New(t, newRecorder(nil))
	a := f.Adapter()
	sent := post(f, 0, "d1", "hello")
	r := s.mustSend(t, f, sent)
	s.mustSend(t, f, post(f, 0, "d0", "another one behind it"))
	missing, piece, elsewhere := post(f, 0, "d2", "hello"), post(f, 0, "d1", "hello"), post(f, 1, "d1", "hello")
	piece.Piece = 1
	if !a.Capabilities(f.Place(0)).LookBack {
		if _, ok, err := a.Find(s.within(t), sent); err == nil || ok {
			t.Errorf("without look-back: found %v, %v; want an error, as it cannot be told", ok, err)
		}
		return
	}
	got, ok, err := a.Find(s.within(t), sent)
	if err != nil || !ok || got.MessageID != r.MessageID {
		t.Errorf("found %+v, %v, %v; want %+v", got, ok, err, r)
	}
	for name, p := range map[string]*chat.Post{"another delivery": missing, "another piece": piece, "another place": elsewhere} {
		if got, ok, err := a.Find(s.within(t), p); err != nil || ok {
			t.Errorf("%s: found %+v, %v, %v; want that it surely does not stand", name, got, ok, err)
		}
	}
}

func (s *suite) edit(t *testing.T) {
	f := s.New(t, newRecorder(nil))
	a := f.Adapter()
	p := post(f, 0, "d1", "begin")
	p.Live = a.Capabilities(f.Place(0)).Edits
	r := s.mustSend(t, f, p)
	p.Text = "begin, go on"
	if !p.Live {
		if err := a.Edit(s.within(t), p, r, true); !isRefused(err) {
			t.Errorf("this platform cannot edit: %v, want a refusal", err)
		}
		return
	}
	for _, step := range []struct {
		text  string
		final bool
	}{{"begin, go on", false}, {"begin, go on, end", true}} {
		p.Text = step.text
		if err := a.Edit(s.within(t), p, r, step.final); err != nil {
			t.Fatal(err)
		}
		if got := f.Standing(0); len(got) != 1 || got[0] != (Standing{r.MessageID, step.text, !step.final}) {
			t.Errorf("after the edit stands %+v, want %q, live %v", got, step.text, !step.final)
		}
	}
	no, ok := errors.AsType[*chat.Refused](a.Edit(s.within(t), p, chat.Receipt{MessageID: "999999999"}, true))
	if !ok || !no.Gone {
		t.Errorf("an edit of a message that does not stand: %+v, want a refusal that says gone", no)
	}
}

func (s *suite) card(t *testing.T) {
	f := s.New(t, newRecorder(nil))
	p := post(f, 0, "d1", "May I?")
	p.Card = &chat.Card{Title: "May I?", Fields: []chat.Field{{Name: "tool", Value: "x"}}, Buttons: []chat.Button{{Action: "a", Label: "Yes"}}}
	if f.Adapter().Capabilities(f.Place(0)).Cards {
		s.mustSend(t, f, p)
		if got := f.Standing(0); len(got) != 1 {
			t.Errorf("%d messages stand, want the card", len(got))
		}
	} else if _, err := f.Adapter().Send(s.within(t), p); !isRefused(err) {
		t.Errorf("this platform has no cards: %v, want a refusal", err)
	}
}

func isRefused(err error) bool { _, ok := errors.AsType[*chat.Refused](err); return ok }

func (s *suite) sideBySide(t *testing.T) {
	const places, each = 4, 10
	f := s.New(t, newRecorder(nil))
	var wg sync.WaitGroup
	for p := range places {
		for i := range each {
			wg.Go(func() {
				if _, err := f.Adapter().Send(s.within(t), post(f, p, number(number("d", p)+"-", i), number("m", i))); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	for p := range places {
		got := texts(f, p)
		slices.Sort(got)
		if len(slices.Compact(got)) != each {
			t.Errorf("in place %d stand %q, want %d different messages", p, got, each)
		}
	}
}

func (s *suite) ended(t *testing.T) {
	f := s.New(t, newRecorder(nil))
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	a, p := f.Adapter(), post(f, 0, "d1", "hello")
	_, err1 := a.Send(ctx, p)
	err2 := a.Edit(ctx, p, chat.Receipt{MessageID: "1"}, true)
	_, _, err3 := a.Find(ctx, p)
	for name, err := range map[string]error{"send": err1, "edit": err2, "find": err3} {
		if !errors.Is(err, cause) && !errors.Is(err, context.Canceled) || isRefused(err) {
			t.Errorf("%s with an ended context: %v, want the context's end and no refusal", name, err)
		}
	}
	if !slices.Contains(s.Traits.Faults, Hang) {
		return
	}
	f.Inject(Hang)
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if _, err := a.Send(ctx, p); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a send that hangs: %v, want the context's end", err)
	}
}

// faults checks for each trouble what the adapter says about the post, and that what it says is true.
func (s *suite) faults(t *testing.T) {
	for _, fault := range s.Traits.Faults {
		if fault == Hang {
			continue // see ended
		}
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			f := s.New(t, newRecorder(nil))
			f.Inject(fault)
			_, err := f.Adapter().Send(s.within(t), post(f, 0, "d1", "hello"))
			stands := len(f.Standing(0)) > 0
			if fault == Rejected {
				if no, ok := errors.AsType[*chat.Refused](err); !ok || no.Code == "" || no.Reason == "" {
					t.Errorf("got %v, want a refusal with code and reason", err)
				}
				return
			}
			o, ok := errors.AsType[*chat.Outage](err)
			if !ok {
				t.Fatalf("got %v, want an outage", err)
			}
			if o.NotSent && stands {
				t.Error("the adapter says that the post surely does not stand, but it does: it would be sent twice")
			}
			if want := fault == RateLimited || fault == DeadToken; o.NotSent != want {
				t.Errorf("not sent: %v, want %v", o.NotSent, want)
			}
			if o.Dead != (fault == DeadToken) {
				t.Errorf("dead: %v", o.Dead)
			}
			if fault == RateLimited && (o.RetryAfter < 2*time.Second || o.RetryAfter > 3*time.Second) {
				t.Errorf("the platform demands two seconds, the adapter says %s", o.RetryAfter)
			}
			if fault == DeadToken {
				return
			}
			s.mustSend(t, f, post(f, 0, "d2", "the next one"))
		})
	}
}
